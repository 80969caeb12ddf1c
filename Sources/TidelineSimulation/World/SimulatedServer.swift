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
        var services: [TableService<SimulatedStore>] = []
        var generation: Generation
        /// The difference between the server's clock and the world's time.
        var offset: Duration = .zero
        /// The delay between the stamp and the commit of the current request.
        var commitDelay: Duration = .zero
        var versions = 0
        var changes: [SimulatedStore.Change] = []
    }

    private let state: Mutex<State>
    private let base: AnyStore
    private let schema: [TableSchema]
    private let quirks: ServerQuirks
    private let serviceCount: Int
    private let hasClocksBehind: Bool
    private let executor: SimulationExecutor

    init(
        base: AnyStore, schema: [TableSchema], schedule: SimulationSchedule, executor: SimulationExecutor
    ) throws {
        self.base = base
        self.schema = schema
        quirks = ServerQuirks(rawValue: schedule.serverQuirks)
        serviceCount = schedule.services
        hasClocksBehind = schedule.hasClocksBehind
        self.executor = executor
        state = Mutex(State(generation: Generation(executor)))
        try restart()
    }

    var softDeletes: Bool { !quirks.contains(.hardDelete) }

    /// Returns the time by the clock of a service.
    private func now(ofService number: Int = 0) -> Timestamp {
        state.withLock { state in
            let lag = Duration.seconds(hasClocksBehind ? 7 * number : 0)
            let time = executor.now + state.offset - state.commitDelay - lag
            return Timestamp(clampingTicks: Self.epoch + time.ticks)
        }
    }

    private func nextVersion() -> String {
        state.withLock { state in
            state.versions += 1
            return "v\(state.versions)"
        }
    }

    /// Ends the services and starts them again.
    func restart() throws {
        let generation = Generation(executor)
        let store = SimulatedStore(base, generation: generation, observing: schema) { [weak self] changes in
            self?.state.withLock { $0.changes += changes }
        }
        var options = TableServiceOptions(schemas: schema, maximumQueryTime: .seconds(3600), quirks: quirks)
        options.makeVersion = { [weak self] in self?.nextVersion() ?? "" }
        options.makeID = { [weak self] in "s\(self?.nextVersion() ?? "")" }
        let services = try (0..<serviceCount).map { number in
            var options = options
            options.clock = { [weak self] in self?.now(ofService: number) ?? .min }
            return try TableService(store: store, options: options)
        }
        state.withLock { state in
            state.generation = generation
            state.services = services
        }
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
        let answer = services[service % services.count].handle(request, body: body)
        generation.kill(at: nil)
        let changes = state.withLock { state in
            state.commitDelay = .zero
            return state.changes
        }
        guard !generation.isDead else {
            try restart()
            return (nil, changes)
        }
        var response = TransportResponse(response: answer.response, body: answer.body)
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
        var query = TableQuery(table)
        if let filter { query = query.filter(filter) }
        return try base.read { try $0.rows(matching: query).rows }.filter { !$0.isTombstone }
    }
}

extension Duration {
    /// The duration in the units of ``Timestamp``.
    var ticks: Int64 {
        components.seconds * Timestamp.ticksPerSecond + components.attoseconds / 100_000_000_000
    }
}
