internal import CSQLite
internal import CSQLiteChecksums
internal import TidelineStore

extension Connection {
    /// Verifies that the database is a store, and initializes an empty one as a new store.
    func prepareStore(_ options: SQLiteOptions, _ deadline: Deadline) throws(StoreError) {
        let isReadOnly = options.isReadOnly && path != nil
        let isEmpty = try isEmpty(isReadOnly: isReadOnly, deadline)
        let mayCreate = path == nil || options.createsIfMissing && !isReadOnly
        guard !isEmpty || mayCreate else {
            throw StoreError(
                .notAStore, "the file is empty; choose another path or, if a store was here, restore it", path: path)
        }
        if isReadOnly { return }
        guard path == nil || sqlite3_db_readonly(handle, "main") == 0 else {
            throw .readOnlyFile(path)
        }
        // The space for checksums is fixed with the first page.
        if isEmpty, path != nil, options.checksums { tideline_reserve_checksums(handle) }
        // The store is created before there is a log, so that the file has its header before any other page.
        if isEmpty { try deadline.retrying { () throws(StoreError) in try self.createStore(options) } }
        if path != nil { try deadline.retrying { () throws(StoreError) in try self.useWriteAheadLog() } }
    }

    private func isEmpty(isReadOnly: Bool, _ deadline: Deadline) throws(StoreError) -> Bool {
        do throws(StoreError) {
            return try deadline.retrying { () throws(StoreError) in try self.inSnapshot(self.isEmptyDatabase) }
        } catch {
            throw isReadOnly ? error : explaining(error)
        }
    }

    /// Returns the error with its cause if the log cannot be created. On a read-only medium, SQLite cannot create its
    /// shared memory even to read.
    func explaining(_ error: StoreError) -> StoreError {
        let isUnopened = error.engineCode.map { $0 & 0xFF == Int(SQLITE_CANTOPEN) } == true
        guard isUnopened, let path else { return error }
        if sqlite3_db_readonly(handle, "main") == 1 { return .readOnlyFile(path) }
        guard let (code, reason) = Self.obstacleToCreation(at: DatabaseFile.removed(path)) else { return error }
        var error = error
        error.code = code
        error.message = "the write-ahead log could not be created: \(reason)"
        return error
    }

    /// Adds checksums to pages that an earlier version wrote without them, once for each store, and rejects such pages
    /// from then on.
    ///
    /// A page without a checksum has zeros in its place. If the sums of other pages are wrong, the file is damaged, and
    /// nothing is added.
    func completeChecksums(_ deadline: Deadline) throws(StoreError) {
        guard try hasChecksums() else { return }
        let isComplete = try integer(FileFormat.countChecksumRecords) > 0
        if !isComplete { try deadline.retrying { () throws(StoreError) in try self.addMissingChecksums() } }
        let missing = tideline_require_checksums(handle, Int32(try integer("PRAGMA page_size")))
        guard !isComplete || missing == 0 else {
            throw .sqlite(tideline_wrong_checksum, nil, path: path, doing: "the store could not be opened")
        }
    }

    private func addMissingChecksums() throws(StoreError) {
        let counts = try addMissingChecksums(isWriting: false)
        guard counts.wrong == 0 else { return }
        if counts.missing > 0 {
            try checkIntegrity()
            _ = try addMissingChecksums(isWriting: true)
        }
        // Without space for the record, the next opening checks all pages again.
        try? executeOnce(FileFormat.recordChecksums)
    }

    private func addMissingChecksums(isWriting: Bool) throws(StoreError) -> (missing: Int32, wrong: Int32) {
        let size = Int32(try integer("PRAGMA page_size"))
        var counts: (missing: Int32, wrong: Int32) = (0, 0)
        let result = tideline_add_missing_checksums(handle, size, isWriting ? 1 : 0, &counts.missing, &counts.wrong)
        guard result == SQLITE_OK else {
            throw .sqlite(result, nil, path: path, doing: "the checksums could not be completed")
        }
        return counts
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
                // Another program may have written the first page without space for checksums.
                let reserved = header(FileExtent.headerSize)?[20] ?? FileFormat.checksumSize
                let hasRoom = path != nil && reserved == FileFormat.checksumSize
                let version = options.checksums && hasRoom ? FileFormat.checksummedVersion : FileFormat.plainVersion
                for statement in FileFormat.creation(version: version) { try executeOnce(statement) }
            }
            try perform(.commit)
        } catch {
            rollBack()
            throw error
        }
    }

    /// Returns the result of reads in one snapshot.
    func inSnapshot<T>(_ body: () throws(StoreError) -> T) throws(StoreError) -> T {
        try perform(.begin)
        defer { rollBack() }
        return try body()
    }
}

extension StoreError {
    fileprivate static func readOnlyFile(_ path: String?) -> StoreError {
        StoreError(.readOnly, "the file or its file system is read-only; open it for reading only", path: path)
    }
}
