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
        let progress = try await begin(filter: filter)
        let cursor = makeCursor(progress.stored.flatMap { $0.columns == schema.columnFingerprint ? $0 : nil })
        guard let first = cursor.first else { return PullResult() }
        var state = State(cursor: cursor, application: PageGroupApplication(self, filter: filter, progress))
        do {
            try await run(from: first, reader, &state)
        } catch {
            // What came whole before the failure is stored, as if each page had a transaction of its own; a failure of
            // that would have come before this one, too.
            try await state.storeHeld()
            throw error
        }
        return state.result
    }

    /// What a pull knows between two pages.
    private struct State: Sendable {
        var cursor: PullCursor
        var application: PageGroupApplication<Store>
        /// What came and is not stored yet.
        private(set) var held: [HeldPage] = []
        private var received = PullProgress()

        /// What the pull did so far.
        var result: PullResult {
            var result = application.result
            result.requests = received.pages
            result.rowsPulled = received.rowsPulled
            return result
        }

        init(cursor: PullCursor, application: PageGroupApplication<Store>) {
            self.cursor = cursor
            self.application = application
        }

        /// Takes a page in, and says what follows from it.
        mutating func receive(_ page: PulledPage) throws -> PullCursor.Decision {
            let mayRepeat = cursor.isDraining
            let decision = try cursor.receive(page.summary)
            received.pages += 1
            received.rowsPulled += page.summary.count
            held.append(
                HeldPage(
                    page: page, mayRepeat: mayRepeat, isLast: decision == .finish, reached: cursor.token,
                    progress: received))
            return decision
        }

        mutating func storeHeld() async throws {
            let group = held
            // Those that cannot be stored are not tried again.
            held = []
            try await application.store(group)
        }
    }

    private func run(from first: PullCursor.Request, _ reader: PageReading, _ state: inout State) async throws {
        var page = try await fetch(first, reader)
        state.application.progress.serverDate = page.serverDate
        while true {
            let decision = try named { try state.receive(page) }
            guard case .request(let request) = decision else { return try await state.storeHeld() }
            // The next page is on its way while these are stored.
            async let fetched = fetch(request, reader)
            if state.held.count >= settings.pagesPerTransaction { try await state.storeHeld() }
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

    private func begin(filter: String) async throws -> PullMemory {
        let (table, queryID, context) = (schema.name, queryID, context)
        let (stored, isFresh) = try await context.reading { reader in
            let token = try queryID.map { try context.tokens.token(table: table, queryID: $0, in: reader) } ?? nil
            return (token, try reader.rows(matching: Query(table).limit(1)).rows.isEmpty)
        }
        var progress = PullMemory(stored: stored, isFresh: isFresh)
        let isWhole = stored.map { $0.columns == schema.columnFingerprint && $0.isRefreshing != true } ?? false
        progress.isRefreshing = !isFresh && !isWhole
        guard let stored, stored.filter != filter, let queryID else { return progress }
        guard settings.whenFilterChanges == .reset else {
            throw SyncError(
                .filterChanged,
                "the query id \(queryID.debugDescription) was used with the filter \(stored.filter.debugDescription) "
                    + "before; use another id, or reset the token", table: table)
        }
        try await context.writing { try context.tokens.remove(table: table, queryID: queryID, in: $0) }
        progress.stored = nil
        progress.isRefreshing = !isFresh
        return progress
    }

    private func makeCursor(_ token: PullToken?) -> PullCursor {
        guard queryID != nil else {
            return PullCursor(order: query.order, skip: query.skip, limit: query.limit, pageSize: pageSize)
        }
        return PullCursor(
            token: token?.updatedAt, serverDate: token?.serverDate, lookback: settings.lookback, pageSize: pageSize)
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
        do {
            return try PulledPage(
                body: answer.body, codec: reader.codec, parser: reader.parser,
                hasNextLink: context.namesNextPage(answer.response),
                serverDate: ServerClock.time(of: answer.response), askedAt: askedAt)
        } catch var error as SyncError {
            error.status = answer.response.status.code
            throw error
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
