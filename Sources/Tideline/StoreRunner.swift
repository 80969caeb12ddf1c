internal import Dispatch
internal import TidelineStore

/// Runs the blocking calls of the store on dispatch queues, one hop per transaction, so that they never block the
/// threads of Swift's cooperative pool.
///
/// Write transactions run one at a time, in the order of the calls. Until it reaches the executor's queue, a call runs
/// on its caller's actor without suspension, so that calls from one actor keep their order.
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

    /// Runs a write transaction, even if the task is cancelled: a push stores the responses to requests in flight.
    nonisolated(nonsending) func write<T: Sendable>(
        _ body: @escaping @Sendable (Store.Writer) throws -> T
    ) async throws -> T {
        try await run(on: writes.queue) { try store.write(body) }
    }

    /// Runs a write transaction unless the task is cancelled before the transaction begins.
    nonisolated(nonsending) func writeUnlessCancelled<T: Sendable>(
        _ body: @Sendable (Store.Writer) throws -> T
    ) async throws -> T {
        try await writes.run {
            try Task.checkCancellation()
            return try store.write(body)
        }
    }

    /// Runs another blocking call, such as defining tables, in order with the writes.
    nonisolated(nonsending) func perform<T: Sendable>(
        _ body: @escaping @Sendable (Store) throws -> T
    ) async throws -> T {
        try await run(on: writes.queue) { try body(store) }
    }

    /// Runs a call outside the task, so that the store does not see the task's cancellation.
    private nonisolated(nonsending) func run<T: Sendable>(
        on queue: DispatchQueue, _ body: @escaping @Sendable () throws -> T
    ) async throws -> T {
        try await withCheckedThrowingContinuation { continuation in
            queue.async { continuation.resume(with: Result { try body() }) }
        }
    }
}

/// Runs one call at a time, in the order of the calls, within the calling task, so that the store sees the task's
/// cancellation.
private actor SerialAccess {
    private let executor = QueueExecutor()
    nonisolated var queue: DispatchQueue { executor.queue }
    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    func run<T: Sendable>(_ body: @Sendable () throws -> T) throws -> T { try body() }
}

/// An actor's executor that runs on a dispatch queue.
private final class QueueExecutor: SerialExecutor {
    let queue = DispatchQueue(label: "tideline.store.write")

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
    }
}
