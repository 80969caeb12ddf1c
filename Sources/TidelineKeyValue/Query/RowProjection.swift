internal import TidelineStore

/// The columns of a table that a query selects.
struct RowProjection {
    let shape: RowShape
    /// The positions of the columns in the table's shape.
    private let positions: [Int]

    init(_ columns: [ColumnSchema], of table: StoredTable) {
        shape = RowShape(table: table.name, idType: table.schema.idType, columns: columns)
        positions = columns.compactMap { table.shape.index(of: $0.name) }
    }

    /// Appends the selected columns of a row, with null for those without a value.
    func append(_ row: borrowing RowView, to rows: inout PackedRows) throws(StoreError) {
        rows.beginRow()
        for (index, position) in positions.enumerated() {
            let tag = row.tag(at: position)
            switch tag {
            case .absent, .null: rows.setNull(at: index)
            case .false: rows.setBool(false, at: index)
            case .true: rows.setBool(true, at: index)
            case .int: rows.setInt(row.int(at: position) ?? 0, at: index)
            case .double: rows.setDouble(row.double(at: position) ?? 0, at: index)
            case .timestamp: rows.setTimestamp(row.timestamp(at: position) ?? .min, at: index)
            case .string, .bytes, .json: unsafe rows.setBytes(row.bytes(at: position), as: tag, at: index)
            }
        }
        unsafe row.withIDBytes { unsafe rows.setID(bytes: $0) }
        try rows.endRow()
    }
}

extension PackedRows {
    /// Appends a row, or only its selected columns.
    mutating func append(_ row: borrowing RowView, _ projection: RowProjection?) throws(StoreError) {
        guard let projection else { return try append(copying: row) }
        try projection.append(row, to: &self)
    }
}
