internal import TidelineWire

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

/// The result of a pull.
public struct PullResult: Sendable, Hashable {
    /// The number of pages received, not counting retries and the lists of ``PullSettings/removesLeavers``.
    public internal(set) var requests = 0
    /// The number of rows received. A row that the next page returns again unchanged is counted once.
    public internal(set) var rowsPulled = 0
    /// The number of rows stored because they were new or changed.
    public internal(set) var rowsStored = 0
    /// The number of rows removed because the server deleted them.
    public internal(set) var rowsRemoved = 0
    /// The number of rows removed because they have left the query; see ``PullSettings/removesLeavers``.
    public internal(set) var leaversRemoved = 0
    /// The number of rows that were skipped because they do not fit the local table; see
    /// ``PullSettings/RowMismatch/skipAndReport``.
    public internal(set) var rowsSkipped = 0
    /// The first 1,000 skipped rows.
    public internal(set) var skippedRows: [SkippedRow] = []
    /// The number of transactions that wrote to the local store.
    public internal(set) var writes = 0

    /// The maximum number of skipped rows to list. Further rows are only counted.
    static let maximumSkippedRows = 1_000

    mutating func note(skipped: [SkippedRow]) {
        rowsSkipped += skipped.count
        skippedRows += skipped.prefix(Self.maximumSkippedRows - skippedRows.count)
    }
}

/// A row from the server that does not fit the local table.
public struct SkippedRow: Sendable, Hashable {
    /// The name of the table.
    public let table: String
    /// The identifier of the row.
    public let id: String
    /// The column whose value does not fit, if known.
    public let column: String?
    /// The reason that the value does not fit.
    public let message: String
}

extension SkippedRow {
    init(_ misfit: RowMisfit, table: String) {
        self.init(table: table, id: misfit.id, column: misfit.column, message: misfit.message)
    }
}
