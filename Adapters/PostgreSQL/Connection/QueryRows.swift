internal import CPostgreSQL

/// The result of a statement: its rows in the binary format, or in the text format for a script.
final class QueryRows {
    private let result: OpaquePointer

    init(_ result: OpaquePointer) { self.result = result }

    deinit { PQclear(result) }

    /// The number of rows.
    var count: Int { Int(PQntuples(result)) }

    /// The number of bytes of memory that the rows use.
    var byteCount: Int { PQresultMemorySize(result) }

    /// The number of rows that the statement changed.
    var changes: Int { PQcmdTuples(result).flatMap { Int(String(cString: $0)) } ?? 0 }

    /// The name of the command that was carried out, such as `COMMIT`.
    var command: String { PQcmdStatus(result).map { String(cString: $0) } ?? "" }

    /// The bytes of a value, which are valid as long as this object, or `nil` for null.
    func bytes(_ row: Int, _ column: Int) -> UnsafeRawBufferPointer? {
        let (row, column) = (Int32(truncatingIfNeeded: row), Int32(truncatingIfNeeded: column))
        guard PQgetisnull(result, row, column) == 0 else { return nil }
        return UnsafeRawBufferPointer(
            start: PQgetvalue(result, row, column), count: Int(PQgetlength(result, row, column)))
    }

    /// The integer of a value in the binary format, or `nil` if it is null or has another length.
    func int(_ row: Int, _ column: Int) -> Int64? {
        guard let bytes = bytes(row, column), bytes.count == 8 else { return nil }
        return Int64(bigEndian: bytes.loadUnaligned(as: Int64.self))
    }

    /// The value as text, or `nil` for null.
    func text(_ row: Int, _ column: Int) -> String? { bytes(row, column).map { String(decoding: $0, as: UTF8.self) } }
}
