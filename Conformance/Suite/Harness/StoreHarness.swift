public import TidelineStore

/// How the suite makes the stores that it checks, and what it may do to them.
///
/// Only ``open`` is needed. Each of the others lets more checks run; what is missing is reported as *not run*, with the
/// reason, and never as a pass.
public struct StoreHarness: Sendable {
    /// The name in reports; by default the one that the store declares.
    public var name: String?
    /// Opens the store in a folder, or makes an empty one there.
    public var open: @Sendable (StoreOpening) throws -> any LocalStore
    /// What of a ``StoreOpening`` beyond its folder ``open`` heeds.
    public var modes: Set<Mode>
    /// Starts a second process that opens the same stores; for checks of kills, crashes and sharing.
    public var process: StoreProcess?
    /// Makes the file calls of this process fail, and records them; for checks of I/O errors and loss of power.
    public var faults: (any FileFaults)?
    /// Whether the suite may cut, overwrite and remove the files in a closed store's folder; for checks of damage. They
    /// also need ``process``, as what a damaged file can do to a store includes ending its process.
    public var damagesFiles: Bool
    /// The path of a folder with a folder for each released format of the store, named after it, which holds a store that
    /// ``ConformanceSuite/makeFixture(in:)`` made then. Without it, nothing is said of stores of earlier releases.
    public var fixtures: String?
    /// What the stores themselves do not have, with the reason: their checks are *skipped* with it, as those of a
    /// capability that is declared off. A need that is missing here and in the hooks is the harness' own, and its checks are
    /// *not run*.
    public var lacking: [CheckNeed: String] = [:]
    /// Removes the store in a folder with all its files.
    public var destroy: (@Sendable (_ directory: String) throws -> Void)?

    /// What of a ``StoreOpening`` a harness heeds.
    public enum Mode: Sendable, Hashable {
        /// ``StoreOpening/Access/existing``.
        case existing
        /// ``StoreOpening/Access/readOnly``.
        case readOnly
        /// ``StoreOpening/maximumSize``.
        case limitedSize
    }

    /// A harness that opens stores in a folder, and no more.
    public init<Store: LocalStore>(_ open: @escaping @Sendable (_ directory: String) throws -> Store) {
        self.init(modes: []) { try open($0.directory) }
    }

    /// A harness with hooks.
    /// - Parameters:
    ///   - name: The name in reports; by default the one that the store declares.
    ///   - modes: What of an opening beyond its folder `open` heeds.
    ///   - process: Starts a second process.
    ///   - faults: Makes file calls fail, and records them.
    ///   - damagesFiles: Whether files may be damaged.
    ///   - fixtures: Where stores of all released formats are.
    ///   - destroy: Removes a store.
    ///   - open: Opens a store.
    public init(
        name: String? = nil, modes: Set<Mode>, process: StoreProcess? = nil, faults: (any FileFaults)? = nil,
        damagesFiles: Bool = true, fixtures: String? = nil,
        destroy: (@Sendable (_ directory: String) throws -> Void)? = nil,
        open: @escaping @Sendable (StoreOpening) throws -> any LocalStore
    ) {
        self.name = name
        self.modes = modes
        self.process = process
        self.faults = faults
        self.damagesFiles = damagesFiles
        self.fixtures = fixtures
        self.destroy = destroy
        self.open = open
    }
}

/// What is asked of a harness that opens a store.
public struct StoreOpening: Sendable, Hashable, Codable {
    /// How a store is opened.
    public enum Access: String, Sendable, Hashable, Codable {
        /// For reading and writing; one that does not exist is made.
        case readWrite
        /// For reading and writing; one that does not exist is an error.
        case existing
        /// For reading only; one that does not exist is an error.
        case readOnly
    }

    /// The folder in which the store keeps its files, under names of its own. It exists and is the store's alone, but
    /// for checks of what happens where it does not or cannot be written.
    public var directory: String
    /// How it is opened; anything but ``Access/readWrite`` only where the harness heeds it.
    public var access: Access
    /// How many bytes the store may take, at least nearly; nil for no limit. Asked for only where the harness heeds it.
    public var maximumSize: Int?

    /// An opening.
    public init(directory: String, access: Access = .readWrite, maximumSize: Int? = nil) {
        self.directory = directory
        self.access = access
        self.maximumSize = maximumSize
    }
}
