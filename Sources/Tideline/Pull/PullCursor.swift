internal import TidelineStore

/// What a page says that the cursor needs to know.
struct PageSummary: Sendable, Hashable {
    /// The number of rows, those that do not fit the table included.
    var count = 0
    /// How many rows match in all, where the server says so.
    var totalCount: Int64?
    /// Whether the server named a next page.
    var hasNextLink = false
    /// The id of the last row, in the server's order.
    var lastID: String?
    /// The least and greatest `updatedAt`; nil when a row lacks it.
    var oldest: Timestamp?
    var newest: Timestamp?
    /// The id of a row that has no `updatedAt`.
    var undatedID: String?
    /// Whether `updatedAt` never falls from one row to the next.
    var isAscending = true
    /// How many rows were asked for.
    var requested = 0

    /// Whether there are fewer rows than were asked for.
    var isShort: Bool { count < requested }
}

/// Which page a pull asks for next, how far its token may go, and when it ends: pure decisions.
///
/// An incremental pull never uses `$skip`, since rows move while it reads. It asks for rows in the order of
/// `updatedAt`, from a lower bound on, and raises the bound to the greatest `updatedAt` of each page; rows at the bound
/// come again and are known. A page that lies whole within the bound's own millisecond would come again for ever: that
/// millisecond is read by id instead.
///
/// No page is the last for being short or for bringing nothing new, since a server may cut pages as it likes and say
/// nothing: the last one is empty, or the server's count says that it holds all that match.
struct PullCursor: Sendable {
    /// A page to ask for.
    struct Request: Sendable, Hashable {
        /// Added to the caller's filter.
        var filter: Predicate?
        var order: [OrderTerm]
        var skip = 0
        var limit: Int
        /// Whether to ask how many rows match in all: the proof that an answer holds them all.
        var wantsCount = false
    }

    /// What follows from a page.
    enum Decision: Sendable, Hashable {
        case request(Request)
        case finish
    }

    /// How the rows of a page relate to those of the pages before it.
    enum PageKind: Sendable, Hashable {
        /// In the order of `updatedAt`; it begins with rows of the page before.
        case window
        /// A millisecond by id; any of its rows may have come before.
        case drain
        /// None of its rows came before.
        case separate
    }

    private enum Mode: Hashable {
        case window(from: Timestamp?)
        case drain(from: Timestamp, lastID: String?)
        case byID(last: String?)
        case bySkip(skip: Int, remaining: Int?, order: [OrderTerm])
    }

    /// The greatest `updatedAt` up to which everything was applied; nil when there is none yet.
    private(set) var token: Timestamp?
    private var mode: Mode
    private let pageSize: Int
    private var wantsCount: Bool
    /// Notices a server that sends the same rows over and over.
    private var loops = LoopDetector()
    /// The greatest `updatedAt` seen, which becomes the token once its millisecond is drained.
    private var drained: Timestamp?

    /// A cursor for an incremental pull.
    ///
    /// - Parameters:
    ///   - token: Up to where an earlier pull came.
    ///   - lookback: How long a row may take from its stamp to its commit.
    init(token: PullToken?, lookback: Duration, pageSize: Int) {
        self.token = token?.updatedAt
        self.pageSize = pageSize
        mode = .window(from: token?.start(lookback: lookback))
        wantsCount = token != nil
    }

    /// A cursor for a pull of all rows: by id, or in the caller's order, from `skip` on, at most `limit`.
    init(order: [OrderTerm], skip: Int, limit: Int?, pageSize: Int) {
        self.pageSize = pageSize
        wantsCount = false
        mode =
            order.isEmpty && skip == 0 && limit == nil
            ? .byID(last: nil) : .bySkip(skip: skip, remaining: limit, order: Self.completed(order))
    }

    /// The order with the id as its last term: rows that are equal in all others must not change places between pages.
    private static func completed(_ order: [OrderTerm]) -> [OrderTerm] {
        order.contains { $0.column == "id" } ? order : order + [OrderTerm("id")]
    }

    /// The first page to ask for; nil when the caller wants none.
    var first: Request? {
        if case .bySkip(_, let remaining?, _) = mode, remaining == 0 { return nil }
        return request
    }

    // MARK: Deciding

    /// How the page asked for last relates to those before.
    var pageKind: PageKind {
        switch mode {
        case .window: .window
        case .drain: .drain
        case .byID, .bySkip: .separate
        }
    }

    /// Takes note of a page and says what follows.
    ///
    /// - Throws: ``SyncError`` with code noProgress when the server does not follow filter or order.
    mutating func receive(_ page: PageSummary) throws(SyncError) -> Decision {
        switch mode {
        case .window(let bound):
            return try receiveWindow(page, from: bound)
        case .drain(let bound, _):
            return try receiveDrain(page, from: bound)
        case .byID:
            guard page.count > 0 else { return .finish }
            try requireNew(page.lastID)
            mode = .byID(last: page.lastID)
            return .request(request)
        case .bySkip(let skip, let remaining, let order):
            let left = remaining.map { max($0 - page.count, 0) }
            guard page.count > 0, left != 0 else { return .finish }
            try requireNew(page.lastID, allowing: 1)
            mode = .bySkip(skip: skip + page.count, remaining: left, order: order)
            return .request(request)
        }
    }

    private mutating func receiveWindow(_ page: PageSummary, from bound: Timestamp?) throws(SyncError) -> Decision {
        guard page.count > 0 else { return .finish }
        let (oldest, newest) = try Self.range(of: page)
        if let bound, oldest.flooredToMillisecond < bound.flooredToMillisecond {
            throw Self.noProgress("a row is older than asked for; the server does not filter by updatedAt")
        }
        token = max(token ?? newest, newest)
        let isWhole = page.totalCount.map { $0 <= Int64(page.count) } ?? false
        if isWhole, !page.hasNextLink { return .finish }
        guard page.isAscending else {
            throw Self.noProgress("rows do not come in the order of updatedAt")
        }
        advance(past: page, newest: newest, from: bound)
        return .request(request)
    }

    private mutating func advance(past page: PageSummary, newest: Timestamp, from bound: Timestamp?) {
        defer { wantsCount = page.isShort }
        guard let bound, newest.flooredToMillisecond <= bound.flooredToMillisecond else {
            mode = .window(from: newest)
            return
        }
        // Most likely the end was reached: asking again, with the count, is cheaper than reading by id.
        if page.isShort, !wantsCount { return }
        // While the millisecond is read by id, the token stays below what is not yet read of it.
        drained = newest
        mode = .drain(from: bound.flooredToMillisecond, lastID: nil)
        loops = LoopDetector()
    }

    private mutating func receiveDrain(_ page: PageSummary, from bound: Timestamp) throws(SyncError) -> Decision {
        let end = bound.advanced(byTicks: Timestamp.ticksPerMillisecond)
        if page.count == 0 {
            token = max(token ?? bound, drained ?? bound)
            mode = .window(from: end)
            wantsCount = true
            return .request(request)
        }
        let (oldest, newest) = try Self.range(of: page)
        guard oldest >= bound, newest < end else {
            throw Self.noProgress("a row is not from the millisecond asked for")
        }
        try requireNew(page.lastID)
        drained = max(drained ?? newest, newest)
        mode = .drain(from: bound, lastID: page.lastID)
        return .request(request)
    }

    private static func range(of page: PageSummary) throws(SyncError) -> (oldest: Timestamp, newest: Timestamp) {
        guard let oldest = page.oldest, let newest = page.newest else {
            throw noProgress("a row has no updatedAt", id: page.undatedID)
        }
        return (oldest, newest)
    }

    private mutating func requireNew(_ lastID: String?, allowing repetitions: Int = 0) throws(SyncError) {
        guard loops.note(lastID) <= repetitions else {
            throw Self.noProgress("the server sends the same rows again", id: lastID)
        }
    }

    private static func noProgress(_ reason: String, id: String? = nil) -> SyncError {
        SyncError(.noProgress, "the pull cannot go on: \(reason)", id: id)
    }

    // MARK: Requests

    private var request: Request {
        let updatedAt = Predicate.column("updatedAt")
        switch mode {
        case .window(let bound):
            return Request(
                filter: bound.map { updatedAt >= .value($0) }, order: [OrderTerm("updatedAt"), OrderTerm("id")],
                limit: pageSize, wantsCount: wantsCount)
        case .drain(let bound, let lastID):
            let end = bound.advanced(byTicks: Timestamp.ticksPerMillisecond)
            var filter = updatedAt >= .value(bound) && updatedAt < .value(end)
            if let lastID { filter = filter && .column("id") > .value(lastID) }
            return Request(filter: filter, order: [OrderTerm("id")], limit: pageSize)
        case .byID(let last):
            return Request(
                filter: last.map { .column("id") > .value($0) }, order: [OrderTerm("id")], limit: pageSize)
        case .bySkip(let skip, let remaining, let order):
            return Request(filter: nil, order: order, skip: skip, limit: min(pageSize, remaining ?? pageSize))
        }
    }
}
