internal import TidelineStore

extension TableSchema {
    /// A table of to-do items with two indexes, used by most checks.
    static let items = TableSchema(
        "TodoItem",
        columns: [.string("text"), .bool("complete"), .int("priority"), .double("score"), .timestamp("due")],
        indexes: [["complete", "due"], ["priority"]])

    /// A second table, without an index.
    static let notes = TableSchema("Note", columns: [.string("text"), .int("number")])
}

extension StoreReader {
    /// Returns all rows of a table, sorted by identifier.
    func allRows(_ table: String) throws -> [Row] { try rows(matching: TableQuery(table)).rows }

    /// Returns the identifiers of the rows that a query finds, in order.
    func ids(_ query: TableQuery) throws -> [String] { try rows(matching: query).rows.map(\.idText) }
}
