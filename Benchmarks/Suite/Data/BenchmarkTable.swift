#if Commands
public import TidelineStore

/// The table of the benchmark: ten columns besides the identifier, as apps commonly have, or more.
public struct BenchmarkTable: Sendable, Hashable {
    /// The minimum number of columns.
    public static let leastColumns = 10

    /// The schema of the table.
    public let schema: TableSchema
    /// Whether it has the index that ``RowFilter`` needs: `list`, then `rank`.
    public let isIndexed: Bool

    /// Creates a table with the columns `text`, `list`, `rank`, `done`, `score`, `due`, `note`, `owner`, further
    /// columns from `field9` on, and the system columns `updatedAt` and `version`.
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

/// The columns of a ``BenchmarkTable``, resolved once, and the three ways to compute the checksum of a row from them.
struct BenchmarkColumns: Sendable {
    private let names: [String]
    private let text, list: ResolvedColumn<String>
    private let rank: ResolvedColumn<Int64>
    private let done: ResolvedColumn<Bool>
    private let score: ResolvedColumn<Double>
    private let due: ResolvedColumn<Timestamp>
    private let note, owner: ResolvedColumn<String>
    private let fields: [ResolvedColumn<String>]
    private let updatedAt: ResolvedColumn<Timestamp>
    private let version: ResolvedColumn<String>

    /// Resolves the columns of a row shape.
    init(_ shape: RowShape) throws {
        func resolve<T>(_ name: String) throws -> ResolvedColumn<T> {
            guard let column = Column<T>(name).resolved(in: shape) else {
                throw StoreError(.schemaMismatch, "the table lacks a column", table: shape.table, column: name)
            }
            return column
        }
        names = shape.columns.map(\.name)
        text = try resolve("text")
        list = try resolve("list")
        rank = try resolve("rank")
        done = try resolve("done")
        score = try resolve("score")
        due = try resolve("due")
        note = try resolve("note")
        owner = try resolve("owner")
        fields = try names.filter { $0.hasPrefix("field") }.map { try resolve($0) }
        updatedAt = try resolve("updatedAt")
        version = try resolve("version")
    }

    /// Reads every value in place.
    func number(viewing row: borrowing RowView) -> UInt64 {
        var number = RowChecksum.start
        RowChecksum.mix(&number, row.withIDBytes { RowChecksum.value(of: $0) })
        row.forEachValue { _, value in RowChecksum.mix(&number, RowChecksum.value(of: value)) }
        return number
    }

    /// Reads every value through its typed column.
    func number(typed row: borrowing RowView) -> UInt64 {
        var number = RowChecksum.start
        RowChecksum.mix(&number, RowChecksum.value(of: row.idText))
        RowChecksum.mix(&number, value(row[text]))
        RowChecksum.mix(&number, value(row[list]))
        RowChecksum.mix(&number, row[rank].map { RowChecksum.value(of: $0) } ?? RowChecksum.null)
        RowChecksum.mix(&number, row[done].map { RowChecksum.value(of: $0) } ?? RowChecksum.null)
        RowChecksum.mix(&number, row[score]?.bitPattern ?? RowChecksum.null)
        RowChecksum.mix(&number, row[due].map { RowChecksum.value(of: $0.ticks) } ?? RowChecksum.null)
        RowChecksum.mix(&number, value(row[note]))
        RowChecksum.mix(&number, value(row[owner]))
        for field in fields { RowChecksum.mix(&number, value(row[field])) }
        RowChecksum.mix(&number, row[updatedAt].map { RowChecksum.value(of: $0.ticks) } ?? RowChecksum.null)
        RowChecksum.mix(&number, value(row[version]))
        return number
    }

    /// Reads every value by column name.
    func number(_ row: Row) -> UInt64 {
        var number = RowChecksum.start
        RowChecksum.mix(&number, RowChecksum.value(of: row.idText))
        for name in names { RowChecksum.mix(&number, RowChecksum.value(of: row[name])) }
        return number
    }

    private func value(_ text: String?) -> UInt64 { text.map { RowChecksum.value(of: $0) } ?? RowChecksum.null }
}
#endif
