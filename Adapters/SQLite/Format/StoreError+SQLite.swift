internal import CSQLite
internal import CSQLiteChecksums
internal import Foundation
internal import TidelineStore

extension StoreError {
    /// Creates the error for an SQLite result code.
    ///
    /// - Parameters:
    ///   - result: The result code, extended or not.
    ///   - database: The connection, for its message and the operating system's error number.
    static func sqlite(_ result: Int32, _ database: OpaquePointer?, path: String?, doing: String) -> StoreError {
        let extended = database.map(sqlite3_extended_errcode) ?? result
        let code = extended & 0xFF == result & 0xFF ? extended : result
        let systemError = database.map(sqlite3_system_errno) ?? 0
        // Only the time limit of a reader interrupts a statement.
        if code & 0xFF == SQLITE_INTERRUPT { return QueryTimeLimit.error }
        if code == tideline_wrong_checksum {
            return StoreError(
                .corrupt,
                "a page of the file does not match its checksum; the disk or another program changed it",
                path: path, engineCode: Int(code))
        }
        if code & 0xFF == SQLITE_NOTADB, !(database.map(FileFormat.isNamed(in:)) ?? false) {
            return StoreError(
                .notAStore,
                "\(doing): the file is not an SQLite database; choose another path or, if a store was here, restore it",
                path: path, engineCode: Int(code))
        }
        let detail = (database.map(sqlite3_errmsg) ?? sqlite3_errstr(code)).map { String(cString: $0) } ?? ""
        let kind = Code(sqlite: code, systemError: systemError)
        return StoreError(kind, "\(doing): \(detail)", path: path, engineCode: Int(code))
    }
}

extension StoreError.Code {
    fileprivate init(sqlite code: Int32, systemError: Int32) {
        self =
            switch code & 0xFF {
            case SQLITE_BUSY, SQLITE_LOCKED, SQLITE_PROTOCOL: .busy
            case SQLITE_FULL: .full
            case SQLITE_READONLY: .readOnly
            case SQLITE_CORRUPT, SQLITE_NOTADB: .corrupt
            case SQLITE_TOOBIG, SQLITE_MISMATCH, SQLITE_CONSTRAINT: .invalidValue
            // The shared memory of the write-ahead log reports a full disk as an I/O error.
            case SQLITE_IOERR where systemError == ENOSPC || systemError == EDQUOT: .full
            default: .io
            }
    }
}
