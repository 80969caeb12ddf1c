public import TidelineKeyValue

/// A whole store in a folder of LevelDB's.
public typealias LevelDBStore = KeyValueStore<LevelDBEngine>

extension KeyValueStore where Engine == LevelDBEngine {
    /// Opens the store in the folder at `path`, a path of the file system; the folder is made when it is missing.
    ///
    /// - Throws: What ``LevelDBEngine/init(path:options:)`` and ``KeyValueStore/init(engine:)`` throw.
    public convenience init(path: String, options: LevelDBOptions = .init()) throws {
        try self.init(engine: LevelDBEngine(path: path, options: options))
    }

    /// Makes a closed store that is ``StoreError/Code/corrupt`` one that can be opened, of what is left.
    ///
    /// Rows may be lost: those of damaged blocks and tables, and every change from the damaged place of a log on. Where the
    /// manifest is lost, rows may be back that were replaced or deleted shortly before. An index may then lack rows, or
    /// name some that are gone. So copy what matters out of a repaired store and begin anew, or pull again into a new
    /// one. What could not be used is kept in the folder `lost` within.
    /// - Throws: ``StoreError/Code/locked`` when the store is open, in this process or another;
    ///   ``StoreError/Code/full``; ``StoreError/Code/io``. The folder can be repaired again then.
    public static func repair(path: String, options: LevelDBOptions = .init()) throws {
        try LevelDBEngine.repair(path: path, options: options)
    }

    /// Gives back the room of what was deleted or replaced; see ``LevelDBEngine/compact()``.
    public func compact() throws { try withEngine { try $0.compact() } }
}
