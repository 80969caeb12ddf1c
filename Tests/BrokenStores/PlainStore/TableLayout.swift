internal import TidelineStore

/// Properties derived once from a table's definition.
final class TableLayout: Sendable {
    let schema: TableSchema
    /// The stored columns, by position, including columns that the definition no longer contains.
    let stored: [ColumnSchema]
    /// The positions at which the columns of the definition are stored, in the order of the definition.
    let positions: [Int]
    let shape: RowShape
    let storedShape: RowShape
    let evaluator: Evaluator

    init(_ schema: TableSchema, stored: [ColumnSchema]) {
        self.schema = schema
        self.stored = stored
        shape = schema.makeShape()
        storedShape = RowShape(table: schema.name, idType: schema.idType, columns: stored)
        evaluator = Evaluator(schema: schema)
        positions = schema.allColumns.map { column in
            stored.firstIndex { $0.name == column.name } ?? 0
        }
    }

    /// Returns the position of a column, or `nil` if the definition does not contain it.
    func position(of column: String) -> Int? { shape.index(of: column).map { positions[$0] } }

    var foldsIDs: Bool { schema.idType == .string && schema.idMatching == .asciiCaseInsensitive }

    /// Returns the value by which an id is compared.
    func comparable(_ id: RowID, flaw: Flaw?) -> Value {
        let value = flaw?.key(of: id, in: self) ?? id.value
        guard foldsIDs, case .string(let text) = value else { return value }
        return .string(text.asciiLowercased)
    }

    /// Returns the key of the row with an id.
    func key(of id: RowID, flaw: Flaw?) -> [UInt8] {
        var key = KeyBytes()
        key.append(comparable(id, flaw: flaw))
        return key.bytes
    }
}

/// A row: its original id and a value for each stored column.
struct PlainRow: Sendable {
    var id: RowID
    var values: [Value]

    func value(at position: Int) -> Value { position < values.count ? values[position] : .null }
}

extension PackedRows {
    /// Adds a row with its columns taken from these positions.
    mutating func append(_ row: PlainRow, positions: [Int]) throws(StoreError) {
        beginRow()
        for (index, position) in positions.enumerated() { set(row.value(at: position), at: index) }
        setID(row.id)
        try endRow()
    }
}
