/// Decides which page a pull requests next, when it stores pages, and when it begins again or ends. A pure state
/// machine, without store or network. The feed knows the way through the rows of its server.
///
/// The next page is requested while pages are stored. After a failed request, the pages received before it are stored,
/// as if each had its own transaction.
struct PullMachine: Sendable {
    /// An event of the pull.
    enum Event: Sendable {
        /// The pull begins, or begins again. `commitsOfOthers` is the number as of the first request; see
        /// ``SyncDatabase/commitsOfOthers(_:)``.
        case began(any PullFeed, stored: PullToken?, commitsOfOthers: UInt64)
        /// The requested page arrived.
        case page(PulledPage)
        /// The request failed.
        case failed(any Error)
        /// The pages were stored; see ``PullState/isSpellingInDoubt``.
        case stored(commitsOfOthers: UInt64, isSpellingInDoubt: Bool)
    }

    /// The next action.
    enum Action: Sendable {
        /// Request a page.
        case request(any PageStep)
        /// Store pages, and request the page `ahead` at the same time.
        case store([PendingPage], ahead: (any PageStep)?)
        /// Wait for the page requested ahead.
        case wait
        /// Begin with the first row, because the server no longer knows the cursor.
        case beginWithFirstRow
        /// Begin again, and compare the identifiers of all rows.
        case compareIDs
        /// End the pull.
        case finish
        /// End the pull with an error.
        case fail(any Error)
    }

    private let pagesPerTransaction: Int
    private var feed: any PullFeed
    /// The pages that were received and are not stored yet.
    private var pending: [PendingPage] = []
    /// The token of the latest page, or the stored one before the first.
    private var latestToken: PullToken?
    /// The number of commits of others in the latest transaction, and the one known when the next page was requested.
    private var commitsOfOthers: UInt64 = 0
    private var commitsAtRequest: UInt64 = 0
    private var isFirstPage = true
    private var isLastPage = false
    private var hasBegunAgain = false
    /// The error that ends the pull after the pages before it are stored.
    private var failure: (any Error)?

    init(feed: any PullFeed, pagesPerTransaction: Int) {
        self.feed = feed
        self.pagesPerTransaction = pagesPerTransaction
    }

    /// Handles an event and returns the next action.
    mutating func handle(_ event: Event) -> Action {
        switch event {
        case .began(let feed, let stored, let commitsOfOthers):
            self.feed = feed
            latestToken = stored
            self.commitsOfOthers = commitsOfOthers
            commitsAtRequest = commitsOfOthers
            (isFirstPage, isLastPage, failure) = (true, false, nil)
            return feed.first.map { .request($0) } ?? .finish
        case .page(let page):
            if isFirstPage, let other = feed.begin(with: page) { return .request(other) }
            isFirstPage = false
            return receive(page)
        case .failed(let error):
            guard !pending.isEmpty else { return end(with: error) }
            failure = error
            return store(ahead: nil)
        case .stored(let commitsOfOthers, let isSpellingInDoubt):
            self.commitsOfOthers = commitsOfOthers
            if let failure { return end(with: failure) }
            if isSpellingInDoubt { return .compareIDs }
            return isLastPage ? .finish : .wait
        }
    }

    private mutating func receive(_ page: PulledPage) -> Action {
        var received: PendingPage
        do {
            received = try feed.receive(page)
        } catch {
            var error = error
            error.table = page.codec.schema.name
            return handle(.failed(error))
        }
        isLastPage = received.isLast
        (received.tokenBefore, received.commitsOfOthers) = (latestToken, commitsAtRequest)
        pending.append(received)
        commitsAtRequest = commitsOfOthers
        latestToken = received.token
        guard let next = received.next, pending.count < pagesPerTransaction else { return store(ahead: received.next) }
        return .request(next)
    }

    /// Pages that cannot be stored are not retried.
    private mutating func store(ahead: (any PageStep)?) -> Action {
        defer { pending = [] }
        return .store(pending, ahead: ahead)
    }

    private mutating func end(with error: any Error) -> Action {
        guard let expired = error as? ExpiredCursor else { return .fail(error) }
        guard !hasBegunAgain else { return .fail(expired.failure) }
        hasBegunAgain = true
        return .beginWithFirstRow
    }
}

/// An error for a cursor that the server no longer knows.
struct ExpiredCursor: Error {
    var failure: SyncError
}
