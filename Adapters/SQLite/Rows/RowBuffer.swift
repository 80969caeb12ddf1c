internal import CSQLite
internal import TidelineStore

/// Packs the current row of a statement into a buffer and passes it on as a ``RowView``.
///
/// The row is copied out of SQLite's memory, because the next step of a scan's body, such as a write, may move it
/// there. The content of a file is not trusted: a value whose storage class does not match its column is an error.
///
/// Unsafe pointers: SQLite's pointers are used only until its next call. The buffer belongs to this object, and every
/// write to it first ensures its capacity.
final class RowBuffer {
    let shape: RowShape
    private let columns: [PackedColumn]
    /// Always wide: the length of a row is not known when its first column is written.
    private let tables: RowTables<UInt32>
    private var room: PackingRoom

    init(for shape: RowShape) {
        self.shape = shape
        columns = shape.columns.map { PackedColumn(type: $0.type) }
        tables = RowTables(columns: shape.count)
        room = PackingRoom(capacity: tables.payload + 1024)
        tables.writeHeader(to: room.base)
    }

    deinit { room.base.deallocate() }

    /// Calls `body` with the statement's current row, which has `id` in the first column and then the columns of the
    /// shape.
    @inline(__always)
    func withRow<T>(of statement: OpaquePointer, _ body: (borrowing RowView) throws -> T) throws -> T {
        let (rowEnd, end) = try pack(statement)
        let base = UnsafeRawPointer(room.base)
        var view = RowView(shape: shape)
        view.point(
            atID: UnsafeRawBufferPointer(start: base + rowEnd, count: end - rowEnd),
            trusting: UnsafeRawBufferPointer(start: base, count: rowEnd))
        return try body(view)
    }

    /// Writes the row, then its id.
    ///
    /// - Returns: The end offset of each.
    private func pack(_ handle: OpaquePointer) throws(StoreError) -> (row: Int, id: Int) {
        let (columns, tables) = (columns, tables)
        var room = room
        defer { self.room = room }
        room.end = tables.payload
        for index in 0..<columns.count {
            // Each column's value is requested once, because each call by column index looks it up again. SQLite allows
            // this for a connection that one thread uses at a time.
            let value = sqlite3_column_value(handle, Int32(truncatingIfNeeded: index + 1))
            guard let tag = columns[index].pack(value, into: &room) else {
                throw damaged(handle, shape.columns[index].name, columns[index].reason(against: value))
            }
            tables.write(tag, end: room.end &- tables.payload, of: index, to: room.base)
        }
        let rowEnd = room.end
        try packID(handle, into: &room)
        return (rowEnd, room.end)
    }

    private func packID(_ handle: OpaquePointer, into room: inout PackingRoom) throws(StoreError) {
        let value = sqlite3_column_value(handle, 0)
        switch (shape.idType, sqlite3_value_type(value)) {
        case (.int, SQLITE_INTEGER): room.append(sqlite3_value_int64(value))
        case (.string, SQLITE_TEXT):
            let bytes = value.bytes
            guard !bytes.isEmpty, UTF8Check.isValid(bytes) else { throw damaged(handle, "id", "is not valid text") }
            room.append(bytes)
        default: throw damaged(handle, "id", "has a different type than the table's ids")
        }
    }

    private func damaged(_ handle: OpaquePointer, _ column: String, _ what: String) -> StoreError {
        let id =
            sqlite3_column_type(handle, 0) == SQLITE_INTEGER
            ? String(sqlite3_column_int64(handle, 0))
            : String(decoding: sqlite3_column_value(handle, 0).bytes, as: UTF8.self)
        return StoreError(.corrupt, "a stored value \(what)", table: shape.table, column: column, id: id)
    }
}
