internal import TidelineStore

/// What a page says that the cursor needs to know.
struct PageSummary: Sendable, Hashable {
    /// The number of rows.
    var count = 0
    /// How many rows match in all, where the server says so.
    var totalCount: Int64?
    /// Whether the server named a next page.
    var hasNextLink = false
    /// The id of the last row, in the server's order.
    var lastID: String?
    /// The least and greatest `updatedAt`.
    var oldest: Timestamp?
    var newest: Timestamp?
}

/// Which page a pull asks for next, how far its token may go, and when it ends: pure decisions.
///
/// An incremental pull never uses `$skip`, since rows move while it reads. It asks for rows in the order of
/// `updatedAt`, from a lower bound on, and raises the bound to the greatest `updatedAt` of each page; rows at the bound
/// come again and are known. A page that lies whole within the bound's own millisecond would come again for ever: that
/// millisecond is read by id instead.
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
        /// It depends on whether the page held anything new: see ``decide(hasNew:)``.
        case undecided
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
    private var largestPage = 0
    private var wantsCount: Bool
    private var undecided: PageSummary?
    /// The greatest `updatedAt` seen, which becomes the token once its millisecond is drained.
    private var drained: Timestamp?

    /// A cursor for an incremental pull.
    ///
    /// - Parameters:
    ///   - token: Up to where an earlier pull came.
    ///   - serverDate: The server's clock at that pull.
    ///   - lookback: How long a row may take from its stamp to its commit.
    init(token: Timestamp?, serverDate: Timestamp?, lookback: Duration, pageSize: Int) {
        self.token = token
        self.pageSize = pageSize
        mode = .window(from: token.map { Self.start(token: $0, serverDate: serverDate, lookback: lookback) })
        wantsCount = token != nil
    }

    /// A cursor for a pull of all rows: by id, or in the caller's order, from `skip` on, at most `limit`.
    init(order: [OrderTerm], skip: Int, limit: Int?, pageSize: Int) {
        self.pageSize = pageSize
        wantsCount = false
        mode =
            order.isEmpty && skip == 0 && limit == nil
            ? .byID(last: nil) : .bySkip(skip: skip, remaining: limit, order: order)
    }

    private static func start(token: Timestamp, serverDate: Timestamp?, lookback: Duration) -> Timestamp {
        let parts = lookback.components
        let ticks = parts.seconds * Timestamp.ticksPerSecond + parts.attoseconds / 100_000_000_000
        return min(token, (serverDate ?? token).advanced(byTicks: -ticks))
    }

    /// The first page to ask for; nil when the caller wants none.
    var first: Request? {
        if case .bySkip(_, let remaining?, _) = mode, remaining == 0 { return nil }
        return request
    }

    // MARK: Deciding

    /// Takes note of a page and says what follows.
    ///
    /// - Throws: ``SyncError`` with code noProgress when the server does not follow filter or order.
    mutating func receive(_ page: PageSummary) throws(SyncError) -> Decision {
        defer { largestPage = max(largestPage, page.count) }
        switch mode {
        case .window(let bound): return try receiveWindow(page, from: bound)
        case .drain(let bound, let lastID): return try receiveDrain(page, from: bound, lastID: lastID)
        case .byID(let last):
            guard page.count > 0 else { return .finish }
            guard page.lastID != last else { throw Self.noProgress("the same last id came twice") }
            mode = .byID(last: page.lastID)
            return .request(request)
        case .bySkip(let skip, let remaining, let order):
            let left = remaining.map { max($0 - page.count, 0) }
            guard page.count > 0, left != 0 else { return .finish }
            mode = .bySkip(skip: skip + page.count, remaining: left, order: order)
            return .request(request)
        }
    }

    /// Says what follows from a page that was undecided, once it is known whether it held anything new.
    mutating func decide(hasNew: Bool) -> Decision {
        guard let page = undecided, case .window(let bound) = mode, let newest = page.newest else { return .finish }
        undecided = nil
        // An answer smaller than another of this pull was not cut by a limit of the server's.
        if !hasNew, page.count < largestPage { return .finish }
        advance(past: page, newest: newest, from: bound)
        return .request(request)
    }

    private mutating func receiveWindow(_ page: PageSummary, from bound: Timestamp?) throws(SyncError) -> Decision {
        guard page.count > 0 else { return .finish }
        guard let oldest = page.oldest, let newest = page.newest else {
            throw Self.noProgress("a row has no updatedAt")
        }
        if let bound, oldest.flooredToMillisecond < bound.flooredToMillisecond {
            throw Self.noProgress("a row is older than asked for; the server does not filter by updatedAt")
        }
        let isWhole = page.totalCount.map { $0 <= Int64(page.count) } ?? false
        token = max(token ?? newest, newest)
        if isWhole, !page.hasNextLink { return .finish }
        if page.count < pageSize, !page.hasNextLink {
            undecided = page
            return .undecided
        }
        advance(past: page, newest: newest, from: bound)
        return .request(request)
    }

    private mutating func advance(past page: PageSummary, newest: Timestamp, from bound: Timestamp?) {
        wantsCount = page.count < pageSize
        if let bound, newest.flooredToMillisecond <= bound.flooredToMillisecond {
            // While the millisecond is read by id, the token stays below what is not yet read of it.
            drained = newest
            mode = .drain(from: bound.flooredToMillisecond, lastID: nil)
        } else {
            mode = .window(from: newest)
        }
    }

    private mutating func receiveDrain(
        _ page: PageSummary, from bound: Timestamp, lastID: String?
    ) throws(SyncError) -> Decision {
        let end = bound.advanced(byTicks: Timestamp.ticksPerMillisecond)
        if page.count == 0 {
            token = max(token ?? bound, drained ?? bound)
            mode = .window(from: end)
            wantsCount = true
            return .request(request)
        }
        guard let oldest = page.oldest, let newest = page.newest, oldest >= bound, newest < end else {
            throw Self.noProgress("a row is not from the millisecond asked for")
        }
        guard page.lastID != lastID else { throw Self.noProgress("the same last id came twice") }
        drained = max(drained ?? newest, newest)
        mode = .drain(from: bound, lastID: page.lastID)
        return .request(request)
    }

    private static func noProgress(_ reason: String) -> SyncError {
        SyncError(.noProgress, "the pull cannot go on: \(reason)")
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
