internal import TidelineStore

/// Decides which page a pull requests next, how far its token advances, and when the pull ends. A pure state machine.
///
/// An incremental pull never uses `$skip` because rows move while it reads. It requests rows in the order of
/// `updatedAt` from a lower bound, and raises the bound to the greatest `updatedAt` of each page. Rows at the bound are
/// returned again and recognized. A page that lies entirely within the bound's millisecond would be returned again
/// forever; that millisecond is read by identifier instead.
///
/// A short page, or a page without new rows, does not end the pull because a server may cut pages arbitrarily without
/// indicating it. The last page is empty, or contains all matching rows according to the server's count.
struct PullCursor: Sendable {
    /// A page to request.
    struct Request: Sendable {
        /// The filter to add to the caller's filter.
        var filter: RowPredicate?
        var order: [OrderTerm]
        var skip = 0
        var limit: Int
        /// Whether to request the total count, which proves that a response contains all matching rows.
        var wantsCount = false
    }

    private enum Mode: Hashable {
        case window(from: Timestamp?, isExclusive: Bool = false)
        case drain(from: Timestamp, lastID: String?)
        case byID(last: String?)
        case bySkip(skip: Int, remaining: Int?, order: [OrderTerm])
        case listing(last: String?)
    }

    /// The watermark: the greatest `updatedAt` up to which all rows were applied, or `nil` if there is none yet.
    private(set) var token: Timestamp?
    private var mode: Mode
    /// The millisecond that this pull, or an earlier one, has read by identifier, and the identifier that it came to.
    private var begun: (start: Timestamp, lastID: String)?
    /// The stamps that are not requested because they were read before.
    let skipped: PullToken.Span?
    private let pageSize: Int
    private var wantsCount: Bool
    /// The number of rows that a list has not returned yet, as far as the server has counted them.
    private var unlisted: Int64 = 0
    /// Detects a server that returns the same rows repeatedly.
    private var loops = LoopDetector()
    /// The greatest `updatedAt` received, which becomes the token once its millisecond is read completely.
    private var drained: Timestamp?

    /// Creates a cursor for an incremental pull.
    ///
    /// - Parameters:
    ///   - token: The token of the previous pull.
    ///   - lookback: The longest time between a row's timestamp and its commit.
    init(token: PullToken?, lookback: Duration, pageSize: Int) {
        self.token = token?.updatedAt
        skipped = token?.ahead?.read
        begun = token?.drainedStart(lookback: lookback)
        self.pageSize = pageSize
        let start = token?.start(lookback: lookback)
        mode = .window(from: start?.bound, isExclusive: start?.isExclusive ?? false)
        wantsCount = token != nil
    }

    /// Creates a cursor for a pull of all rows: by identifier, or in the caller's order, starting at `skip`, with at
    /// most `limit` rows.
    init(order: [OrderTerm], skip: Int, limit: Int?, pageSize: Int) {
        self.pageSize = pageSize
        (skipped, begun) = (nil, nil)
        wantsCount = false
        mode =
            order.isEmpty && skip == 0 && limit == nil
            ? .byID(last: nil) : .bySkip(skip: skip, remaining: limit, order: Self.completed(order))
    }

    /// Creates a cursor for a list of all rows by identifier, whose absence from it has consequences.
    init(listing pageSize: Int) {
        self.pageSize = pageSize
        (skipped, begun) = (nil, nil)
        wantsCount = true
        mode = .listing(last: nil)
    }

    /// Returns the order with the identifier as the last term, so that rows that are equal in all other terms keep
    /// their places between pages.
    private static func completed(_ order: [OrderTerm]) -> [OrderTerm] {
        order.contains { $0.column == "id" } ? order : order + [OrderTerm("id")]
    }

    /// The first page to request, or `nil` if the limit is 0.
    var first: Request? {
        if case .bySkip(_, let remaining?, _) = mode, remaining == 0 { return nil }
        return request
    }

    // MARK: Deciding

    /// The identifier up to which the token's millisecond is read by identifier, or `nil` if it is not.
    var drainedID: String? { begun?.start == token?.flooredToMillisecond ? begun?.lastID : nil }

    /// Whether the page requested last is in the order of `updatedAt`, and begins with rows of the page before.
    var isWindow: Bool {
        if case .window = mode { true } else { false }
    }

    /// Processes a page and returns the next one to request, or `nil` if the pull ends with this one.
    ///
    /// - Throws: ``SyncError`` with code noProgress if the server ignores the filter or order.
    mutating func receive(_ page: PageSummary) throws(SyncError) -> Request? {
        switch mode {
        case .window(let bound, _):
            return try receiveWindow(page, from: bound)
        case .drain(let bound, _):
            return try receiveDrain(page, from: bound)
        case .byID:
            guard page.count > 0 else { return nil }
            try requireNew(page.lastID)
            mode = .byID(last: page.lastID)
            return request
        case .bySkip(let skip, let remaining, let order):
            let left = remaining.map { max($0 - page.count, 0) }
            guard page.count > 0, left != 0 else { return nil }
            try requireNew(page.lastID, allowing: 1)
            mode = .bySkip(skip: skip + page.count, remaining: left, order: order)
            return request
        case .listing:
            return try receiveList(page)
        }
    }

    /// Processes a page of a list.
    ///
    /// Something else than the service may give an empty or short response, so a list ends only with the server's
    /// count: a short page that has all rows that match.
    private mutating func receiveList(_ page: PageSummary) throws(SyncError) -> Request? {
        let count = Int64(page.count)
        if wantsCount {
            guard let total = page.totalCount, total >= 0 else {
                throw SyncError(
                    .invalidAnswer,
                    "the list of the server's rows has no count, which would show that it is complete: the server does not "
                        + "count rows, or something else answered")
            }
            if total == count, page.isShort, !page.hasNextLink || count == 0 { return nil }
            guard count > 0 else { throw Self.noProgress("the server counts rows that it does not return") }
            unlisted = total
        }
        unlisted -= count
        if count > 0 {
            try requireNew(page.lastID)
            mode = .listing(last: page.lastID)
        }
        wantsCount = page.isShort || unlisted <= Int64(pageSize)
        return request
    }

    private mutating func receiveWindow(_ page: PageSummary, from bound: Timestamp?) throws(SyncError) -> Request? {
        guard page.count > 0 else { return nil }
        let (oldest, newest) = try Self.range(of: page)
        if let bound, oldest.flooredToMillisecond < bound.flooredToMillisecond {
            throw Self.noProgress("the server returned a row older than requested; it does not filter by updatedAt")
        }
        token = max(token ?? newest, newest)
        let isWhole = page.totalCount.map { $0 <= Int64(page.count) } ?? false
        if isWhole, !page.hasNextLink { return nil }
        guard page.isAscending else {
            throw Self.noProgress("the server does not return rows in the order of updatedAt")
        }
        advance(past: page, newest: newest, from: bound)
        return request
    }

    private mutating func advance(past page: PageSummary, newest: Timestamp, from bound: Timestamp?) {
        defer { wantsCount = page.isShort }
        guard let bound, newest.flooredToMillisecond <= bound.flooredToMillisecond else {
            mode = .window(from: newest)
            return
        }
        // The end was most likely reached. Requesting the page again with the count is cheaper than reading by
        // identifier.
        if page.isShort, !wantsCount { return }
        // While the millisecond is read by identifier, the token stays below its unread rows.
        drained = newest
        let start = bound.flooredToMillisecond
        mode = .drain(from: start, lastID: begun?.start == start ? begun?.lastID : nil)
        loops = LoopDetector()
    }

    private mutating func receiveDrain(_ page: PageSummary, from bound: Timestamp) throws(SyncError) -> Request? {
        let end = bound.advanced(byTicks: Timestamp.ticksPerMillisecond)
        if page.count == 0 {
            token = max(token ?? bound, drained ?? bound)
            mode = .window(from: end)
            wantsCount = true
            return request
        }
        let (oldest, newest) = try Self.range(of: page)
        guard oldest >= bound, newest < end else {
            throw Self.noProgress("the server returned a row that is not from the requested millisecond")
        }
        try requireNew(page.lastID)
        drained = max(drained ?? newest, newest)
        mode = .drain(from: bound, lastID: page.lastID)
        begun = page.lastID.map { (bound, $0) }
        return request
    }

    private static func range(of page: PageSummary) throws(SyncError) -> (oldest: Timestamp, newest: Timestamp) {
        guard let oldest = page.oldest, let newest = page.newest else {
            throw noProgress("a row has no updatedAt", id: page.undatedID)
        }
        return (oldest, newest)
    }

    private mutating func requireNew(_ lastID: String?, allowing repetitions: Int = 0) throws(SyncError) {
        guard loops.note(lastID) <= repetitions else {
            throw Self.noProgress("the server returned the same rows again", id: lastID)
        }
    }

    private static func noProgress(_ reason: String, id: String? = nil) -> SyncError {
        SyncError(.noProgress, "the pull cannot continue: \(reason)", id: id)
    }

    // MARK: Requests

    private var request: Request {
        let updatedAt = RowPredicate.column("updatedAt")
        switch mode {
        case .window(let bound, let isExclusive):
            var filter = bound.map { isExclusive ? updatedAt > .value($0) : updatedAt >= .value($0) }
            if let skipped, let bound, bound <= skipped.last {
                let others = updatedAt < .value(skipped.first) || updatedAt > .value(skipped.last)
                filter = filter.map { $0 && others }
            }
            return Request(
                filter: filter, order: [OrderTerm("updatedAt"), OrderTerm("id")], limit: pageSize,
                wantsCount: wantsCount)
        case .drain(let bound, let lastID):
            let end = bound.advanced(byTicks: Timestamp.ticksPerMillisecond)
            var filter = updatedAt >= .value(bound) && updatedAt < .value(end)
            if let lastID { filter = filter && .column("id") > .value(lastID) }
            return Request(filter: filter, order: [OrderTerm("id")], limit: pageSize)
        case .byID(let last), .listing(let last):
            return Request(
                filter: last.map { .column("id") > .value($0) }, order: [OrderTerm("id")], limit: pageSize,
                wantsCount: wantsCount)
        case .bySkip(let skip, let remaining, let order):
            return Request(filter: nil, order: order, skip: skip, limit: min(pageSize, remaining ?? pageSize))
        }
    }
}
