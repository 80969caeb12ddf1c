import HTTPTypes
import Synchronization
import Testing
import TidelineStore
import TidelineTestStores

@testable import Tideline
@testable import TidelineSimulation

/// A server and clients on one thread and a virtual clock, which advances only when nothing can run.
struct VirtualWorld: Sendable {
    let world: World
    let executor = SimulationExecutor()
    /// The difference between the clients' clocks and the world's time.
    let offset = SharedValue(Duration.zero)

    static let epoch: Int64 = 17_900_000_000_000_000

    init(_ stores: StoreKind, schemas: [TableSchema] = [World.schema]) throws {
        let executor = executor
        world = try World(stores) { options in
            options.schemas = schemas
            options.clock = { Timestamp(clampingTicks: Self.epoch).advanced(by: executor.now) }
        }
    }

    /// Sends each request once.
    static let withoutRetries: @Sendable (inout SyncOptions) -> Void = { $0.retry.maximumAttempts = 1 }

    /// Runs a scenario of one client to its end, and stops the sync of the client.
    static func run(
        _ stores: StoreKind = .simplest, configure: @escaping @Sendable (inout SyncOptions) -> Void = { _ in },
        _ scenario: @escaping @Sendable (VirtualWorld, Client) async throws -> Void
    ) throws {
        let virtual = try VirtualWorld(stores)
        try virtual.run {
            let client = try await virtual.makeClient(configure: configure)
            try await scenario(virtual, client)
            await client.client.stop()
        }
    }

    /// Runs a scenario to its end, on the calling thread.
    func run(_ scenario: @escaping @Sendable () async throws -> Void) throws {
        let result = SharedValue<Result<Void, any Error>?>(nil)
        Task(executorPreference: executor) {
            do {
                try await scenario()
                result.value = .success(())
            } catch {
                result.value = .failure(error)
            }
        }
        while result.value == nil {
            guard executor.runNext() || executor.waitForEscapedTask() else {
                throw WorldStopped()
            }
        }
        // What has been cancelled still runs to its end.
        while executor.isReady, executor.runNext() {}
        try result.value?.get()
    }

    struct WorldStopped: Error {}

    /// Sets the seed of the order in which tasks run.
    func seed(_ seed: UInt64) { executor.seed(seed) }

    func sleep(_ duration: Duration) async throws { try await executor.sleep(for: duration) }

    func makeClient(
        store: TestStore? = nil, configure: (inout SyncOptions) -> Void = { _ in }
    ) async throws -> Client {
        try await world.makeClient(store: store) { options in
            configureEnvironment(&options.environment)
            options.logger.logLevel = .critical
            configure(&options)
        }
    }

    func configureEnvironment(_ environment: inout SyncEnvironment) {
        let (executor, offset) = (executor, offset)
        environment.sleep = { try await executor.sleep(for: $0) }
        environment.random = { 0.5 }
        environment.now = {
            Timestamp(clampingTicks: Self.epoch).advanced(by: executor.now + offset.value)
        }
        environment.storeExecutor = SyncEnvironment.StoreExecutor(writes: executor.makeLane(), reads: executor)
        environment.taskExecutor = executor
    }

    /// Delays each matching request of a client, and counts those that wait at the same time.
    @discardableResult
    func delay(
        _ client: Client, by duration: Duration,
        where matches: @escaping @Sendable (HTTPRequest) -> Bool = { _ in true }
    ) -> MaximumCount {
        let count = MaximumCount()
        client.transport.inspect { request, _ in
            guard matches(request) else { return nil }
            count.enter()
            try? await sleep(duration)
            count.leave()
            return nil
        }
        return count
    }

    /// Collects the statuses of a client.
    func record(_ client: Client) -> Recorder<SyncStatus> {
        let record = Recorder<SyncStatus>()
        let updates = client.client.statusUpdates
        Task(executorPreference: executor) {
            for await status in updates { record.add(status) }
        }
        return record
    }
}

/// A value that several tasks share.
final class SharedValue<Value: Sendable>: Sendable {
    private let stored: Mutex<Value>

    init(_ value: Value) { stored = Mutex(value) }

    var value: Value {
        get { stored.withLock { $0 } }
        set { stored.withLock { $0 = newValue } }
    }

    func update<T: Sendable>(_ body: (inout Value) -> T) -> T { stored.withLock { body(&$0) } }
}

extension Client {
    /// The kind of the current status, such as `idle`.
    var statusKind: String { String("\(client.status)".prefix { $0 != "(" }) }
}

extension Recorder<SyncStatus> {
    /// The kinds of the statuses, without repetitions.
    var kinds: [String] {
        values.map { String("\($0)".prefix { $0 != "(" }) }
            .reduce(into: []) { kinds, kind in
                if kinds.last != kind { kinds.append(kind) }
            }
    }
}

/// A connectivity monitor that the test controls.
final class TestConnectivity: ConnectivityMonitor {
    private let stream: AsyncStream<Bool>
    private let continuation: AsyncStream<Bool>.Continuation

    init() { (stream, continuation) = AsyncStream.makeStream() }

    func reports() -> AsyncStream<Bool> { stream }
    func report(_ isAvailable: Bool) { continuation.yield(isAvailable) }
}
