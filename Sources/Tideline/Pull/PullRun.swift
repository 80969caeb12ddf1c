internal import HTTPTypes
internal import TidelineStore
internal import TidelineWire

/// One pull of one table. It requests the pages that ``PullCursor`` decides on and stores them.
struct PullRun<Store: LocalStore>: Sendable {
    let context: SyncContext<Store>
    let query: Query
    /// The name of the incremental pull, or `nil` for a pull of all rows.
    let queryID: String?
    let settings: PullSettings
    let schema: TableSchema

    private var pageSize: Int { min(settings.pageSize, context.dialect.maximumPageSize) }

    /// Validates the first request without sending it.
    ///
    /// - Throws: `WireError` for a query that cannot be sent: NaN, a column that a filter cannot name, or a reserved
    ///   parameter.
    func checkRequest() throws {
        guard let first = makeCursor(nil).first else { return }
        let (page, options) = makeQuery(first, limit: first.limit)
        _ = try context.dialect.read(page, schema: schema, options: options)
    }

    func run() async throws -> PullResult {
        let filter = try filterText()
        let reading = PulledPage.Reading(schema: schema, skipsMisfits: settings.whenRowDoesNotFit == .skipAndReport)
        let memory = try await begin(filter: filter)
        let cursor = makeCursor(memory.initial.flatMap { $0.columns == schema.columnFingerprint ? $0 : nil })
        guard let first = cursor.first else { return PullResult() }
        var state = State(cursor: cursor, application: PageGroupWriter(self, filter: filter, memory))
        try await run(from: first, reading, &state)
        if state.application.memory.isSpellingInDoubt {
            let memory = makeMemory(
                state.application.memory.stored, initial: memory.initial, isRefreshing: memory.isRefreshing,
                remembersIDs: true)
            state.restart(cursor, memory)
            try await run(from: first, reading, &state)
        }
        return state.application.result
    }

    /// The state of a pull between two pages.
    private struct State: Sendable {
        var cursor: PullCursor
        var application: PageGroupWriter<Store>
        /// The pages that were received and are not stored yet.
        private(set) var held: [PendingPage] = []
        private var oldest: Timestamp?

        init(cursor: PullCursor, application: PageGroupWriter<Store>) {
            self.cursor = cursor
            self.application = application
        }

        /// Adds a page and returns the next step.
        mutating func receive(_ page: PulledPage) throws -> PullCursor.Decision {
            let kind = cursor.pageKind
            let decision = try cursor.receive(page.summary)
            oldest = [oldest, page.summary.oldest].compactMap(\.self).min()
            held.append(
                PendingPage(
                    page: page, kind: kind, watermark: cursor.token, oldest: oldest, isLast: decision == .finish))
            return decision
        }

        mutating func storeHeld() async throws {
            let group = held
            // Pages that cannot be stored are not retried.
            held = []
            try await application.store(group)
        }

        mutating func restart(_ cursor: PullCursor, _ memory: PullState) {
            self.cursor = cursor
            held = []
            application.restart(memory)
        }
    }

    private func run(from first: PullCursor.Request, _ reading: PulledPage.Reading, _ state: inout State) async throws {
        do {
            try await fetchAll(from: first, reading, &state)
        } catch {
            // Pages received before the failure are stored, as if each had its own transaction. An error of that store
            // is thrown instead because it would have occurred first.
            try await state.storeHeld()
            throw error
        }
    }

    private func fetchAll(
        from first: PullCursor.Request, _ reading: PulledPage.Reading, _ state: inout State
    ) async throws {
        var page = try await fetch(first, reading)
        state.application.memory.noteClock(of: page)
        while true {
            let decision = try named { try state.receive(page) }
            guard case .request(let request) = decision else { return try await state.storeHeld() }
            // The next page is fetched while these pages are stored.
            async let fetched = fetch(request, reading)
            if state.held.count >= settings.pagesPerTransaction { try await state.storeHeld() }
            if state.application.memory.isSpellingInDoubt { return }
            page = try await fetched
        }
    }

    // MARK: Beginning

    private func filterText() throws -> String {
        guard queryID != nil, let predicate = query.predicate else { return "" }
        do {
            return try OData.portableFilter(predicate, schema: schema)
        } catch {
            throw SyncError(.invalidArgument, error.message, table: schema.name, column: error.column, cause: error)
        }
    }

    private func begin(filter: String) async throws -> PullState {
        let (table, queryID, context) = (schema.name, queryID, context)
        let (stored, isFresh) = try await context.reading { reader in
            let token = try queryID.map { try context.tokens.token(table: table, queryID: $0, in: reader) } ?? nil
            return (token, try reader.rows(matching: Query(table).limit(1)).rows.isEmpty)
        }
        guard let stored, stored.filter != filter, let queryID else {
            let isWhole = stored.map { $0.columns == schema.columnFingerprint && $0.isRefreshing != true } ?? false
            return makeMemory(stored, initial: stored, isFresh: isFresh, isRefreshing: !isFresh && !isWhole)
        }
        guard settings.whenFilterChanges == .reset else {
            throw SyncError(
                .filterChanged,
                "the query id \(queryID.debugDescription) was used before with the filter "
                    + "\(stored.filter.debugDescription); use another id, or reset the token", table: table)
        }
        try await context.writing { try context.tokens.remove(table: table, queryID: queryID, in: $0) }
        return makeMemory(nil, initial: nil, isFresh: isFresh, isRefreshing: !isFresh)
    }

    private func makeMemory(
        _ stored: PullToken?, initial: PullToken?, isFresh: Bool = false, isRefreshing: Bool,
        remembersIDs: Bool = false
    ) -> PullState {
        var memory = PullState(
            stored: stored, initial: initial, isFresh: isFresh, isRefreshing: isRefreshing,
            remembering: remembersIDs ? schema.idMatching : nil)
        if settings.whenRowDoesNotFit == .skipAndReport { memory.unfit = UnfitRows(schema: schema) }
        return memory
    }

    private func makeCursor(_ token: PullToken?) -> PullCursor {
        guard queryID != nil else {
            return PullCursor(order: query.order, skip: query.skip, limit: query.limit, pageSize: pageSize)
        }
        return PullCursor(token: token, lookback: settings.lookback, pageSize: pageSize)
    }

    // MARK: Pages

    /// Fetches a page, with fewer rows if the server rejects the page size.
    private func fetch(_ request: PullCursor.Request, _ reading: PulledPage.Reading) async throws -> PulledPage {
        let limits = context.pageLimits
        var limit = limits.limit(for: schema.name, wanted: request.limit)
        var refusal: SyncError?
        while true {
            do {
                let page = try await fetch(request, limit: limit, reading)
                limits.accept(limit, for: schema.name, isReduced: refusal != nil)
                return page
            } catch let error as SyncError where error.code == .rejected && error.status == 400 {
                let first = refusal ?? error
                guard let next = limits.next(after: limit, for: schema.name) else { throw first }
                refusal = first
                limit = next
            }
        }
    }

    private func fetch(
        _ request: PullCursor.Request, limit: Int, _ reading: PulledPage.Reading
    ) async throws -> PulledPage {
        let askedAt = context.settled.now
        let (page, options) = makeQuery(request, limit: limit)
        let answer = try await context.readAnswer(page, schema: schema, options: options)
        do {
            return try PulledPage(
                body: answer.body, reading, requested: limit, maximum: query.limit == nil ? nil : limit,
                hasNextLink: context.namesNextPage(answer.response),
                serverDate: ServerClock.time(of: answer.response), askedAt: askedAt)
        } catch var error as SyncError {
            error.status = answer.response.status.code
            throw error
        }
    }

    private func makeQuery(_ request: PullCursor.Request, limit: Int) -> (Query, ReadOptions) {
        var page = query
        if let filter = request.filter { page = page.filter(filter) }
        page.order = request.order
        page.skip = request.skip
        page.limit = limit
        page.includesTotalCount = request.wantsCount
        let options = ReadOptions(
            includeDeleted: true, parameters: settings.parameters.map { ($0.name, $0.value) }, isSyncTable: true,
            isIncremental: queryID != nil)
        return (page, options)
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
