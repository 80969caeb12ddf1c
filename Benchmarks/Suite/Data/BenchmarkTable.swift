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

/// The columns of a ``BenchmarkTable`` in its store, found once, and the three ways to read a row by them, as an app would
/// that knows its tables: each comes to the row's number of ``RowChecksum``.
struct BenchmarkColumns: Sendable {
    private let names: [String]
    private let typed: TypedColumns

    /// The columns of rows of a shape.
    init(_ shape: RowShape) throws {
        names = shape.columns.map(\.name)
        typed = try TypedColumns(shape)
    }

    /// Reads every value where it lies.
    func number(viewing row: borrowing RowView) -> UInt64 {
        var number = RowChecksum.start
        RowChecksum.mix(&number, row.withIDBytes { RowChecksum.value(of: $0) })
        row.forEachValue { _, value in RowChecksum.mix(&number, RowChecksum.value(of: value)) }
        return number
    }

    /// Reads every value by its typed column.
    func number(typed row: borrowing RowView) -> UInt64 { typed.number(row) }

    /// Reads every value by its name.
    func number(_ row: Row) -> UInt64 {
        var number = RowChecksum.start
        RowChecksum.mix(&number, RowChecksum.value(of: row.id))
        for name in names { RowChecksum.mix(&number, RowChecksum.value(of: row[name])) }
        return number
    }
}

/// The typed columns of a ``BenchmarkTable``.
private struct TypedColumns: Sendable {
    let text, list: ResolvedColumn<String>
    let rank: ResolvedColumn<Int64>
    let done: ResolvedColumn<Bool>
    let score: ResolvedColumn<Double>
    let due: ResolvedColumn<Timestamp>
    let note, owner: ResolvedColumn<String>
    let fields: [ResolvedColumn<String>]
    let updatedAt: ResolvedColumn<Timestamp>
    let version: ResolvedColumn<String>

    init(_ shape: RowShape) throws {
        func resolve<T>(_ name: String) throws -> ResolvedColumn<T> {
            guard let column = Column<T>(name).resolved(in: shape) else {
                throw StoreError(.schemaMismatch, "the table lacks a column", table: shape.table, column: name)
            }
            return column
        }
        text = try resolve("text")
        list = try resolve("list")
        rank = try resolve("rank")
        done = try resolve("done")
        score = try resolve("score")
        due = try resolve("due")
        note = try resolve("note")
        owner = try resolve("owner")
        fields = try shape.columns.map(\.name).filter { $0.hasPrefix("field") }.map { try resolve($0) }
        updatedAt = try resolve("updatedAt")
        version = try resolve("version")
    }

    func number(_ row: borrowing RowView) -> UInt64 {
        var number = RowChecksum.start
        RowChecksum.mix(&number, RowChecksum.value(of: row.id))
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

    private func value(_ text: String?) -> UInt64 { text.map { RowChecksum.value(of: $0) } ?? RowChecksum.null }
}
