internal import TidelineStore

/// What a pull remembers of the pages that it stored.
struct PullMemory: Sendable {
    /// The token as stored, to notice when someone else changes it.
    var stored: PullToken?
    /// The token with which the pull began.
    let initial: PullToken?
    /// The rows that pages to come may bring again.
    private(set) var latest = LatestRows()
    /// Whether the table had no rows when the pull began.
    let isFresh: Bool
    /// The server's clock when it answered first: a row committed after that may not have been seen.
    private var serverDate: Timestamp?
    /// What takes its place; see ``PullToken/firstStamp``.
    private var firstStamp: Timestamp?
    /// Whether the pull brings all rows into a table that has some. They may lack columns that were added since, so that
    /// their versions are not trusted until the pull has ended.
    let isRefreshing: Bool
    /// The ids of all rows so far, where they must be known; see ``isSpellingInDoubt``.
    private(set) var ids: IDTable<Void>?
    /// What the store does not take of the rows; nil where such a row stops the pull.
    var unfit: UnfitRows?
    private var cases: IDCases = []
    private var isRespelled = false
    /// The greatest the token may be: rows from there on were passed over and are to come with the next pull.
    private var ceiling: Timestamp?

    /// - Parameter remembering: Whether to remember the ids of all rows, for a table that compares ids so.
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

    /// Takes note of the server's clock, from the first page.
    ///
    /// Without a date the clock is at least at the newest stamp that the server is known to have made by then.
    mutating func noteClock(of page: PulledPage) {
        serverDate = page.serverDate
        if serverDate == nil { firstStamp = [initial?.updatedAt, page.summary.newest].compactMap(\.self).max() }
        // A pull that did not end is made up for by the next one that does.
        firstStamp = [firstStamp, initial?.firstStamp].compactMap(\.self).min()
    }

    /// The token of a pull that has come this far.
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

    /// Takes note of a page and of what it changed.
    mutating func note(_ application: PageApplication, of held: HeldPage) {
        if let passedOver = application.passedOver { ceiling = min(passedOver, ceiling ?? passedOver) }
        if held.kind == .window { latest.note(held.page) }
        cases.formUnion(held.page.cases)
        if application.isRespelled { isRespelled = true }
        guard ids != nil else { return }
        held.page.rows.forEachRow { ids?.insert((), for: $0.packedID) }
    }

    /// The token, not beyond rows that were passed over.
    func limited(_ token: PullToken) -> PullToken { token.limited(to: ceiling) }

    // MARK: Spelling

    /// Whether two rows of this pull may have ids that differ only in case: a row is stored under another spelling, and
    /// ids of this pull have letters of both cases. The pull then begins again and remembers all ids.
    var isSpellingInDoubt: Bool { ids == nil && isRespelled && cases == .both }

    /// Whether, with a page, ids with letters of both cases have come, so that their spelling matters.
    func hasBothCases(with page: PulledPage) -> Bool { cases.union(page.cases) == .both }
}

/// A page that came and is to be stored.
struct HeldPage: Sendable {
    let page: PulledPage
    let kind: PullCursor.PageKind
    /// The greatest `updatedAt` up to which everything is stored once this page is; nil when there is none.
    let reached: Timestamp?
    /// The least `updatedAt` of the pull so far.
    let oldest: Timestamp?
    /// Whether the pull ends with this page.
    let isLast: Bool
}
