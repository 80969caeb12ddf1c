package import TidelineStore
internal import TidelineSupport

/// Generates tables and rows from a seed.
package struct RandomRows: Sendable {
    /// The source of values.
    package var values: RandomValues
    private var random: SplitMix64

    /// Creates a generator; the same seed produces the same tables and rows.
    package init(seed: UInt64, values: RandomValues = RandomValues()) {
        self.values = values
        random = SplitMix64(seed: seed)
    }

    /// Returns a valid definition: one to twelve columns of likely any type, reserved names, indexes.
    package mutating func schema(_ name: String = "Item", idType: TableSchema.IDType? = nil) -> TableSchema {
        let names = Self.columnNames.shuffled(using: &random).prefix(Int.random(in: 1...12, using: &random))
        let columns = names.map { name in
            ColumnSchema(name, pick(ColumnType.allCases, using: &random), isOptional: chance(0.85, using: &random))
        }
        var schema = TableSchema(
            name, columns: columns, systemColumns: pick([.standard, .all, []], using: &random),
            idType: idType ?? (chance(0.2, using: &random) ? .int : .string),
            idMatching: chance(0.3, using: &random) ? .exact : .asciiCaseInsensitive)
        for _ in 0..<Int.random(in: 0...2, using: &random) {
            let indexed = schema.allColumns.map(\.name).shuffled(using: &random)
            schema.indexes.append(IndexSchema(Array(indexed.prefix(Int.random(in: 1...2, using: &random)))))
        }
        return schema
    }

    /// Returns a definition with up to four more indexes of up to three columns, including `id`.
    package mutating func indexedSchema(_ name: String = "Item", idType: TableSchema.IDType? = nil) -> TableSchema {
        var schema = schema(name, idType: idType)
        for _ in 0..<Int.random(in: 1...4, using: &random) {
            let columns = (schema.allColumns.map(\.name) + ["id"]).shuffled(using: &random)
            let index = IndexSchema(Array(columns.prefix(Int.random(in: 1...3, using: &random))))
            if !schema.indexes.contains(index) { schema.indexes.append(index) }
        }
        return schema
    }

    /// Returns a table with an optional and a required column of every type.
    package static func everyType(_ name: String = "Item") -> TableSchema {
        let optional = ColumnType.allCases.map { ColumnSchema($0.rawValue, $0) }
        let required = ColumnType.allCases.map { ColumnSchema("\($0.rawValue)2", $0, isOptional: false) }
        return TableSchema(name, columns: optional + required)
    }

    /// Returns valid rows with distinct identifiers; each names all columns, or may lack optional ones.
    package mutating func rows(_ count: Int, of schema: TableSchema, namesAllColumns: Bool = false) -> [Row] {
        var taken: Set<[UInt8]> = []
        return (0..<count).map { _ in
            var row = Row(id: newID(of: schema, taken: &taken))
            for column in schema.allColumns {
                if !namesAllColumns, column.isOptional, chance(0.1, using: &random) { continue }
                row[column.name] = values.value(for: column, using: &random)
            }
            return row
        }
    }

    /// Returns a change to a row: its identifier and some of the table's columns with other values.
    package mutating func change(of row: Row, in schema: TableSchema) -> Row {
        var change = Row(id: row.id)
        for column in schema.allColumns where !column.isOptional || chance(0.4, using: &random) {
            change[column.name] = values.value(for: column, using: &random)
        }
        return change
    }

    private mutating func newID(of schema: TableSchema, taken: inout Set<[UInt8]>) -> RowID {
        while true {
            let id: RowID =
                schema.idType == .int ? .int(values.int(using: &random)) : .string(textualID())
            // Compared by bytes, because a set of strings would treat canonically equivalent ones as equal.
            let folds = schema.idMatching == .asciiCaseInsensitive
            let bytes = Array((folds ? id.text.asciiLowercased : id.text).utf8)
            if taken.insert(bytes).inserted { return id }
        }
    }

    private mutating func textualID() -> String {
        if values.includesLongTexts, chance(0.1, using: &random) {
            let count = pick([118, 122, 123, 124, 125, 126, 127, 200, 251], using: &random)
            let end = pick(["", "a", "A", "😀"], using: &random)
            return String(repeating: "😀", count: count) + end + "\(Int.random(in: 0...999, using: &random))"
        }
        let text = chance(0.5, using: &random) ? pick(RandomValues.texts, using: &random) : ""
        return text.isEmpty || chance(0.5, using: &random)
            ? "\(text)\(Int.random(in: 0...9_999, using: &random))" : text
    }

    private static let columnNames = [
        "text", "complete", "order", "group", "select", "table", "key", "value", "where", "a b", "it's", "\"q\"",
        "größe",
        "x", "y", "rowid", "_id", "a.b", "100%", "null", "a_column_whose_name_is_longer_than_sixteen_bytes",
        "a_column_whose_name_is_longer_than_16_bytes", "$filter", "Id2",
    ]
}
