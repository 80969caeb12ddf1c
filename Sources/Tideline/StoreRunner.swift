internal import Dispatch
internal import TidelineStore

/// Runs the blocking calls of the store on threads of their own, one hop per transaction, so that they never hold up
/// the threads on which Swift's tasks run.
///
/// Write transactions run one at a time, in the order of the calls: up to the executor's queue a call runs on its
/// caller's actor without a suspension, so that calls from one actor arrive in the order in which the actor makes them.
struct StoreRunner<Store: LocalStore>: Sendable {
    private let store: Store
    private let writes = SerialAccess()
    private let reads = DispatchQueue(label: "tideline.store.read", attributes: .concurrent)

    init(store: Store) { self.store = store }

    nonisolated(nonsending) func read<T: Sendable>(
        _ body: @escaping @Sendable (Store.Reader) throws -> T
    ) async throws -> T {
        try await run(on: reads) { try store.read(body) }
    }

    /// Runs a write transaction, whether or not the task is cancelled: a push takes in the answers that are on their way.
    nonisolated(nonsending) func write<T: Sendable>(
        _ body: @escaping @Sendable (Store.Writer) throws -> T
    ) async throws -> T {
        try await run(on: writes.queue) { try store.write(body) }
    }

    /// Runs a write transaction unless the task is cancelled before it begins.
    nonisolated(nonsending) func writeUnlessCancelled<T: Sendable>(
        _ body: @Sendable (Store.Writer) throws -> T
    ) async throws -> T {
        try await writes.run {
            try Task.checkCancellation()
            return try store.write(body)
        }
    }

    /// Runs another blocking call, such as the definition of tables, in order with the writes.
    nonisolated(nonsending) func perform<T: Sendable>(
        _ body: @escaping @Sendable (Store) throws -> T
    ) async throws -> T {
        try await run(on: writes.queue) { try body(store) }
    }

    /// Runs a call outside of the task, where a store does not see that the task is cancelled.
    private nonisolated(nonsending) func run<T: Sendable>(
        on queue: DispatchQueue, _ body: @escaping @Sendable () throws -> T
    ) async throws -> T {
        try await withCheckedThrowingContinuation { continuation in
            queue.async { continuation.resume(with: Result { try body() }) }
        }
    }
}

/// Runs one call at a time, in the order in which they come, within the calling task: it sees there that the task is
/// cancelled.
private actor SerialAccess {
    private let executor = QueueExecutor()
    nonisolated var queue: DispatchQueue { executor.queue }
    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    func run<T: Sendable>(_ body: @Sendable () throws -> T) throws -> T { try body() }
}

/// A dispatch queue as the executor of an actor.
private final class QueueExecutor: SerialExecutor {
    let queue = DispatchQueue(label: "tideline.store.write")

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
    }
}
