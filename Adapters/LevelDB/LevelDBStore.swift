public import TidelineKeyValue
internal import TidelineLevelDBVerification
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
        try self.init(engine: engine)
    }

    /// Repairs a closed store that is ``StoreError/Code/corrupt`` from its remaining data, so that it can be opened.
    ///
    /// Rows may be lost: those in damaged blocks and tables, and all changes from the damaged position of a log on. If
    /// the manifest is lost, rows that were replaced or deleted shortly before may reappear. Copy important rows out of
    /// a repaired store into a new one, or pull again into a new one. Indexes and counts are rebuilt from the remaining
    /// rows. Unusable files are kept in the subfolder `lost`.
    ///
    /// - Throws: ``StoreError/Code/locked`` if the store is open, in this process or another;
    ///   ``StoreError/Code/notAStore`` if the remaining data is not a store; ``StoreError/Code/corrupt`` if a row in it is
    ///   damaged;
    ///   ``StoreError/Code/full``; ``StoreError/Code/io``. The folder can be repaired again after an error.
    public static func repair(path: String, options: LevelDBOptions = .init()) throws {
        try LevelDBEngine.repair(path: path, options: options)
        var options = options
        options.createsIfMissing = false
        let store = try LevelDBStore(path: path, options: options)
        do {
            try store.rebuildIndexes()
        } catch {
            // Report the first error, not that of closing.
            try? store.close()
            throw error
        }
        try store.close()
    }

    /// Removes the store in the folder at `path`: LevelDB's files, those that a repair kept in `lost`, and the folder
    /// if it contains nothing else.
    ///
    /// Does nothing if there is no store. Other files in the folder remain. A damaged store can be destroyed, too;
    /// however, a damaged LevelDB database cannot be distinguished from another program's and is removed.
    ///
    /// - Throws: ``StoreError/Code/locked`` if the store is open, in this process or another;
    ///   ``StoreError/Code/notAStore`` if the folder is not a store; ``StoreError/Code/readOnly``,
    ///   ``StoreError/Code/full`` or ``StoreError/Code/io`` if it cannot be read, or its files cannot be removed.
    ///   Nothing is removed in these cases, unless removal failed partway: call this method again then.
    public static func destroy(path: String) throws {
        let path = try DatabaseFolder.absolute(path)
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
    /// Opens the database in a folder, to identify its owner; returns `nil` if it is damaged or its creation was
    /// interrupted.
    fileprivate static func opened(toDestroy path: String) throws -> LevelDBEngine? {
        guard try FolderCheck.names(in: path).contains("CURRENT") else { return nil }
        do {
            return try LevelDBEngine(path: path, options: LevelDBOptions(createsIfMissing: false))
        } catch let error as StoreError where error.code == .corrupt {
            return nil
        }
    }

    /// Throws an error if the folder contains data that was not written by a store.
    ///
    /// - Throws: ``StoreError/Code/notAStore``.
    fileprivate func requireStore(at path: String) throws {
        // The keys of a store begin with a four-byte number, and its first key has the smallest number, zero.
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
                .notAStore, "the folder contains another program's database; choose another folder", path: path)
        }
    }
}
