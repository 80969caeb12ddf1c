internal import TidelineStore

/// The state of a pull from the pages that it has stored.
struct PullState: Sendable {
    /// The token as stored, used to detect changes by others.
    var stored: PullToken?
    /// The token with which the pull began.
    let initial: PullToken?
    /// The rows that later pages may return again.
    private(set) var latest = LatestRows()
    /// Whether the table was empty when the pull began.
    let isFresh: Bool
    /// The server's clock at its first response. A row committed later may not have been returned.
    private var serverDate: Timestamp?
    /// The replacement for a missing server date; see ``PullToken/firstStamp``.
    private var firstStamp: Timestamp?
    /// Whether the pull fetches all rows into a table that is not empty. Stored rows may lack columns that were added,
    /// so equal versions do not prove equal rows until the pull has ended.
    let isRefreshing: Bool
    /// The identifiers of all rows so far, if they must be compared; see ``isSpellingInDoubt``.
    private(set) var ids: IDTable<Void>?
    /// The rows that the store rejects, or `nil` if such a row stops the pull.
    var unfit: UnfitRows?
    private var cases: IDCases = []
    private var isRespelled = false
    /// The upper limit of the token. Rows from there on were skipped and must be returned by the next pull.
    private var ceiling: Timestamp?

    /// - Parameter matching: If not `nil`, the pull stores the identifiers of all rows and compares them in this way.
    init(
        stored: PullToken?, initial: PullToken?, isFresh: Bool, isRefreshing: Bool,
        remembering matching: IDMatching? = nil
    ) {
        self.stored = stored
        self.initial = initial
        self.isFresh = isFresh
        self.isRefreshing = isRefreshing
        ids = matching.map { IDTable(matching: $0) }
    }

    /// Records the server's clock from the first page.
    ///
    /// Without a date, the clock is at least the newest timestamp that the server is known to have assigned by then.
    mutating func noteClock(of page: PulledPage) {
        serverDate = page.serverDate
        if serverDate == nil { firstStamp = [initial?.updatedAt, page.summary.newest].compactMap(\.self).max() }
        // The next complete pull covers a pull that did not end.
        firstStamp = [firstStamp, initial?.firstStamp].compactMap(\.self).min()
    }

    /// Returns the token for a pull that has applied all rows up to `updatedAt`.
    func token(at updatedAt: Timestamp, filter: String, columns: String, isLast: Bool) -> PullToken {
        var token = PullToken(updatedAt: updatedAt, serverDate: serverDate, filter: filter, columns: columns)
        guard isLast else {
            token.firstStamp = firstStamp
            token.isRefreshing = isRefreshing ? true : nil
            return token
        }
        token.serverDate = [serverDate, firstStamp].compactMap(\.self).min()
        return token.drained
    }

    /// Records a page and its changes.
    mutating func note(_ application: PageWriter, of held: PendingPage) {
        if let firstSkipped = application.firstSkipped { ceiling = min(firstSkipped, ceiling ?? firstSkipped) }
        if held.kind == .window { latest.note(held.page) }
        cases.formUnion(held.page.cases)
        if application.isRespelled { isRespelled = true }
        guard ids != nil else { return }
        held.page.rows.forEachRow { ids?.insert((), for: $0.packedID) }
    }

    /// Returns the token, limited so that it does not exceed skipped rows.
    func limited(_ token: PullToken) -> PullToken { token.limited(to: ceiling) }

    // MARK: Spelling

    /// Whether two rows of this pull may have identifiers that differ only in case: a row is stored with a different
    /// case, and the identifiers of this pull contain letters of both cases. The pull then restarts and compares all
    /// identifiers.
    var isSpellingInDoubt: Bool { ids == nil && isRespelled && cases == .both }

    /// Returns whether identifiers with letters of both cases were received, including those of the given page, so that
    /// case matters.
    func hasBothCases(with page: PulledPage) -> Bool { cases.union(page.cases) == .both }
}

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
