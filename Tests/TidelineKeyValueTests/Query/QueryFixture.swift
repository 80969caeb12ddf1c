import TidelineStore
import TidelineTestSupport

@testable import TidelineKeyValue

extension StoredTable {
    /// A table as a new store would keep it.
    convenience init(testing schema: TableSchema) {
        let indexes = schema.indexes.enumerated().map { number, index in
            StoredDefinition.Index(columns: index.columns, space: KeySpace(number: UInt32(20 + number)))
        }
        self.init(
            StoredDefinition(
                schema: schema, layouts: [schema.allColumns], rows: KeySpace(number: 10), indexes: indexes))
    }
}

extension PackedRows {
    /// These rows, packed.
    init(_ rows: [Row], of schema: TableSchema) throws {
        self.init(shape: schema.makeShape())
        for row in rows { try append(row) }
    }
}
