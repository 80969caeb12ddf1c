public import TidelineStore

/// Options for opening a ``SQLiteStore``.
public struct SQLiteOptions: Sendable {
    /// The durability of a commit: ``StoreCapabilities/Durability/full`` syncs at every commit,
    /// ``StoreCapabilities/Durability/normal`` syncs when the write-ahead log is moved into the database (at a
    /// checkpoint). On Apple platforms, each sync includes the drive's cache (`F_FULLFSYNC`). An in-memory store is
    /// never durable, whatever this option says.
    public var durability: StoreCapabilities.Durability
    /// Whether the store is opened for reading only; the file must exist. Every write throws
    /// ``StoreError/Code/readOnly``.
    ///
    /// The file may be on a read-only file system, or in a folder in which this process cannot create files. If no
    /// other process has it open then, it cannot be locked: a read during which another process opens and changes the
    /// file throws ``StoreError/Code/busy``, and the next read sees the change.
    public var isReadOnly: Bool
    /// Whether a missing file is created; its folder must exist.
    public var createsIfMissing: Bool
    /// How long to wait for a lock held by another process, or by another store on the same file, before throwing
    /// ``StoreError/Code/busy``. Threads of one store wait for each other without limit. Locks are not granted in
    /// order: a waiting writer tries again every two milliseconds at first, and more often the longer it waits, so
    /// allow time for many commits of other writers.
    public var busyTimeout: Duration
    /// Whether a new file has a checksum in each page. The checksum is compared when the page is read: a flipped bit,
    /// or a page written by another program, is reported as ``StoreError/Code/corrupt`` and never read as a different
    /// value. An existing file keeps the format that it was created with.
    ///
    /// Two kinds of damage are not detected. A page of an earlier state, for example from a restored copy of a part of
    /// the disk, has a valid checksum; ``SQLiteStore/verify()`` finds it only where it contradicts other pages. And the
    /// write-ahead log ends at its first damaged part: the commits from there on are lost without an error, because the
    /// same state is left by a process that was killed during a commit.
    ///
    /// In the benchmark with 100,000 rows, reads by id take 2 to 9 % longer
    /// and queries without an index 40 to 45 %; writes take as long as without checksums. SQLite's own tools can read
    /// the file. Before writing to it with them, run `PRAGMA user_version = 1`, which turns its checksums off.
    public var checksums: Bool
    /// Whether reads map the file into memory, up to 256 MiB of it, which makes reads of large stores faster. If
    /// another program then truncates the file, reading it ends the process with a signal (`SIGBUS`) instead of
    /// throwing ``StoreError/Code/corrupt``. A file with checksums is not mapped.
    public var mapsFile: Bool
    /// The maximum number of concurrent reads, each on its own connection; further reads wait. At least 1.
    public var maximumReaders: Int

    /// Creates options, with defaults that suit most stores.
    public init(
        durability: StoreCapabilities.Durability = .normal, isReadOnly: Bool = false, createsIfMissing: Bool = true,
        busyTimeout: Duration = .seconds(10), checksums: Bool = false, mapsFile: Bool = false, maximumReaders: Int = 8
    ) {
        self.durability = durability
        self.isReadOnly = isReadOnly
        self.createsIfMissing = createsIfMissing
        self.busyTimeout = busyTimeout
        self.checksums = checksums
        self.mapsFile = mapsFile
        self.maximumReaders = maximumReaders
    }
}
