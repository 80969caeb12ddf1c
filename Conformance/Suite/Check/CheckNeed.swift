internal import TidelineStore

/// What a check needs of a store's declarations, or of the harness that makes the stores.
public enum CheckNeed: String, Sendable, Hashable, Codable, CaseIterable {
    // What a store declares.

    /// ``StoreCapabilities/isPersistent``.
    case persistence
    /// Rows that survive the process' death: persistent, with any durability.
    case survivingDeath
    /// ``StoreCapabilities/Durability/full``.
    case fullDurability
    /// ``StoreCapabilities/sharesFilesWithProcesses``.
    case sharedFiles
    /// Persistent, without ``StoreCapabilities/sharesFilesWithProcesses``.
    case exclusiveFiles
    /// ``StoreCapabilities/readersDoNotBlockWriters``.
    case readersBesideWriter
    /// ``StoreCapabilities/storesNaN``.
    case nan
    /// ``StoreCapabilities/storesNaN`` declared off.
    case noNaN
    /// ``StoreCapabilities/storesInfinity``.
    case infinity
    /// ``StoreCapabilities/storesInfinity`` declared off.
    case noInfinity
    /// ``StoreCapabilities/detectsBitFlips``.
    case bitFlipDetection

    // What a harness offers.

    /// ``StoreHarness/process``: a second process on the same files.
    case process
    /// ``StoreHarness/faults``: failing file calls, loss of power.
    case faults
    /// ``StoreHarness/damagesFiles``: the store's files may be damaged on purpose.
    case damage
    /// ``StoreOpening/Access/existing``: opening only what exists.
    case openingExisting
    /// ``StoreOpening/Access/readOnly``: opening for reading only.
    case openingReadOnly
    /// ``StoreOpening/maximumSize``: a store of a limited size.
    case limitedSize
    /// ``StoreHarness/destroy``.
    case destroying
    /// ``StoreHarness/fixtures``: stores of all released formats.
    case fixtures

    /// Whether it is the store's to declare, not the harness' to offer.
    public var isCapability: Bool {
        switch self {
        case .process, .faults, .damage, .openingExisting, .openingReadOnly, .limitedSize, .destroying, .fixtures: false
        default: true
        }
    }

    /// Why a check with this need cannot run; nil when it can.
    func obstacle(_ capabilities: StoreCapabilities, _ harness: StoreHarness) -> Obstacle? {
        if isCapability { return declared(by: capabilities) ? nil : .skipped("declared: \(absence)") }
        if offered(by: harness) { return nil }
        return harness.lacking[self].map { .skipped("declared: \($0)") } ?? .notRun(absence)
    }

    private func declared(by store: StoreCapabilities) -> Bool {
        switch self {
        case .persistence: store.isPersistent
        case .survivingDeath: store.isPersistent && store.durability != .none
        case .fullDurability: store.isPersistent && store.durability == .full
        case .sharedFiles: store.isPersistent && store.sharesFilesWithProcesses
        case .exclusiveFiles: store.isPersistent && !store.sharesFilesWithProcesses
        case .readersBesideWriter: store.readersDoNotBlockWriters
        case .nan: store.storesNaN
        case .noNaN: !store.storesNaN
        case .infinity: store.storesInfinity
        case .noInfinity: !store.storesInfinity
        case .bitFlipDetection: store.isPersistent && store.detectsBitFlips
        default: true
        }
    }

    private func offered(by harness: StoreHarness) -> Bool {
        switch self {
        case .process: harness.process != nil
        case .faults: harness.faults?.isAvailable == true
        case .damage: harness.damagesFiles
        case .openingExisting: harness.modes.contains(.existing)
        case .openingReadOnly: harness.modes.contains(.readOnly)
        case .limitedSize: harness.modes.contains(.limitedSize)
        case .destroying: harness.destroy != nil
        case .fixtures: harness.fixtures != nil
        default: true
        }
    }

    private var absence: String {
        switch self {
        case .persistence: "the store keeps nothing when it is closed"
        case .survivingDeath: "commits need not survive the process"
        case .fullDurability: "the last commits may be missing after a loss of power"
        case .sharedFiles: "other processes cannot open the same files"
        case .exclusiveFiles: "the store keeps no files, or shares them with other processes"
        case .readersBesideWriter: "a reader may make writers wait"
        case .nan: "NaN is refused"
        case .noNaN: "NaN is stored"
        case .infinity: "infinities are refused"
        case .noInfinity: "infinities are stored"
        case .bitFlipDetection: "a bit that flips inside a value is not noticed"
        case .process: "the harness starts no second process (StoreHarness.process)"
        case .faults: "the harness cannot observe file calls, or not on this platform (StoreHarness.faults)"
        case .damage: "the harness lets no files be damaged (StoreHarness.damagesFiles)"
        case .openingExisting: "the harness cannot open only what exists (StoreHarness.modes: existing)"
        case .openingReadOnly: "the harness cannot open for reading only (StoreHarness.modes: readOnly)"
        case .limitedSize: "the harness cannot limit the size of a store (StoreHarness.modes: limitedSize)"
        case .destroying: "the harness cannot destroy a store (StoreHarness.destroy)"
        case .fixtures: "the harness has no stores of earlier releases (StoreHarness.fixtures)"
        }
    }
}

/// Why a check does not run.
enum Obstacle: Sendable, Hashable {
    /// The store declares that the promise is not its.
    case skipped(String)
    /// The harness lacks what the check needs.
    case notRun(String)
}
