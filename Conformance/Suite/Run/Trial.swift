internal import Foundation
internal import Synchronization
internal import TidelineStore
internal import TidelineSupport

/// One run of one check: its own folder, the stores that it opened there, and what it expects of them.
final class Trial: Sendable {
    /// The check's own folder, which exists, is empty, and is removed afterwards.
    let directory: String
    /// How the suite runs.
    let settings: ConformanceSettings
    /// How stores are made.
    let harness: StoreHarness
    /// What the store declares.
    let capabilities: StoreCapabilities
    /// What was done so far.
    let trace = Trace()
    private let group: CheckGroup
    private let timeOuts: TimeOuts
    private let stores = Mutex<[TracedStore]>([])

    init(
        directory: String, settings: ConformanceSettings, harness: StoreHarness, capabilities: StoreCapabilities,
        group: CheckGroup, timeOuts: TimeOuts
    ) {
        self.group = group
        self.timeOuts = timeOuts
        self.directory = directory
        self.settings = settings
        self.harness = harness
        self.capabilities = capabilities
    }

    /// The seed of this check's random choices.
    var seed: UInt64 { settings.seed }
    /// How often what is random is tried.
    var rounds: Int { settings.rounds }

    /// How long to wait for a part of what the check is about.
    func wait(_ kind: TimeOutKind) -> CheckWait {
        let limit = kind == .process ? min(settings.timeLimit / 2, .seconds(60)) : settings.timeLimit / 5
        return timeOuts.wait(kind, in: group, limit: limit)
    }

    /// A part of this trial, in a folder of its own.
    func part(in directory: String) -> Trial {
        Trial(
            directory: directory, settings: settings, harness: harness, capabilities: capabilities, group: group,
            timeOuts: timeOuts)
    }

    /// The path of a folder within the check's own; it is made if it does not exist.
    func folder(_ name: String) throws -> String {
        let path = "\(directory)/\(name)"
        do {
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        } catch {
            throw KitError("the folder \(path) cannot be made: \(error.reason)")
        }
        return path
    }

    /// Opens the store in a folder of that name, or makes an empty one; it is closed when the check ends.
    func open(
        _ name: String = "store", access: StoreOpening.Access = .readWrite, maximumSize: Int? = nil
    ) throws -> TracedStore {
        let opening = StoreOpening(directory: try folder(name), access: access, maximumSize: maximumSize)
        return try open(opening, named: name)
    }

    /// Opens a store as told, wherever that is; it is closed when the check ends.
    func open(_ opening: StoreOpening, named name: String) throws -> TracedStore {
        let variable = trace.nextStore()
        let entry = Trace.Entry(isExpression: false) { "let \(variable) = try open(\(name.swiftSource))" }
        trace.add(entry)
        do {
            let store = TracedStore(try harness.open(opening), name: variable, trace: trace)
            stores.withLock { $0.append(store) }
            return store
        } catch {
            entry.end(error)
            throw error
        }
    }

    /// An empty store in which tables are defined.
    func store(_ tables: TableSchema..., in name: String = "store") throws -> TracedStore {
        let store = try open(name)
        try store.define(tables)
        return store
    }

    /// Closes a store and opens the one in the same folder anew, where stores keep their rows; else gives back the same.
    func reopened(_ store: TracedStore, in name: String = "store") throws -> TracedStore {
        guard capabilities.isPersistent else { return store }
        try store.close()
        return try open(name)
    }

    /// Closes what is open still; nothing is said of what fails, as the check has ended.
    func end() {
        for store in stores.withLock({ $0 }) { try? store.base.close() }
        stores.withLock { $0 = [] }
    }
}
