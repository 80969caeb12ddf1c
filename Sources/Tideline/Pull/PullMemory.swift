internal import TidelineStore

/// What a pull remembers of the pages that it stored.
struct PullMemory: Sendable {
    /// The token as stored, to notice when someone else changes it.
    var stored: PullToken?
    /// Versions of the rows that come again with the next page, by id.
    var known: [String: String] = [:]
    /// Whether the table had no rows when the pull began.
    var isFresh: Bool
    /// Whether the pull brings all rows into a table that has some. They may lack columns that were added since, so that
    /// their versions are not trusted until the pull has ended.
    var isRefreshing = false
    /// The server's clock when it answered first: a row committed after that may not have been seen.
    var serverDate: Timestamp?
    /// The greatest the token may be: rows from there on were passed over and are to come with the next pull.
    private var ceiling: Timestamp?

    init(stored: PullToken?, isFresh: Bool) {
        self.stored = stored
        self.isFresh = isFresh
    }

    /// Takes note of a page and of what it changed.
    mutating func note(_ application: PageApplication, of page: PulledPage) {
        if let passedOver = application.passedOver { ceiling = min(passedOver, ceiling ?? passedOver) }
        known = page.boundary
    }

    /// The token, not beyond the ceiling.
    func limited(_ token: PullToken) -> PullToken {
        var token = token
        if let ceiling, let updatedAt = token.updatedAt { token.updatedAt = min(updatedAt, ceiling) }
        return token
    }
}

/// A page that came and is to be stored.
struct HeldPage: Sendable {
    let page: PulledPage
    /// Whether rows of pages before the last may come again with this one.
    let mayRepeat: Bool
    /// Whether the pull ends with this page.
    let isLast: Bool
    /// The greatest `updatedAt` up to which everything is stored once this page is; nil when there is none.
    let reached: Timestamp?
    /// What to tell once it is stored.
    let progress: PullProgress
}
