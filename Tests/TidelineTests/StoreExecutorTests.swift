import Dispatch
import Synchronization
import Testing
import Tideline
import TidelineStore
import TidelineTestStores

/// Where the store's blocking calls run, and what they know of the task that made them.
@Suite("Store executor", .releasesClients)
struct StoreExecutorTests {
    @TaskLocal private static var label = ""

    /// An executor that runs all jobs on one dispatch queue.
    private final class OneQueue: SerialExecutor, TaskExecutor {
        private static let key = DispatchSpecificKey<Bool>()
        private let queue = DispatchQueue(label: "one")

        init() { queue.setSpecific(key: Self.key, value: true) }

        static var isCurrent: Bool { DispatchQueue.getSpecific(key: key) == true }

        func enqueue(_ job: consuming ExecutorJob) {
            let job = UnownedJob(job)
            queue.async {
                job.runSynchronously(
                    isolatedTo: self.asUnownedSerialExecutor(), taskExecutor: self.asUnownedTaskExecutor())
            }
        }
    }

    /// Uses most of a client's functions.
    private func use(_ client: SyncClient<HookedStore>) async throws {
        try await client.define([World.schema])
        let items = client.table("TodoItem")
        try await items.insert(["id": "b", "text": "x"])
        try await client.push()
        try await client.pull(TableQuery("TodoItem"), queryID: "all")
        _ = try await items.rows()
        try await items.purge()
    }

    private func makeClient(
        _ stores: StoreKind, executor: SyncEnvironment.StoreExecutor?
    ) async throws -> (client: SyncClient<HookedStore>, store: HookedStore) {
        let store = HookedStore(try stores.makeStore())
        let made = try await World(stores).makeClient(over: store, tables: []) {
            $0.environment.storeExecutor = executor
        }
        return (made.client, store)
    }

    @Test("S7 every call of the store runs on the executor of the environment", arguments: StoreKind.perEngine)
    func environmentExecutor(_ stores: StoreKind) async throws {
        let queue = OneQueue()
        let (client, store) = try await makeClient(stores, executor: .init(writes: queue, reads: queue))
        let calls = Mutex([Bool]())
        store.observe { calls.withLock { $0.append(OneQueue.isCurrent) } }
        try await use(client)
        #expect(calls.withLock { $0.count > 10 && $0.allSatisfy { $0 } })
    }

    @Test("S7 the store sees the priority and the task-local values of the caller", arguments: StoreKind.perEngine)
    func taskLocals(_ stores: StoreKind) async throws {
        let (client, store) = try await makeClient(stores, executor: nil)
        let calls = Mutex([String]())
        store.observe {
            calls.withLock { $0.append("\(Self.label) \(Task.currentPriority == .background)") }
        }
        // Waiting for the task itself would raise its priority.
        let (outcomes, ending) = AsyncStream.makeStream(of: Result<Void, any Error>.self)
        Task.detached(priority: .background) {
            do {
                ending.yield(.success(try await Self.$label.withValue("caller") { try await use(client) }))
            } catch {
                ending.yield(.failure(error))
            }
        }
        for await outcome in outcomes {
            try outcome.get()
            break
        }
        #expect(calls.withLock { $0.count > 10 && $0.allSatisfy { $0 == "caller true" } })
    }
}
