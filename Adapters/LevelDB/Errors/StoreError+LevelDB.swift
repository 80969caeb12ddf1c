internal import CLevelDB
internal import Foundation
internal import TidelineStore

extension StoreError {
    /// Creates the error for a message from LevelDB, and frees the message.
    ///
    /// LevelDB has no error codes, only texts: the kind of failure, the file, and often the operating system's
    /// description. ``StoreError/engineCode`` is the operating system's error number if the text ends with its
    /// description.
    static func levelDB(_ message: UnsafeMutablePointer<CChar>, path: String, doing: String) -> StoreError {
        defer { leveldb_free(message) }
        let text = String(cString: message)
        let number = systemErrors.first { text.hasSuffix(describe($0)) }
        return StoreError(
            Code(levelDB: text, systemError: number), "\(doing): \(text)", path: path,
            engineCode: number.map(Int.init))
    }

    /// Creates the error for files that LevelDB did not leave in this state.
    static func damaged(_ path: String, _ what: String) -> StoreError {
        StoreError(
            .corrupt, "\(what); restore a backup of the folder, or call LevelDBStore.repair(path:options:)",
            path: path)
    }

    private static let systemErrors = [
        ENOSPC, EDQUOT, EROFS, EACCES, EPERM, EAGAIN, EINVAL, EIO, EMFILE, ENFILE, ENOENT, EFBIG, ENOMEM, ENOTDIR,
    ]

    /// Returns the operating system's description of an error number, in the same language in which LevelDB gets it.
    private static func describe(_ number: Int32) -> String { String(cString: strerror(number)) }
}

extension StoreError.Code {
    fileprivate init(levelDB text: String, systemError: Int32?) {
        if text.hasPrefix("IO error: lock ") {
            self = .locked
        } else if text.hasPrefix("Corruption: ") || text.hasPrefix("NotFound: ") || systemError == EINVAL {
            // LevelDB reports a missing table as "not found", and a truncated one as an invalid argument.
            self = .corrupt
        } else {
            self = systemError.map { .init(systemError: $0) } ?? .io
        }
    }
}
