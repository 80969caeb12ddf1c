import TidelineStore
import TidelineTestSupport

/// One row with a value of every type, to evaluate predicates over.
struct EvaluatorFixture {
    static let schema = TableSchema(
        "Item",
        columns: ColumnType.allCases.map { ColumnSchema($0.rawValue, $0) }
            + ColumnType.allCases.map { ColumnSchema("no\($0.rawValue)", $0) }
            + [.double("nan"), .int("big"), .int("absent")])

    static let row: Row = [
        "id": "Item-A", "bool": true, "int": 7, "double": 2.5, "string": "aé😀b",
        "timestamp": .timestamp(Timestamp(clampingTicks: -1)), "bytes": .bytes([1, 255]), "json": .json("[1]"),
        "nobool": .null, "noint": .null, "nodouble": .null, "nostring": .null, "notimestamp": .null, "nobytes": .null,
        "nojson": .null, "nan": .double(.nan), "big": .int(1 << 53 + 1),
    ]

    static func value(
        of predicate: RowPredicate, in row: Row = row, schema: TableSchema = schema
    ) throws -> Value {
        try PackedRows([row], of: schema).withRow(at: 0) { try Evaluator(schema: schema).value(of: predicate, in: $0) }
    }

    static func matches(_ predicate: RowPredicate, schema: TableSchema = schema) throws -> Bool {
        try PackedRows([row], of: schema).withRow(at: 0) { try Evaluator(schema: schema).matches(predicate, $0) }
    }
}
