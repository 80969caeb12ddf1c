internal import CSQLite
internal import CSQLiteChecksums

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
            + (version == checksummedVersion ? [recordChecksums] : [])
    }
    /// The first table has a row with the number of definition changes, by which other connections detect a change. The
    /// second has the definition of each table, as JSON.
    private static let tables = [
        #"CREATE TABLE "tideline_meta" ("id" INTEGER PRIMARY KEY, "generation" INTEGER NOT NULL)"#,
        #"INSERT INTO "tideline_meta" VALUES (1, 1)"#,
        #"CREATE TABLE "tideline_tables" ("name" TEXT NOT NULL PRIMARY KEY, "definition" TEXT NOT NULL)"#,
    ]
    /// Records in a second row that no page of the file lacks its checksum. Earlier versions could write such pages.
    static let recordChecksums = #"INSERT OR IGNORE INTO "tideline_meta" VALUES (2, 1)"#
    static let countChecksumRecords = #"SELECT count(*) FROM "tideline_meta" WHERE "id" = 2"#
    static let selectGeneration = #"SELECT "generation" FROM "tideline_meta" WHERE "id" = 1"#
    static let countDefinitions = #"SELECT count(*) FROM "tideline_tables""#
    static let selectDefinitions = #"SELECT "name", "definition" FROM "tideline_tables""#
    static let saveDefinition = #"INSERT OR REPLACE INTO "tideline_tables" VALUES (?1, ?2)"#
    static let advanceGeneration = #"UPDATE "tideline_meta" SET "generation" = "generation" + 1"#
}
