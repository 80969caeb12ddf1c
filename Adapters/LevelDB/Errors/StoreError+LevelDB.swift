internal import CLevelDB
internal import Foundation
internal import TidelineStore

extension StoreError {
    /// The error for a message of LevelDB, which is freed.
    ///
    /// LevelDB has no codes, only texts: the kind of failure, the file, and often what the operating system said.
    /// ``StoreError/engineCode`` is the operating system's error number where the text ends with its description.
    static func levelDB(_ message: UnsafeMutablePointer<CChar>, path: String, doing: String) -> StoreError {
        defer { leveldb_free(message) }
        return levelDB(text: String(cString: message), path: path, doing: doing)
    }

    static func levelDB(text: String, path: String, doing: String) -> StoreError {
        let number = systemErrors.first { text.hasSuffix(describe($0)) }
        return StoreError(
            Code(levelDB: text, systemError: number), "\(doing): \(text)", path: path,
            engineCode: number.map(Int.init))
    }

    /// The error for a failed call of the operating system.
    static func system(_ number: Int32, path: String, doing: String) -> StoreError {
        StoreError(
            Code(systemError: number), "\(doing): \(describe(number))", path: path, engineCode: Int(number))
    }

    /// The error for files that are not as LevelDB leaves them.
    static func damaged(_ path: String, _ what: String) -> StoreError {
        StoreError(
            .corrupt, "\(what); restore the folder, or have LevelDBStore.repair(path:options:) keep what it can",
            path: path)
    }

    private static let systemErrors = [
        ENOSPC, EDQUOT, EROFS, EACCES, EPERM, EAGAIN, EINVAL, EIO, EMFILE, ENFILE, ENOENT, EFBIG, ENOMEM, ENOTDIR,
    ]

    /// The operating system's words for an error number, in the language LevelDB gets them in.
    private static func describe(_ number: Int32) -> String { String(cString: strerror(number)) }
}

extension StoreError.Code {
    fileprivate init(levelDB text: String, systemError: Int32?) {
        if text.hasPrefix("IO error: lock ") {
            self = .locked
        } else if text.hasPrefix("Corruption: ") || text.hasPrefix("NotFound: ") || systemError == EINVAL {
            // A table that is gone is not found, one that is shorter than it was gives an invalid argument.
            self = .corrupt
        } else {
            self = systemError.map { .init(systemError: $0) } ?? .io
        }
    }

    fileprivate init(systemError: Int32) {
        self =
            switch systemError {
            case ENOSPC, EDQUOT: .full
            case EROFS, EACCES, EPERM: .readOnly
            default: .io
            }
    }
}
