internal import CLMDB
internal import Foundation
internal import TidelineStore

extension StoreError {
    /// Creates the error for a result code, which is one of LMDB's or of the operating system.
    static func lmdb(_ result: Int32, path: String, doing: String) -> StoreError {
        let detail = mdb_strerror(result).map { String(cString: $0) } ?? ""
        let hint = Self.hints[result].map { "; \($0)" } ?? ""
        return StoreError(Code(lmdb: result), "\(doing): \(detail)\(hint)", path: path, engineCode: Int(result))
    }

    /// Suggestions for results whose LMDB message does not contain one.
    private static let hints: [Int32: String] = [
        MDB_MAP_FULL: "increase maximumMapSize",
        MDB_DBS_FULL: "a store can have at most \(Environment.maximumSpaces - 1) tables and indexes",
        MDB_READERS_FULL:
            "end some reads, close the store in other processes, or increase maximumReaders where it is opened first",
        MDB_TXN_FULL: "split the changes into several transactions",
        MDB_PANIC: "close the store in this process, then open it again",
    ]
}

extension StoreError.Code {
    fileprivate init(lmdb code: Int32) {
        self =
            switch code {
            case MDB_MAP_FULL, MDB_TXN_FULL: .full
            case MDB_DBS_FULL: .tooManyTables
            case MDB_CORRUPTED, MDB_PAGE_NOTFOUND, MDB_INVALID, MDB_INCOMPATIBLE, MDB_CURSOR_FULL, MDB_PAGE_FULL:
                .corrupt
            // The version of the data file was checked before, so it is the lock file that another build of LMDB
            // created.
            case MDB_VERSION_MISMATCH: .locked
            case MDB_READERS_FULL, MDB_MAP_RESIZED: .busy
            case MDB_BAD_VALSIZE: .invalidValue
            default: .init(systemError: code)
            }
    }
}
