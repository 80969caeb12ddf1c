public import Tideline
internal import TidelineMemory
public import TidelineStore

/// The configuration of a simulation. Everything has a default.
public struct SimulatedWorld: Sendable {
    /// A check by the author of a test.
    struct Invariant: Sendable {
        var name: String
        /// Returns what violates the invariant; empty if it holds.
        var check: @Sendable (SimulationState) throws -> [String]
    }

    struct CustomAction: Sendable {
        var name: String
        var weight: Int
        var body: @Sendable (SimulatedDevice) async throws -> Void
    }

    /// The kinds of faults that a schedule can contain.
    public struct Faults: OptionSet, Sendable, Hashable {
        public let rawValue: Int
        public init(rawValue: Int) { self.rawValue = rawValue }

        /// Lost, late, and repeated requests, and lost responses.
        public static let network = Faults(rawValue: 1)
        /// Error responses, unreadable responses, responses in part, pages with too few rows, late commits, and crashes
        /// of the server.
        public static let server = Faults(rawValue: 2)
        /// The end of a device's process at any call of its store or of the network.
        public static let kills = Faults(rawValue: 4)
        /// Cancelled tasks.
        public static let cancellation = Faults(rawValue: 8)
        /// Clocks that jump.
        public static let clocks = Faults(rawValue: 16)
        /// Something that responds in place of the server, or changes what passes through it; see ``Intermediary``.
        public static let intermediaries = Faults(rawValue: 32)
        /// A second user, the removal of a user's data, and tables that another process of the device defines.
        public static let identities = Faults(rawValue: 64)
        /// All kinds.
        public static let all: Faults = [
            .network, .server, .kills, .cancellation, .clocks, .intermediaries, .identities,
        ]
    }

    /// The app's tables. By default, one table with a text, a number, and a Boolean.
    ///
    /// The workload writes a unique value into each column that it changes, except that a `bool` repeats, a `timestamp`
    /// is always the time of the device's clock, and a column that references a table contains the identifier of one of
    /// its rows, or of a row that does not exist. Tables need string identifiers.
    public var schema: [TableSchema] = [
        TableSchema("Todo", columns: [.string("title"), .int("rank"), .bool("done")])
    ]
    {
        didSet { earlierSchema = nil }
    }
    /// The tables of an earlier version of the app, from which each device is updated in the course of the simulation;
    /// `nil` for none. By default, the earlier app lacks a column. A change of ``schema`` sets it to `nil`.
    public var earlierSchema: [TableSchema]? = [TableSchema("Todo", columns: [.string("title"), .int("rank")])]
    /// The dialect that the devices and the server speak. For that of another server, see ``speak(_:to:)``.
    public var dialect = ServerDialect.zumo2 { didSet { customServer = nil } }
    /// The number of devices, each with a store of its own; 3 by default.
    public var devices = 3
    /// The number of steps before the final synchronization; 24 by default.
    public var steps = 24
    /// The greatest number of rows that the devices share in each table; 3 by default. Each seed uses 1 to this number:
    /// few rows cause many conflicts.
    public var rows = 3
    /// The faults to inject; all by default.
    public var faults: Faults = .all
    /// The app's conflict policy, set as the delegate of each device's context; `nil` to resolve each conflict
    /// at random, as a user could.
    ///
    /// An edit that a resolution drops is not a violation. To check that a policy keeps edits, add an
    /// ``invariant(_:_:)`` with ``SimulationState/lostEdits``.
    public var policy: (any SyncContextDelegate)?
    /// The options of each device's client, such as ``/Tideline/SyncOptions/conflictPolicies``. The simulation replaces
    /// the environment, the logger, the number of attempts, and the names of the system tables.
    public var options = SyncOptions()
    /// The behaviors of the server, from which each seed chooses one.
    ///
    /// Servers that repeat versions after a hard delete are not among the defaults: such a server itself overwrites
    /// changes that no client has seen.
    public var servers: [ServerQuirks] = [
        [], [], .original, [.hardDelete, .original.subtracting(.perRowVersions)],
    ]
    /// The greatest number of services over the server's store, 1 to 8. By default, some seeds have 2.
    ///
    /// With more than 2, each seed has 2 to this number. More than 2 services each have a clock 7 seconds behind that
    /// of the previous one, and the devices pull without a look-back, unless the server's quirks make timestamps that
    /// are not ordered.
    public var services = 2
    /// The number of clients of each device's store object, 1 to 8; 1 by default. They take turns.
    public var clientsPerStore = 1
    /// The settings of all pushes.
    public var push = PushSettings()
    /// Opens the store of a device or of the server, whose name it receives, such as `device0-1` or `server-1`.
    ///
    /// A store that is persistent is closed after its process ended, and opened again with the same name. A store in
    /// memory is kept instead. After a violation, a simulation runs many times to shorten its schedule. Each run has
    /// names of its own, and opens the store of the server first.
    public var openStore: @Sendable (_ name: String) throws -> any LocalStore = { _ in try MemoryStore() }
    /// The number of jobs after which a simulation that has not ended is reported.
    public var maximumJobs = 2_000_000
    /// Whether the result of a simulation without a violation has a timeline; `false` by default, because a timeline
    /// takes time. A failure always has one.
    public var recordsTimeline = false

    /// The server of a custom dialect; see ``speak(_:to:)``.
    var customServer: CustomServer?
    /// Whether the server of a custom dialect sometimes loses all rows and tombstones when it restarts, and has later
    /// or much earlier times afterwards. The dialect must then find out that the times are earlier.
    package var emptiesServer = false
    /// Whether proxies change entity tags and remove the versions from responses to updates, and gateways answer with
    /// 200 in place of the server, also without a page.
    package var hasProxies = false
    var invariants: [Invariant] = []
    var actions: [CustomAction] = []

    init() {}

    /// Adds a check of the state after the final synchronization, in addition to those of every simulation.
    ///
    /// ```swift
    /// world.invariant("every edit is kept") { $0.lostEdits }
    /// ```
    /// - Parameter violations: Returns what violates the invariant; empty if it holds. An error is a violation too.
    public mutating func invariant(
        _ name: String, _ violations: @escaping @Sendable (SimulationState) throws -> [any CustomStringConvertible]
    ) {
        invariants.append(Invariant(name: name) { try violations($0).map(\.description) })
    }

    /// Adds an action of the app to the workload.
    ///
    /// - Parameters:
    ///   - name: The name in the timeline.
    ///   - weight: How often the action is chosen: the workload's own actions have a total weight of 100.
    ///   - body: Performs the action. It must not leave the simulation: no detached tasks, no real network or clock.
    public mutating func action(
        _ name: String, weight: Int = 20, _ body: @escaping @Sendable (SimulatedDevice) async throws -> Void
    ) {
        actions.append(CustomAction(name: name, weight: weight, body: body))
    }

    /// Throws if the configuration cannot be simulated.
    func validate() throws {
        func refuse(_ message: String) -> SimulationError { SimulationError(message) }
        guard (1...64).contains(devices) else { throw refuse("devices is \(devices); use 1 to 64") }
        guard (0...100_000).contains(steps) else { throw refuse("steps is \(steps); use 0 to 100,000") }
        guard (1...1_000).contains(rows) else { throw refuse("rows is \(rows); use 1 to 1,000") }
        guard (1...8).contains(services) else { throw refuse("services is \(services); use 1 to 8") }
        guard (1...8).contains(clientsPerStore) else {
            throw refuse("clientsPerStore is \(clientsPerStore); use 1 to 8")
        }
        guard !servers.isEmpty else { throw refuse("servers is empty; name at least one, such as []") }
        guard !schema.isEmpty else { throw refuse("schema is empty; define at least one table") }
        for table in schema + (earlierSchema ?? []) {
            try table.validate()
            guard table.idType == .string else {
                throw refuse("table \(table.name.debugDescription) has integer ids; the server needs string ids")
            }
        }
        for action in actions where action.weight < 0 {
            throw refuse("the weight of action \(action.name.debugDescription) is negative")
        }
    }
}

/// A configuration or file that cannot be simulated.
public struct SimulationError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The reason, and what to do.
    public let description: String
    init(_ description: String) { self.description = description }
}
