public import TidelineKeyValue
internal import TidelineStore

/// A store in a LevelDB folder.
public typealias LevelDBStore = KeyValueStore<LevelDBEngine>

extension KeyValueStore where Engine == LevelDBEngine {
    /// Opens the store in the folder at `path`, a file system path; a missing folder is created if the options allow
    /// it.
    ///
    /// - Throws: The errors of ``LevelDBEngine/init(path:options:)`` and ``KeyValueStore/init(engine:)``.
    public convenience init(path: String, options: LevelDBOptions = .init()) throws {
        let engine = try LevelDBEngine(path: path, options: options)
        do {
            try engine.requireStore(at: path)
        } catch {
            // Report the first error, not that of closing.
            try? engine.close()
            throw error
        }
        try self.init(engine: engine, createsIfMissing: options.createsIfMissing)
    }

    /// Repairs a closed store that is ``StoreError/Code/corrupt`` from its remaining data, so that it can be opened.
    ///
    /// Rows may be lost: those in damaged blocks and tables, and all changes from the damaged position of a log on. If
    /// the manifest is lost, rows that were replaced or deleted shortly before may reappear. Indexes, counts, and the
    /// format record are rebuilt. The files of which a part is unreadable are kept in the subfolder `lost`, and so are
    /// damaged rows and the rows of tables whose definitions are lost, in the file `entries.txt`.
    ///
    /// If anything but the last commits is lost, the tokens of incremental pulls are removed, so that the next pull of
    /// each query receives all its rows. Pending operations may be lost, too.
    ///
    /// - Returns: The part of the store that was lost, as far as it is known.
    /// - Throws: ``StoreError/Code/locked`` if the store is open, in this process or another;
    ///   ``StoreError/Code/notAStore`` if the remaining data is not a store; ``StoreError/Code/newerFormat``;
    ///   ``StoreError/Code/schemaMismatch`` for a name that is not in normalization form C; ``StoreError/Code/full``;
    ///   ``StoreError/Code/io``. The folder can be repaired again after an error, or after the process was killed.
    ///   Until then, opening it may throw ``StoreError/Code/corrupt``.
    @discardableResult
    public static func repair(path: String, options: LevelDBOptions = .init()) throws -> LevelDBRepair {
        let files = try LevelDBEngine.repair(path: path, options: options, isFirstPart: true)
        var options = options
        options.createsIfMissing = false
        options.ignoresRepairMarker = true
        let content: ContentRepair
        do {
            content = try repairContent(path, options)
        } catch let error as StoreError
            where files.isConsistent && [.notAStore, .newerFormat, .schemaMismatch].contains(error.code)
        {
            // Nothing was lost or changed: another version of the program may use the store.
            RepairMarker.remove(in: path)
            throw error
        }
        let store = try LevelDBStore(path: path, options: options)
        do {
            try store.rebuildIndexes()
            var repair = LevelDBRepair(
                lostFiles: files.lostFiles, removedEntries: content.removedCount,
                isFormatRecordRebuilt: content.isRecordRebuilt)
            repair.lostRows = try store.missingRows(of: content.rowCounts)
            let isConsistent = files.isConsistent && content.removedCount == 0 && repair.lostRows.isEmpty
            if !isConsistent || content.isRecordRebuilt { repair.removedTokens = try store.removeTokens() }
            try store.close()
            RepairMarker.remove(in: path)
            return repair
        } catch {
            // Report the first error, not that of closing.
            try? store.close()
            throw error
        }
    }

    private static func repairContent(_ path: String, _ options: LevelDBOptions) throws -> ContentRepair {
        let engine = try LevelDBEngine(path: path, options: options)
        // Report the first error, not that of closing.
        defer { try? engine.close() }
        try engine.requireStore(at: path)
        let lost = LostFiles(folder: path)
        var lines = ""
        let repair = try repairContent(of: engine) { key, value in
            lines += LostFiles.line(key, value)
            guard lines.utf8.count > 1 << 20 else { return }
            try lost.append(lines)
            lines = ""
        }
        try lost.append(lines)
        return repair
    }

    /// Returns how many rows each table lacks, by its name.
    private func missingRows(of counts: [String: Int]) throws -> [String: Int] {
        try read { reader in
            try counts.reduce(into: [:]) { missing, entry in
                let count = try reader.count(TableQuery(entry.key))
                if count < entry.value { missing[entry.key] = entry.value - count }
            }
        }
    }

    /// Removes the tokens of all incremental pulls. Returns their number.
    private func removeTokens() throws -> Int {
        let settings = try tables().filter(SystemTables.isSettings)
        return try write { writer in
            try settings.reduce(0) { count, table in
                let tokens = RowPredicate.column("keyType") == .value(SystemTables.tokenKeyType)
                return count + (try writer.delete(matching: TableQuery(table.name, predicate: tokens)))
            }
        }
    }

    /// Removes the store in the folder at `path`: LevelDB's files, those that a repair kept in `lost`, and the folder
    /// if it contains nothing else.
    ///
    /// Does nothing if there is no store. Other files in the folder remain. A store on a full disk can be destroyed. A
    /// damaged store can be destroyed, too; however, a damaged LevelDB database cannot be distinguished from another
    /// program's and is removed.
    ///
    /// - Throws: ``StoreError/Code/locked`` if the store is open, in this process or another;
    ///   ``StoreError/Code/notAStore`` if the folder is not a store; ``StoreError/Code/readOnly``,
    ///   ``StoreError/Code/full`` or ``StoreError/Code/io`` if it cannot be read, or its files cannot be removed.
    ///   Nothing is removed in these cases, unless removal failed partway: call this method again then.
    public static func destroy(path: String) throws {
        let path = try path.absolutePath()
        guard try DatabaseFolder.hasDatabase(at: path) else { return }
        if let engine = try LevelDBEngine.opened(toDestroy: path) {
            // The folder is closed even if closing reports an error.
            defer { try? engine.close() }
            try engine.requireStore(at: path)
        }
        try DatabaseFolder.destroy(path)
    }

    /// Frees the disk space of deleted and replaced rows; see ``LevelDBEngine/compact()``.
    public func compact() throws { try withEngine { try $0.compact() } }
}

extension LevelDBEngine {
    /// Opens the database in a folder, to identify its owner; returns `nil` if it is damaged, its creation was
    /// interrupted, or it is a store on a full disk.
    fileprivate static func opened(toDestroy path: String) throws -> LevelDBEngine? {
        guard try FolderCheck.names(in: path).contains("CURRENT") else { return nil }
        var options = LevelDBOptions(createsIfMissing: false)
        options.ignoresRepairMarker = true
        do {
            return try LevelDBEngine(path: path, options: options)
        } catch let error as StoreError where error.code == .corrupt {
            return nil
        } catch let error as StoreError where error.code == .full {
            // LevelDB creates files when it opens a database.
            guard try FolderCheck(folder: path).isStore() else { throw error }
            return nil
        }
    }

    /// Throws an error if the folder contains data that was not written by a store.
    ///
    /// - Throws: ``StoreError/Code/notAStore``.
    fileprivate func requireStore(at path: String) throws {
        let everything = KeyRange(from: [], to: Array(repeating: 0xFF, count: 8))
        var isForeign = false
        try read { snapshot in
            try snapshot.scan(everything, descending: false) { key, _ in
                isForeign = !FolderCheck.beginsStore(key)
                return .stop
            }
        }
        guard !isForeign else {
            throw StoreError(
                .notAStore, "the folder contains another program's database; choose another folder", path: path)
        }
    }
}

/// The part of a store that was lost when ``LevelDBStore`` repaired it.
public struct LevelDBRepair: Sendable, Hashable {
    /// The names of the tables and logs of which a part is unreadable. They are kept in the subfolder `lost`.
    public internal(set) var lostFiles: [String]
    /// How many rows each table lost, by its name. The numbers are those that the remaining files record, so they may
    /// be too small; a table whose definition was lost is not among them.
    public internal(set) var lostRows: [String: Int] = [:]
    /// The number of damaged rows and definitions, and of rows, counts, and index entries without a table, that were
    /// moved to `lost/entries.txt`.
    public internal(set) var removedEntries: Int
    /// The number of tokens of incremental pulls that were removed.
    public internal(set) var removedTokens = 0
    /// Whether the format record, or the state of the definitions, was missing or damaged.
    public internal(set) var isFormatRecordRebuilt: Bool
}
