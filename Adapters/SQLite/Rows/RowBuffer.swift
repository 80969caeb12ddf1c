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
    /// Apart from the shape, whose columns would be retained and released for every value.
    private let types: [ColumnType]
    private let payloadOffset: Int
    private var base: UnsafeMutableRawPointer
    private var capacity: Int

    init(table: StoredTable, shape: RowShape) {
        self.table = table
        self.shape = shape
        types = shape.columns.map(\.type)
        // Always with wide offsets: how long a row becomes is not known when its first column is written.
        payloadOffset = RowFormat.payloadOffset(columns: shape.count, wide: true)
        capacity = payloadOffset + 1024
        base = .allocate(byteCount: capacity, alignment: 16)
        base.storeBytes(of: RowFormat.wide, as: UInt8.self)
        base.storeBytes(of: 0, toByteOffset: 1, as: UInt8.self)
        base.storeBytes(of: UInt16(shape.count).littleEndian, toByteOffset: 2, as: UInt16.self)
        base.storeBytes(of: 0, toByteOffset: 4, as: UInt32.self)
    }

    deinit { base.deallocate() }

    /// Whether the buffer is for rows of these columns.
    func isFor(_ shape: RowShape) -> Bool { self.shape === shape }

    /// Calls `body` with the statement's current row: `id` in the first column, then those of the shape.
    func withRow<T>(of statement: Statement, _ body: (borrowing RowView) throws -> T) throws -> T {
        let handle = statement.handle
        var end = payloadOffset
        for index in types.indices { try pack(handle, index, &end) }
        let rowEnd = end
        try packID(handle, &end)
        var view = RowView(shape: shape)
        view.point(
            atID: UnsafeRawBufferPointer(start: base + rowEnd, count: end - rowEnd),
            trusting: UnsafeRawBufferPointer(start: base, count: rowEnd))
        return try body(view)
    }

    private func packID(_ handle: OpaquePointer, _ end: inout Int) throws(StoreError) {
        let value = sqlite3_column_value(handle, 0)
        switch (shape.idType, sqlite3_value_type(value)) {
        case (.int, SQLITE_INTEGER): append(sqlite3_value_int64(value), &end)
        case (.string, SQLITE_TEXT):
            let bytes = Self.bytes(value)
            guard !bytes.isEmpty, isValidUTF8(bytes) else { throw damaged(handle, "id", "is no valid text") }
            append(bytes, &end)
        default: throw damaged(handle, "id", "is of another type than was stored")
        }
    }

    /// Writes a column's bytes to the end, then its tag and where it ends.
    ///
    /// The column's value is asked for once, as each call that names a column looks it up anew. SQLite allows that for a
    /// connection that one thread uses at a time.
    private func pack(_ handle: OpaquePointer, _ index: Int, _ end: inout Int) throws(StoreError) {
        let value = sqlite3_column_value(handle, Int32(truncatingIfNeeded: index + 1))
        let tag: RowTag
        switch (types[index], sqlite3_value_type(value)) {
        case (_, SQLITE_NULL): tag = .null
        case (.string, SQLITE_TEXT): tag = try packText(handle, value, index, .string, &end)
        case (.json, SQLITE_TEXT): tag = try packText(handle, value, index, .json, &end)
        case (.bool, SQLITE_INTEGER): tag = try bool(handle, value, index)
        case (.timestamp, SQLITE_INTEGER): tag = try packTimestamp(handle, value, index, &end)
        case (.int, SQLITE_INTEGER):
            append(sqlite3_value_int64(value), &end)
            tag = .int
        case (.double, SQLITE_FLOAT):
            append(Int64(bitPattern: sqlite3_value_double(value).bitPattern), &end)
            tag = .double
        case (.double, SQLITE_INTEGER): tag = try packWholeDouble(handle, value, index, &end)
        case (.bytes, SQLITE_BLOB):
            append(Self.bytes(value), &end)
            tag = .bytes
        default: throw damaged(handle, shape.columns[index].name, "is of another type than its column")
        }
        base.storeBytes(of: tag.rawValue, toByteOffset: RowFormat.headerSize + index, as: UInt8.self)
        base.storeBytes(
            of: UInt32(truncatingIfNeeded: end - payloadOffset).littleEndian,
            toByteOffset: RowFormat.headerSize + types.count + index * 4, as: UInt32.self)
    }

    private func packText(
        _ handle: OpaquePointer, _ value: OpaquePointer?, _ index: Int, _ tag: RowTag, _ end: inout Int
    ) throws(StoreError) -> RowTag {
        let bytes = Self.bytes(value)
        guard isValidUTF8(bytes) else { throw damaged(handle, shape.columns[index].name, "is no valid UTF-8") }
        append(bytes, &end)
        return tag
    }

    private func bool(_ handle: OpaquePointer, _ value: OpaquePointer?, _ index: Int) throws(StoreError) -> RowTag {
        switch sqlite3_value_int64(value) {
        case 0: return .false
        case 1: return .true
        default: throw damaged(handle, shape.columns[index].name, "is neither 0 nor 1")
        }
    }

    private func packTimestamp(
        _ handle: OpaquePointer, _ value: OpaquePointer?, _ index: Int, _ end: inout Int
    ) throws(StoreError) -> RowTag {
        let ticks = sqlite3_value_int64(value)
        guard Timestamp(ticks: ticks) != nil else {
            throw damaged(handle, shape.columns[index].name, "is outside of the years 1 to 9999")
        }
        append(ticks, &end)
        return .timestamp
    }

    /// Who edits the file from outside may write 5 for 5.0.
    private func packWholeDouble(
        _ handle: OpaquePointer, _ value: OpaquePointer?, _ index: Int, _ end: inout Int
    ) throws(StoreError) -> RowTag {
        let number = sqlite3_value_int64(value)
        guard let double = Double(exactly: number) else {
            throw damaged(handle, shape.columns[index].name, "is an integer that no double holds")
        }
        append(Int64(bitPattern: double.bitPattern), &end)
        return .double
    }

    // MARK: Bytes

    @inline(__always)
    private func append(_ number: Int64, _ end: inout Int) {
        reserve(end, 8)
        base.storeBytes(of: number.littleEndian, toByteOffset: end, as: Int64.self)
        end += 8
    }

    @inline(__always)
    private func append(_ bytes: UnsafeRawBufferPointer, _ end: inout Int) {
        guard let source = bytes.baseAddress else { return }
        reserve(end, bytes.count)
        (base + end).copyMemory(from: source, byteCount: bytes.count)
        end += bytes.count
    }

    @inline(__always)
    private func reserve(_ end: Int, _ count: Int) {
        if end + count > capacity { grow(end, count) }
    }

    private func grow(_ end: Int, _ count: Int) {
        let larger = max(end + count, capacity * 2)
        let new = UnsafeMutableRawPointer.allocate(byteCount: larger, alignment: 16)
        new.copyMemory(from: base, byteCount: end)
        base.deallocate()
        base = new
        capacity = larger
    }

    /// The bytes of a text or blob. Asking for a text's bytes as a blob spares SQLite a copy with a NUL at the end.
    private static func bytes(_ value: OpaquePointer?) -> UnsafeRawBufferPointer {
        let start = sqlite3_value_blob(value)
        return UnsafeRawBufferPointer(start: start, count: start == nil ? 0 : Int(sqlite3_value_bytes(value)))
    }

    private func damaged(_ handle: OpaquePointer, _ column: String, _ what: String) -> StoreError {
        let id =
            sqlite3_column_type(handle, 0) == SQLITE_INTEGER
            ? String(sqlite3_column_int64(handle, 0))
            : String(decoding: Self.bytes(sqlite3_column_value(handle, 0)), as: UTF8.self)
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
