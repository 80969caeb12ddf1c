internal import CLevelDB
internal import Foundation
internal import TidelineLevelDBVerification
internal import TidelineStore

extension LevelDBEngine {
    /// Repairs a damaged, closed database from its remaining data, so that it can be opened.
    ///
    /// - Throws: ``StoreError``: ``StoreError/Code/locked`` if it is open; ``StoreError/Code/full`` before any change
    ///   is made; otherwise LevelDB's error.
    static func repair(path: String, options: LevelDBOptions) throws(StoreError) {
        let path = try DatabaseFolder.absolute(path)
        guard try FolderCheck.names(in: path).contains(where: { FileName($0)?.holdsData == true }) else {
            throw StoreError(.io, "the folder contains no store to repair", path: path)
        }
        // LevelDB's repair takes no lock.
        let lock = try FolderLock(path)
        defer { lock.release() }
        try DiskRoom.check(in: path)
        // The repair changes the logs, so their recorded sizes become invalid.
        CleanShutdownMarker.remove(in: path)
        try LostFiles(folder: path).quarantine()
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

    /// Merges all tables. The repair puts them in one level, where a lookup prefers the table with the highest number.
    /// However, a table from a compaction can have a higher number than a table with later changes.
    private static func settle(_ path: String, _ options: LevelDBOptions) throws(StoreError) {
        let database = try Database(path, options, createsIfMissing: false)
        defer { database.close() }
        database.compact()
        var batch = WriteBatch()
        defer { batch.destroy() }
        try database.write(batch)
    }
}
