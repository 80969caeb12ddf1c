public import TidelineStore

/// Options for opening a ``LevelDBEngine``. A folder cannot be opened for reading only, because LevelDB rewrites files
/// whenever it opens a folder.
public struct LevelDBOptions: Sendable {
    /// The durability of a commit: ``StoreCapabilities/Durability/full`` syncs the log at every commit,
    /// ``StoreCapabilities/Durability/normal`` leaves syncing to the operating system. LevelDB has no lower level, so
    /// ``StoreCapabilities/Durability/none`` has the effect of normal.
    public var durability: StoreCapabilities.Durability
    /// Whether a missing folder is created, and an empty one becomes a store; the parent folder must exist.
    public var createsIfMissing: Bool
    /// The size of the cache for blocks read from tables, uncompressed, in bytes. A long scan uses cached blocks, but
    /// adds only the blocks of its beginning.
    public var cacheSize: Int
    /// The size of the changes collected in memory before they become a table, in bytes; the log takes the same size on
    /// disk. LevelDB clamps the value to 64 KiB to 1 GiB. Opening reads up to this size of log.
    public var writeBufferSize: Int
    /// The number of bits per key in the filters that let a lookup skip tables without the key; 0 for no filters. With
    /// 10 bits, one lookup in a hundred reads a block unnecessarily. Existing tables keep their filters.
    public var filterBits: Int
    /// Whether new tables are compressed, with Snappy. Existing tables can be read either way.
    public var compresses: Bool
    /// Whether the folder is opened although a repair was interrupted: to continue it, or to identify a store.
    var ignoresRepairMarker = false

    /// Creates options, with defaults that suit most stores.
    public init(
        durability: StoreCapabilities.Durability = .normal, createsIfMissing: Bool = true,
        cacheSize: Int = 64 << 20, writeBufferSize: Int = 16 << 20, filterBits: Int = 10, compresses: Bool = true
    ) {
        self.durability = durability
        self.createsIfMissing = createsIfMissing
        self.cacheSize = cacheSize
        self.writeBufferSize = writeBufferSize
        self.filterBits = filterBits
        self.compresses = compresses
    }
}
