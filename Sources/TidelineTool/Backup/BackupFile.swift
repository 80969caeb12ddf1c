#if Serve
internal import Foundation
internal import TidelineSQLite
internal import TidelineServer
internal import TidelineStore
internal import TidelineWire

/// A backup of a server's store: an SQLite store with checksums, in one file, whichever the engine of the server's
/// store.
enum BackupFile {
    /// The record of a backup, a system table with one row. It is written last, so a copy without it is incomplete. It
    /// is recognized by its columns, because clients may have created a table with its name.
    private static let manifest = TableSchema(
        "MS_Backup", columns: [.int("format"), .timestamp("time"), .string("engine"), .string("counts")],
        systemColumns: [], isSystem: true)
    private static let format: Int64 = 1

    /// The number of rows in a table.
    private struct TableCount: Codable {
        var table: String
        var rows: Int
    }

    /// Whether a table is the record of a backup. A store that was copied from a backup has that of its original.
    private static func isManifest(_ schema: TableSchema) -> Bool {
        schema.isSystem && schema.columns == manifest.columns
    }

    /// Checks that a store with these tables is not a backup.
    ///
    /// - Throws: ``ToolError``.
    static func requireNoBackup(_ tables: [TableSchema]) throws {
        guard tables.contains(where: isManifest) else { return }
        throw ToolError(
            "the store is a backup, and changes by a server would make it useless; create the server's store from it with "
                + "\"tideline restore\"")
    }

    // MARK: Writing

    /// Writes a backup of a store, as of one moment, and verifies it. Other threads and processes may write to the
    /// store at the same time.
    ///
    /// The file appears under its name when it is complete and synced to the disk.
    ///
    /// - Throws: ``ToolError`` if something exists at the path or the store has no served tables; `StoreError`.
    static func write(_ source: some LocalStore, to path: String) throws -> StoreCopy {
        try NewPath.requireFree(path)
        let names = try source.tables()
        try StoreRole.requireServer(names)
        return try NewPath.create(path, remove: SQLiteStore.destroy) { unfinished in
            try source.read { reader in
                let schemas = try StoreCopy.schemas(named: names.map(\.name), in: reader).filter { !isManifest($0) }
                guard schemas.contains(where: { $0.name == ServedTableRecord.schema.name }) else {
                    throw ToolError("no server has used the store; only a server's store can be backed up")
                }
                return try copy(schemas, from: reader, engine: source.capabilities.name, to: unfinished)
            }
        }
    }

    private static func copy(
        _ schemas: [TableSchema], from reader: some StoreReader, engine: String, to path: String
    ) throws -> StoreCopy {
        // The file is synced as a whole when it is complete.
        let target = try SQLiteStore(path: path, options: SQLiteOptions(checksums: true))
        defer { try? target.close() }
        let time = Timestamp.now
        var manifest = manifest
        while schemas.contains(where: { $0.name.asciiLowercased == manifest.name.asciiLowercased }) {
            manifest.name += "_"
        }
        try target.define(schemas.map(\.withoutRequirements) + [manifest])
        var copy = StoreCopy()
        try copy.copy(schemas, from: reader) { try target.write($0) }
        try target.define(schemas)
        let counts = copy.tables.map { TableCount(table: $0.schema.name, rows: $0.count) }
        let row: Row = [
            "id": "backup", "format": .int(format), "time": .timestamp(time), "engine": .string(engine),
            "counts": .string(try RecordJSON.encode(counts)),
        ]
        try target.write { try $0.upsert(row, into: manifest.name) }
        try target.close()
        try read(path) { reader, _ in try copy.verify(in: reader) }
        return copy
    }

    // MARK: Reading

    /// Opens a backup, checks that it is complete and undamaged, and calls `body` with a snapshot and the definitions
    /// of its tables.
    ///
    /// - Throws: ``ToolError`` if the file is not a backup; `StoreError` with code `corrupt` if it is damaged.
    static func read<T>(
        _ path: String, _ body: (SQLiteStore.Reader, [TableSchema]) throws -> T
    ) throws -> T {
        let store = try open(path)
        defer { try? store.close() }
        let tables = try store.tables()
        guard let manifest = tables.first(where: isManifest) else {
            throw ToolError("\(path) is a store but not a backup; create one with \"tideline backup\"")
        }
        try store.verify()
        return try store.read { reader in
            guard let row = try reader.row(in: manifest.name, id: "backup"), let text = row["counts"]?.string else {
                throw ToolError("the backup \(path) is incomplete")
            }
            guard row["format"]?.int == format else {
                throw ToolError("the backup \(path) was written by a later version of tideline; update the program")
            }
            let counts: [TableCount] = try RecordJSON.decode(from: text)
            for count in counts where try reader.count(TableQuery(count.table)) != count.rows {
                throw StoreError(
                    .corrupt,
                    "the backup was changed after it was written: it had \(count.rows) rows; if a server wrote to it, "
                        + "restore a backup of it", table: count.table, path: path)
            }
            let names = tables.filter { !isManifest($0) }.map(\.name)
            return try body(reader, try StoreCopy.schemas(named: names, in: reader))
        }
    }

    /// Opens a backup.
    ///
    /// - Throws: ``ToolError`` if the path is missing or is not a store; `StoreError`.
    private static func open(_ path: String) throws -> SQLiteStore {
        var status = stat()
        guard stat(path, &status) == 0 || errno != ENOENT else { throw ToolError("there is no file \(path)") }
        do {
            return try openStore(path)
        } catch let error as StoreError where error.code == .notAStore || status.st_mode & S_IFMT == S_IFDIR {
            throw ToolError("\(path) is not a backup")
        }
    }

    /// Opens a store for writing if possible: one that is open for reading only leaves its log beside the file.
    private static func openStore(_ path: String) throws -> SQLiteStore {
        do {
            return try SQLiteStore(path: path, options: SQLiteOptions(createsIfMissing: false))
        } catch let error as StoreError where error.code == .readOnly {
            return try SQLiteStore(path: path, options: SQLiteOptions(isReadOnly: true))
        }
    }
}
#endif
