internal import CSQLite
internal import Foundation
internal import TidelineStore

extension SQLiteStore {
    /// Removes the store in the file at `path`, with its write-ahead log. If the path is a symbolic link, the link
    /// remains.
    ///
    /// If there is no file, removes what is left next to the path, even a write-ahead log with commits, for which
    /// opening throws ``StoreError/Code/corrupt``. An empty file, which opening a store would turn into one, is
    /// removed. A damaged store can be destroyed as long as its header identifies it as a store.
    ///
    /// - Throws: ``StoreError``: ``StoreError/Code/locked`` if the store is open, in this process or another, or
    ///   another program has the file open; ``StoreError/Code/notAStore`` if the file is not a store;
    ///   ``StoreError/Code/readOnly`` or ``StoreError/Code/io`` if it cannot be removed. Nothing is removed in these
    ///   cases, unless removal failed partway: call this method again then.
    public static func destroy(path: String) throws {
        let file = DatabaseFile.file(at: try path.absolutePath())
        try finishDestroying(file)
        guard FileManager.default.fileExists(atPath: file) else {
            // A log without a database is left over from an interrupted removal.
            return try DatabaseFile.remove(file)
        }
        try DatabaseFile.requireNoFolder(path)
        let connection: Connection
        do throws(StoreError) {
            connection = try Connection.alone(at: file)
        } catch {
            // Another process has destroyed it meanwhile.
            guard error.code == .locked, !DatabaseFile.exists(file), !DatabaseFile.exists(DatabaseFile.removed(file))
            else { throw error }
            return
        }
        // Closed last, because it locks out others.
        defer { connection.close() }
        try DatabaseFile.remove(file)
    }

    /// Removes the rest of a store whose removal was interrupted.
    ///
    /// - Throws: ``StoreError/Code/locked`` if another process is removing it now.
    static func finishDestroying(_ path: String) throws(StoreError) {
        let file = DatabaseFile.file(at: path)
        let removed = DatabaseFile.removed(file)
        guard DatabaseFile.exists(removed), !DatabaseFile.exists(file) else { return }
        let connection: Connection
        do throws(StoreError) {
            connection = try Connection.alone(at: removed)
        } catch {
            // The other process has finished.
            guard DatabaseFile.exists(removed) else { return }
            throw error
        }
        defer { connection.close() }
        try DatabaseFile.remove(file)
    }
}

extension Connection {
    /// Opens a connection to a store that is not open elsewhere, and locks out others until the connection is closed.
    static func alone(at path: String) throws(StoreError) -> Connection {
        var handle: OpaquePointer?
        let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE
        let result = sqlite3_open_v2(path, &handle, flags, FileFormat.checksumVFS)
        guard result == SQLITE_OK, let handle else {
            defer { sqlite3_close_v2(handle) }
            throw .sqlite(result, handle, path: path, doing: "the file could not be opened")
        }
        let connection = Connection(handle: handle, path: path)
        connection.leaveLog()
        guard try connection.isOwnStore() else {
            throw StoreError(.notAStore, "the file is not a store; nothing was removed", path: path)
        }
        try connection.excludeOthers()
        return connection
    }

    /// Locks out others until the connection is closed, which then leaves the log in place.
    private func excludeOthers() throws(StoreError) {
        let result = tideline_lock_file(handle)
        guard result == SQLITE_OK else {
            throw result & 0xFF == SQLITE_BUSY
                ? lockedOut(Int(result)) : .sqlite(result, handle, path: path, doing: "the file could not be locked")
        }
        guard tideline_leave_log(handle) == SQLITE_OK else {
            throw StoreError(.io, "SQLite rejected a setting", path: path)
        }
        // Until the lock was taken, another process may have removed the file, and made another store at its path.
        guard tideline_has_moved(handle) == 0 else { throw lockedOut(nil) }
    }

    /// Closes the connection after the creation of a store failed, and removes the files unless another process uses
    /// them or has stored something.
    func abandonCreation() {
        defer { close() }
        rollBack()
        guard let path, (try? hasTables()) != true, (try? excludeOthers()) != nil else { return }
        try? DatabaseFile.remove(DatabaseFile.file(at: path))
    }

    private func hasTables() throws(StoreError) -> Bool {
        guard FileFormat.isNamed(in: handle) else { return false }
        return try integer(FileFormat.countDefinitions) > 0
    }

    /// Returns whether the file is empty or a store of any version.
    private func isOwnStore() throws(StoreError) -> Bool {
        do throws(StoreError) {
            // Set before the file is first read, so that SQLite takes only the exclusive file lock and keeps it.
            try executeOnce("PRAGMA locking_mode = EXCLUSIVE")
            let application = try integer("PRAGMA application_id")
            guard application == 0 else { return application == FileFormat.applicationID }
            return try integer("SELECT count(*) FROM sqlite_master") == 0
        } catch {
            switch error.code {
            case .busy: throw lockedOut(error.engineCode)
            case .corrupt, .notAStore: return FileFormat.isNamed(in: handle)
            default: throw error
            }
        }
    }

    private func lockedOut(_ code: Int?) -> StoreError {
        StoreError(
            .locked, "the file is open in another store of this or another process; close it first", path: path,
            engineCode: code)
    }
}
