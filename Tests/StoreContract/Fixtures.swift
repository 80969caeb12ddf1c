import TidelineStore

extension TableSchema {
    /// A table like that of the quick start.
    static let items = TableSchema(
        "TodoItem",
        columns: [.string("text"), .bool("complete"), .int("priority"), .double("score"), .timestamp("due")],
        indexes: [["complete", "due"], ["priority"]])
}

extension StoreReader {
    /// All rows of a table, in order of id.
    func allRows(_ table: String) throws -> [Row] { try rows(matching: Query(table)).rows }

    /// The ids that a query finds, in its order.
    func ids(_ query: Query) throws -> [String] { try rows(matching: query).rows.map(\.id) }
}
