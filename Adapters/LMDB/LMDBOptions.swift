public import TidelineStore

/// How an ``LMDBEngine`` opens its folder.
///
/// Stores of one process on one folder share what is open: of their options, the durability, the time-out, the greatest
/// size and ``isReadOnly`` count for each by itself, while ``mapSize``, ``maximumReaders`` and ``verification`` are the
/// first one's.
public struct LMDBOptions: Sendable {
    /// Whether the file is looked through for damage.
    public enum Verification: Sendable, Hashable {
        /// When a process opens the file: every page in use is read and checked, so that damage is found as
        /// ``StoreError/Code/corrupt`` before it can do harm. That takes 50 to 100 ms for 100 MB that are in memory, and
        /// as long as the disk needs for the rest. A store that joins one already open in the process is not checked
        /// again.
        case onOpen
        /// Never. LMDB itself trusts its file: a damaged one ends the process or gives wrong rows. Only for files too
        /// large to be read whole, on a medium that finds damage by itself.
        case never
    }

    /// What a commit survives: ``StoreCapabilities/Durability/full`` syncs data and head at every commit,
    /// ``StoreCapabilities/Durability/normal`` the data only, so that a loss of power may undo the last commit;
    /// ``StoreCapabilities/Durability/none`` leaves all to the system. That survives the death of the process all the
    /// same, but **a loss of power or a crash of the system may damage the file**, which is found when it is opened; so
    /// the store then declares no durability.
    public var durability: StoreCapabilities.Durability
    /// Opens for reading only; the store must exist. Every write throws ``StoreError/Code/readOnly``.
    public var isReadOnly: Bool
    /// Whether a folder or store that does not exist is created; the folder's own folder must exist.
    public var createsIfMissing: Bool
    /// The address space set aside at first, in bytes. It takes neither memory nor disk, and grows by itself; growing
    /// waits until no read of this process is under way, so let it be rare.
    public var mapSize: Int
    /// How far the map may grow, in bytes; beyond, ``StoreError/Code/full`` is thrown.
    public var maximumMapSize: Int
    /// How many reads may be under way at once in all processes; it counts for the process that opens first.
    public var maximumReaders: Int
    /// How long to wait for the reads of this process to end when the map has to grow, before ``StoreError/Code/busy``
    /// is thrown. Writers wait for each other without limit.
    public var busyTimeout: Duration
    /// Whether the file is looked through for damage.
    public var verification: Verification

    /// Options; those not named are the common ones.
    public init(
        durability: StoreCapabilities.Durability = .normal, isReadOnly: Bool = false, createsIfMissing: Bool = true,
        mapSize: Int = LMDBOptions.commonMapSize, maximumMapSize: Int = LMDBOptions.commonMaximumMapSize,
        maximumReaders: Int = 1024, busyTimeout: Duration = .seconds(10), verification: Verification = .onOpen
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

    /// 16 GiB where a process has address space to spare, 256 MiB on small devices.
    public static var commonMapSize: Int {
        #if (os(macOS) || os(Linux)) && (arch(x86_64) || arch(arm64))
            1 << 34
        #else
            1 << 28
        #endif
    }

    /// 1 TiB where addresses have 64 bits, 1 GiB else.
    public static var commonMaximumMapSize: Int { Int(clamping: Int64(1) << (Int.bitWidth == 64 ? 40 : 30)) }
}
