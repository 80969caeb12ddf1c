internal import Logging
internal import TidelineStore
internal import TidelineWire

/// One pull of one table. It requests the pages that its ``PullFeed`` decides on and stores them.
struct PullRun<Store: LocalStore>: Sendable {
    let puller: Puller<Store>
    let plan: PullPlan

    var query: TableQuery { plan.query }
    var queryID: String? { plan.queryID }
    var settings: PullSettings { plan.settings }
    var schema: TableSchema { plan.schema }

    /// Validates the first request without sending it.
    ///
    /// - Throws: `WireError` or ``SyncError`` for a query that cannot be sent: NaN, a column that a filter cannot name,
    ///   or a reserved parameter; ``SyncError`` for one whose rows cannot be compared, if the pull removes leavers.
    func checkRequest() throws {
        if let first = try firstCall() { try checkLength(of: first) }
        if settings.removesLeavers != nil { try checkComparison() }
    }

    /// Returns the request for the first page, or `nil` if the query matches no row.
    func firstCall() throws -> ServerCall? {
        let first = try puller.dialect.makeFeed(plan, from: FeedStart()).first
        return try first.map { try $0.call(limit: $0.limit) }
    }

    /// Throws if the URL of a request is longer than servers accept.
    func checkLength(of call: ServerCall) throws {
        guard call.request.target.utf8.count > puller.options.maximumURLLength else { return }
        throw SyncError(
            .invalidArgument,
            "the request for a page is longer than the \(puller.options.maximumURLLength) bytes of "
                + "SyncOptions.maximumURLLength: \(lengthAdvice(for: call))", table: schema.name)
    }

    private func lengthAdvice(for call: ServerCall) -> String {
        "its path and query have \(call.request.target.utf8.count) bytes; shorten the filter, or split its list of values "
            + "into several pulls with a query id each"
    }

    func run() async throws -> PullResult {
        var state = try await begin()
        // A pull into an empty table receives all rows.
        let interval = state.isFresh ? nil : settings.removesLeavers
        try await pull(&state)
        if let hidden = state.stored?.hidden { try await fetchHidden(hidden, &state.result) }
        if let interval { try await removeLeavers(every: interval, &state.result) }
        return state.result
    }

    /// Pulls until the end. If another client of the store has pulled the same rows meanwhile, continues from there: a
    /// few times, so that two clients cannot keep each other from ending without end.
    private func pull(_ state: inout PullState) async throws {
        for _ in 0..<10 {
            do {
                return try await pullOnce(&state)
            } catch let error as SyncError where error.cause is ReplacedToken {
                let result = state.result
                state = try await begin()
                state.result = result
            }
        }
        try await pullOnce(&state)
    }

    /// Performs the actions of the machine.
    private func pullOnce(_ state: inout PullState) async throws {
        var machine = PullMachine(feed: state.feed, pagesPerTransaction: settings.pagesPerTransaction)
        var action = machine.handle(state.began)
        while true {
            switch action {
            case .request(let step):
                action = machine.handle(await response(to: step))
            case .store(let pages, let ahead?):
                async let response = response(to: ahead)
                try await store(pages, &state)
                action = machine.handle(state.hasStored)
                if case .wait = action { action = machine.handle(await response) }
            case .store(let pages, nil):
                try await store(pages, &state)
                action = machine.handle(state.hasStored)
            case .beginWithFirstRow:
                try await beginWithFirstRow(&state)
                action = machine.handle(state.began)
            case .compareIDs:
                // Rows that were deleted after the pull began may be stored by now.
                var beginning = state.start
                beginning.omitsDeleted = false
                state = state.restarted(
                    with: try puller.dialect.makeFeed(plan, from: beginning), matching: schema.idMatching)
                action = machine.handle(state.began)
            case .fail(let error): throw error
            case .wait, .finish: return
            }
        }
    }

    private func beginWithFirstRow(_ state: inout PullState) async throws {
        puller.options.logger.notice(
            "the server no longer knows the cursor of a pull of \(schema.name), which begins with the first row")
        let result = state.result
        state = try begin(await readStoredState(), from: nil, filterText())
        state.result = result
    }

    private func response(to step: any PageStep) async -> PullMachine.Event {
        do { return .page(try await fetch(step)) } catch { return .failed(error) }
    }

    // MARK: Beginning

    private func filterText() throws -> String {
        guard queryID != nil, let predicate = query.predicate else { return "" }
        do {
            // The server may get another text. This one must be the same for the same filter, also after a column has
            // become optional, which begins a pull of all rows.
            return try OData.filter(predicate, schema: schema)
        } catch {
            throw SyncError(.invalidArgument, error.message, table: schema.name, column: error.column, cause: error)
        }
    }

    /// The state of the store when the pull begins.
    private struct StoredState: Sendable {
        /// The token as stored.
        var token: PullToken?
        /// Whether the table is empty.
        var isFresh: Bool
        /// Whether the table is empty and has pending operations.
        var isPending: Bool
        /// See ``SyncDatabase/commitsOfOthers(_:)``.
        var commitsOfOthers: UInt64
    }

    private func readStoredState() async throws -> StoredState {
        let (table, queryID, puller) = (schema.name, queryID, puller)
        let commitsOfOthers = try await puller.database.performing {
            try puller.database.commitsOfOthers($0.externalCommits?.number())
        }
        return try await puller.database.reading { reader in
            let token = try queryID.map { try puller.tokens.token(table: table, queryID: $0, in: reader) } ?? nil
            let isFresh = try reader.isEmpty(TableQuery(table))
            return StoredState(
                token: token, isFresh: isFresh,
                isPending: try isFresh && puller.operations.isPending(table: table, in: reader),
                commitsOfOthers: commitsOfOthers)
        }
    }

    /// Makes the state of a pull that continues from the stored token.
    private func begin() async throws -> PullState {
        let filter = try filterText()
        var known = try await readStoredState()
        guard let token = known.token, let queryID else { return try begin(known, from: nil, filter) }
        if token.filter != filter {
            guard settings.whenFilterChanges == .reset else {
                throw SyncError(
                    .filterChanged,
                    "the query id \(queryID.debugDescription) was used before with the filter "
                        + "\(token.filter.debugDescription); use another id, or reset the token", table: schema.name)
            }
            let (table, puller) = (schema.name, puller)
            try await puller.database.writing { try puller.tokens.remove(table: table, queryID: queryID, in: $0) }
            known.token = nil
            return try begin(known, from: nil, filter)
        }
        guard token.isBegun || puller.dialect.canContinue(from: token) else {
            puller.options.logger.notice(
                "the token of a pull of \(schema.name) is of another dialect; the pull begins with the first row")
            return try begin(known, from: nil, filter)
        }
        if known.isFresh, token.isLeftEmpty != true {
            var state = try begin(known, from: nil, filter)
            state.areRowsMissing = true
            return state
        }
        // Rows that were stored with other columns are fetched again.
        let hasColumns = token.columns == plan.columns
        // An unfinished refresh goes on as it began.
        let fillsColumns = token.isRefreshing == true ? token.fillsColumns == true : !hasColumns
        return try begin(known, from: hasColumns && !token.isBegun ? token : nil, filter, fillsColumns: fillsColumns)
    }

    /// Makes the state of a pull that continues from a token, or begins with the first row.
    private func begin(
        _ known: StoredState, from token: PullToken?, _ filter: String, fillsColumns: Bool = false
    ) throws -> PullState {
        // A pending operation keeps a row of its own, which may lack columns like those of the table.
        let isRefreshing = (!known.isFresh || known.isPending) && (token == nil || token?.isRefreshing == true)
        // A deleted row matters only to a stored row, or to an operation that may restore one.
        let start = FeedStart(
            token: token, stored: known.token, filter: filter, isRefreshing: isRefreshing,
            omitsDeleted: queryID != nil && token == nil && known.isFresh && !known.isPending,
            fillsColumns: isRefreshing && fillsColumns)
        return PullState(
            feed: try puller.dialect.makeFeed(plan, from: start), start: start, isFresh: known.isFresh,
            skipsRejectedRows: plan.skipsRejectedRows, commitsOfOthers: known.commitsOfOthers)
    }

    // MARK: Pages

    /// Fetches a page, with fewer rows if the server rejects the page size, or if the page is too large for it, for the
    /// transport, or for the time limit.
    func fetch(_ step: any PageStep) async throws -> PulledPage {
        let limits = puller.pageLimits
        // A page of identifiers is small, whatever the rows are.
        let table = plan.isListing ? "\(schema.name)\u{0}" : schema.name
        var limit = limits.limit(for: table, wanted: step.limit)
        var (refusal, failure): (SyncError?, SyncError?)
        var timeouts = 0
        while true {
            do {
                let page = try await fetch(step, limit: limit)
                limits.accept(limit, for: table, isReduced: refusal != nil, wanted: step.limit)
                return page
            } catch let error as SyncError where error.concernsPageSize {
                let first = failure ?? error
                let next = limits.halve(limit, for: table)
                if error.isTimeout { timeouts += 1 }
                guard let next, timeouts < PageLimits.maximumTimeouts else { throw first }
                failure = first
                limit = next
            } catch let error as SyncError
                where [.rejected, .network].contains(error.code) && puller.dialect.mayRefusePageSize(error)
            {
                let first = refusal ?? error
                guard let next = limits.next(after: limit, for: table) else { throw first }
                refusal = first
                limit = next
            }
        }
    }

    private func fetch(_ step: any PageStep, limit: Int) async throws -> PulledPage {
        let requestedAt = puller.recentlyPushed.now
        let call = try step.call(limit: limit)
        try checkLength(of: call)
        let answer: ServerAnswer
        do {
            answer = try await puller.connection.send(call)
        } catch var error as SyncError {
            error.table = schema.name
            throw error
        }
        guard answer.kind == .done else {
            // A page is its own look-up.
            var failure = answer.isDoubtful ? puller.connection.foreign(answer) : answer.failure()
            failure.table = schema.name
            if [414, 431].contains(failure.status) { failure.message += "; \(lengthAdvice(for: call))" }
            throw answer.kind == .gone && step.hasCursor ? ExpiredCursor(failure: failure) : failure
        }
        do {
            return try step.page(in: answer, limit: limit, requestedAt: requestedAt)
        } catch var error as SyncError {
            if error.code == .invalidAnswer, !puller.dialect.isLookUp(answer) {
                error = puller.connection.foreign(answer)
                error.table = schema.name
            }
            error.status = answer.status
            throw error
        }
    }
}
