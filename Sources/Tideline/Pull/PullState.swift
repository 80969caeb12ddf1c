internal import TidelineStore

/// A page that was received and is not stored yet.
struct PendingPage: Sendable {
    let page: PulledPage
    let kind: PullCursor.PageKind
    /// The watermark after this page is stored: the greatest `updatedAt` up to which all rows are stored, or `nil` if
    /// there is none.
    let watermark: Timestamp?
    /// The least `updatedAt` of the pull so far.
    let oldest: Timestamp?
    /// Whether the pull ends with this page.
    let isLast: Bool
}

/// The state of a pull between two pages.
///
/// A transaction changes a copy, which becomes the state of the pull after the commit.
struct PullState: Sendable {
    /// The result of the pages stored so far.
    var result = PullResult()
    /// The token as stored, used to detect changes by others.
    var stored: PullToken?
    /// The token with which the pull began.
    let initial: PullToken?
    /// The pages that were received and are not stored yet.
    private(set) var pending: [PendingPage] = []
    private(set) var cursor: PullCursor
    private let filter: String
    /// The least `updatedAt` received.
    private var oldest: Timestamp?
    /// The server's clock at its first response. A row committed later may not have been returned.
    private var serverDate: Timestamp?
    /// The replacement for a missing server date; see ``PullToken/firstStamp``.
    private var firstStamp: Timestamp?
    /// The number of rows of the whole pull, as far as the server has counted them.
    private(set) var expectedRows: Int?
    /// The upper limit of the token. Rows from there on were skipped and must be returned by the next pull.
    private(set) var ceiling: Timestamp?

    /// Whether the table was empty when the pull began.
    let isFresh: Bool
    /// Whether the pull fetches all rows into a table that is not empty. Stored rows may lack columns that were added,
    /// so equal versions do not prove equal rows until the pull has ended.
    let isRefreshing: Bool
    /// The rows that the store rejects, or `nil` if such a row stops the pull.
    private(set) var rejected: [RowID: SkippedRow]?
    /// The identifiers of all rows so far, if they must be compared; see ``isSpellingInDoubt``.
    private(set) var ids: IDTable<Void>?
    private var cases: IDCases = []
    private var isRespelled = false
    /// The latest millisecond in the order of `updatedAt`, and the rows in it, which later pages may return again.
    ///
    /// The next page starts at the greatest `updatedAt`, and a server may compare timestamps only to the millisecond.
    /// A millisecond that fills whole pages is then read completely, by identifier. Therefore these are rows of at most
    /// two or three pages.
    private var millisecond: Range<Timestamp>?
    private var latest = IDTable<RowStamp>(matching: .exact)

    init(
        cursor: PullCursor, filter: String, stored: PullToken?, initial: PullToken?, isFresh: Bool, isRefreshing: Bool,
        skipsMisfits: Bool
    ) {
        self.cursor = cursor
        self.filter = filter
        self.stored = stored
        self.initial = initial
        self.isFresh = isFresh
        self.isRefreshing = isRefreshing
        rejected = skipsMisfits ? [:] : nil
    }

    /// Returns the state of a pull that restarts at a cursor and compares the identifiers of all rows. Rows already
    /// written remain counted.
    func restarted(at cursor: PullCursor, matching: IDMatching) -> PullState {
        var state = PullState(
            cursor: cursor, filter: filter, stored: stored, initial: initial, isFresh: false,
            isRefreshing: isRefreshing, skipsMisfits: rejected != nil)
        state.ids = IDTable(matching: matching)
        state.result = result
        state.result.rowsPulled = 0
        state.result.rowsSkipped = 0
        state.result.skippedRows = []
        return state
    }

    // MARK: Pages

    /// Records the server's clock from the first page.
    ///
    /// Without a date, the clock is at least the newest timestamp that the server is known to have assigned by then.
    mutating func noteClock(of page: PulledPage) {
        serverDate = page.serverDate
        if serverDate == nil { firstStamp = [initial?.updatedAt, page.summary.newest].compactMap(\.self).max() }
        // The next complete pull covers a pull that did not end.
        firstStamp = [firstStamp, initial?.firstStamp].compactMap(\.self).min()
    }

    /// Adds a page and returns the next step.
    mutating func receive(_ page: PulledPage) throws(SyncError) -> PullCursor.Decision {
        let kind = cursor.pageKind
        let decision: PullCursor.Decision
        do {
            decision = try cursor.receive(page.summary)
        } catch {
            var error = error
            error.table = page.codec.schema.name
            throw error
        }
        oldest = [oldest, page.summary.oldest].compactMap(\.self).min()
        let isLast = if case .finish = decision { true } else { false }
        pending.append(PendingPage(page: page, kind: kind, watermark: cursor.token, oldest: oldest, isLast: isLast))
        return decision
    }

    /// Removes and returns the pages to store. Pages that cannot be stored are not retried.
    mutating func takePending() -> [PendingPage] {
        defer { pending = [] }
        return pending
    }

    /// Records a page and its changes.
    mutating func note(_ diff: PageDiff, of held: PendingPage) {
        result.requests += 1
        // The count includes the rows of this page, and those of the page before that it repeats.
        if let total = held.page.summary.totalCount {
            expectedRows = result.rowsPulled + max(Int(clamping: total) - diff.repeatedCount, 0)
        }
        result.rowsPulled += held.page.rows.count - diff.repeatedCount
        expectedRows = expectedRows.map { max($0, result.rowsPulled) }
        result.rowsStored += diff.storedCount
        result.rowsRemoved += diff.removed.count
        result.note(skipped: held.page.skipped + diff.skipped)
        if let firstSkipped = diff.firstSkipped { ceiling = min(firstSkipped, ceiling ?? firstSkipped) }
        if held.kind == .window { noteLatest(of: held.page) }
        cases.formUnion(held.page.cases)
        if diff.isRespelled { isRespelled = true }
        guard ids != nil else { return }
        held.page.rows.forEachRow { ids?.insert((), for: $0.packedID) }
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
    ///
    /// - Parameters:
    ///   - columns: The columns that the pull stores; see ``PullToken/columns``.
    ///   - lookback: See ``PullSettings/lookback``.
    func token(after last: PendingPage, columns: String, lookback: Duration) -> PullToken? {
        guard let updatedAt = last.watermark else { return nil }
        // Rows whose identifiers differ only in case must not be skipped, so the token advances only at the end.
        guard ids == nil || last.isLast else { return stored }
        var token = PullToken(updatedAt: updatedAt, serverDate: serverDate, filter: filter, columns: columns)
        if last.isLast {
            token.serverDate = [serverDate, firstStamp].compactMap(\.self).min()
            token = token.drained
        } else {
            token.firstStamp = firstStamp
            token.isRefreshing = isRefreshing ? true : nil
        }
        guard let stored, stored.updatedAt == updatedAt, stored.columns == columns,
            stored.isRefreshing == token.isRefreshing
        else { return token }
        guard last.isLast else { return stored }
        // Without new rows, the stored token stays unless the other one spares the next pull rows that this pull
        // received. An earlier server date only makes the next pull look further back.
        if stored.firstStamp != nil { return token }
        guard let oldest = last.oldest, let before = stored.start(lookback: lookback)?.first,
            let start = token.start(lookback: lookback)?.first, before < start, oldest < start
        else { return stored }
        return token
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
