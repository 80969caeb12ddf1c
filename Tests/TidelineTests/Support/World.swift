import HTTPTypes
import Synchronization
import Testing
import Tideline
import TidelineServer
import TidelineStore
import TidelineTestStores

/// A server and its clients in one process, with real stores, a transport that can fail, and a controlled clock.
struct World: Sendable {
    static let schema = TableSchema(
        "TodoItem",
        columns: [
            .string("text"), .bool("complete"), .int("priority"), .double("effort"), .timestamp("due"), .bytes("photo"),
            .json("tags"),
        ])

    let stores: StoreKind
    let clock: TestClock
    let serverStore: TestStore
    let service: TableService<TestStore>

    /// - Parameter stores: The kind of all stores, the server's and the clients'.
    init(_ stores: StoreKind, change: (inout TableServiceOptions) -> Void = { _ in }) throws {
        try BothDialects.check(stores)
        let clock = TestClock()
        // Pages are as large in all dialects.
        // A thread of a busy machine may stand still for longer than the default time limit of queries.
        var options = TableServiceOptions(
            schemas: [World.schema], datasyncPageSize: 1000, maximumQueryTime: .seconds(3600), clock: { clock.now })
        change(&options)
        self.stores = stores
        self.clock = clock
        serverStore = try stores.makeStore()
        service = try TableService(store: serverStore, options: options)
    }

    /// Makes a client of the given store, or of a new one.
    func makeClient(
        store: TestStore? = nil, configure: (inout SyncOptions) -> Void = { _ in }
    ) async throws -> Client {
        try await makeClient(over: store ?? stores.makeStore(), configure: configure)
    }

    /// Makes a client of a store of any type, such as one that fails, with the given tables.
    func makeClient<Store: LocalStore>(
        over store: Store, tables: [TableSchema] = [World.schema], url: String = "http://server.test",
        configure: (inout SyncOptions) -> Void = { _ in }
    ) async throws -> WorldClient<Store> {
        var options = SyncOptions.inDialect
        options.environment.sleep = { _ in }
        configure(&options)
        let transport = FaultyTransport(service: service, executor: options.environment.taskExecutor)
        let client = try SyncClient(url: url, store: store, transport: transport, options: options)
        try await client.define(tables)
        let made = WorldClient(client: client, transport: transport, store: store)
        ReleasingClients.register(made)
        return made
    }

    /// Returns the server's row with the given identifier, deleted or not.
    func serverRow(_ id: String) throws -> Row? {
        try serverStore.read { try $0.row(in: "TodoItem", id: id) }
    }

    /// Returns the texts of the server's rows that are not deleted, in order.
    func serverTexts() throws -> [String] {
        let query = TableQuery("TodoItem").filter(.column("deleted") == false).order(by: "text")
        return try serverStore.read { try $0.rows(matching: query).rows.compactMap { $0["text"]?.string } }
    }

    /// Writes rows to the server's table unchanged, including `updatedAt` and `version`.
    func plant(_ rows: [Row]) throws {
        try serverStore.write { try $0.upsert(rows, into: "TodoItem") }
    }
}

/// One client of a ``World``.
struct WorldClient<Store: LocalStore>: Sendable {
    let client: SyncClient<Store>
    let transport: FaultyTransport<TestStore>
    let store: Store

    var context: SyncContext<Store> { client.context }
    var items: SyncTable { client.table("TodoItem") }

    /// Returns the texts of the local rows, in order.
    func texts() throws -> [String] {
        try store.read {
            try $0.rows(matching: TableQuery("TodoItem").order(by: "text")).rows.compactMap { $0["text"]?.string }
        }
    }

    /// Returns the local row with the given identifier.
    func row(_ id: String) throws -> Row? { try store.read { try $0.row(in: "TodoItem", id: id) } }

    /// Returns the queue in the form `insert a`, `update b`.
    func queue() async throws -> [String] {
        try await context.pendingOperations().map { "\($0.kind) \($0.itemID)" }
    }

    /// Runs an action once, between the response to the first matching request and its arrival, or before the request.
    func onFirst(
        _ matches: @escaping @Sendable (HTTPRequest) -> Bool = { _ in true }, isEarly: Bool = false,
        _ body: @escaping @Sendable () async throws -> Void
    ) {
        let once = Once()
        transport.inspect { request, _ in
            guard matches(request), once.first() else { return nil }
            guard isEarly else { return .delay(body) }
            await #expect(throws: Never.self) { try await body() }
            return nil
        }
    }
}

typealias Client = WorldClient<TestStore>

/// A clock that a test controls. It advances by 1 ms at every read, so that timestamps differ.
final class TestClock: Sendable {
    private let ticks = Mutex<Int64>(17_900_000_000_000_000)

    var now: Timestamp {
        ticks.withLock { ticks in
            ticks += Timestamp.ticksPerMillisecond
            return Timestamp(clampingTicks: ticks)
        }
    }

    func advance(by duration: Duration) {
        ticks.withLock { $0 += duration.components.seconds * Timestamp.ticksPerSecond }
    }
}
