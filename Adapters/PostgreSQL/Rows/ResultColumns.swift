internal import TidelineStore

/// Packs rows of a result. A value that another program stored and that the column cannot have is an error.
struct ResultColumns {
    let shape: RowShape
    /// For each column of the shape, its column in the result. The id is the first column of the result.
    private let fields: [Int]
    /// The types of the columns, separate from their names, which are needed only for errors.
    private let types: [ColumnType]

    init(_ shape: RowShape, fields: [Int]) {
        self.shape = shape
        types = shape.columns.map(\.type)
        self.fields = fields
    }

    func append(_ row: Int, of result: QueryRows, to rows: inout PackedRows) throws(StoreError) {
        rows.beginRow()
        do throws(StoreError) {
            for index in 0..<fields.count {
                guard let bytes = result.bytes(row, fields[index]) else {
                    rows.setNull(at: index)
                    continue
                }
                try append(bytes, types[index], at: index, to: &rows)
            }
            try appendID(result.bytes(row, 0), to: &rows)
        } catch {
            rows.cancelRow()
            var error = error
            error.id = result.bytes(row, 0).flatMap { shape.idType == .int ? nil : String(decoding: $0, as: UTF8.self) }
            throw error
        }
        try rows.endRow()
    }

    private func append(
        _ bytes: UnsafeRawBufferPointer, _ type: ColumnType, at index: Int, to rows: inout PackedRows
    ) throws(StoreError) {
        switch type {
        case .bool where bytes.count == 1: rows.setBool(bytes[0] != 0, at: index)
        case .int where bytes.count == 8: rows.setInt(bytes.int, at: index)
        case .double where bytes.count == 8:
            let double = Double(bitPattern: UInt64(bitPattern: bytes.int))
            guard !double.isNaN else { throw damaged(shape.columns[index].name, "is NaN") }
            rows.setDouble(double, at: index)
        case .timestamp where bytes.count == 8:
            guard let timestamp = Timestamp(ticks: bytes.int) else {
                throw damaged(shape.columns[index].name, "is outside the years 1 to 9999")
            }
            rows.setTimestamp(timestamp, at: index)
        case .bytes: rows.setBytes(bytes, as: .bytes, at: index)
        case .string, .json:
            let tag = type == .string ? RowTag.string : .json
            if StoredText.isPlain(bytes) {
                rows.setBytes(bytes, as: tag, at: index)
            } else {
                try text(of: bytes, shape.columns[index].name).withUnsafeBytes { rows.setBytes($0, as: tag, at: index) }
            }
        default: throw damaged(shape.columns[index].name, "has a different type than its column")
        }
    }

    private func appendID(_ bytes: UnsafeRawBufferPointer?, to rows: inout PackedRows) throws(StoreError) {
        guard let bytes, !bytes.isEmpty else { throw damaged("id", "is not valid") }
        if shape.idType == .int {
            guard bytes.count == 8 else { throw damaged("id", "has a different type than the table's ids") }
            rows.setID(.int(bytes.int))
        } else if StoredText.isPlain(bytes) {
            rows.setID(bytes: bytes)
        } else {
            try text(of: bytes, "id").withUnsafeBytes { rows.setID(bytes: $0) }
        }
    }

    private func text(of bytes: UnsafeRawBufferPointer, _ column: String) throws(StoreError) -> [UInt8] {
        guard let text = StoredText.text(of: bytes) else {
            throw damaged(column, "contains U+0001 that is not followed by U+0001 or U+0002")
        }
        return text
    }

    private func damaged(_ column: String, _ problem: String) -> StoreError {
        StoreError(.corrupt, "a stored value \(problem)", table: shape.table, column: column)
    }
}

extension UnsafeRawBufferPointer {
    fileprivate var int: Int64 { Int64(bigEndian: loadUnaligned(as: Int64.self)) }
}
