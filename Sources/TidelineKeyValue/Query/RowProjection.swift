internal import TidelineStore

/// Some of a table's columns, as a query selects them.
struct RowProjection {
    /// The columns.
    let shape: RowShape
    /// Where they lie in the table's shape.
    private let positions: [Int]

    init(_ columns: [ColumnSchema], of table: StoredTable) {
        shape = RowShape(table: table.name, idType: table.schema.idType, columns: columns)
        positions = columns.compactMap { table.shape.index(of: $0.name) }
    }

    /// Adds the columns of a row; those without a value as null.
    func append(_ row: borrowing RowView, to rows: inout PackedRows) throws(StoreError) {
        rows.beginRow()
        for (index, position) in positions.enumerated() {
            switch row.tag(at: position) {
            case .absent, .null: rows.setNull(at: index)
            case .false: rows.setBool(false, at: index)
            case .true: rows.setBool(true, at: index)
            case .int: rows.setInt(row.int(at: position) ?? 0, at: index)
            case .double: rows.setDouble(row.double(at: position) ?? 0, at: index)
            case .timestamp: rows.setTimestamp(row.timestamp(at: position) ?? .min, at: index)
            case .string: rows.setBytes(row.bytes(at: position), as: .string, at: index)
            case .bytes: rows.setBytes(row.bytes(at: position), as: .bytes, at: index)
            case .json: rows.setBytes(row.bytes(at: position), as: .json, at: index)
            }
        }
        row.withIDBytes { rows.setID(bytes: $0) }
        try rows.endRow()
    }
}

extension PackedRows {
    /// Adds a row, or those of its columns that a query selects.
    mutating func append(_ row: borrowing RowView, _ projection: RowProjection?) throws(StoreError) {
        guard let projection else { return try append(copying: row) }
        try projection.append(row, to: &self)
    }
}
