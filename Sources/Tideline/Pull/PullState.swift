internal import TidelineStore

/// The state of a pull between two transactions.
///
/// A transaction changes a copy, which becomes the state of the pull after the commit.
struct PullState: Sendable {
    /// The result of the pages stored so far.
    var result = PullResult()
    /// The token as stored, used to detect changes by others.
    var stored: PullToken?
    /// Where the pull began.
    let start: FeedStart
    /// The feed with which the pull began. Its rules for tokens do not depend on pages.
    let feed: any PullFeed
    /// The number of rows of the whole pull, as far as the server has counted them.
    private(set) var expectedRows: Int?
    /// The rows that were skipped and must be returned by the next pull: their least `updatedAt`, and the token before
    /// the first page with such a row.
    private var skipped: (first: Timestamp, before: PullToken?)?

    /// The number of rows of the next page that are stored already.
    private(set) var storedRows = 0
    /// Whether the table was empty when the pull began.
    private let beganEmpty: Bool
    /// Whether the table was empty when the pull began, and no other process has committed since.
    private(set) var isFresh: Bool
    /// Whether the table was empty although a pull has stored rows, and no row of this pull is stored yet.
    var areRowsMissing = false
    /// The rows that the store rejects, or `nil` if such a row stops the pull.
    private(set) var rejected: [RowID: SkippedRow]?
    /// The identifiers of all rows so far, if they must be compared; see ``isSpellingInDoubt``.
    private(set) var ids: IDTable<Void>?
    private var cases: IDCases = []
    private var isRespelled = false
    /// See ``SyncDatabase/commitsOfOthers(_:)``, in the latest transaction of the pull.
    private(set) var commitsOfOthers: UInt64
    /// The latest millisecond in the order of `updatedAt`, and the rows in it, which later pages may return again.
    ///
    /// The next page starts at the greatest `updatedAt`, and a server may compare timestamps only to the millisecond.
    /// A millisecond that fills whole pages is then read completely, by identifier. Therefore these are rows of at most
    /// two or three pages.
    private var millisecond: Range<Timestamp>?
    private var latest = IDTable<RowStamp>(matching: .exact)

    init(feed: any PullFeed, start: FeedStart, isFresh: Bool, skipsRejectedRows: Bool, commitsOfOthers: UInt64) {
        self.commitsOfOthers = commitsOfOthers
        self.feed = feed
        self.start = start
        stored = start.stored
        beganEmpty = isFresh
        self.isFresh = isFresh
        rejected = skipsRejectedRows ? [:] : nil
    }

    /// Returns the state of a pull that restarts with a feed and compares the identifiers of all rows. Rows already
    /// written remain counted.
    func restarted(with feed: any PullFeed, matching: TableSchema.IDMatching) -> PullState {
        var start = start
        start.stored = stored
        var state = PullState(
            feed: feed, start: start, isFresh: false, skipsRejectedRows: rejected != nil,
            commitsOfOthers: commitsOfOthers)
        state.ids = IDTable(matching: matching)
        state.result = result
        state.result.rowsPulled = 0
        state.result.rowsSkipped = 0
        state.result.skippedRows = []
        return state
    }

    /// The events of the machine for a beginning with this state, and after a transaction.
    var began: PullMachine.Event { .began(feed, stored: start.stored, commitsOfOthers: commitsOfOthers) }
    var hasStored: PullMachine.Event {
        .stored(commitsOfOthers: commitsOfOthers, isSpellingInDoubt: isSpellingInDoubt)
    }

    // MARK: Pages

    /// The greatest number of rows to expect. Sums of greater ones, such as those that servers send if they do not know
    /// the number, would overflow.
    private static let maximumTotal = Int64(Int.max >> 10)

    /// Records the changes of a page, or of its next rows.
    ///
    /// - Returns: Whether the rows are the last ones of the page.
    mutating func note(_ diff: PageDiff, of held: PendingPage) -> Bool {
        result.rowsPulled += diff.rows.count - diff.repeatedCount
        expectedRows = expectedRows.map { max($0, result.rowsPulled) }
        result.rowsStored += diff.storedCount
        result.rowsRemoved += diff.removed.count
        result.note(skipped: diff.skipped)
        if let first = diff.firstSkipped {
            skipped = (min(first, skipped?.first ?? first), skipped == nil ? held.tokenBefore : skipped?.before)
        }
        if diff.isRespelled { isRespelled = true }
        storedRows = diff.rows.upperBound
        guard storedRows == held.page.rows.count else { return false }
        storedRows = 0
        note(held)
        return true
    }

    /// Records a page of which all rows are stored.
    private mutating func note(_ held: PendingPage) {
        result.requests += 1
        result.note(skipped: held.page.skipped)
        // The count includes the rows of this page, and those of the page before that it repeats.
        if let total = held.page.summary.totalCount {
            let count = Int(clamping: min(total, Self.maximumTotal))
            expectedRows = result.rowsPulled + max(count - held.page.rows.count, 0)
        }
        if held.isWindow { noteLatest(of: held.page) }
        cases.formUnion(held.page.cases)
        guard ids != nil else { return }
        held.page.rows.forEachRow { ids?.insert((), for: $0.packedID) }
    }

    /// Records the number of commits of others in a transaction that stores pages.
    mutating func note(commitsOfOthers: UInt64) {
        if commitsOfOthers != self.commitsOfOthers { isFresh = false }
        self.commitsOfOthers = commitsOfOthers
    }

    /// Records a row that the store rejects. Returns `false` if such a row stops the pull, or if the error names no row
    /// or one that was already skipped.
    mutating func skip(_ error: SyncError, table: String) -> Bool {
        guard let id = error.id, let cause = error.cause as? StoreError, rejected?[.string(id)] == nil else {
            return false
        }
        rejected?[.string(id)] = SkippedRow(table: table, id: id, column: error.column, message: cause.message)
        return rejected != nil
    }

    // MARK: Token

    /// Returns the token to store with a page.
    func token(after last: PendingPage) -> PullToken? {
        guard let token = last.token else { return nil }
        // Rows whose identifiers differ only in case must not be skipped, so the token advances only at the end.
        guard ids == nil || last.isLast else { return stored }
        var next = stored.map { feed.token(of: last, replacing: $0) } ?? token
        (next.comparedAt, next.hidden) = (stored?.comparedAt, stored?.hidden)
        if last.isLast { next.isLeftEmpty = beganEmpty && result.rowsStored == 0 ? true : nil }
        return next
    }

    /// Returns a token that lets the next pull return the rows that this one has skipped, or `nil` to leave the stored
    /// one.
    func limited(_ token: PullToken) -> PullToken? {
        guard let skipped else { return token }
        var limited = feed.limited(token, to: skipped.first, before: skipped.before)
        limited?.comparedAt = stored?.comparedAt
        limited?.hidden = stored?.hidden
        return limited
    }

    // MARK: Rows

    /// Whether no row can be returned again.
    var hasNoLatest: Bool { latest.isEmpty }

    /// Returns whether a row was already received in the same state.
    func hasReceived(_ view: borrowing RowView, _ columns: StampColumns) -> Bool {
        guard let millisecond, let updatedAt = columns.updatedAt(of: view), millisecond.contains(updatedAt),
            let stamp = latest[view.packedID]
        else { return false }
        return columns.has(stamp, view)
    }

    /// Records the latest rows of a page in the order of `updatedAt`.
    private mutating func noteLatest(of page: PulledPage) {
        guard let newest = page.summary.newest else { return }
        let start = newest.flooredToMillisecond
        if millisecond?.lowerBound != start {
            let end = start.advanced(byTicks: Timestamp.ticksPerMillisecond)
            millisecond = start..<max(start, end)
            latest = IDTable(matching: .exact)
        }
        for index in (0..<page.rows.count).reversed() {
            let isLatest = page.rows.withRow(at: index) { view in
                guard let updatedAt = page.columns.updatedAt(of: view), updatedAt >= start else { return false }
                if let stamp = page.columns.stamp(of: view) { latest.insert(stamp, for: view.packedID) }
                return true
            }
            // In ascending order, the latest rows are at the end.
            if !isLatest, page.summary.isAscending { break }
        }
    }

    /// Whether two rows of this pull may have identifiers that differ only in case: a row is stored with a different
    /// case, and the identifiers of this pull contain letters of both cases. The pull then restarts and compares all
    /// identifiers.
    var isSpellingInDoubt: Bool { ids == nil && isRespelled && cases == .both }

    /// Returns whether identifiers with letters of both cases were received, including those of the given page, so that
    /// case matters.
    func hasBothCases(with page: PulledPage) -> Bool { cases.union(page.cases) == .both }
}
