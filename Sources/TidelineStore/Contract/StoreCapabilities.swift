/// The capabilities of a store.
///
/// The use of an unsupported capability throws a ``StoreError`` or is not offered (`nil`), and never has a wrong
/// result. The values do not change while the store is open.
public struct StoreCapabilities: Sendable, Hashable, Codable {
    /// The failures that a commit survives.
    public enum Durability: String, Sendable, Hashable, Codable {
        /// None: the store is in memory only.
        case none
        /// Termination of the process at any time. After a power failure the store is consistent, but the last commits
        /// may be missing.
        case normal
        /// Termination of the process, and power failure.
        case full
    }

    /// The version of the contract that the store was written for. Today's version is 1.
    ///
    /// The conformance suite does not run the checks of promises that were made later, and names them in its report.
    public var contractVersion: Int
    /// The adapter's name, such as `sqlite`.
    public var name: String
    /// Whether the rows persist after the store is closed and reopened.
    public var isPersistent: Bool
    /// The failures that a commit survives with the options that the store was opened with.
    public var durability: Durability
    /// Whether other processes may open the same files at the same time.
    public var sharesFilesWithProcesses: Bool
    /// Whether writers can commit while a reader is active, regardless of how long it reads, except that an engine may
    /// have to grow its map, or to wait for readers before it changes definitions. If not, readers may also wait for
    /// each other, as in a database with one connection.
    public var readersDoNotBlockWriters: Bool
    /// Whether a double column supports NaN. If not, NaN is rejected with ``StoreError/Code/invalidValue``.
    public var storesNaN: Bool
    /// Whether a double column supports the infinities. If not, they are rejected with
    /// ``StoreError/Code/invalidValue``.
    public var storesInfinity: Bool
    /// Whether the store was opened read-only.
    public var isReadOnly: Bool
    /// Whether a bit flipped inside a value in the files is detected and reported as ``StoreError/Code/corrupt``,
    /// because each value has a checksum. LMDB compares the checksums when it verifies a file, not when it reads a
    /// value. Every store detects damage to the structure of its files.
    public var detectsBitFlips: Bool
    /// Whether readers end queries that take too long; see ``StoreReader/limitTime``.
    public var limitsQueryTime: Bool
    /// The maximum length of an identifier in Unicode scalars, `Int.max` if there is no limit.
    public var maximumIDLength: Int
    /// The maximum number of tables and indexes together, or `nil` if there is no limit. A definition that exceeds it
    /// is rejected with ``StoreError/Code/tooManyTables``. The indexes that a definition removes count, too.
    public var maximumTablesAndIndexes: Int?

    /// Creates capabilities, with the usual values of an embedded engine as defaults.
    ///
    /// The durability of a store that is not persistent is always ``Durability/none``. The default of the contract's
    /// version stays the first one, so that a store need not keep later promises when it is compiled again.
    public init(
        name: String, isPersistent: Bool = true, durability: Durability = .normal,
        sharesFilesWithProcesses: Bool = false, readersDoNotBlockWriters: Bool = true, storesNaN: Bool = true,
        storesInfinity: Bool = true, isReadOnly: Bool = false,
        detectsBitFlips: Bool = false, limitsQueryTime: Bool = false, maximumIDLength: Int = 255,
        maximumTablesAndIndexes: Int? = nil, contractVersion: Int = 1
    ) {
        self.contractVersion = contractVersion
        self.name = name
        self.isPersistent = isPersistent
        self.durability = isPersistent ? durability : .none
        self.sharesFilesWithProcesses = sharesFilesWithProcesses
        self.readersDoNotBlockWriters = readersDoNotBlockWriters
        self.storesNaN = storesNaN
        self.storesInfinity = storesInfinity
        self.isReadOnly = isReadOnly
        self.detectsBitFlips = detectsBitFlips
        self.limitsQueryTime = limitsQueryTime
        self.maximumIDLength = maximumIDLength
        self.maximumTablesAndIndexes = maximumTablesAndIndexes
    }
}
