/// The settings of a pull.
public struct PullSettings: Sendable {
    /// The number of rows per page, 1 or more; 1000 by default. The server's own limit is respected, and pages that are
    /// too large or time out are requested with fewer rows; see <doc:Pulls>.
    public var pageSize: Int
    /// The number of pages per transaction, 1 or more; 1 by default.
    ///
    /// More pages per transaction share the cost of a commit. This helps where a commit is expensive, such as one that
    /// waits for the disk. It does not help where a commit is cheap and the server responds in the meantime, so measure
    /// it. This number of pages, and one more in flight, are kept in memory. If a pull is killed, the next one fetches
    /// the pages of the unfinished transaction again. A pull that fails or is cancelled first stores the pages that it
    /// has received.
    ///
    /// If another write of the client waits, the transaction ends after 250 rows, and the rest follows in another one.
    public var pagesPerTransaction: Int
    /// The action if the push before the pull fails.
    public var whenPushFails: PushFailure
    /// The action if the query id was used with a different filter before.
    public var whenFilterChanges: FilterChange
    /// The action for a row from the server that does not fit the local table, such as one with a number beyond 64
    /// bits.
    public var whenRowDoesNotFit: RowMismatch
    /// The look-back: how far before the server's clock an incremental pull starts, to find rows that were timestamped
    /// earlier but committed later; 5 s by default.
    public var lookback: Duration
    /// Query parameters for the URL of every request. A name must not begin with `$` or `__`.
    public var parameters: [(name: String, value: String)]
    /// The maximum number of pulls at the same time in ``SyncClient/pull(_:settings:progress:)`` and in a sync that
    /// runs itself; 4 by default, and at least 1. Each has at most one request in flight.
    public var maxInFlight: Int
    /// Whether the first request asks for the number of matching rows, for ``PullProgress/total``; `false` by default.
    ///
    /// A pull that continues an earlier one asks in any case. The first pull of a large table is then slower on a
    /// server that must count the rows.
    public var countsRows: Bool
    /// The minimum time between two comparisons with the server that remove the rows that have left the query, or `nil`
    /// to keep such rows, which is the default; zero to compare in each pull.
    ///
    /// A row leaves the query if it no longer matches the filter on the server, if the server has removed it without a
    /// tombstone, or if the user may no longer read it. An incremental pull does not receive it. The comparison lists
    /// the identifiers and versions of the rows that match on the server, and removes the other local rows that match
    /// the filter, except those with pending operations. See <doc:Pulls>.
    ///
    /// The time of the last comparison is stored with the token, by the device's clock. A pull without a query id
    /// compares each time. The query must not have skip or limit.
    public var removesLeavers: Duration?
    /// The settings of the push before the pull.
    public var push: PushSettings
    /// A closure that is called after each transaction. A transaction stores one page unless ``pagesPerTransaction`` is
    /// greater, or a part of a page if another write waits.
    public var onProgress: (@Sendable (PullProgress) -> Void)?

    /// The action if the push before a pull fails.
    public enum PushFailure: Sendable, Hashable {
        /// Throw the push's error without pulling.
        case fail
        /// Pull even if individual operations failed, and throw their errors after the pull, also if the pull itself
        /// fails.
        ///
        /// The same applies to a push that was aborted because several operations in a row failed on the server
        /// (``SyncError/Code/serverFailing``), or because of a network failure of some operations while the service
        /// responded to others. A push that was aborted for another reason still fails the pull.
        case pullOthers
    }

    /// The action if a query id was used with a different filter before.
    public enum FilterChange: Sendable, Hashable {
        /// Throw ``SyncError/Code/filterChanged``.
        case fail
        /// Remove the token and pull all rows again.
        case reset
    }

    /// The action for a row from the server that does not fit the local table: its value does not have the column's
    /// type, or is null in a column that must not be null.
    public enum RowMismatch: Sendable, Hashable {
        /// Throw ``SyncError/Code/invalidAnswer`` with table, id, and column. The rows of earlier pages are stored. An
        /// incremental pull stops at the same row again until the row or the table is changed.
        case stop
        /// Store all other rows and report this row in ``PullResult/skippedRows``.
        ///
        /// The local row does not change. An incremental pull continues after the row, and fetches it again when it
        /// changes on the server. After a change of the table's columns, the next pull fetches all rows again.
        case skipAndReport
    }

    /// Creates settings for a pull.
    public init(
        pageSize: Int = 1000, pagesPerTransaction: Int = 1, whenPushFails: PushFailure = .fail,
        whenFilterChanges: FilterChange = .fail, whenRowDoesNotFit: RowMismatch = .stop,
        lookback: Duration = .seconds(5), parameters: [(name: String, value: String)] = [],
        maxInFlight: Int = 4, countsRows: Bool = false, removesLeavers: Duration? = nil,
        push: PushSettings = PushSettings(),
        onProgress: (@Sendable (PullProgress) -> Void)? = nil
    ) {
        self.pageSize = pageSize
        self.pagesPerTransaction = pagesPerTransaction
        self.whenPushFails = whenPushFails
        self.whenFilterChanges = whenFilterChanges
        self.whenRowDoesNotFit = whenRowDoesNotFit
        self.lookback = lookback
        self.parameters = parameters
        self.maxInFlight = maxInFlight
        self.countsRows = countsRows
        self.removesLeavers = removesLeavers
        self.push = push
        self.onProgress = onProgress
    }
}

/// The result of a forced purge.
public struct ForcePurgeResult: Sendable, Hashable {
    /// The number of rows removed.
    public var rows = 0
    /// The number of pending operations removed.
    public var operations = 0
}

/// The progress of a pull.
public struct PullProgress: Sendable, Hashable {
    /// The name of the table whose rows were stored last.
    public var table = ""
    /// The query id of the pull that stored them.
    public var queryID: String?
    /// The number of distinct rows received in stored pages, including rows that were already stored.
    public var rowsPulled = 0
    /// The number of stored pages.
    public var pages = 0
    /// The approximate number of rows of the whole pull, or `nil` if it is not known; see
    /// ``PullSettings/countsRows``.
    public var total: Int?
}
