internal import CSQLite
internal import TidelineStore

/// Packs the values of one column.
struct PackedColumn {
    let type: ColumnType

    /// Appends the bytes of a value.
    ///
    /// - Returns: The tag of the value, or `nil` if the value is not valid for the column.
    @inline(__always)
    func pack(_ value: OpaquePointer?, into room: inout PackingRoom) -> RowTag? {
        let storage = sqlite3_value_type(value)
        if storage == SQLITE_NULL { return .null }
        switch type {
        case .string, .json:
            guard storage == SQLITE_TEXT else { return nil }
            let bytes = value.bytes
            // Another program may have changed the text, and a string decoded from invalid bytes would differ.
            guard UTF8Check.isValid(bytes) else { return nil }
            room.append(bytes)
            return type == .string ? .string : .json
        case .int:
            guard storage == SQLITE_INTEGER else { return nil }
            room.append(sqlite3_value_int64(value))
            return .int
        case .timestamp:
            guard storage == SQLITE_INTEGER else { return nil }
            let ticks = sqlite3_value_int64(value)
            guard Timestamp(ticks: ticks) != nil else { return nil }
            room.append(ticks)
            return .timestamp
        case .bool:
            guard storage == SQLITE_INTEGER else { return nil }
            let number = sqlite3_value_int64(value)
            guard number == 0 || number == 1 else { return nil }
            return number == 0 ? .false : .true
        case .double:
            guard let double = Self.double(value, storage) else { return nil }
            room.append(Int64(bitPattern: double.bitPattern))
            return .double
        case .bytes:
            guard storage == SQLITE_BLOB else { return nil }
            room.append(value.bytes)
            return .bytes
        }
    }

    /// Returns a double. Other programs that edit the file may write 5 for 5.0.
    @inline(__always)
    private static func double(_ value: OpaquePointer?, _ storage: Int32) -> Double? {
        switch storage {
        case SQLITE_FLOAT: sqlite3_value_double(value)
        case SQLITE_INTEGER: Double(exactly: sqlite3_value_int64(value))
        default: nil
        }
    }

    /// Returns the reason that a value is not valid for the column.
    func reason(against value: OpaquePointer?) -> String {
        switch (type, sqlite3_value_type(value)) {
        case (.string, SQLITE_TEXT), (.json, SQLITE_TEXT): "is not valid UTF-8"
        case (.bool, SQLITE_INTEGER): "is neither 0 nor 1"
        case (.timestamp, SQLITE_INTEGER): "is outside the years 1 to 9999"
        case (.double, SQLITE_INTEGER): "is an integer that a double cannot represent"
        default: "has a different type than its column"
        }
    }
}

/// A growing buffer into which a row is packed.
///
/// Only lengths are added without a check for overflow: SQLite's are below 2 GiB, and all values of a row fit in
/// memory.
struct PackingRoom {
    private(set) var base: UnsafeMutableRawPointer
    private var capacity: Int
    /// The number of bytes written.
    var end = 0

    init(capacity: Int) {
        self.capacity = capacity
        base = .allocate(byteCount: capacity, alignment: 16)
    }

    @inline(__always)
    mutating func append(_ number: Int64) {
        if end &+ 8 > capacity { grow(by: 8) }
        base.storeBytes(of: number.littleEndian, toByteOffset: end, as: Int64.self)
        end &+= 8
    }

    @inline(__always)
    mutating func append(_ bytes: UnsafeRawBufferPointer) {
        guard let source = bytes.baseAddress else { return }
        if end &+ bytes.count > capacity { grow(by: bytes.count) }
        (base + end).copyMemory(from: source, byteCount: bytes.count)
        end &+= bytes.count
    }

    @inline(never)
    private mutating func grow(by count: Int) {
        let larger = max(end + count, capacity * 2)
        let new = UnsafeMutableRawPointer.allocate(byteCount: larger, alignment: 16)
        new.copyMemory(from: base, byteCount: end)
        base.deallocate()
        base = new
        capacity = larger
    }
}

extension OpaquePointer? {
    /// The bytes of this text or blob. Reading a text as a blob avoids a copy in SQLite that appends a NUL.
    @inline(__always)
    var bytes: UnsafeRawBufferPointer {
        let start = sqlite3_value_blob(self)
        return UnsafeRawBufferPointer(start: start, count: start == nil ? 0 : Int(sqlite3_value_bytes(self)))
    }
}
