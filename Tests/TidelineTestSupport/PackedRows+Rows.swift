public import TidelineStore

extension PackedRows {
    /// Packs rows.
    public init(_ rows: [Row], of schema: TableSchema) throws {
        self.init(shape: schema.makeShape())
        for row in rows { try append(row) }
    }
}
