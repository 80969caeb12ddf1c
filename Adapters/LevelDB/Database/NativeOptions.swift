internal import CLevelDB

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
