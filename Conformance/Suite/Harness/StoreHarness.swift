public import TidelineKeyValue
public import TidelineStore

/// Describes how the suite opens the stores that it checks and which additional actions it may take on them.
///
/// Only ``open`` is required. Each other hook enables more checks. A check whose hook is missing is reported as *not
/// run* with the reason, never as passed.
public struct StoreHarness: Sendable {
    /// The name in reports; by default the name that the store declares.
    public var name: String?
    /// Opens the store in a directory, or creates an empty one there.
    public var open: @Sendable (StoreOpening) throws -> any LocalStore
    /// The options of a ``StoreOpening``, other than its directory, that ``open`` supports.
    public var modes: Set<Mode>
    /// Starts a second process that opens the same stores; required by checks of kills, crashes, and sharing.
    public var process: StoreProcess?
    /// Injects faults into the file calls of this process and records them; required by checks of I/O errors and power
    /// loss.
    public var faults: (any FileFaults)?
    /// Whether a persistent store keeps its files in the directory of its opening, such as a store of an embedded
    /// engine. The stores of a server do not; state the reason in ``lacking``.
    public var keepsFiles = true
    /// Whether the suite may truncate, overwrite, and remove the files of a closed store; required by checks of damage.
    /// These checks also require ``process`` because a damaged file can crash the process that opens it.
    public var damagesFiles: Bool
    /// The path of a directory with one subdirectory for each released format of the store, named after the format,
    /// that contains a store created by ``ConformanceSuite/makeFixture(in:)`` in that release. Without it, stores from
    /// earlier releases are not checked. A subdirectory whose name begins with `newer-` contains a store in a format
    /// that a later release might have, which must be refused.
    public var fixtures: String?
    /// Requirements that the stores themselves cannot meet, each with the reason. Their checks are *skipped* with this
    /// reason, as for a capability that is not declared. A requirement that appears neither here nor in the hooks is
    /// attributed to the harness, and its checks are *not run*.
    public var lacking: [CheckNeed: String] = [:]
    /// Opens the key-value engine of such stores in a directory, or creates an empty one there, for checks of the
    /// engine itself.
    public var engine: (@Sendable (_ directory: String) throws -> any OrderedKeyValueEngine)?
    /// Lets time pass on the clock by which stores end what is idle, such as connections and caches, without waiting.
    public var letTimePass: (@Sendable (Duration) -> Void)?
    /// Removes the store in a directory with all its files.
    public var destroy: (@Sendable (_ directory: String) throws -> Void)?

    /// The options of a ``StoreOpening`` that a harness can support.
    public enum Mode: Sendable, Hashable {
        /// ``StoreOpening/Access/existing``.
        case existing
        /// ``StoreOpening/Access/readOnly``.
        case readOnly
        /// ``StoreOpening/maximumSize``.
        case limitedSize
    }

    /// Creates a harness that only opens stores in a directory.
    public init<Store: LocalStore>(_ open: @escaping @Sendable (_ directory: String) throws -> Store) {
        self.init(modes: []) { try open($0.directory) }
    }

    /// Creates a harness with hooks.
    /// - Parameters:
    ///   - name: The name in reports; by default the name that the store declares.
    ///   - modes: The options of an opening, other than its directory, that `open` supports.
    ///   - process: Starts a second process.
    ///   - faults: Injects faults into file calls and records them.
    ///   - damagesFiles: Whether the suite may damage files.
    ///   - fixtures: The path of the stores in all released formats.
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

/// A request to a harness to open a store.
public struct StoreOpening: Sendable, Hashable, Codable {
    /// How a store is opened.
    public enum Access: String, Sendable, Hashable, Codable {
        /// For reading and writing. The store is created if it does not exist.
        case readWrite
        /// For reading and writing. It is an error if the store does not exist.
        case existing
        /// For reading only. It is an error if the store does not exist.
        case readOnly
    }

    /// The directory in which the store keeps its files, under names of its choice. The directory exists and belongs to
    /// the store alone, except in checks of missing or unwritable directories.
    public var directory: String
    /// The access mode; other than ``Access/readWrite`` only if the harness supports it.
    public var access: Access
    /// The approximate maximum size of the store in bytes, or `nil` for no limit. Set only if the harness supports it.
    public var maximumSize: Int?

    /// Creates an opening.
    public init(directory: String, access: Access = .readWrite, maximumSize: Int? = nil) {
        self.directory = directory
        self.access = access
        self.maximumSize = maximumSize
    }
}

/// Describes how to start a second process that opens the stores of a harness.
///
/// The process can be any executable that passes its arguments to ``ConformanceChild`` before it does anything else:
/// the command that runs the suite itself, or a small executable beside the tests. Second processes are available on
/// macOS and Linux.
public struct StoreProcess: Sendable, Hashable {
    /// The path of the executable.
    public let executable: String
    /// The arguments that precede the suite's own.
    public let arguments: [String]

    #if os(macOS) || os(Linux)
    /// Creates a process description.
    public init(executable: String, arguments: [String] = []) {
        self.executable = executable
        self.arguments = arguments
    }
    #endif
}
