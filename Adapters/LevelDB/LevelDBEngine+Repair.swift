internal import CLevelDB
internal import Foundation
internal import TidelineStore

extension LevelDBEngine {
    /// Makes a closed database that is damaged one that can be opened, of what is left.
    ///
    /// - Throws: ``StoreError``: ``StoreError/Code/locked`` when it is open; ``StoreError/Code/full`` before anything
    ///   was changed; what LevelDB says otherwise.
    static func repair(path: String, options: LevelDBOptions) throws(StoreError) {
        let path = try DatabaseFolder.absolute(path)
        guard try FolderCheck.names(in: path).contains(where: { FileName($0)?.holdsData == true }) else {
            throw StoreError(.io, "there is no store in the folder to repair", path: path)
        }
        // LevelDB's repair takes no lock.
        let lock = try FolderLock(path)
        defer { lock.release() }
        try DiskRoom.check(in: path)
        // The logs will not stay as they are.
        LogSeal.remove(in: path)
        try LostFiles(folder: path).sortOut()
        try rebuild(path, options)
        try settle(path, options)
    }

    private static func rebuild(_ path: String, _ options: LevelDBOptions) throws(StoreError) {
        let native = NativeOptions(options, createsIfMissing: false)
        defer { native.destroy() }
        var message: UnsafeMutablePointer<CChar>?
        leveldb_repair_db(native.handle, path, &message)
        if let message { throw StoreError.levelDB(message, path: path, doing: "repairing failed") }
    }

    /// Merges all tables. The repair put them in one level, where a look-up trusts the table of the highest number; but
    /// a table that a compaction made has a higher number than one with later changes.
    private static func settle(_ path: String, _ options: LevelDBOptions) throws(StoreError) {
        let database = try Database(path, options, createsIfMissing: false)
        defer { database.close() }
        database.compact()
        var batch = WriteBatch()
        defer { batch.destroy() }
        try database.write(batch)
    }
}
