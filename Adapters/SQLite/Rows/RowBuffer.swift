internal import CSQLite
internal import TidelineStore

/// Packs the current row of a statement, so that it can be lent as a ``RowView``.
///
/// The row is copied out of SQLite's memory: what the body of a scan does next, such as a write, may move it there.
/// Nothing that a file holds is trusted: a value of another storage class than its column's is an error, not a value.
///
/// Unsafe pointers: those that SQLite gives are used before its next call.
final class RowBuffer {
    private let table: StoredTable
    private let shape: RowShape
    private var rows: PackedRows

    init(table: StoredTable, shape: RowShape) {
        self.table = table
        self.shape = shape
        rows = PackedRows(shape: shape)
    }

    /// Whether the buffer is for rows of these columns.
    func isFor(_ shape: RowShape) -> Bool { self.shape === shape }

    /// Calls `body` with the statement's current row: `id` in the first column, then those of the shape.
    func withRow<T>(of statement: Statement, _ body: (borrowing RowView) throws -> T) throws -> T {
        let handle = statement.handle
        rows.removeAll()
        rows.beginRow()
        for index in 0..<shape.count { try pack(handle, index, shape.columns[index].type) }
        try packID(handle)
        try rows.endRow()
        return try rows.withRow(at: 0, body)
    }

    private func packID(_ handle: OpaquePointer) throws(StoreError) {
        switch (shape.idType, sqlite3_column_type(handle, 0)) {
        case (.int, SQLITE_INTEGER): rows.setID(.int(sqlite3_column_int64(handle, 0)))
        case (.string, SQLITE_TEXT):
            let bytes = Self.bytes(handle, 0)
            guard !bytes.isEmpty, isValidUTF8(bytes) else { throw damaged(handle, "id", "is no valid text") }
            rows.setID(bytes: bytes)
        default: throw damaged(handle, "id", "is of another type than was stored")
        }
    }

    private func pack(_ handle: OpaquePointer, _ index: Int, _ type: ColumnType) throws(StoreError) {
        let column = Int32(truncatingIfNeeded: index + 1)
        switch (type, sqlite3_column_type(handle, column)) {
        case (_, SQLITE_NULL): rows.setNull(at: index)
        case (.string, SQLITE_TEXT): try packText(handle, column, .string, at: index)
        case (.json, SQLITE_TEXT): try packText(handle, column, .json, at: index)
        case (.int, SQLITE_INTEGER): rows.setInt(sqlite3_column_int64(handle, column), at: index)
        case (.double, SQLITE_FLOAT): rows.setDouble(sqlite3_column_double(handle, column), at: index)
        case (.bool, SQLITE_INTEGER): try packBool(handle, column, at: index)
        case (.timestamp, SQLITE_INTEGER): try packTimestamp(handle, column, at: index)
        case (.bytes, SQLITE_BLOB): rows.setBytes(Self.bytes(handle, column), as: .bytes, at: index)
        case (.double, SQLITE_INTEGER): try packWholeDouble(handle, column, at: index)
        default: throw damaged(handle, shape.columns[index].name, "is of another type than its column")
        }
    }

    private func packText(
        _ handle: OpaquePointer, _ column: Int32, _ tag: RowTag, at index: Int
    ) throws(StoreError) {
        let bytes = Self.bytes(handle, column)
        guard isValidUTF8(bytes) else { throw damaged(handle, shape.columns[index].name, "is no valid UTF-8") }
        rows.setBytes(bytes, as: tag, at: index)
    }

    private func packBool(_ handle: OpaquePointer, _ column: Int32, at index: Int) throws(StoreError) {
        let number = sqlite3_column_int64(handle, column)
        guard number == 0 || number == 1 else {
            throw damaged(handle, shape.columns[index].name, "is neither 0 nor 1")
        }
        rows.setBool(number == 1, at: index)
    }

    private func packTimestamp(_ handle: OpaquePointer, _ column: Int32, at index: Int) throws(StoreError) {
        guard let timestamp = Timestamp(ticks: sqlite3_column_int64(handle, column)) else {
            throw damaged(handle, shape.columns[index].name, "is outside of the years 1 to 9999")
        }
        rows.setTimestamp(timestamp, at: index)
    }

    /// Who edits the file from outside may write 5 for 5.0.
    private func packWholeDouble(_ handle: OpaquePointer, _ column: Int32, at index: Int) throws(StoreError) {
        guard let double = Double(exactly: sqlite3_column_int64(handle, column)) else {
            throw damaged(handle, shape.columns[index].name, "is an integer that no double holds")
        }
        rows.setDouble(double, at: index)
    }

    /// The bytes of a text or blob. Asking for a text's bytes as a blob spares SQLite a copy with a NUL at the end.
    private static func bytes(_ handle: OpaquePointer, _ column: Int32) -> UnsafeRawBufferPointer {
        let start = sqlite3_column_blob(handle, column)
        return UnsafeRawBufferPointer(start: start, count: start == nil ? 0 : Int(sqlite3_column_bytes(handle, column)))
    }

    private func damaged(_ handle: OpaquePointer, _ column: String, _ what: String) -> StoreError {
        let id =
            sqlite3_column_type(handle, 0) == SQLITE_INTEGER
            ? String(sqlite3_column_int64(handle, 0)) : String(decoding: Self.bytes(handle, 0), as: UTF8.self)
        return StoreError(
            .corrupt, "a stored value \(what)", table: table.schema.name, column: column, id: id)
    }
}

extension Statement {
    /// The buffer for rows of these columns; the one of the last execution where it fits.
    func rowBuffer(table: StoredTable, shape: RowShape) -> RowBuffer {
        if let buffer, buffer.isFor(shape) { return buffer }
        let new = RowBuffer(table: table, shape: shape)
        buffer = new
        return new
    }
}
