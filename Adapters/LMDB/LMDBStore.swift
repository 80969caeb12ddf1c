public import TidelineKeyValue

/// A store in an LMDB folder.
public typealias LMDBStore = KeyValueStore<LMDBEngine>

extension KeyValueStore where Engine == LMDBEngine {
    /// Opens the store in the folder at `path`, a file system path; a missing folder is created if the options allow
    /// it.
    ///
    /// - Throws: The errors of ``LMDBEngine/init(path:options:)`` and ``KeyValueStore/init(engine:)``.
    public convenience init(path: String, options: LMDBOptions = .init()) throws {
        let engine = try LMDBEngine(path: path, options: options)
        do {
            // Closes the engine if it fails.
            try self.init(engine: engine, createsIfMissing: options.createsIfMissing)
        } catch {
            EnvironmentRegistry.shared.abandonCreation(of: engine.environment)
            throw error
        }
    }

    /// Removes the store in the folder at `path`: LMDB's files, and the folder if it contains nothing else.
    ///
    /// Does nothing if there is no store. Other files in the folder remain. A damaged store can be destroyed, too;
    /// however, a damaged LMDB file cannot be distinguished from another program's and is removed.
    ///
    /// - Throws: ``StoreError/Code/locked`` if the store is open, in this process or another;
    ///   ``StoreError/Code/notAStore`` if the folder is not a store; ``StoreError/Code/readOnly`` or
    ///   ``StoreError/Code/io`` if the files cannot be removed. Nothing is removed in these cases, unless removal
    ///   failed partway: call this method again then.
    public static func destroy(path: String) throws { try EnvironmentRegistry.shared.destroy(at: path) }
}
