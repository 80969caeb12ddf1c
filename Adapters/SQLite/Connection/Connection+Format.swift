internal import CSQLite
internal import CSQLiteChecksums
internal import TidelineStore

/// The format of the file, which identifies it as a store and records the version of the adapter that wrote it.
enum FileFormat {
    /// SQLite's `application_id`: "TDLN".
    static let applicationID: Int64 = 0x5444_4C4E
    /// SQLite's `user_version` of a file without checksums.
    static let plainVersion: Int64 = 1
    /// SQLite's `user_version` of a file with a checksum in each page.
    static let checksummedVersion: Int64 = 2
    /// The newest format version that this adapter supports.
    static let newestVersion = checksummedVersion
    /// The number of bytes at the end of each page that hold its checksum.
    static let checksumSize: UInt8 = 8
    /// The name of the VFS that writes and compares checksums; `nil` where SQLite has no files.
    static let checksumVFS = tideline_register_checksums(
        UInt32(applicationID), UInt32(checksummedVersion)
    ).map { String(cString: $0) }
    /// A table of one row with the number of definition changes, by which other connections detect a change.
    static let metaTable = "tideline_meta"
    /// The definition of each table, as JSON.
    static let definitionsTable = "tideline_tables"

    /// Returns whether the file of a connection has the application ID of a store, damaged or not.
    ///
    /// The ID is read through SQLite's own handle, without SQLite's checks.
    static func isNamed(in database: OpaquePointer) -> Bool {
        // Bytes 68 to 71 contain the ID, big-endian.
        var number: UInt32 = 0
        return tideline_read_file(database, &number, 4, 68) == SQLITE_OK && number.bigEndian == UInt32(applicationID)
    }

    static func creation(version: Int64) -> [String] {
        ["PRAGMA application_id = \(applicationID)", "PRAGMA user_version = \(version)"] + tables
    }
    private static let tables = [
        #"CREATE TABLE "tideline_meta" ("id" INTEGER PRIMARY KEY, "generation" INTEGER NOT NULL)"#,
        #"INSERT INTO "tideline_meta" VALUES (1, 1)"#,
        #"CREATE TABLE "tideline_tables" ("name" TEXT NOT NULL PRIMARY KEY, "definition" TEXT NOT NULL)"#,
    ]
    static let selectGeneration = #"SELECT "generation" FROM "tideline_meta" WHERE "id" = 1"#
    static let selectDefinitions = #"SELECT "name", "definition" FROM "tideline_tables""#
    static let saveDefinition = #"INSERT OR REPLACE INTO "tideline_tables" VALUES (?1, ?2)"#
    static let advanceGeneration = #"UPDATE "tideline_meta" SET "generation" = "generation" + 1"#
}

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
        let statement = try Statement("PRAGMA journal_mode = WAL", on: self)
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
