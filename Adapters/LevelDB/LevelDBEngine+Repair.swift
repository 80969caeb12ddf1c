internal import CLevelDB
internal import Foundation
internal import TidelineStore

extension LevelDBEngine {
    /// The result of the repair of a database.
    struct FileRepair {
        /// The names of the tables and logs that are kept in `lost` because a part of them is unreadable.
        var lostFiles: [String]
        /// Whether the database contains all changes up to some commit and none after it, as far as is known.
        var isConsistent: Bool
    }

    /// Repairs a damaged, closed database from its remaining data, so that it can be opened.
    ///
    /// - Throws: ``StoreError``: ``StoreError/Code/locked`` if it is open; ``StoreError/Code/full`` before any change
    ///   is made; otherwise LevelDB's error.
    @discardableResult
    static func repair(path: String, options: LevelDBOptions) throws(StoreError) -> FileRepair {
        let path = try path.absolutePath()
        guard try FolderCheck.names(in: path).contains(where: { FileName($0)?.holdsData == true }) else {
            throw StoreError(.io, "the folder contains no store to repair", path: path)
        }
        // LevelDB's repair takes no lock.
        let lock = try FolderLock(path)
        defer { lock.release() }
        try DiskRoom.check(in: path)
        // The repair changes the logs, so their recorded sizes become invalid.
        CleanShutdownMarker.remove(in: path)
        let lost = LostFiles(folder: path)
        let before = lost.names
        let isConsistent = try lost.quarantine()
        let quarantined = lost.names.subtracting(before)
        try rebuild(path, options)
        // LevelDB also moves logs and manifests there, after it has read them, and tables with damaged blocks.
        let damaged = lost.names.subtracting(before).subtracting(quarantined).filter(LostFiles.isTable)
        try settle(path, options)
        return FileRepair(
            lostFiles: quarantined.union(damaged).sorted(), isConsistent: isConsistent && damaged.isEmpty)
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
