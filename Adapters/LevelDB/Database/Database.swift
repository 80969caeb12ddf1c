internal import CLevelDB
internal import TidelineStore

/// An open database of LevelDB.
///
/// `@unchecked Sendable`: LevelDB's handles may be used by any number of threads at once, and nothing here changes. That
/// nobody uses it after ``close()`` is ``DatabaseGate``'s work.
final class Database: @unchecked Sendable {
    let path: String
    let handle: OpaquePointer
    private let options: NativeOptions
    private let writing: OpaquePointer?
    /// For reading what is committed last, as ``LevelDBSnapshot`` reads.
    let lookingUp: OpaquePointer?
    let scanning: OpaquePointer?

    /// Opens the database in a folder that was checked and is locked by this process.
    init(_ path: String, _ options: LevelDBOptions, createsIfMissing: Bool) throws(StoreError) {
        let native = NativeOptions(options, createsIfMissing: createsIfMissing)
        var message: UnsafeMutablePointer<CChar>?
        let handle = leveldb_open(native.handle, path, &message)
        guard let handle else {
            native.destroy()
            guard let message else { throw StoreError(.io, "opening failed", path: path) }
            throw StoreError.levelDB(message, path: path, doing: "opening failed")
        }
        self.path = path
        self.handle = handle
        self.options = native
        writing = leveldb_writeoptions_create()
        leveldb_writeoptions_set_sync(writing, options.durability == .full ? 1 : 0)
        lookingUp = LevelDBSnapshot.makeOptions(nil, fillsCache: true)
        scanning = LevelDBSnapshot.makeOptions(nil, fillsCache: false)
    }

    /// Commits the changes of a batch, all or none.
    func write(_ batch: WriteBatch) throws(StoreError) {
        var message: UnsafeMutablePointer<CChar>?
        leveldb_write(handle, writing, batch.handle, &message)
        if let message { throw StoreError.levelDB(message, path: path, doing: "writing failed") }
    }

    /// Rewrites all tables without what was deleted or replaced. LevelDB tells failures to the next write only.
    func compact() { leveldb_compact_range(handle, nil, 0, nil, 0) }

    /// Waits for LevelDB's work in the background and closes its files.
    func close() {
        leveldb_close(handle)
        leveldb_writeoptions_destroy(writing)
        leveldb_readoptions_destroy(lookingUp)
        leveldb_readoptions_destroy(scanning)
        options.destroy()
    }
}
