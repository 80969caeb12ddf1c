internal import HTTPTypes
internal import TidelineStore
internal import TidelineWire

/// The feed of a table service, which has no positions: its rows are read in the order of `updatedAt`, from a watermark
/// that is the token. ``PullCursor`` decides on the pages.
struct WatermarkFeed: PullFeed {
    private let dialect: TableServiceDialect
    private let plan: PullPlan
    private let start: FeedStart
    private var cursor: PullCursor
    /// The least `updatedAt` received.
    private var oldest: Timestamp?
    /// The server's clock at its first response. A row committed later may not have been returned.
    private var serverDate: Timestamp?
    /// The replacement for a missing server date; see ``PullToken/firstStamp``.
    private var firstStamp: Timestamp?
    /// The server's clock at its latest response.
    private var latestDate: Timestamp?
    /// The least `updatedAt` received that is far ahead of the server's clock.
    private var firstAhead: Timestamp?
    private let pageSize: Int

    init(_ dialect: TableServiceDialect, _ plan: PullPlan, from start: FeedStart) {
        self.dialect = dialect
        self.plan = plan
        self.start = start
        pageSize = min(plan.settings.pageSize, dialect.maximumPageSize)
        cursor = Self.makeCursor(plan, from: start.token, pageSize: pageSize)
    }

    private static func makeCursor(_ plan: PullPlan, from token: PullToken?, pageSize: Int) -> PullCursor {
        if plan.isListing { return PullCursor(listing: pageSize) }
        guard plan.queryID == nil else {
            return PullCursor(token: token, lookback: plan.settings.lookback, pageSize: pageSize)
        }
        let query = plan.query
        return PullCursor(order: query.order, skip: query.skip, limit: query.limit, pageSize: pageSize)
    }

    var first: (any PageStep)? {
        guard var request = cursor.first else { return nil }
        if plan.settings.countsRows { request.wantsCount = true }
        return step(request)
    }

    private func step(_ request: PullCursor.Request) -> TablePageStep {
        TablePageStep(dialect: dialect, plan: plan, request: request, includesDeleted: !start.omitsDeleted)
    }

    // MARK: Pages

    /// Records the server's clock from the first page.
    ///
    /// Without a date, the clock is at least the newest timestamp that the server is known to have assigned by then.
    ///
    /// If the clock has reached the stamps that the pull leaves out, or may have, the pull begins without leaving any
    /// out: new rows may have such stamps.
    mutating func begin(with page: PulledPage) -> (any PageStep)? {
        if let skipped = cursor.skipped, page.serverDate.map({ skipped.first <= presentEnd($0) }) ?? true {
            var token = start.token
            token?.ahead = nil
            cursor = PullCursor(token: token, lookback: plan.settings.lookback, pageSize: pageSize)
            return first
        }
        serverDate = page.serverDate
        if serverDate == nil { firstStamp = [start.stored?.updatedAt, page.summary.newest].compactMap(\.self).max() }
        // The next complete pull covers a pull that did not end.
        firstStamp = [firstStamp, start.stored?.firstStamp].compactMap(\.self).min()
        return nil
    }

    mutating func receive(_ page: PulledPage) throws(SyncError) -> PendingPage {
        let isWindow = cursor.isWindow
        let next = try cursor.receive(page.summary)
        oldest = [oldest, page.summary.oldest].compactMap(\.self).min()
        latestDate = page.serverDate
        noteAhead(in: page)
        return PendingPage(
            page: page, isWindow: isWindow, token: token(isLast: next == nil), oldest: oldest,
            next: next.map { step($0) })
    }

    // MARK: Token

    private func token(isLast: Bool) -> PullToken? {
        guard plan.queryID != nil, let updatedAt = cursor.token else { return nil }
        var token = PullToken(
            updatedAt: updatedAt, serverDate: serverDate, filter: start.filter, columns: plan.columns)
        if isLast {
            token.serverDate = [token.serverDate, firstStamp].compactMap(\.self).min()
            token.ahead = ahead(upTo: updatedAt)
            return token.drained
        }
        token.firstStamp = firstStamp
        token.drainedID = cursor.drainedID
        if cursor.skipped != nil { token.ahead = start.token?.ahead }
        token.isRefreshing = start.isRefreshing ? true : nil
        token.fillsColumns = start.fillsColumns ? true : nil
        return token
    }

    func token(of page: PendingPage, replacing stored: PullToken) -> PullToken {
        guard let token = page.token else { return stored }
        // The stored token proves nothing if the pull began with the first row.
        guard start.token != nil else { return token }
        guard stored.dialect == nil, stored.updatedAt == token.updatedAt, stored.columns == token.columns,
            stored.isRefreshing == token.isRefreshing,
            stored.drainedID == token.drainedID || stored.isDrained == true || token.drainedID == nil && !page.isLast
        else { return token }
        guard page.isLast else { return stored }
        // Without new rows, the stored token stays unless the other one spares the next pull rows that this pull
        // received. An earlier server date only makes the next pull look further back.
        if stored.firstStamp != nil || stored.ahead?.read != token.ahead?.read { return token }
        // Only a complete pull proves that rows ahead of the server's clock were read.
        if token.ahead != nil, stored.isDrained != true { return token }
        let lookback = plan.settings.lookback
        guard let oldest = page.oldest, let before = stored.start(lookback: lookback)?.first,
            let start = token.start(lookback: lookback)?.first, before < start, oldest < start
        else { return stored }
        return token
    }

    // MARK: Stamps ahead of the server's clock

    /// How far a stamp must be ahead of the end of the present for the next pulls to leave it out, in ticks. The clock
    /// would soon reach a nearer one.
    private static let minimumLead = 60 * Timestamp.ticksPerSecond

    /// Returns the greatest stamp that a server whose header has the given date may assign, except by a clock that is
    /// ahead.
    ///
    /// The header has whole seconds.
    private func presentEnd(_ date: Timestamp) -> Timestamp {
        date.advanced(byTicks: Timestamp.ticksPerSecond).advanced(by: plan.settings.lookback)
    }

    private mutating func noteAhead(in page: PulledPage) {
        guard plan.queryID != nil, let serverDate, let newest = page.summary.newest else { return }
        let least = presentEnd(serverDate).advanced(byTicks: Self.minimumLead)
        guard newest >= least else { return }
        page.rows.forEachRow { view in
            guard let updatedAt = page.columns.updatedAt(of: view), updatedAt >= least else { return }
            firstAhead = min(updatedAt, firstAhead ?? updatedAt)
        }
    }

    /// Returns what the token notes about rows ahead of the server's clock.
    ///
    /// Such rows were read completely if an earlier pull has received the last of them, and the look-back has passed
    /// since: like that row, all before it have been committed by now. A stamp that a second clock, less far ahead,
    /// assigns later is found when the server's clock reaches the first of them.
    private func ahead(upTo updatedAt: Timestamp) -> PullToken.Ahead? {
        guard let serverDate, let latestDate, updatedAt > presentEnd(serverDate) else { return nil }
        var ahead = PullToken.Ahead(date: latestDate, read: cursor.skipped)
        guard let before = start.token, before.isDrained == true, before.firstStamp == nil, let last = before.updatedAt,
            let known = before.ahead, presentEnd(known.date) <= serverDate,
            let first = [cursor.skipped?.first, firstAhead].compactMap(\.self).min(), first <= last
        else { return ahead }
        ahead.read = PullToken.Span(first: first, last: last)
        return ahead
    }

    func limited(_ token: PullToken, to skipped: Timestamp, before: PullToken?) -> PullToken? {
        token.limited(to: skipped)
    }
}

/// A page of a table service.
struct TablePageStep: PageStep {
    let dialect: TableServiceDialect
    let plan: PullPlan
    let request: PullCursor.Request
    let includesDeleted: Bool

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
            includeDeleted: includesDeleted, parameters: plan.parameters, isSyncTable: true,
            isIncremental: plan.queryID != nil)
        return dialect.call(try dialect.wire.read(page, schema: plan.schema, options: options))
    }

    func page(in answer: ServerAnswer, limit: Int, requestedAt: UInt64) throws -> PulledPage {
        let response = answer.response
        return try PulledPage(
            body: response.body, plan.codec, skipsRejectedRows: plan.skipsRejectedRows, requested: limit,
            maximum: plan.query.limit == nil ? nil : limit, hasNextLink: namesNextPage(response.response),
            serverDate: response.serverTime, requestedAt: requestedAt)
    }

    /// Returns whether a response links to a next page.
    ///
    /// A pull computes its own requests and never follows a link, so the target of the link does not matter. Behind a
    /// proxy that terminates TLS, servers use a different scheme in their links.
    private func namesNextPage(_ response: HTTPResponse) -> Bool {
        do {
            return try dialect.wire.nextPage(after: response, base: ("", "", "")) != nil
        } catch {
            return true
        }
    }
}
