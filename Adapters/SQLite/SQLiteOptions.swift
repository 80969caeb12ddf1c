public import TidelineStore

/// How a ``SQLiteStore`` opens its file.
public struct SQLiteOptions: Sendable {
    /// What a commit survives: ``StoreCapabilities/Durability/full`` syncs at every commit,
    /// ``StoreCapabilities/Durability/normal`` when the write-ahead log is moved into the database. A store in memory
    /// survives nothing, whatever is asked.
    public var durability: StoreCapabilities.Durability
    /// Opens for reading only; the file must exist. Every write throws ``StoreError/Code/readOnly``.
    public var isReadOnly: Bool
    /// Whether a file that does not exist is created; its folder must exist.
    public var createsIfMissing: Bool
    /// How long to wait for a lock that another process or another store on the same file holds, before
    /// ``StoreError/Code/busy`` is thrown. Threads of one store wait for each other without limit. Locks are not handed over
    /// in turn: a writer that waits tries again every two milliseconds, so give it time for a thousand commits of others.
    public var busyTimeout: Duration
    /// How many reads run at once, each on a connection of its own; further ones wait. At least 1.
    public var maximumReaders: Int

    /// Options; those not named are the common ones.
    public init(
        durability: StoreCapabilities.Durability = .normal, isReadOnly: Bool = false, createsIfMissing: Bool = true,
        busyTimeout: Duration = .seconds(10), maximumReaders: Int = 8
    ) {
        self.durability = durability
        self.isReadOnly = isReadOnly
        self.createsIfMissing = createsIfMissing
        self.busyTimeout = busyTimeout
        self.maximumReaders = maximumReaders
    }
}
