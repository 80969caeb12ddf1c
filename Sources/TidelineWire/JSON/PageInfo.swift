public import TidelineStore

/// What an answer says beside its rows; see ``PageParser/parsePage(_:into:)``.
public struct PageInfo: Sendable, Hashable {
    /// The number of rows in the answer.
    public var rowCount: Int
    /// The number of rows that match the query on the server, when the answer says so.
    public var totalCount: Int64?
    /// Positions in the batch, ascending, of the rows that the answer calls deleted, when the shape has no column
    /// `deleted`. With such a column the rows say it themselves and this is empty.
    public var deleted: [Int]
    /// The rows that do not fit the table and were left out, in their order; empty unless they were to be skipped.
    public var misfits: [RowMisfit]

    public init(rowCount: Int, totalCount: Int64? = nil, deleted: [Int] = [], misfits: [RowMisfit] = []) {
        self.rowCount = rowCount
        self.totalCount = totalCount
        self.deleted = deleted
        self.misfits = misfits
    }
}

/// A row of an answer with a value that does not fit its column.
public struct RowMisfit: Sendable, Hashable {
    /// The id of the row.
    public var id: String
    /// When it changed last, where that can be read.
    public var updatedAt: Timestamp?
    /// How many rows that fit came before it in the answer.
    public var position: Int
    /// The column at fault.
    public var column: String?
    /// What was found and what was expected.
    public var message: String
}
