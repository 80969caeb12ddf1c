internal import Synchronization
internal import TidelineStore

/// One run of one check: its directory, the stores that it opened there, and its expectations.
final class CheckContext: Sendable {
    /// The check's own directory. It exists, is initially empty, and is removed afterwards.
    let directory: String
    /// The settings of the suite.
    let settings: ConformanceSettings
    /// The harness that opens the stores.
    let harness: StoreHarness
    /// The capabilities that the store declares.
    let capabilities: StoreCapabilities
    /// The operations so far.
    let trace: Trace
    private let group: CheckGroup
    private let timeOuts: TimeOuts
    private let stores = Mutex<[TracedStore]>([])

    init(
        directory: String, settings: ConformanceSettings, harness: StoreHarness, capabilities: StoreCapabilities,
        group: CheckGroup, timeOuts: TimeOuts, redefinesFirst: Bool = false
    ) {
        trace = Trace(redefinesFirst: redefinesFirst)
        self.group = group
        self.timeOuts = timeOuts
        self.directory = directory
        self.settings = settings
        self.harness = harness
        self.capabilities = capabilities
    }

    /// The seed of this check's random choices.
    var seed: UInt64 { settings.seed }
    /// The number of repetitions of random operations.
    var rounds: Int { settings.rounds }

    /// Returns the given number of tables with an index each, or fewer if the store declares a smaller maximum.
    func tableCount(_ count: Int) -> Int { min(count, (capabilities.maximumTablesAndIndexes ?? .max) / 2) }

    /// Returns an id of one character more than the declared maximum, or `nil` if that is too long for a check.
    func overlongID(of character: String = "1") -> String? {
        guard capabilities.maximumIDLength < 1_000_000 else { return nil }
        return String(repeating: character, count: capabilities.maximumIDLength + 1)
    }

    /// Returns how long to wait for an event of the given kind.
    func wait(_ kind: TimeOutKind) -> CheckWait {
        let limit = kind == .process ? min(settings.timeLimit / 2, .seconds(60)) : settings.timeLimit / 5
        return timeOuts.wait(kind, in: group, limit: limit)
    }

    /// Returns a part of this trial with a directory of its own.
    func part(in directory: String) -> CheckContext {
        CheckContext(
            directory: directory, settings: settings, harness: harness, capabilities: capabilities, group: group,
            timeOuts: timeOuts)
    }

    /// Returns the path of a directory within the check's own, which is created if it does not exist.
    func folder(_ name: String) throws -> String {
        let path = "\(directory)/\(name)"
        try CheckFolder.make(path)
        return path
    }

    /// Opens the store in a directory with the given name, or creates an empty one; it is closed when the check ends.
    func open(
        _ name: String = "store", access: StoreOpening.Access = .readWrite, maximumSize: Int? = nil
    ) throws -> TracedStore {
        let opening = StoreOpening(directory: try folder(name), access: access, maximumSize: maximumSize)
        return try open(opening, named: name)
    }

    /// Opens a store as requested, at any path; it is closed when the check ends.
    func open(_ opening: StoreOpening, named name: String) throws -> TracedStore {
        let variable = trace.nextStore()
        let entry = Trace.Entry(isExpression: false) { "let \(variable) = try open(\(name.swiftSource))" }
        trace.add(entry)
        do {
            let store = TracedStore(try harness.open(opening), name: variable, folder: name, trace: trace)
            stores.withLock { $0.append(store) }
            return store
        } catch {
            entry.end(error)
            throw error
        }
    }

    /// Returns an empty store in which the given tables are defined.
    func store(_ tables: TableSchema..., in name: String = "store") throws -> TracedStore {
        try store(tables, in: name)
    }

    /// Returns an empty store in which the given tables are defined.
    func store(_ tables: [TableSchema], in name: String = "store") throws -> TracedStore {
        let store = try open(name)
        try store.define(tables)
        return store
    }

    /// Returns a store with a table that holds the given rows.
    func store(_ table: TableSchema, holding rows: [Row], in name: String = "store") throws -> TracedStore {
        let store = try store(table, in: name)
        try store.put(rows, into: table.name)
        return store
    }

    /// Closes a store and reopens it from its directory, or returns it if stores do not keep their rows.
    func reopened(_ store: TracedStore) throws -> TracedStore {
        guard capabilities.isPersistent else { return store }
        try store.close()
        return try open(store.folder)
    }

    /// Closes all stores that are still open. Errors are ignored because the check has ended.
    func end() {
        for store in stores.withLock({ $0 }) { try? store.base.close() }
        stores.withLock { $0 = [] }
    }
}
