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
    /// Whether a new file has a checksum in each page, which is compared when the page is read: a bit that flips, or a page
    /// that another program has written, is ``StoreError/Code/corrupt`` then and never another value. A file that
    /// exists stays as it was made.
    ///
    /// SQLite cannot map such a file into memory: scans and large values take up to a third longer. SQLite's own tools read
    /// the file. Before they write to it, `PRAGMA user_version = 1` turns its checksums off.
    public var checksums: Bool
    /// How many reads run at once, each on a connection of its own; further ones wait. At least 1.
    public var maximumReaders: Int

    /// Options; those not named are the common ones.
    public init(
        durability: StoreCapabilities.Durability = .normal, isReadOnly: Bool = false, createsIfMissing: Bool = true,
        busyTimeout: Duration = .seconds(10), checksums: Bool = false, maximumReaders: Int = 8
    ) {
        self.durability = durability
        self.isReadOnly = isReadOnly
        self.createsIfMissing = createsIfMissing
        self.busyTimeout = busyTimeout
        self.checksums = checksums
        self.maximumReaders = maximumReaders
    }
}
