internal import TidelineStore

extension TableSchema {
    /// A table of to-do items, with two indexes; what most checks use.
    static let items = TableSchema(
        "TodoItem",
        columns: [.string("text"), .bool("complete"), .int("priority"), .double("score"), .timestamp("due")],
        indexes: [["complete", "due"], ["priority"]])

    /// A second table, without an index.
    static let notes = TableSchema("Note", columns: [.string("text"), .int("number")])
}

extension StoreReader {
    /// All rows of a table, in order of id.
    func allRows(_ table: String) throws -> [Row] { try rows(matching: Query(table)).rows }

    /// The ids that a query finds, in its order.
    func ids(_ query: Query) throws -> [String] { try rows(matching: query).rows.map(\.id) }
}
