internal import TidelineStore

/// A requirement of a check: a capability that the store declares or a hook that the harness provides.
public enum CheckNeed: String, Sendable, Hashable, Codable, CaseIterable {
    // Capabilities that a store declares.

    /// ``StoreCapabilities/isPersistent``.
    case persistence
    /// Rows that survive the death of the process: a persistent store with another durability than
    /// ``StoreCapabilities/Durability/none``.
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
    /// ``StoreCapabilities/storesNaN`` is `false`.
    case noNaN
    /// ``StoreCapabilities/storesInfinity``.
    case infinity
    /// ``StoreCapabilities/storesInfinity`` is `false`.
    case noInfinity
    /// ``StoreCapabilities/detectsBitFlips``.
    case bitFlipDetection

    // Hooks that a harness provides.

    /// ``StoreHarness/keepsFiles``: files in the directory of the opening.
    case files
    /// ``StoreHarness/process``: a second process on the same files.
    case process
    /// ``StoreHarness/faults``: failing file calls and power loss.
    case faults
    /// ``StoreHarness/damagesFiles``: permission to damage the store's files.
    case damage
    /// ``StoreOpening/Access/existing``: opening a store only if it exists.
    case openingExisting
    /// ``StoreOpening/Access/readOnly``: opening a store for reading only.
    case openingReadOnly
    /// ``StoreOpening/maximumSize``: a store of a limited size.
    case limitedSize
    /// ``StoreHarness/destroy``.
    case destroying
    /// ``StoreHarness/fixtures``: stores in all released formats.
    case fixtures
    /// ``StoreHarness/letTimePass``: the clock of the stores' idle times.
    case clock
    /// ``StoreHarness/engine``: the key-value engine below the store.
    case engine

    /// Whether the requirement is a capability of the store rather than a hook of the harness.
    public var isCapability: Bool {
        switch self {
        case .files, .process, .faults, .damage, .openingExisting, .openingReadOnly, .limitedSize, .destroying,
            .fixtures, .clock, .engine:
            false
        default: true
        }
    }

    /// Returns the reason why a check with this requirement cannot run, or `nil` if it can.
    func obstacle(_ capabilities: StoreCapabilities, _ harness: StoreHarness) -> SkipReason? {
        if isMet(by: capabilities, harness) { return nil }
        guard isCapability else { return harness.lacking[self].map { .skipped("declared: \($0)") } ?? .notRun(absence) }
        return .skipped("declared: \(absence)", isExcluded: opposite?.isMet(by: capabilities, harness) == true)
    }

    /// The capability that a store declares instead of this one, if there is one. No store has both.
    private var opposite: CheckNeed? {
        switch self {
        case .sharedFiles: .exclusiveFiles
        case .exclusiveFiles: .sharedFiles
        case .nan: .noNaN
        case .noNaN: .nan
        case .infinity: .noInfinity
        case .noInfinity: .infinity
        default: nil
        }
    }

    private func isMet(by store: StoreCapabilities, _ harness: StoreHarness) -> Bool {
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
        case .files: harness.keepsFiles
        case .process: harness.process != nil
        case .faults: harness.faults?.isAvailable == true
        case .damage: harness.damagesFiles
        case .openingExisting: harness.modes.contains(.existing)
        case .openingReadOnly: harness.modes.contains(.readOnly)
        case .limitedSize: harness.modes.contains(.limitedSize)
        case .destroying: harness.destroy != nil
        case .fixtures: harness.fixtures != nil
        case .clock: harness.letTimePass != nil
        case .engine: harness.engine != nil
        }
    }

    private var absence: String {
        switch self {
        case .persistence: "the store does not keep its rows when it is closed"
        case .survivingDeath: "commits may be lost when the process dies"
        case .fullDurability: "the last commits may be lost after a power loss"
        case .sharedFiles: "other processes cannot open the same files"
        case .exclusiveFiles: "the store keeps no files or shares them with other processes"
        case .readersBesideWriter: "a reader may block writers"
        case .nan: "NaN is refused"
        case .noNaN: "NaN is stored"
        case .infinity: "infinities are refused"
        case .noInfinity: "infinities are stored"
        case .bitFlipDetection: "a flipped bit inside a value is not detected"
        case .files: "the store keeps its rows elsewhere than in its directory (StoreHarness.keepsFiles)"
        case .process: "the harness does not start a second process (StoreHarness.process)"
        case .faults: "the harness or this platform cannot observe file calls (StoreHarness.faults)"
        case .damage: "the harness does not allow damage to files (StoreHarness.damagesFiles)"
        case .openingExisting: "the harness cannot open a store only if it exists (StoreHarness.modes: existing)"
        case .openingReadOnly: "the harness cannot open a store for reading only (StoreHarness.modes: readOnly)"
        case .limitedSize: "the harness cannot limit the size of a store (StoreHarness.modes: limitedSize)"
        case .destroying: "the harness cannot destroy a store (StoreHarness.destroy)"
        case .engine: "the harness opens no key-value engine (StoreHarness.engine)"
        case .clock: "the harness has no clock that the store's idle times follow (StoreHarness.letTimePass)"
        case .fixtures: "the harness has no stores from earlier releases (StoreHarness.fixtures)"
        }
    }
}

/// The reason why a check does not run.
enum SkipReason: Sendable, Hashable {
    /// The store declares that it does not make the promise; excluded if it makes the opposite one.
    case skipped(String, isExcluded: Bool = false)
    /// The harness lacks a hook that the check requires.
    case notRun(String)
}
