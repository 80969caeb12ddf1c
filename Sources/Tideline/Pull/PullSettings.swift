/// How a pull is done.
public struct PullSettings: Sendable {
    /// How many rows to ask for at once, 1 or more; the server's own limit is respected. The default is 1000.
    public var pageSize: Int
    /// How many pages to store in one transaction, 1 or more; the default is 1.
    ///
    /// What a transaction costs is then shared by the rows of all its pages. That is worth much where a commit is dear, such as
    /// one that waits for the disk, and nothing where it is cheap and the server answers meanwhile: measure it. So many
    /// pages, and one more that is on its way, are held in memory; and what a killed pull had fetched of an unfinished
    /// transaction the next one fetches again. A pull that fails or is cancelled stores the pages that came whole before it
    /// ends.
    public var pagesPerTransaction: Int
    /// What to do when the push before the pull fails.
    public var whenPushFails: PushFailure
    /// What to do when the query id was used with another filter before.
    public var whenFilterChanges: FilterChange
    /// What to do with a row of the server's that does not fit the local table, such as one whose number is beyond 64 bits.
    public var whenRowDoesNotFit: RowMismatch
    /// How far before the server's clock an incremental pull looks again for rows that were stamped earlier but
    /// committed later; 5 s by default.
    public var lookback: Duration
    /// Parameters added to the address of every request; a name must not begin with `$` or `__`.
    public var parameters: [(name: String, value: String)]
    /// Settings of the push before the pull.
    public var push: PushSettings
    /// Called after each transaction, which is a page unless ``pagesPerTransaction`` says otherwise.
    public var onProgress: (@Sendable (PullProgress) -> Void)?

    /// What to do when the push before a pull fails.
    public enum PushFailure: Sendable, Hashable {
        /// The pull fails with the push's error, and nothing is pulled.
        case fail
        /// Errors of single operations do not keep the other rows from being pulled, and are thrown after that, also
        /// with the pull's own error should it fail. The same holds for a push that was aborted because operations in a
        /// row failed on the server (``SyncError/Code/serverFailing``). One that was aborted for another reason still
        /// fails the pull.
        case pullOthers
    }

    /// What to do when a query id was used with another filter before.
    public enum FilterChange: Sendable, Hashable {
        /// The pull fails with ``SyncError/Code/filterChanged``.
        case fail
        /// The token is dropped and the pull begins anew.
        case reset
    }

    /// What to do with a row of the server's that does not fit the local table: its value is not of the column's type, or
    /// is null where the column must not be.
    public enum RowMismatch: Sendable, Hashable {
        /// The pull stops with ``SyncError/Code/invalidAnswer``, naming table, id and column. The rows of the pages before
        /// are stored; an incremental pull stops there again until the row or the table is changed.
        case stop
        /// All other rows are stored, and ``PullResult/skippedRows`` reports this one. It stays as it is in the local table.
        /// An incremental pull goes on past it, and brings it again when it changes on the server; after a change of the
        /// local table, reset the token.
        case skipAndReport
    }

    /// Settings for a pull; those not named have their defaults.
    public init(
        pageSize: Int = 1000, pagesPerTransaction: Int = 1, whenPushFails: PushFailure = .fail,
        whenFilterChanges: FilterChange = .fail, whenRowDoesNotFit: RowMismatch = .stop,
        lookback: Duration = .seconds(5), parameters: [(name: String, value: String)] = [],
        push: PushSettings = PushSettings(), onProgress: (@Sendable (PullProgress) -> Void)? = nil
    ) {
        self.pageSize = pageSize
        self.pagesPerTransaction = pagesPerTransaction
        self.whenPushFails = whenPushFails
        self.whenFilterChanges = whenFilterChanges
        self.whenRowDoesNotFit = whenRowDoesNotFit
        self.lookback = lookback
        self.parameters = parameters
        self.push = push
        self.onProgress = onProgress
    }
}

/// What a forced purge removed.
public struct ForcePurgeResult: Sendable, Hashable {
    /// Rows of the table.
    public var rows = 0
    /// Operations that had not been pushed.
    public var operations = 0
}
