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

extension SampleTable {
    /// Texts whose byte order differs from their locale, UTF-16, numeric, and case-insensitive orders. The identifiers
    /// are in byte order.
    static let texts = SampleTable(
        .string("s"),
        rows: [
            ["id": "01", "s": ""], ["id": "02", "s": " "], ["id": "03", "s": "12"], ["id": "04", "s": "2"],
            ["id": "05", "s": "Z"], ["id": "06", "s": "_"], ["id": "07", "s": "a"], ["id": "08", "s": "a\0"],
            ["id": "09", "s": "a "], ["id": "10", "s": "ab"], ["id": "11", "s": "a\u{10FFFF}"],
            ["id": "12", "s": "a\u{10FFFF}b"], ["id": "13", "s": "b"], ["id": "14", "s": "z"],
            ["id": "15", "s": "\u{E4}"], ["id": "16", "s": "\u{D7FF}x"], ["id": "17", "s": "\u{E000}"],
            ["id": "18", "s": "\u{FFFF}"], ["id": "19", "s": "\u{10000}"], ["id": "20", "s": "😀"],
            ["id": "21", "s": "\u{10FFFF}"], ["id": "22", "s": "\u{10FFFF}\u{10FFFF}"], ["id": "23"],
        ])

    /// Texts longer than the keys of engines that differ only at their ends.
    static let long = SampleTable(
        .string("s"), .bytes("b"),
        rows: [
            ["id": "a", "s": .string(long("1")), "b": .bytes(longBytes(1))],
            ["id": "b", "s": .string(long("2")), "b": .bytes(longBytes(2))],
            ["id": "c", "s": .string(long("2\0")), "b": .bytes(longBytes(2) + [0])],
            ["id": "d", "s": .string(long("é")), "b": .bytes(longBytes(255))],
            ["id": "e", "s": .string(long("")), "b": .bytes([UInt8](repeating: 7, count: 1_999))],
            ["id": "f", "s": "k"],
        ])

    static func long(_ end: String) -> String { String(repeating: "k", count: 2_000) + end }
    static func longBytes(_ end: UInt8) -> [UInt8] { Array(repeating: 7, count: 2_000) + [end] }
}
