internal import Foundation
public import TidelineKeyValue
internal import TidelineStore

/// A local store over a ``SortedFileEngine``. An app passes it to its sync client.
public typealias SortedFileStore = KeyValueStore<SortedFileEngine>

extension KeyValueStore where Engine == SortedFileEngine {
    /// Opens the store in a folder, and creates the folder if it does not exist.
    public convenience init(path: String) throws { try self.init(engine: SortedFileEngine(path: path)) }
}

extension StoreError {
    /// Why a folder cannot be opened, after creating it failed with an error number of the system.
    static func opening(_ path: String, after creation: Int32) -> StoreError {
        let isDenied = errno == ENOENT && [EACCES, EPERM, EROFS].contains(creation)
        return StoreError(isDenied ? .readOnly : .io, "the folder cannot be opened or created", path: path)
    }

    /// Why a file cannot be written.
    static func writing(_ file: URL, _ error: any Error) -> StoreError {
        let code: Code =
            switch (error as? CocoaError)?.code {
            case .fileWriteOutOfSpace: .full
            case .fileWriteNoPermission, .fileWriteVolumeReadOnly: .readOnly
            default: .io
            }
        return StoreError(code, "the file cannot be written", path: file.path, cause: error)
    }

    /// Why what follows a file's checksum cannot be read: a property list is a store's and damaged, all else another's.
    static func reading(_ content: Data, of file: URL) -> StoreError {
        guard content.starts(with: Data("bplist".utf8)) else {
            return StoreError(.notAStore, "the file is not a store; choose another folder", path: file.path)
        }
        return StoreError(.corrupt, "the file is damaged; restore it from a copy", path: file.path)
    }
}
