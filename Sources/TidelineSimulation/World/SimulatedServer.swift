internal import HTTPTypes
internal import Synchronization
internal import Tideline
internal import TidelineServer
internal import TidelineStore

/// The server: one or more services over one store, which can end at any call of the store.
final class SimulatedServer: Sendable {
    /// The start of the world's time.
    static let epoch: Int64 = 17_900_000_000_000_000

    private struct State {
        var services: [SimulatedWorld.ServerHandler] = []
        var store: SimulatedStore?
        var generation: Generation
        /// Whether all rows and tombstones were lost.
        var isEmptied = false
        /// Whether the server of a custom dialect may inject faults.
        var injectsFaults = false
        /// The difference between the server's clock and the world's time.
        var offset: Duration = .zero
        /// The delay between the stamp and the commit of the current request.
        var commitDelay: Duration = .zero
        /// The last number of a version or an identifier.
        var number = 0
        var changes: [SimulatedStore.Change] = []
    }

    private let state: Mutex<State>
    private let base: AnyStore
    private let schema: [TableSchema]
    private let custom: SimulatedWorld.CustomServer?
    private let quirks: ServerQuirks
    private let serviceCount: Int
    private let hasClocksBehind: Bool
    private let executor: SimulationExecutor

    init(
        base: AnyStore, world: SimulatedWorld, schedule: SimulationSchedule, executor: SimulationExecutor
    ) throws {
        self.base = base
        schema = world.schema
        custom = world.customServer
        quirks = ServerQuirks(rawValue: schedule.serverQuirks)
        serviceCount = schedule.services
        hasClocksBehind = schedule.hasClocksBehind
        self.executor = executor
        state = Mutex(
            State(generation: Generation(executor), injectsFaults: world.faults.contains(.server)))
        try restart()
    }

    /// Whether deleted rows leave tombstones.
    var softDeletes: Bool { !quirks.contains(.hardDelete) && !isEmptied }
    /// Whether a deleted row cannot be inserted.
    var keepsTombstones: Bool { softDeletes && custom == nil }
    var isEmptied: Bool { state.withLock { $0.isEmptied } }

    /// Returns the time by the clock of a service.
    private func now(ofService number: Int = 0) -> Timestamp {
        state.withLock { state in
            let lag = Duration.seconds(hasClocksBehind ? 7 * number : 0)
            let time = executor.now + state.offset - state.commitDelay - lag
            return Timestamp(clampingTicks: Self.epoch + time.ticks)
        }
    }

    /// Returns the next number for a version or an identifier.
    private func nextNumber() -> Int {
        state.withLock { state in
            state.number += 1
            return state.number
        }
    }

    /// Ends the services and starts them again.
    func restart() throws {
        let generation = Generation(executor)
        let store = SimulatedStore(base, generation: generation, observing: schema) { [weak self] changes in
            self?.state.withLock { $0.changes += changes }
        }
        let services = try (0..<serviceCount).map { try makeService($0, over: store) }
        state.withLock { state in
            state.generation = generation
            state.store = store
            state.services = services
        }
    }

    private func makeService(_ number: Int, over store: SimulatedStore) throws -> SimulatedWorld.ServerHandler {
        let clock: @Sendable () -> Timestamp = { [weak self] in self?.now(ofService: number) ?? .min }
        if let custom {
            let tables = schema.map { table in
                var table = table
                table.systemColumns = .all
                return table
            }
            try store.define(tables)
            return try custom.makeHandler(
                .init(store: AnyStore(store), tables: tables, now: clock) { [weak self] range in
                    guard self?.state.withLock({ $0.injectsFaults }) == true else { return range.lowerBound }
                    return StepContext.current?.random(in: range) ?? range.lowerBound
                })
        }
        var options = TableServiceOptions(schemas: schema, maximumQueryTime: .seconds(3600))
        options.behavior = ServiceBehavior(quirks) { [weak self] in String(self?.nextNumber() ?? 0) }
        options.makeVersion = { [weak self] in "v\(self?.nextNumber() ?? 0)" }
        options.makeID = { [weak self] in "s\(self?.nextNumber() ?? 0)" }
        options.clock = clock
        let service = try TableService(store: store, options: options)
        return { request, body in
            let answer = service.handle(request, body: body)
            return TransportResponse(response: answer.response, body: answer.body)
        }
    }

    /// Ends the faults that the server of a custom dialect injects.
    func endFaults() { state.withLock { $0.injectsFaults = false } }

    /// Loses all rows and tombstones, and moves the clock.
    ///
    /// - Returns: The rows.
    func empty(movingClockBy seconds: Int) throws -> [SimulatedStore.Change] {
        let store = state.withLock { state in
            state.isEmptied = true
            state.changes = []
            return state.store
        }
        try store?.write { writer in
            for table in schema {
                let ids = try writer.rows(matching: TableQuery(table.name)).rows.compactMap(\.id)
                try writer.delete(ids: ids, from: table.name)
            }
        }
        try setClock(by: seconds)
        return state.withLock { $0.changes }
    }

    /// Ends the server for good.
    func end() {
        if base.capabilities.isPersistent { try? base.close() }
    }

    /// Moves the clock of the server.
    func setClock(by seconds: Int) throws {
        state.withLock { $0.offset += .seconds(seconds) }
        try restart()
    }

    /// Processes a request.
    ///
    /// - Parameters:
    ///   - service: Chooses one of the services.
    ///   - commitDelay: The time between the stamp of a row and its commit.
    ///   - crash: The call of the store at which the server ends, or `nil`.
    /// - Returns: The response, or `nil` if the server ended, and the rows that changed.
    func handle(
        _ request: HTTPRequest, _ body: [UInt8], service: Int, commitDelay: Duration = .zero, crash: Int? = nil
    ) throws -> (response: TransportResponse?, changes: [SimulatedStore.Change]) {
        let (services, generation) = state.withLock { state in
            state.commitDelay = commitDelay
            state.changes = []
            return (state.services, state.generation)
        }
        generation.kill(at: crash)
        let answer = Result { try services[service % services.count](request, body) }
        generation.kill(at: nil)
        let changes = state.withLock { state in
            state.commitDelay = .zero
            return state.changes
        }
        guard !generation.isDead else {
            try restart()
            return (nil, changes)
        }
        var response = try answer.get()
        if commitDelay > .zero { response.response.headerFields[.date] = nil }
        return (response, changes)
    }

    /// Returns the time since the latest change of a row by the server's clock, or `nil` if there is no row.
    func age(of id: String, in table: String) -> Duration? {
        let row = try? base.read { try $0.row(in: table, id: id) }
        return row?["updatedAt"]?.timestamp.map {
            .milliseconds((now().ticks - $0.ticks) / Timestamp.ticksPerMillisecond)
        }
    }

    /// Returns the row with an identifier, or `nil` if there is none or it was deleted.
    func row(_ id: String, in table: String) -> Row? {
        let row = try? base.read { try $0.row(in: table, id: id) }
        return row?.isTombstone == true ? nil : row
    }

    /// Returns the rows of a table that match, without deleted ones.
    func rows(of table: String, matching filter: RowPredicate? = nil) throws -> [Row] {
        try base.read { try $0.rows(matching: TableQuery(table, predicate: filter)).rows }.filter { !$0.isTombstone }
    }
}
