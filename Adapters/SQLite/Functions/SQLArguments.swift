internal import CSQLite

/// The arguments of a call.
///
/// Unsafe pointers: SQLite keeps a text in place for the duration of the call, and each argument is read only as its
/// actual type.
struct SQLArguments: ~Copyable {
    let values: UnsafeMutablePointer<OpaquePointer?>?
    let count: Int

    var containsNull: Bool {
        (0..<count).contains { sqlite3_value_type(values?[$0]) == SQLITE_NULL }
    }

    func isInt(_ index: Int) -> Bool { sqlite3_value_type(values?[index]) == SQLITE_INTEGER }

    func int(_ index: Int) -> Int64 { sqlite3_value_int64(values?[index]) }

    func double(_ index: Int) -> Double { sqlite3_value_double(values?[index]) }

    func bytes(_ index: Int) -> UnsafeRawBufferPointer {
        let start = sqlite3_value_blob(values?[index])
        return UnsafeRawBufferPointer(start: start, count: start == nil ? 0 : Int(sqlite3_value_bytes(values?[index])))
    }
}

/// The result of a call.
enum SQLResult {
    case null
    case int(Int64)
    case double(Double)
    /// Text that is part of an argument.
    case bytes(UnsafeRawBufferPointer)
    case owned([UInt8])
}
