public import TidelineKeyValue
internal import TidelineStore

/// A whole store in a folder of LevelDB's.
public typealias LevelDBStore = KeyValueStore<LevelDBEngine>

extension KeyValueStore where Engine == LevelDBEngine {
    /// Opens the store in the folder at `path`, a path of the file system; the folder is made when it is missing.
    ///
    /// - Throws: What ``LevelDBEngine/init(path:options:)`` and ``KeyValueStore/init(engine:)`` throw.
    public convenience init(path: String, options: LevelDBOptions = .init()) throws {
        let engine = try LevelDBEngine(path: path, options: options)
        do {
            try engine.requireStore(at: path)
        } catch {
            // The first failure is the one to tell.
            try? engine.close()
            throw error
        }
        try self.init(engine: engine)
    }

    /// Makes a closed store that is ``StoreError/Code/corrupt`` one that can be opened, of what is left.
    ///
    /// Rows may be lost: those of damaged blocks and tables, and every change from the damaged place of a log on. Where the
    /// manifest is lost, rows may be back that were replaced or deleted shortly before. So copy what matters out of a
    /// repaired store and begin anew, or pull again into a new one. Indexes and counts are made anew from the rows that
    /// are left. What could not be used is kept in the folder `lost` within.
    /// - Throws: ``StoreError/Code/locked`` when the store is open, in this process or another;
    ///   ``StoreError/Code/corrupt`` when so much is lost that what is left is no store, or a row in it is damaged;
    ///   ``StoreError/Code/full``; ``StoreError/Code/io``. The folder can be repaired again then.
    public static func repair(path: String, options: LevelDBOptions = .init()) throws {
        try LevelDBEngine.repair(path: path, options: options)
        var options = options
        options.createsIfMissing = false
        let store = try LevelDBStore(path: path, options: options)
        do {
            try store.rebuildIndexes()
        } catch {
            // The first failure is the one to tell.
            try? store.close()
            throw error
        }
        try store.close()
    }

    /// Removes the store in the folder at `path`: LevelDB's files, those that a repair kept in `lost`, and the folder when
    /// nothing else is in it.
    ///
    /// Where there is no store, nothing is done. Files that are not the store's stay. A store that is damaged can be
    /// destroyed, too; but of a damaged LevelDB nobody can tell whether it is a store's or another program's.
    /// - Throws: ``StoreError/Code/locked`` when the store is open, in this process or another;
    ///   ``StoreError/Code/corrupt`` when the folder is not a store's; ``StoreError/Code/readOnly``,
    ///   ``StoreError/Code/full`` or ``StoreError/Code/io`` when it cannot be looked into, or its files cannot be removed.
    ///   Nothing is removed then, unless removing them failed half-way: then call it again.
    public static func destroy(path: String) throws {
        let path = try DatabaseFolder.absolute(path)
        guard try DatabaseFolder.hasDatabase(at: path) else { return }
        if let engine = try LevelDBEngine.opened(toDestroy: path) {
            // A folder that cannot be closed in an orderly way is closed all the same.
            defer { try? engine.close() }
            try engine.requireStore(at: path)
        }
        try DatabaseFolder.destroy(path)
    }

    /// Gives back the room of what was deleted or replaced; see ``LevelDBEngine/compact()``.
    public func compact() throws { try withEngine { try $0.compact() } }
}

extension LevelDBEngine {
    /// The database in a folder, to see whose it is; nil where it is damaged or was never finished.
    fileprivate static func opened(toDestroy path: String) throws -> LevelDBEngine? {
        guard try FolderCheck.names(in: path).contains("CURRENT") else { return nil }
        do {
            return try LevelDBEngine(path: path, options: LevelDBOptions(createsIfMissing: false))
        } catch let error as StoreError where error.code == .corrupt {
            return nil
        }
    }

    /// Checks that what is in the folder, if anything, was written by a store.
    /// - Throws: ``StoreError/Code/corrupt``.
    fileprivate func requireStore(at path: String) throws {
        // The keys of a store begin with four bytes of a number, the first of which is the smallest there is.
        let everything = KeyRange(from: [], to: Array(repeating: 0xFF, count: 8))
        var isForeign = false
        try read { snapshot in
            try snapshot.scan(everything, descending: false) { key, _ in
                isForeign = !key.starts(with: [0, 0, 0, 0])
                return .stop
            }
        }
        guard !isForeign else {
            throw StoreError(
                .corrupt, "the folder has another program's database; name another folder", path: path)
        }
    }
}
