public import TidelineStore

/// How a ``LevelDBEngine`` opens its folder. There is no way to open one for reading only: LevelDB rewrites its files
/// whenever it opens them.
public struct LevelDBOptions: Sendable {
    /// What a commit survives: ``StoreCapabilities/Durability/full`` syncs the log at every commit,
    /// ``StoreCapabilities/Durability/normal`` leaves that to the operating system. LevelDB has no lesser one, so
    /// ``StoreCapabilities/Durability/none`` counts as normal.
    public var durability: StoreCapabilities.Durability
    /// Whether a folder that does not exist is created, and an empty one made a store; its parent must exist.
    public var createsIfMissing: Bool
    /// The memory for blocks read from tables, uncompressed, in bytes. Long scans use it but leave
    /// only their beginning in it.
    public var cacheSize: Int
    /// How many bytes of changes are gathered in memory, and as much again in the log, before they become a table.
    /// LevelDB takes 64 KiB to 1 GiB and clips what lies outside. Opening reads as much of the log again.
    public var writeBufferSize: Int
    /// The bits each key has in the filters by which a look-up passes over tables without the key; 0 for no filters.
    /// With 10, one look-up in a hundred reads a block in vain. Tables keep the filter they were written with.
    public var filterBits: Int
    /// Whether new tables are compressed, with Snappy; those there are can be read either way.
    public var compresses: Bool

    /// Options; those not named are the common ones.
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
