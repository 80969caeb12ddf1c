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

    /// What the pull knows of the stored token, to notice when someone else changes it.
    private struct Progress: Sendable {
        var stored: PullToken?
        var known: [String: String] = [:]
        var isFresh: Bool
        var serverDate: Timestamp?
    }

    private var codec: RowCodec { RowCodec(schema: schema) }
    private var pageSize: Int { min(settings.pageSize, context.dialect.maximumPageSize) }

    func run() async throws -> PullResult {
        let filter = try filterText()
        var progress = try await begin(filter: filter)
        var cursor = makeCursor(progress.stored)
        var result = PullResult()
        guard let first = cursor.first else { return result }
        var page = try await fetch(first)
        while true {
            result.requests += 1
            result.rowsPulled += page.summary.count
            if progress.serverDate == nil { progress.serverDate = page.serverDate }
            let decision = try named { try cursor.receive(page.summary) }
            let token = makeToken(cursor, progress, filter: filter)
            var next: PulledPage?
            switch decision {
            case .request(let request):
                // The next page is on its way while this one is stored.
                async let fetched = fetch(request)
                _ = try await store(page, token, &progress, &result)
                next = try await fetched
            case .finish:
                _ = try await store(page, token, &progress, &result)
            case .undecided:
                let hasNew = try await store(page, token, &progress, &result)
                if case .request(let request) = cursor.decide(hasNew: hasNew) { next = try await fetch(request) }
            }
            settings.onProgress?(PullProgress(rowsPulled: result.rowsPulled, pages: result.requests))
            guard let next else { return result }
            page = next
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
        let (stored, count) = try await context.reading { reader in
            let token = try queryID.map { try context.tokens.token(table: table, queryID: $0, in: reader) } ?? nil
            return (token, try reader.count(Query(table)))
        }
        var progress = Progress(stored: stored, isFresh: count == 0)
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

    private func fetch(_ request: PullCursor.Request) async throws -> PulledPage {
        var page = query
        if let filter = request.filter { page = page.filter(filter) }
        page.order = request.order
        page.skip = request.skip
        page.limit = request.limit
        page.includesTotalCount = request.wantsCount
        let options = ReadOptions(
            includeDeleted: true, parameters: settings.parameters.map { ($0.name, $0.value) }, isSyncTable: true,
            isIncremental: queryID != nil)
        let answer = try await context.readAnswer(page, schema: schema, options: options)
        let next = try context.nextPage(after: answer.response, table: schema.name)
        return try PulledPage(
            body: answer.body, codec: codec, parser: PageParser(schema: schema), hasNextLink: next != nil,
            serverDate: ServerClock.time(of: answer.response))
    }

    /// Stores a page and its token in one transaction; none when there is nothing to write.
    /// - Returns: Whether the page held anything that was not known.
    private func store(
        _ page: PulledPage, _ token: PullToken?, _ progress: inout Progress, _ result: inout PullResult
    ) async throws -> Bool {
        let (context, known, isFresh, stored) = (context, progress.known, progress.isFresh, progress.stored)
        let isTokenNew = token != nil && token != stored
        if !isFresh || page.rows.count == 0 {
            let isEmpty = try await context.reading { reader in
                try PageApplication(
                    page, known: known, isFresh: isFresh, operations: context.operations, in: reader
                ).isEmpty
            }
            if isEmpty, !isTokenNew {
                progress.known = page.boundary
                return false
            }
        }
        let counts = try await writePage(page, known: known, isFresh: isFresh, token, stored: stored)
        progress.known = page.boundary
        progress.stored = token ?? stored
        result.rowsStored += counts.stored
        result.rowsRemoved += counts.removed
        result.writes += 1
        return counts.hasNew
    }

    private struct Counts: Sendable {
        var stored: Int
        var removed: Int
        var hasNew: Bool
    }

    private func writePage(
        _ page: PulledPage, known: [String: String], isFresh: Bool, _ token: PullToken?, stored: PullToken?
    ) async throws -> Counts {
        let (context, table, queryID) = (context, schema.name, queryID)
        return try await context.writing { writer in
            if let queryID, let token {
                guard try context.tokens.token(table: table, queryID: queryID, in: writer) == stored else {
                    throw SyncError(
                        .pullInterrupted,
                        "the token of the query id \(queryID.debugDescription) changed during the pull",
                        table: table)
                }
                if token != stored {
                    try context.tokens.save(token, table: table, queryID: queryID, in: writer)
                }
            }
            let application = try PageApplication(
                page, known: known, isFresh: isFresh, operations: context.operations, in: writer)
            try application.write(operations: context.operations, in: writer)
            return Counts(
                stored: application.storedCount, removed: application.removed.count, hasNew: !application.isEmpty)
        }
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
