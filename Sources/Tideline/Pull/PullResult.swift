internal import TidelineWire

/// How far a pull has come.
public struct PullProgress: Sendable, Hashable {
    /// Rows in the answers whose rows are stored by now, each counted once, those already known included.
    public var rowsPulled = 0
    /// Those answers.
    public var pages = 0
}

/// What a pull did.
public struct PullResult: Sendable, Hashable {
    /// Requests for pages that were answered, retries not counted.
    public internal(set) var requests = 0
    /// Rows in the answers; one that comes again with the next page, as it was, is counted once.
    public internal(set) var rowsPulled = 0
    /// Rows stored because they were new or changed.
    public internal(set) var rowsStored = 0
    /// Rows removed because the server deleted them.
    public internal(set) var rowsRemoved = 0
    /// Rows that do not fit the local table and were left out; see ``PullSettings/RowMismatch/skipAndReport``.
    public internal(set) var rowsSkipped = 0
    /// The first 1,000 of the rows that were left out.
    public internal(set) var skippedRows: [SkippedRow] = []
    /// Transactions that wrote to the local store.
    public internal(set) var writes = 0

    /// Beyond this, skipped rows are only counted.
    static let maximumSkippedRows = 1_000

    mutating func note(skipped: [SkippedRow]) {
        rowsSkipped += skipped.count
        skippedRows += skipped.prefix(Self.maximumSkippedRows - skippedRows.count)
    }
}

/// A row of the server's that does not fit the local table.
public struct SkippedRow: Sendable, Hashable {
    /// The table.
    public let table: String
    /// The id of the row.
    public let id: String
    /// The column that the row does not fit, where it is known.
    public let column: String?
    /// What is wrong with the value.
    public let message: String
}

extension SkippedRow {
    init(_ misfit: RowMisfit, table: String) {
        self.init(table: table, id: misfit.id, column: misfit.column, message: misfit.message)
    }
}
