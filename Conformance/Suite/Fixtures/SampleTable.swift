internal import TidelineStore

/// A few rows that distinguish correct answers from wrong ones, and the definitions for which the answers must be the
/// same: without an index, with an index on each column, and with indexes on several columns.
struct SampleTable: Sendable {
    /// The columns, all of which allow null.
    var columns: [ColumnSchema]
    /// The type of the identifiers.
    var idType = IDType.string
    /// How text identifiers are compared.
    var idMatching = IDMatching.asciiCaseInsensitive
    /// The rows; columns that are not named are null.
    var rows: [Row]

    init(
        _ columns: ColumnSchema..., idType: IDType = .string, idMatching: IDMatching = .asciiCaseInsensitive,
        rows: [Row]
    ) {
        self.columns = columns
        self.idType = idType
        self.idMatching = idMatching
        self.rows = rows
    }

    /// The tables, whose names describe their indexes.
    var definitions: [TableSchema] {
        let names = columns.map(\.name)
        let neighbours = zip(names, names.dropFirst() + names.prefix(1)).filter { $0 != $1 }.map { [$0, $1] }
        let ends = names.prefix(1).map { [$0, "id"] } + names.suffix(1).map { ["id", $0] }
        return [
            definition("NoIndex", []), definition("IndexEach", names.map { [$0] }),
            definition("IndexSeveral", neighbours + ends),
        ]
    }

    private func definition(_ name: String, _ indexes: [[String]]) -> TableSchema {
        TableSchema(
            name, columns: columns, idType: idType, idMatching: idMatching, indexes: indexes.map(IndexSchema.init))
    }
}

extension ValueConvertible where Self == Value {
    /// Returns the instant `ticks` units of 100 ns after 1970.
    static func ticks(_ ticks: Int64) -> Value { .timestamp(Timestamp(clampingTicks: ticks)) }
}

extension RowPredicate {
    /// Returns the instant `ticks` units of 100 ns after 1970.
    static func ticks(_ ticks: Int64) -> RowPredicate { .literal(.ticks(ticks)) }

    /// The column `id`.
    static let id = RowPredicate.column("id")
}
