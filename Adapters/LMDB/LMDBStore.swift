public import TidelineKeyValue

/// A whole store in a folder of LMDB's.
public typealias LMDBStore = KeyValueStore<LMDBEngine>

extension KeyValueStore where Engine == LMDBEngine {
    /// Opens the store in the folder at `path`, a path of the file system; the folder is made when it is missing.
    ///
    /// - Throws: What ``LMDBEngine/init(path:options:)`` and ``KeyValueStore/init(engine:)`` throw.
    public convenience init(path: String, options: LMDBOptions = .init()) throws {
        try self.init(engine: LMDBEngine(path: path, options: options))
    }

    /// Removes the store in the folder at `path`: LMDB's files, and the folder when nothing else is in it.
    ///
    /// Where there is no store, nothing is done. Files that are not the store's stay. A store that is damaged can be
    /// destroyed, too; but of a damaged file of LMDB's nobody can tell whether it is a store's or another program's.
    /// - Throws: ``StoreError/Code/locked`` when the store is open, in this process or another;
    ///   ``StoreError/Code/corrupt`` when the folder is not a store's; ``StoreError/Code/readOnly`` or
    ///   ``StoreError/Code/io`` when the files cannot be removed. Nothing is removed then, unless removing them failed
    ///   half-way: then call it again.
    public static func destroy(path: String) throws { try EnvironmentRegistry.shared.destroy(at: path) }
}
