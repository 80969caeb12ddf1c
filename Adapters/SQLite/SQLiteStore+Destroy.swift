internal import CSQLite
internal import Foundation
internal import TidelineStore

extension SQLiteStore {
    /// Removes the store in the file at `path`, with its write-ahead log. Where a link leads to the file, the link stays.
    ///
    /// Where there is no file, nothing is done; an empty one, which a store would be made of, is removed. A store that is
    /// damaged can be destroyed as long as the file says whose it is.
    /// - Throws: ``StoreError``: ``StoreError/Code/locked`` when the store is open, in this process or another, or another
    ///   program has the file open; ``StoreError/Code/corrupt`` when the file is not a store's;
    ///   ``StoreError/Code/readOnly`` or ``StoreError/Code/io`` when it cannot be removed. Nothing is removed then.
    public static func destroy(path: String) throws {
        let file = DatabaseFile.file(at: try DatabaseFile.absolute(path))
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: file, isDirectory: &isFolder) else {
            // A log by itself is what is left when this was interrupted.
            return try DatabaseFile.remove(file)
        }
        guard !isFolder.boolValue else { throw StoreError(.io, "the path is a folder", path: path) }
        let connection = try Connection.alone(at: file)
        // Closed last, as it keeps others out.
        defer { connection.close() }
        try DatabaseFile.remove(file)
    }
}

extension Connection {
    /// A connection to a store that nobody else has open; nobody can open it until this one is closed.
    fileprivate static func alone(at path: String) throws(StoreError) -> Connection {
        var handle: OpaquePointer?
        let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE
        let result = sqlite3_open_v2(path, &handle, flags, FileFormat.checksumVFS)
        guard result == SQLITE_OK, let handle else {
            defer { sqlite3_close_v2(handle) }
            throw .sqlite(result, handle, path: path, doing: "the file could not be opened")
        }
        let connection = Connection(handle: handle, path: path)
        guard try connection.isOwnStore() else {
            throw StoreError(.corrupt, "the file is not a store's, and nothing was removed", path: path)
        }
        try connection.lockOut()
        guard tideline_leave_log(handle) == SQLITE_OK else {
            throw StoreError(.io, "SQLite refused its settings", path: path)
        }
        return connection
    }

    /// Whether the file is a store's, of whatever version, or empty.
    private func isOwnStore() throws(StoreError) -> Bool {
        do throws(StoreError) {
            // Set before the file is looked at, so that all that SQLite takes is the file's one lock, for good.
            try executeOnce("PRAGMA locking_mode = EXCLUSIVE")
            let application = try integer("PRAGMA application_id")
            guard application == 0 else { return application == FileFormat.applicationID }
            return try integer("SELECT count(*) FROM sqlite_master") == 0
        } catch {
            switch error.code {
            case .busy: throw lockedOut(error.engineCode)
            case .corrupt: return headerNamesStore
            default: throw error
            }
        }
    }

    /// Whether the first bytes of a file that SQLite finds damaged say that it is a store's.
    private var headerNamesStore: Bool {
        guard let header = header(72) else { return false }
        // Bytes 68 to 71 hold the application's number, big-endian.
        return header[68...].reduce(0) { $0 << 8 | Int64($1) } == FileFormat.applicationID
    }

    private func lockOut() throws(StoreError) {
        let result = tideline_lock_file(handle)
        guard result != SQLITE_OK else { return }
        throw result & 0xFF == SQLITE_BUSY
            ? lockedOut(Int(result)) : .sqlite(result, handle, path: path, doing: "the file could not be locked")
    }

    private func lockedOut(_ code: Int?) -> StoreError {
        StoreError(
            .locked, "another store of this process or another one has the file open: close it first", path: path,
            engineCode: code)
    }
}
