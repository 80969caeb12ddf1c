internal import TidelineStore

/// A few rows that distinguish correct answers from wrong ones, and the definitions for which the answers must be the
/// same: without an index, with an index on each column, and with indexes on several columns.
struct SampleTable: Sendable {
    /// The columns, all of which allow null.
    var columns: [ColumnSchema]
    /// The type of the identifiers.
    var idType = TableSchema.IDType.string
    /// How text identifiers are compared.
    var idMatching = TableSchema.IDMatching.asciiCaseInsensitive
    /// The rows; columns that are not named are null.
    var rows: [Row]

    init(
        _ columns: ColumnSchema..., idType: TableSchema.IDType = .string,
        idMatching: TableSchema.IDMatching = .asciiCaseInsensitive,
        rows: [Row]
    ) {
        self.columns = columns
        self.idType = idType
        self.idMatching = idMatching
        self.rows = rows
    }

    /// Creates a sample of rows by identifier, with the values of the first columns; the others are null.
    init(
        _ columns: ColumnSchema..., idType: TableSchema.IDType = .string,
        idMatching: TableSchema.IDMatching = .asciiCaseInsensitive,
        values: KeyValuePairs<RowID, [Value]>
    ) {
        self.columns = columns
        self.idType = idType
        self.idMatching = idMatching
        rows = values.map { id, values in
            precondition(values.count <= columns.count, "the row \(id) has more values than columns")
            return zip(columns, values).reduce(into: Row(id: id)) { row, pair in row[pair.0.name] = pair.1 }
        }
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
    /// Texts whose byte order, that of their ids, differs from locale, UTF-16, numeric, and case-insensitive orders.
    static let texts = SampleTable(
        .string("s"),
        values: [
            "01": [""], "02": [" "], "03": ["12"], "04": ["2"], "05": ["Z"], "06": ["_"], "07": ["a"], "08": ["a\0"],
            "09": ["a "], "10": ["ab"], "11": ["a\u{10FFFF}"], "12": ["a\u{10FFFF}b"], "13": ["b"], "14": ["z"],
            "15": ["\u{E4}"], "16": ["\u{D7FF}x"], "17": ["\u{E000}"], "18": ["\u{FFFF}"], "19": ["\u{10000}"],
            "20": ["😀"], "21": ["\u{10FFFF}"], "22": ["\u{10FFFF}\u{10FFFF}"], "23": [],
        ])

    /// Texts longer than the keys of engines that differ only at their ends.
    static let long = SampleTable(
        .string("s"), .bytes("b"),
        values: [
            "a": [.string(long("1")), .bytes(longBytes(1))], "b": [.string(long("2")), .bytes(longBytes(2))],
            "c": [.string(long("2\0")), .bytes(longBytes(2) + [0])], "d": [.string(long("é")), .bytes(longBytes(255))],
            "e": [.string(long("")), .bytes([UInt8](repeating: 7, count: 1_999))], "f": ["k"],
        ])

    static func long(_ end: String) -> String { String(repeating: "k", count: 2_000) + end }
    static func longBytes(_ end: UInt8) -> [UInt8] { Array(repeating: 7, count: 2_000) + [end] }
}
