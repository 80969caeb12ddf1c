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
}
