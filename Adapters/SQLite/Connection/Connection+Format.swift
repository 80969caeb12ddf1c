internal import CSQLite
internal import CSQLiteChecksums
internal import TidelineStore

extension Connection {
    /// Verifies that the database is a store, and initializes an empty one as a new store.
    func prepareStore(_ options: SQLiteOptions, mayCreate: Bool, deadline: Deadline) throws(StoreError) {
        let isReadOnly = options.isReadOnly && path != nil
        let isEmpty = try deadline.retrying { () throws(StoreError) in try self.inSnapshot(self.isEmptyDatabase) }
        guard !isEmpty || (mayCreate && !isReadOnly) else {
            throw StoreError(
                .notAStore, "the file is empty; choose another path or, if a store was here, restore it", path: path)
        }
        if isReadOnly { return }
        guard path == nil || sqlite3_db_readonly(handle, "main") == 0 else {
            throw StoreError(.readOnly, "the file or its file system is read-only", path: path)
        }
        // The space for checksums is fixed with the first page, which the switch to the write-ahead log writes.
        if isEmpty, path != nil, options.checksums { tideline_reserve_checksums(handle) }
        if path != nil { try deadline.retrying { () throws(StoreError) in try self.useWriteAheadLog() } }
        if isEmpty { try deadline.retrying { () throws(StoreError) in try self.createStore(options) } }
    }

    /// Whether each page of the file has a checksum.
    func hasChecksums() throws(StoreError) -> Bool {
        guard path != nil else { return false }
        return try integer("PRAGMA user_version") == FileFormat.checksummedVersion
    }

    /// Returns whether the database is empty; throws if it contains anything other than a store.
    private func isEmptyDatabase() throws(StoreError) -> Bool {
        let application = try integer("PRAGMA application_id")
        let version = try integer("PRAGMA user_version")
        let objects = try integer("SELECT count(*) FROM sqlite_master")
        if application == 0, version == 0, objects == 0 { return true }
        guard application == FileFormat.applicationID else {
            throw StoreError(
                .notAStore, "the file is an SQLite database of another program; choose another path", path: path)
        }
        guard version >= 1 else {
            throw StoreError(.corrupt, "the format version \(version) is damaged; restore the file", path: path)
        }
        guard version <= FileFormat.newestVersion else {
            throw StoreError(
                .newerFormat,
                "the store has format \(version); this program supports up to \(FileFormat.newestVersion): update it",
                path: path)
        }
        return false
    }

    private func useWriteAheadLog() throws(StoreError) {
        let statement = try Statement("PRAGMA journal_mode = WAL", on: handle, path: path)
        guard try statement.step(), statement.text(0) == "wal" else {
            throw StoreError(.io, "the file system does not support a write-ahead log", path: path)
        }
    }

    private func createStore(_ options: SQLiteOptions) throws(StoreError) {
        try perform(.beginWriting)
        do {
            // Another process may have created the store in the meantime.
            if try isEmptyDatabase() {
                // Another process may have written the first page without space for checksums.
                let hasRoom = header(FileExtent.headerSize)?[20] == FileFormat.checksumSize
                let version = options.checksums && hasRoom ? FileFormat.checksummedVersion : FileFormat.plainVersion
                for statement in FileFormat.creation(version: version) { try executeOnce(statement) }
            }
            try perform(.commit)
        } catch {
            rollBack()
            throw error
        }
    }

    private func inSnapshot<T>(_ body: () throws(StoreError) -> T) throws(StoreError) -> T {
        try perform(.begin)
        defer { rollBack() }
        return try body()
    }
}
