internal import CSQLite
internal import TidelineStore

/// Packs the current row of a statement, so that it can be lent as a ``RowView``.
///
/// The row is copied out of SQLite's memory: what the body of a scan does next, such as a write, may move it there.
/// Nothing that a file holds is trusted: a value of another storage class than its column's is an error, not a value.
///
/// Unsafe pointers: those that SQLite gives are used before its next call; the buffer is this object's own, and every
/// write to it first makes room.
final class RowBuffer {
    private let table: StoredTable
    private let shape: RowShape
    private let columns: [PackedColumn]
    private let payloadOffset: Int
    private var room: PackingRoom

    init(table: StoredTable, shape: RowShape) {
        self.table = table
        self.shape = shape
        columns = shape.columns.map { PackedColumn($0.type) }
        // Always with wide offsets: how long a row becomes is not known when its first column is written.
        payloadOffset = RowFormat.payloadOffset(columns: shape.count, wide: true)
        room = PackingRoom(capacity: payloadOffset + 1024)
        let header = UInt64(RowFormat.wide) | UInt64(shape.count) << 16
        room.base.storeBytes(of: header.littleEndian, as: UInt64.self)
    }

    deinit { room.base.deallocate() }

    /// Whether the buffer is for rows of these columns.
    func isFor(_ shape: RowShape) -> Bool { self.shape === shape }

    /// Calls `body` with the statement's current row: `id` in the first column, then those of the shape.
    @inline(__always)
    func withRow<T>(of statement: Statement, _ body: (borrowing RowView) throws -> T) throws -> T {
        let (rowEnd, end) = try pack(statement.handle)
        let base = UnsafeRawPointer(room.base)
        var view = RowView(shape: shape)
        view.point(
            atID: UnsafeRawBufferPointer(start: base + rowEnd, count: end - rowEnd),
            trusting: UnsafeRawBufferPointer(start: base, count: rowEnd))
        return try body(view)
    }

    /// Writes the row, then its id.
    /// - Returns: Where each ends.
    private func pack(_ handle: OpaquePointer) throws(StoreError) -> (row: Int, id: Int) {
        let columns = columns
        var room = room
        defer { self.room = room }
        room.end = payloadOffset
        var tagPlace = RowFormat.headerSize
        var endPlace = RowFormat.headerSize + columns.count
        for index in 0..<columns.count {
            // A column's value is asked for once, as each call that names a column looks it up anew. SQLite allows that for a
            // connection that one thread uses at a time.
            let value = sqlite3_column_value(handle, Int32(truncatingIfNeeded: index + 1))
            guard let tag = columns[index].pack(value, into: &room) else {
                throw damaged(handle, shape.columns[index].name, columns[index].reason(against: value))
            }
            room.base.storeBytes(of: tag.rawValue, toByteOffset: tagPlace, as: UInt8.self)
            room.base.storeBytes(
                of: UInt32(truncatingIfNeeded: room.end &- payloadOffset).littleEndian, toByteOffset: endPlace,
                as: UInt32.self)
            tagPlace &+= 1
            endPlace &+= 4
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
            guard !bytes.isEmpty, isValidUTF8(bytes) else { throw damaged(handle, "id", "is no valid text") }
            room.append(bytes)
        default: throw damaged(handle, "id", "is of another type than was stored")
        }
    }

    private func damaged(_ handle: OpaquePointer, _ column: String, _ what: String) -> StoreError {
        let id =
            sqlite3_column_type(handle, 0) == SQLITE_INTEGER
            ? String(sqlite3_column_int64(handle, 0))
            : String(decoding: sqlite3_column_value(handle, 0).bytes, as: UTF8.self)
        return StoreError(.corrupt, "a stored value \(what)", table: table.name, column: column, id: id)
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
