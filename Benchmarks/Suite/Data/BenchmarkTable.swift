public import TidelineStore

/// The table that the benchmark works on: ten columns beside the id, as the tables of apps have them, or more.
public struct BenchmarkTable: Sendable, Hashable {
    /// How many columns there are at least.
    public static let leastColumns = 10

    /// Its definition.
    public let schema: TableSchema
    /// Whether it has the index that ``RowFilter`` needs: `list`, then `rank`.
    public let isIndexed: Bool

    /// A table of `columns` columns: `text`, `list`, `rank`, `done`, `score`, `due`, `note`, `owner`, then `field9` and so
    /// on, then the service's `updatedAt` and `version`.
    public init(columns: Int = leastColumns, isIndexed: Bool = false) {
        var app: [ColumnSchema] = [
            .string("text"), .string("list"), .int("rank"), .bool("done"), .double("score"), .timestamp("due"),
            .string("note"), .string("owner"),
        ]
        app += (0..<max(columns - Self.leastColumns, 0)).map { .string("field\($0 + 9)") }
        schema = TableSchema(
            "items", columns: app, systemColumns: [.updatedAt, .version],
            indexes: isIndexed ? [["list", "rank"]] : [])
        self.isIndexed = isIndexed
    }
}
