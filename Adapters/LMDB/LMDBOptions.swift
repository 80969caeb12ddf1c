public import TidelineStore

/// Options for opening an ``LMDBEngine``.
///
/// Stores in one process with the same folder share one environment. Durability, timeout, maximum map size and
/// ``isReadOnly`` apply to each store separately; ``mapSize``, ``maximumReaders`` and ``verification`` are those of the
/// store that is opened first.
public struct LMDBOptions: Sendable {
    /// When the file is checked for damage.
    public enum Verification: Sendable, Hashable {
        /// The file is checked whenever a process opens it: every page in use is read and checked, so that damage is
        /// reported as ``StoreError/Code/corrupt`` before it can do harm. This takes 50 to 100 ms for 100 MB in the
        /// file cache, plus the time to read the rest from disk. A store that joins an environment already open in the
        /// process is not checked again.
        case always
        /// The file is checked in the same way, but not if every process that wrote to it has closed it since, and it
        /// was not changed or replaced afterwards. Damage that the storage device causes later is then not found when
        /// the store is opened: a damaged value is read as it is, and other damage can crash the process.
        case afterUncleanShutdown
        /// The file is never checked. LMDB itself trusts its file: a damaged one crashes the process or gives wrong
        /// rows. Use this only for files that are too large to be read completely, on storage that detects damage
        /// itself. The store then does not declare ``StoreCapabilities/detectsBitFlips``.
        case never
    }

    /// The durability of a commit. ``StoreCapabilities/Durability/full`` syncs data and meta page at every commit.
    /// On Apple platforms, LMDB writes the data through the drive's cache, but not the meta page, so a power loss may
    /// undo the last commit.
    /// ``StoreCapabilities/Durability/normal`` syncs only the data, so a power loss may undo the last commit.
    /// ``StoreCapabilities/Durability/none`` leaves syncing to the operating system: commits still survive the death of
    /// the process, but **a power loss or a system crash may damage the file**, which is detected when it is opened.
    /// The store then declares no durability.
    public var durability: StoreCapabilities.Durability
    /// Whether the store is opened for reading only; it must exist. Every write throws ``StoreError/Code/readOnly``.
    /// ``LMDBEngine`` describes reads on a read-only file system.
    public var isReadOnly: Bool
    /// Whether a missing folder or store is created; the parent folder must exist.
    public var createsIfMissing: Bool
    /// The initially reserved address space, in bytes. It uses neither memory nor disk space, and grows automatically.
    /// If there is too little address space, such as under `ulimit -v`, the map begins smaller. Growing waits until no
    /// read of this process is in flight, so choose a size that makes it rare. After another process has enlarged the
    /// file beyond the map, the next read grows the map; inside another read of the same thread, it throws
    /// ``StoreError/Code/busy`` instead.
    public var mapSize: Int
    /// The size up to which this store enlarges the map, in bytes, also that of a new one; where more is needed,
    /// ``StoreError/Code/full`` is thrown. A store that is larger opens. If another store in this process has a larger
    /// map, or another process has enlarged the file, this store can grow beyond the size.
    public var maximumMapSize: Int
    /// The maximum number of concurrent reads in all processes; further reads wait. A process with an open store keeps
    /// the places of up to 64 reads that have ended, for its next reads. If no place is left, opening the store in
    /// another process throws ``StoreError/Code/busy``. The process that opens the store first determines the number.
    public var maximumReaders: Int
    /// How long to wait before throwing ``StoreError/Code/busy``: for writers of other processes, and for processes
    /// that open the store; for reads of other processes when there are ``maximumReaders``; and for reads of this
    /// process to end when the map has to grow. Writers in one process wait for each other without limit. A wait for
    /// other processes also ends when the task is cancelled, with ``StoreError/Code/cancelled``.
    public var busyTimeout: Duration
    /// When the file is checked for damage.
    public var verification: Verification

    /// Creates options, with defaults that suit most stores.
    public init(
        durability: StoreCapabilities.Durability = .normal, isReadOnly: Bool = false, createsIfMissing: Bool = true,
        mapSize: Int = LMDBOptions.commonMapSize, maximumMapSize: Int = LMDBOptions.commonMaximumMapSize,
        maximumReaders: Int = 1024, busyTimeout: Duration = .seconds(10),
        verification: Verification = .afterUncleanShutdown
    ) {
        self.durability = durability
        self.isReadOnly = isReadOnly
        self.createsIfMissing = createsIfMissing
        self.mapSize = mapSize
        self.maximumMapSize = maximumMapSize
        self.maximumReaders = maximumReaders
        self.busyTimeout = busyTimeout
        self.verification = verification
    }

    /// The default map size: 16 GiB on 64-bit macOS and Linux, 256 MiB on other systems, which may have little address
    /// space.
    public static var commonMapSize: Int {
        #if (os(macOS) || os(Linux)) && (arch(x86_64) || arch(arm64))
        1 << 34
        #else
        1 << 28
        #endif
    }

    /// The default maximum map size: 1 TiB with 64-bit addresses, otherwise 1 GiB.
    public static var commonMaximumMapSize: Int { Int(clamping: Int64(1) << (Int.bitWidth == 64 ? 40 : 30)) }
}
