internal import CLevelDB
internal import TidelineStore

/// An open LevelDB database.
///
/// `@unchecked Sendable`: any number of threads can use LevelDB's handles at once, and no property changes.
/// ``DatabaseOwner`` ensures that the database is not used after ``close()``.
final class Database: @unchecked Sendable {
    let path: String
    let handle: OpaquePointer
    private let options: NativeOptions
    private let writing: OpaquePointer?
    /// Options for reading the latest committed state, with the settings of ``LevelDBSnapshot``.
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

    /// Commits the changes of a batch atomically.
    func write(_ batch: WriteBatch) throws(StoreError) {
        var message: UnsafeMutablePointer<CChar>?
        leveldb_write(handle, writing, batch.handle, &message)
        if let message { throw StoreError.levelDB(message, path: path, doing: "writing failed") }
    }

    /// Rewrites all tables without deleted and replaced data. LevelDB reports a failure only at the next write.
    func compact() { leveldb_compact_range(handle, nil, 0, nil, 0) }

    /// Rewrites the tables with keys between two keys in the same way.
    func compact(from first: [UInt8], through last: [UInt8]) {
        first.withUnsafeBytes { first in
            last.withUnsafeBytes { last in
                leveldb_compact_range(handle, first.chars, first.count, last.chars, last.count)
            }
        }
    }

    /// Waits for LevelDB's background work and closes its files.
    func close() {
        leveldb_close(handle)
        leveldb_writeoptions_destroy(writing)
        leveldb_readoptions_destroy(lookingUp)
        leveldb_readoptions_destroy(scanning)
        options.destroy()
    }
}

/// LevelDB's options and the objects that they refer to. It must outlive the database opened with it.
struct NativeOptions {
    let handle: OpaquePointer? = leveldb_options_create()
    private let cache: OpaquePointer?
    private let filter: OpaquePointer?

    init(_ options: LevelDBOptions, createsIfMissing: Bool) {
        cache = leveldb_cache_create_lru(max(0, options.cacheSize))
        // LevelDB uses at most 30 probes, which this number of bits already reaches.
        filter = options.filterBits > 0 ? leveldb_filterpolicy_create_bloom(Int32(min(options.filterBits, 64))) : nil
        leveldb_options_set_create_if_missing(handle, createsIfMissing ? 1 : 0)
        // Checks the log and the manifest at opening, and the blocks that are read for a compaction or a filter.
        // Without it, a flipped bit in a filter would hide rows, and a compaction would copy damage under a new
        // checksum.
        leveldb_options_set_paranoid_checks(handle, 1)
        leveldb_options_set_cache(handle, cache)
        leveldb_options_set_write_buffer_size(handle, min(max(0, options.writeBufferSize), 1 << 30))
        if let filter { leveldb_options_set_filter_policy(handle, filter) }
        let compression = options.compresses ? leveldb_snappy_compression : leveldb_no_compression
        leveldb_options_set_compression(handle, Int32(compression))
    }

    func destroy() {
        leveldb_options_destroy(handle)
        leveldb_cache_destroy(cache)
        if let filter { leveldb_filterpolicy_destroy(filter) }
    }
}
