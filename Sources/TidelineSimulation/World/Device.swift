internal import HTTPTypes
internal import Logging
internal import Synchronization
internal import Tideline
internal import TidelineStore
internal import TidelineSupport

/// A device: its store, which outlives its processes, and the process that runs now.
final class Device: Sendable {
    private struct State {
        var base: AnyStore
        /// The clients of the process, which take turns. They share the store object.
        var clients: [SyncClient<SimulatedStore>] = []
        var turns = 0
        var generation: Generation
        /// The difference between the device's clock and the world's time.
        var offset: Duration
        /// Whether the app was updated to define all columns.
        var isUpdated = false
        /// The number of the signed-in user, or `nil` if nobody is signed in.
        var user: Int?
        /// The thing between the device and the server, and its end.
        var intermediary: (kind: Intermediary, until: Duration)?
        var ids = 0
        /// The number of the latest decision of a conflict policy that was recorded.
        var lastDecision: Int64 = 0
    }

    let index: Int
    private let storeName: String
    private let state: Mutex<State>
    private let world: SimulatedWorld
    private let executor: SimulationExecutor

    init(_ index: Int, run: Int, world: SimulatedWorld, executor: SimulationExecutor, seed: UInt64) throws {
        self.index = index
        self.world = world
        self.executor = executor
        storeName = "device\(index)-\(run)"
        let base = AnyStore(try world.openStore(storeName))
        // Clocks of devices differ by up to ten minutes.
        var random = SplitMix64(seed: seed &+ UInt64(index))
        let offset = Duration.seconds(Int.random(in: -600...600, using: &random))
        state = Mutex(State(base: base, generation: Generation(executor), offset: offset))
    }

    /// The client whose turn it is, or `nil` if no process runs.
    var client: SyncClient<SimulatedStore>? {
        state.withLock { state in
            guard !state.clients.isEmpty else { return nil }
            state.turns += 1
            return state.clients[state.turns % state.clients.count]
        }
    }
    var generation: Generation { state.withLock { $0.generation } }
    /// The store without the process, which shows what was committed.
    var base: AnyStore { state.withLock { $0.base } }

    var now: Timestamp {
        Timestamp(clampingTicks: SimulatedServer.epoch + (executor.now + state.withLock { $0.offset }).ticks)
    }

    func moveClock(by seconds: Int) { state.withLock { $0.offset += .seconds(seconds) } }
    func update() { state.withLock { $0.isUpdated = true } }

    /// The thing between the device and the server, or `nil` if there is nothing.
    var intermediary: Intermediary? {
        state.withLock { state in state.intermediary.flatMap { $0.until > executor.now ? $0.kind : nil } }
    }

    /// Puts something between the device and the server for a time, or removes it.
    func place(_ intermediary: Intermediary?, for seconds: Int = 0) {
        let until = executor.now + .seconds(seconds)
        state.withLock { $0.intermediary = intermediary.map { ($0, until) } }
    }

    /// Signs a user in, also in the process that runs.
    func signIn(_ user: Int) {
        let clients = state.withLock { state in
            state.user = user
            return state.clients
        }
        for client in clients { client.currentUser = signedInUser }
    }

    /// Signs in the user to whom the data in the store belongs, if there is one.
    func signInOwner() throws {
        let record = try base.read { try $0.row(in: SystemTables().config, id: "owner") }
        guard let text = record?["value"]?.string else { return }
        for user in 0...1 where text.contains(name(of: user)) { signIn(user) }
    }

    private func name(of user: Int) -> String { "user\(index)-\(user)" }

    /// The token of the signed-in user, or `nil` if nobody is signed in.
    var token: String? { signedInUser?.authenticationToken }

    private var signedInUser: SignedInUser? {
        state.withLock { $0.user }.map { user in
            SignedInUser(userID: name(of: user), authenticationToken: name(of: user))
        }
    }

    /// The tables that this version of the app defines.
    var schema: [TableSchema] {
        state.withLock { $0.isUpdated } ? world.schema : world.earlierSchema ?? world.schema
    }

    private func nextID() -> String {
        state.withLock { state in
            state.ids += 1
            return "d\(index)-\(state.ids)"
        }
    }

    /// Ends the process and starts another one, which finds what was committed.
    func start(_ run: WorldRun, delegate: any SyncContextDelegate) async throws {
        self.generation.kill()
        if base.capabilities.isPersistent, state.withLock({ !$0.clients.isEmpty }) {
            try base.close()
            let reopened = AnyStore(try world.openStore(storeName))
            state.withLock { $0.base = reopened }
        }
        let generation = Generation(executor)
        let store = SimulatedStore(base, generation: generation, observing: world.schema) { [weak run] changes in
            run?.committed(changes, on: self)
        }
        let transport = SimulatedTransport(device: index, generation: generation, run: run)
        let clients = try (0..<world.clientsPerStore).map { _ in
            let client = try SyncClient(
                url: "http://server.simulation", store: store, transport: transport, options: makeOptions())
            client.context.delegate = delegate
            client.currentUser = signedInUser
            return client
        }
        state.withLock { state in
            state.generation = generation
            state.clients = clients
        }
        for client in clients { try await client.define(schema) }
    }

    func makeOptions() -> SyncOptions {
        var options = world.options
        options.systemTables = SystemTables()
        options.dialect = world.dialect
        options.logger.logLevel = .critical
        options.retry.maximumAttempts = 2
        options.rowsPerStep = 1
        // One device gets its tokens from the app. With such a closure, a client does not require a signed-in user,
        // which the other devices do.
        if index == 1 {
            struct NoToken: Error {}
            options.authorization = { [weak self] _ in
                if self?.intermediary == .withholdsTokens { throw NoToken() }
                return nil
            }
        }
        options.environment.sleep = { [executor] in try await executor.sleep(for: $0) }
        options.environment.random = { StepContext.current?.unitRandom() ?? 0.5 }
        options.environment.now = { [weak self] in self?.now ?? .min }
        options.environment.makeID = { [weak self] in self?.nextID() ?? "" }
        options.environment.storeExecutor = SyncEnvironment.StoreExecutor(writes: executor.makeLane(), reads: executor)
        options.environment.taskExecutor = executor
        return options
    }

    /// Ends the process for good.
    func end() {
        generation.kill()
        state.withLock { $0.clients = [] }
        if base.capabilities.isPersistent { try? base.close() }
    }

    /// Returns the committed rows of a table that match.
    func rows(of table: String, matching filter: RowPredicate? = nil) throws -> [Row] {
        try base.read { try $0.rows(matching: TableQuery(table, predicate: filter)).rows }
    }

    /// Returns the decisions of conflict policies that were not returned before, oldest first.
    func takeDecisions() throws -> [Row] {
        let last = state.withLock { $0.lastDecision }
        let query = TableQuery(SystemTables().decisions).filter(.column("id") > .value(last)).order(by: "id")
        let found = try base.read { try $0.rows(matching: query).rows }
        if let newest = found.last?["id"]?.int { state.withLock { $0.lastDecision = newest } }
        return found
    }

    func row(_ id: String, in table: String) throws -> Row? { try base.read { try $0.row(in: table, id: id) } }
}

/// The network between one process and the server.
struct SimulatedTransport: Transport {
    let device: Int
    let generation: Generation
    let run: WorldRun

    func send(_ request: HTTPRequest, body: [UInt8]?, timeout: Duration) async throws -> TransportResponse {
        try generation.pass()
        let response = try await run.exchange(request, body ?? [], from: device, timeout: timeout)
        try generation.pass()
        return response
    }
}
