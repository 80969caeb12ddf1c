internal import CLMDB
internal import Foundation
internal import TidelineStore

extension StoreError {
    /// The error for a result code of LMDB, which is one of its own or the system's.
    static func lmdb(_ result: Int32, path: String, doing: String) -> StoreError {
        let detail = mdb_strerror(result).map { String(cString: $0) } ?? ""
        let hint = Self.hints[result].map { "; \($0)" } ?? ""
        return StoreError(Code(lmdb: result), "\(doing): \(detail)\(hint)", path: path, engineCode: Int(result))
    }

    /// The error for the system's `errno`.
    static func system(_ error: Int32, path: String, doing: String) -> StoreError {
        .lmdb(error, path: path, doing: doing)
    }

    /// The error for a file with tables that no store makes.
    static func foreign(_ path: String) -> StoreError {
        StoreError(
            .corrupt, "the folder holds another program's database, or is damaged: its list of tables has others",
            path: path, engineCode: Int(MDB_INCOMPATIBLE))
    }

    /// Whether it is that one.
    var isForeign: Bool { code == .corrupt && engineCode == Int(MDB_INCOMPATIBLE) }

    /// What to do about it, where LMDB's own words do not say.
    private static let hints: [Int32: String] = [
        MDB_MAP_FULL: "give it a greater maximumMapSize",
        MDB_DBS_FULL: "a store has \(Environment.maximumSpaces) tables and indexes at most",
        MDB_READERS_FULL: "end reads, or open it first with a greater maximumReaders",
        MDB_TXN_FULL: "make several transactions of it",
        MDB_PANIC: "close the store in this process, then open it again",
    ]
}

extension StoreError.Code {
    fileprivate init(lmdb code: Int32) {
        self =
            switch code {
            case MDB_MAP_FULL, MDB_TXN_FULL, MDB_DBS_FULL, ENOSPC, EDQUOT, EFBIG: .full
            case MDB_CORRUPTED, MDB_PAGE_NOTFOUND, MDB_INVALID, MDB_INCOMPATIBLE, MDB_CURSOR_FULL, MDB_PAGE_FULL:
                .corrupt
            // The file's own version was looked at before, so it is the lock file that another build of LMDB made.
            case MDB_VERSION_MISMATCH: .locked
            case MDB_READERS_FULL, MDB_MAP_RESIZED, EAGAIN, EBUSY: .busy
            case MDB_BAD_VALSIZE: .invalidValue
            case EACCES, EROFS, EPERM: .readOnly
            default: .io
            }
    }
}
