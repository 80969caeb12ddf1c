internal import HTTPTypes
internal import TidelineStore
internal import TidelineWire

/// The feed of a table service, which has no positions: its rows are read in the order of `updatedAt`, from a watermark that
/// is the token. ``PullCursor`` decides on the pages.
struct WatermarkFeed: PullFeed {
    private let family: TableServiceFamily
    private let plan: PullPlan
    private let start: FeedStart
    private var cursor: PullCursor
    /// The least `updatedAt` received.
    private var oldest: Timestamp?
    /// The server's clock at its first response. A row committed later may not have been returned.
    private var serverDate: Timestamp?
    /// The replacement for a missing server date; see ``PullToken/firstStamp``.
    private var firstStamp: Timestamp?

    init(_ family: TableServiceFamily, _ plan: PullPlan, from start: FeedStart) {
        self.family = family
        self.plan = plan
        self.start = start
        let (query, pageSize) = (plan.query, min(plan.settings.pageSize, family.maximumPageSize))
        cursor =
            plan.queryID == nil
            ? PullCursor(order: query.order, skip: query.skip, limit: query.limit, pageSize: pageSize)
            : PullCursor(token: start.token, lookback: plan.settings.lookback, pageSize: pageSize)
    }

    var first: (any PageStep)? {
        guard var request = cursor.first else { return nil }
        if plan.settings.countsRows { request.wantsCount = true }
        return step(request)
    }

    private func step(_ request: PullCursor.Request) -> TablePageStep {
        TablePageStep(family: family, plan: plan, request: request)
    }

    // MARK: Pages

    /// Records the server's clock from the first page.
    ///
    /// Without a date, the clock is at least the newest timestamp that the server is known to have assigned by then.
    mutating func begin(with page: PulledPage) {
        serverDate = page.serverDate
        if serverDate == nil { firstStamp = [start.stored?.updatedAt, page.summary.newest].compactMap(\.self).max() }
        // The next complete pull covers a pull that did not end.
        firstStamp = [firstStamp, start.stored?.firstStamp].compactMap(\.self).min()
    }

    mutating func receive(_ page: PulledPage) throws(SyncError) -> ReceivedPage {
        let kind = cursor.pageKind
        let decision = try cursor.receive(page.summary)
        oldest = [oldest, page.summary.oldest].compactMap(\.self).min()
        guard case .request(let request) = decision else {
            return ReceivedPage(kind: kind, token: token(isLast: true), oldest: oldest)
        }
        return ReceivedPage(kind: kind, token: token(isLast: false), oldest: oldest, next: step(request))
    }

    // MARK: Token

    private func token(isLast: Bool) -> PullToken? {
        guard plan.queryID != nil, let updatedAt = cursor.token else { return nil }
        var token = PullToken(
            updatedAt: updatedAt, serverDate: serverDate, filter: start.filter, columns: plan.columns)
        if isLast {
            token.serverDate = [serverDate, firstStamp].compactMap(\.self).min()
            return token.drained
        }
        token.firstStamp = firstStamp
        token.isRefreshing = start.isRefreshing ? true : nil
        return token
    }

    func token(of page: PendingPage, replacing stored: PullToken) -> PullToken {
        guard let token = page.token else { return stored }
        guard stored.dialect == nil, stored.updatedAt == token.updatedAt, stored.columns == token.columns,
            stored.isRefreshing == token.isRefreshing
        else { return token }
        guard page.isLast else { return stored }
        // Without new rows, the stored token stays unless the other one spares the next pull rows that this pull
        // received. An earlier server date only makes the next pull look further back.
        if stored.firstStamp != nil { return token }
        let lookback = plan.settings.lookback
        guard let oldest = page.oldest, let before = stored.start(lookback: lookback)?.first,
            let start = token.start(lookback: lookback)?.first, before < start, oldest < start
        else { return stored }
        return token
    }

    func limited(_ token: PullToken, to skipped: Timestamp, before: PullToken?) -> PullToken? {
        token.limited(to: skipped)
    }
}

/// A page of a table service.
struct TablePageStep: PageStep {
    let family: TableServiceFamily
    let plan: PullPlan
    let request: PullCursor.Request

    var limit: Int { request.limit }
    var hasCursor: Bool { false }

    func call(limit: Int) throws -> ServerCall {
        var page = plan.query
        if let filter = request.filter { page = page.filter(filter) }
        page.order = request.order
        page.skip = request.skip
        page.limit = limit
        page.includesTotalCount = request.wantsCount
        let options = ReadOptions(
            includeDeleted: true, parameters: plan.parameters, isSyncTable: true, isIncremental: plan.queryID != nil)
        return family.call(try family.dialect.read(page, schema: plan.schema, options: options))
    }

    func page(in answer: ServerAnswer, limit: Int, askedAt: UInt64) throws -> PulledPage {
        let response = answer.response.response
        return try PulledPage(
            body: answer.response.body, plan.codec, skipsMisfits: plan.skipsMisfits, requested: limit,
            maximum: plan.query.limit == nil ? nil : limit, hasNextLink: namesNextPage(response),
            serverDate: ServerClock.time(of: response), askedAt: askedAt)
    }

    /// Returns whether a response links to a next page.
    ///
    /// A pull computes its own requests and never follows a link, so the target of the link does not matter. Behind a
    /// proxy that terminates TLS, servers use a different scheme in their links.
    private func namesNextPage(_ response: HTTPResponse) -> Bool {
        do {
            return try family.dialect.nextPage(after: response, base: ("", "", "")) != nil
        } catch {
            return true
        }
    }
}
