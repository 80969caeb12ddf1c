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
    /// - Parameter isFirstPart: Whether the content of the store is repaired afterwards, and the marker then removed.
    /// - Throws: ``StoreError``: ``StoreError/Code/locked`` if it is open; ``StoreError/Code/full`` before any change
    ///   is made if the logs do not fit a second time, or later; otherwise LevelDB's error.
    @discardableResult
    static func repair(
        path: String, options: LevelDBOptions, isFirstPart: Bool = false
    ) throws(StoreError) -> FileRepair {
        let path = try path.absolutePath()
        guard try FolderCheck.names(in: path).contains(where: { FileName($0)?.holdsData == true }) else {
            throw StoreError(.io, "the folder contains no store to repair", path: path)
        }
        // LevelDB's repair takes no lock.
        let lock = try FolderLock(path)
        defer { lock.release() }
        try DiskRoom.check(in: path)
        let wasInterrupted = RepairMarker.exists(in: path)
        try RepairMarker.write(in: path)
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
        if !isFirstPart { RepairMarker.remove(in: path) }
        return FileRepair(
            lostFiles: quarantined.union(damaged).sorted(),
            isConsistent: isConsistent && damaged.isEmpty && !wasInterrupted)
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

/// The file that exists from the first change of a repair until its end.
///
/// The files of an interrupted repair look whole, although a part of the changes is lost. The store is not opened then,
/// and the next repair takes it for inconsistent.
enum RepairMarker {
    static let fileName = "tideline.repair"

    static func exists(in folder: String) -> Bool { access("\(folder)/\(fileName)", F_OK) == 0 }

    /// Throws an error if a repair was interrupted.
    static func requireNone(in folder: String) throws(StoreError) {
        guard exists(in: folder) else { return }
        throw .damaged("\(folder)/\(fileName)", "a repair of the store was interrupted")
    }

    /// Creates the file so that a power loss does not remove it.
    static func write(in folder: String) throws(StoreError) {
        let path = "\(folder)/\(fileName)"
        let isNew = !exists(in: folder)
        let file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o644)
        guard file >= 0 else { throw .system(errno, path: path, doing: "the repair cannot begin") }
        defer { close(file) }
        guard fsync(file) == 0 else {
            let error = StoreError.system(errno, path: path, doing: "the repair cannot begin")
            if isNew { unlink(path) }
            throw error
        }
        // Not every file system can sync a folder.
        let parent = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard parent >= 0 else { return }
        _ = fsync(parent)
        close(parent)
    }

    static func remove(in folder: String) { unlink("\(folder)/\(fileName)") }
}
