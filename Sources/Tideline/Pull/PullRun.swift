internal import TidelineStore
internal import TidelineWire

/// One pull of one table: asks for what ``PullCursor`` decides and stores what comes.
struct PullRun<Store: LocalStore>: Sendable {
    let context: SyncContext<Store>
    let query: Query
    /// The name of the incremental pull; nil for a pull of all rows.
    let queryID: String?
    let settings: PullSettings
    let schema: TableSchema

    private struct Progress: Sendable {
        /// The token as stored, to notice when someone else changes it.
        var stored: PullToken?
        /// Versions of the rows that come again with the next page, by id.
        var known: [String: String] = [:]
        /// Whether the table had no rows when the pull began.
        var isFresh: Bool
        /// The server's clock when it answered first: a row committed after that may not have been seen.
        var serverDate: Timestamp?
        /// The greatest the token may be: rows from there on were passed over and are to come with the next pull.
        var ceiling: Timestamp?

        mutating func keep(below passedOver: Timestamp?) {
            if let passedOver { ceiling = min(passedOver, ceiling ?? passedOver) }
        }

        /// The token, not beyond the ceiling.
        func limited(_ token: PullToken) -> PullToken {
            var token = token
            if let ceiling, let updatedAt = token.updatedAt { token.updatedAt = min(updatedAt, ceiling) }
            return token
        }
    }

    /// What turns answers into pages.
    private struct PageReading: Sendable {
        let codec: RowCodec
        let parser: PageParser

        init(schema: TableSchema) {
            codec = RowCodec(schema: schema)
            parser = PageParser(schema: schema)
        }
    }

    private var pageSize: Int { min(settings.pageSize, context.dialect.maximumPageSize) }

    func run() async throws -> PullResult {
        let filter = try filterText()
        let reader = PageReading(schema: schema)
        var progress = try await begin(filter: filter)
        var cursor = makeCursor(progress.stored)
        var result = PullResult()
        guard let first = cursor.first else { return result }
        var page = try await fetch(first, reader)
        progress.serverDate = page.serverDate
        while true {
            result.requests += 1
            result.rowsPulled += page.summary.count
            let mayRepeat = cursor.isDraining
            let decision = try named { try cursor.receive(page.summary) }
            let token = makeToken(cursor, progress, filter: filter)
            guard case .request(let request) = decision else {
                try await store(page, mayRepeat: mayRepeat, token, &progress, &result)
                return result
            }
            // The next page is on its way while this one is stored.
            async let fetched = fetch(request, reader)
            try await store(page, mayRepeat: mayRepeat, token, &progress, &result)
            page = try await fetched
        }
    }

    // MARK: Beginning

    private func filterText() throws -> String {
        guard queryID != nil, let predicate = query.predicate else { return "" }
        do {
            return try OData.filter(predicate, schema: schema)
        } catch {
            throw SyncError(.invalidArgument, error.message, table: schema.name, column: error.column, cause: error)
        }
    }

    private func begin(filter: String) async throws -> Progress {
        let (table, queryID, context) = (schema.name, queryID, context)
        let (stored, isFresh) = try await context.reading { reader in
            let token = try queryID.map { try context.tokens.token(table: table, queryID: $0, in: reader) } ?? nil
            return (token, try reader.rows(matching: Query(table).limit(1)).rows.isEmpty)
        }
        var progress = Progress(stored: stored, isFresh: isFresh)
        guard let stored, stored.filter != filter, let queryID else { return progress }
        guard settings.whenFilterChanges == .reset else {
            throw SyncError(
                .filterChanged,
                "the query id \(queryID.debugDescription) was used with the filter \(stored.filter.debugDescription) "
                    + "before; use another id, or reset the token", table: table)
        }
        try await context.writing { try context.tokens.remove(table: table, queryID: queryID, in: $0) }
        progress.stored = nil
        return progress
    }

    private func makeCursor(_ token: PullToken?) -> PullCursor {
        guard queryID != nil else {
            return PullCursor(order: query.order, skip: query.skip, limit: query.limit, pageSize: pageSize)
        }
        return PullCursor(
            token: token?.updatedAt, serverDate: token?.serverDate, lookback: settings.lookback, pageSize: pageSize)
    }

    /// The token to store with a page; nil for a pull of all rows.
    private func makeToken(_ cursor: PullCursor, _ progress: Progress, filter: String) -> PullToken? {
        guard queryID != nil, let updatedAt = cursor.token else { return nil }
        // Without news the clock stays too: an earlier one only makes the next pull look further back.
        if let stored = progress.stored, stored.updatedAt == updatedAt { return stored }
        return PullToken(updatedAt: updatedAt, serverDate: progress.serverDate, filter: filter)
    }

    // MARK: Pages

    private func fetch(_ request: PullCursor.Request, _ reader: PageReading) async throws -> PulledPage {
        var page = query
        if let filter = request.filter { page = page.filter(filter) }
        page.order = request.order
        page.skip = request.skip
        page.limit = request.limit
        page.includesTotalCount = request.wantsCount
        let options = ReadOptions(
            includeDeleted: true, parameters: settings.parameters.map { ($0.name, $0.value) }, isSyncTable: true,
            isIncremental: queryID != nil)
        let askedAt = context.settled.now
        let answer = try await context.readAnswer(page, schema: schema, options: options)
        return try PulledPage(
            body: answer.body, codec: reader.codec, parser: reader.parser,
            hasNextLink: context.namesNextPage(answer.response),
            serverDate: ServerClock.time(of: answer.response), askedAt: askedAt)
    }

    /// Stores a page and its token in one transaction; none when there is nothing to write.
    ///
    /// - Parameter mayRepeat: Whether rows of pages before the last may come again with this one.
    private func store(
        _ page: PulledPage, mayRepeat: Bool, _ token: PullToken?, _ progress: inout Progress,
        _ result: inout PullResult
    ) async throws {
        let (context, known, stored) = (context, progress.known, progress.stored)
        let isFresh = progress.isFresh && !mayRepeat
        progress.known = page.boundary
        var changesNothing = false
        if token == nil || token == stored {
            let application = try await context.reading { reader in
                try PageApplication(
                    page, known: known, isFresh: isFresh, settled: context.settled, operations: context.operations,
                    in: reader)
            }
            changesNothing = application.isEmpty
            progress.keep(below: application.passedOver)
        }
        if !changesNothing {
            let application = try await writePage(page, known: known, isFresh: isFresh, token, &progress)
            result.rowsStored += application.storedCount
            result.rowsRemoved += application.removed.count
            result.writes += 1
        }
        settings.onProgress?(PullProgress(rowsPulled: result.rowsPulled, pages: result.requests))
    }

    private func writePage(
        _ page: PulledPage, known: [String: String], isFresh: Bool, _ token: PullToken?, _ progress: inout Progress
    ) async throws -> PageApplication {
        let (context, before) = (context, progress)
        let application: PageApplication
        (application, progress) = try await context.writing { writer in
            var progress = before
            let application = try PageApplication(
                page, known: known, isFresh: isFresh, settled: context.settled, operations: context.operations,
                in: writer)
            progress.keep(below: application.passedOver)
            if let token {
                let token = progress.limited(token)
                try save(token, over: progress.stored, in: writer)
                progress.stored = token
            }
            try application.write(operations: context.operations, in: writer)
            return (application, progress)
        }
        return application
    }

    private func save(_ token: PullToken, over stored: PullToken?, in writer: Store.Writer) throws {
        guard let queryID else { return }
        guard try context.tokens.token(table: schema.name, queryID: queryID, in: writer) == stored else {
            throw SyncError(
                .pullInterrupted, "the token of the query id \(queryID.debugDescription) changed during the pull",
                table: schema.name)
        }
        guard token != stored else { return }
        try context.tokens.save(token, table: schema.name, queryID: queryID, in: writer)
    }

    private func named<T>(_ body: () throws -> T) throws -> T {
        do {
            return try body()
        } catch var error as SyncError {
            error.table = error.table ?? schema.name
            throw error
        }
    }
}
