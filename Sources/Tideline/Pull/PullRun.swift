internal import HTTPTypes
internal import Synchronization
internal import TidelineStore
internal import TidelineWire

/// One pull of one table. It requests the pages that ``PullCursor`` decides on and stores them.
struct PullRun<Store: LocalStore>: Sendable {
    let context: SyncContext<Store>
    let query: Query
    /// The name of the incremental pull, or `nil` for a pull of all rows.
    let queryID: String?
    let settings: PullSettings
    /// The columns that the pull stores; see ``PullToken/columns``.
    let columns: String
    private let codec: RowCodec

    var schema: TableSchema { codec.schema }
    private var pageSize: Int { min(settings.pageSize, context.dialect.maximumPageSize) }
    private var skipsMisfits: Bool { settings.whenRowDoesNotFit == .skipAndReport }

    init(context: SyncContext<Store>, query: Query, queryID: String?, settings: PullSettings, schema: TableSchema) {
        self.context = context
        self.query = query
        self.queryID = queryID
        self.settings = settings
        columns = schema.columnFingerprint
        codec = RowCodec(schema: schema)
    }

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
        var state = try await begin()
        let cursor = state.cursor
        guard var first = cursor.first else { return PullResult() }
        if settings.countsRows { first.wantsCount = true }
        try await run(from: first, &state)
        if state.isSpellingInDoubt {
            state = state.restarted(at: cursor, matching: schema.idMatching)
            try await run(from: first, &state)
        }
        return state.result
    }

    private func run(from first: PullCursor.Request, _ state: inout PullState) async throws {
        do {
            try await fetchAll(from: first, &state)
        } catch {
            // Pages received before the failure are stored, as if each had its own transaction. An error of that store
            // is thrown instead because it would have occurred first.
            try await storePending(&state)
            throw error
        }
    }

    private func fetchAll(from first: PullCursor.Request, _ state: inout PullState) async throws {
        var page = try await fetch(first)
        state.noteClock(of: page)
        while true {
            guard case .request(let request) = try state.receive(page) else { return try await storePending(&state) }
            // The next page is fetched while these pages are stored.
            async let fetched = fetch(request)
            if state.pending.count >= settings.pagesPerTransaction { try await storePending(&state) }
            if state.isSpellingInDoubt { return }
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

    private func begin() async throws -> PullState {
        let filter = try filterText()
        let (table, queryID, context) = (schema.name, queryID, context)
        var (stored, isFresh) = try await context.reading { reader in
            let token = try queryID.map { try context.tokens.token(table: table, queryID: $0, in: reader) } ?? nil
            return (token, try reader.rows(matching: Query(table).limit(1)).rows.isEmpty)
        }
        if let token = stored, token.filter != filter, let queryID {
            guard settings.whenFilterChanges == .reset else {
                throw SyncError(
                    .filterChanged,
                    "the query id \(queryID.debugDescription) was used before with the filter "
                        + "\(token.filter.debugDescription); use another id, or reset the token", table: table)
            }
            try await context.writing { try context.tokens.remove(table: table, queryID: queryID, in: $0) }
            stored = nil
        }
        // Rows that were stored with other columns are fetched again.
        let usable = stored.flatMap { $0.columns == columns ? $0 : nil }
        return PullState(
            cursor: makeCursor(usable), filter: filter, stored: stored, initial: stored, isFresh: isFresh,
            isRefreshing: !isFresh && (usable == nil || usable?.isRefreshing == true), skipsMisfits: skipsMisfits)
    }

    private func makeCursor(_ token: PullToken?) -> PullCursor {
        guard queryID != nil else {
            return PullCursor(order: query.order, skip: query.skip, limit: query.limit, pageSize: pageSize)
        }
        return PullCursor(token: token, lookback: settings.lookback, pageSize: pageSize)
    }

    // MARK: Pages

    /// Fetches a page, with fewer rows if the server rejects the page size.
    private func fetch(_ request: PullCursor.Request) async throws -> PulledPage {
        let limits = context.pageLimits
        var limit = limits.limit(for: schema.name, wanted: request.limit)
        var refusal: SyncError?
        while true {
            do {
                let page = try await fetch(request, limit: limit)
                limits.accept(limit, for: schema.name, isReduced: refusal != nil)
                return page
            } catch let error as SyncError
                where error.code == .rejected && error.status.map(context.dialect.mayRefusePageSize) ?? false
            {
                let first = refusal ?? error
                guard let next = limits.next(after: limit, for: schema.name) else { throw first }
                refusal = first
                limit = next
            }
        }
    }

    private func fetch(_ request: PullCursor.Request, limit: Int) async throws -> PulledPage {
        let askedAt = context.settled.now
        let (page, options) = makeQuery(request, limit: limit)
        let answer = try await context.readAnswer(page, schema: schema, options: options)
        do {
            return try PulledPage(
                body: answer.body, codec, skipsMisfits: skipsMisfits, requested: limit,
                maximum: query.limit == nil ? nil : limit, hasNextLink: context.namesNextPage(answer.response),
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
}

/// The greatest `$top` that the server accepts for each table, as far as known, for the lifetime of the context.
final class PageLimits: Sendable {
    private struct Limit {
        /// The greatest accepted page size.
        var accepted = 0
        /// The page size that was accepted after a larger one was rejected.
        var maximum = Int.max
    }

    /// The page sizes to try after a rejection.
    private static let steps = [500, 100, 50]

    private let limits = Mutex<[String: Limit]>([:])

    /// Returns the number of rows to request when `wanted` rows are wanted.
    func limit(for table: String, wanted: Int) -> Int {
        limits.withLock { min(wanted, $0[table]?.maximum ?? .max) }
    }

    /// Returns the page size to try after the server refused a page of `refused` rows, or `nil` if the size was not the
    /// reason.
    func next(after refused: Int, for table: String) -> Int? {
        guard limits.withLock({ ($0[table]?.accepted ?? 0) < refused }) else { return nil }
        return Self.steps.first { $0 < refused }
    }

    /// Records that a page of `limit` rows was accepted, after rejections of larger pages if `isReduced`.
    func accept(_ limit: Int, for table: String, isReduced: Bool) {
        limits.withLock { limits in
            var known = limits[table] ?? Limit()
            known.accepted = max(known.accepted, limit)
            if isReduced { known.maximum = limit }
            limits[table] = known
        }
    }
}
