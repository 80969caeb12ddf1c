/// What an answer says beside its rows; see ``PageParser/parsePage(_:into:)``.
public struct PageInfo: Sendable, Hashable {
    /// The number of rows in the answer.
    public var rowCount: Int
    /// The number of rows that match the query on the server, when the answer says so.
    public var totalCount: Int64?
    /// Positions in the batch, ascending, of the rows that the answer calls deleted, when the shape has no column
    /// `deleted`. With such a column the rows say it themselves and this is empty.
    public var deleted: [Int]

    public init(rowCount: Int, totalCount: Int64? = nil, deleted: [Int] = []) {
        self.rowCount = rowCount
        self.totalCount = totalCount
        self.deleted = deleted
    }
}
