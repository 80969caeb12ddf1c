/// What a store declares it can do. A capability declared off fails with ``StoreError/Code/unsupported``, never with a
/// wrong answer; the values do not change while the store is open.
public struct StoreCapabilities: Sendable, Hashable, Codable {
    /// What a commit survives.
    public enum Durability: String, Sendable, Hashable, Codable {
        /// Nothing beyond the process: the store lives in memory.
        case none
        /// The process' death at any moment; after a loss of power the store is consistent, but the last commits may
        /// be missing.
        case normal
        /// A loss of power, too.
        case full
    }

    /// The adapter's name, such as `sqlite`.
    public var name: String
    /// Whether the rows are there again after the store was closed and opened.
    public var isPersistent: Bool
    /// What a commit survives, as the store was opened.
    public var durability: Durability
    /// Whether other processes may open the same files at the same time.
    public var sharesFilesWithProcesses: Bool
    /// Whether a reader, however long it reads, leaves writers free to commit.
    public var readersDoNotBlockWriters: Bool
    /// Whether a double column keeps NaN; if not, it is refused with ``StoreError/Code/invalidValue``.
    public var storesNaN: Bool
    /// Whether a double column keeps the infinities; if not, they are refused likewise.
    public var storesInfinity: Bool
    /// Whether the store was opened for reading only.
    public var isReadOnly: Bool
    /// Whether a bit that flips in the files, inside a value, is noticed and answered with
    /// ``StoreError/Code/corrupt``: each value has a checksum. Damage to the files' structure is noticed by every store.
    public var detectsBitFlips: Bool
    /// The greatest length of an id in characters.
    public var maximumIDLength: Int

    /// Capabilities; those not named are the common ones of an embedded engine. A store that is not persistent has the
    /// durability ``Durability/none``, whatever is said.
    public init(
        name: String, isPersistent: Bool = true, durability: Durability = .normal,
        sharesFilesWithProcesses: Bool = false, readersDoNotBlockWriters: Bool = true, storesNaN: Bool = true,
        storesInfinity: Bool = true, isReadOnly: Bool = false,
        detectsBitFlips: Bool = false, maximumIDLength: Int = 255
    ) {
        self.name = name
        self.isPersistent = isPersistent
        self.durability = isPersistent ? durability : .none
        self.sharesFilesWithProcesses = sharesFilesWithProcesses
        self.readersDoNotBlockWriters = readersDoNotBlockWriters
        self.storesNaN = storesNaN
        self.storesInfinity = storesInfinity
        self.isReadOnly = isReadOnly
        self.detectsBitFlips = detectsBitFlips
        self.maximumIDLength = maximumIDLength
    }
}
