package import TidelineStore

/// The properties of a response in addition to its rows. See ``PageParser/parsePage(_:into:)``.
package struct PageInfo: Sendable, Hashable {
    /// The number of rows in the response.
    package var rowCount: Int
    /// The number of rows that match the query on the server, or `nil` if the response does not contain it.
    package var totalCount: Int64?
    /// The member `nextLink` of the response, or `nil` if the response does not contain it.
    package var nextLink: String?
    /// The other members of the response as a JSON object, if the parser has the name of the list.
    package var members: [UInt8] = []
    /// The positions in the batch, in ascending order, of the rows that the response marks as deleted, if the shape has
    /// no column `deleted`. Empty if the shape has such a column, because the rows then contain the mark.
    package var deleted: [Int] = []
    /// The rows that do not fit the table and were left out, in their order. Empty unless such rows are skipped.
    package var rejectedRows: [RejectedRow] = []

    package init(rowCount: Int, deleted: [Int] = []) {
        self.rowCount = rowCount
        self.deleted = deleted
    }
}

/// A row of a response with a value that does not fit its column.
package struct RejectedRow: Sendable, Hashable {
    /// The id of the row.
    package var id: String
    /// The time of the row's last change, or `nil` if it cannot be read.
    package var updatedAt: Timestamp?
    /// The number of valid rows before this row in the response.
    package var position: Int
    /// The name of the column at fault.
    package var column: String?
    /// A description of the value found and the value expected.
    package var message: String
}
