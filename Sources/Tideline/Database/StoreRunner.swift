internal import TidelineStore

/// Runs the blocking calls of the store on a ``StoreExecutor``, within the calling task.
///
/// Writes run one at a time, in the order of the calls. Until it reaches the executor of the writes, a call runs on its
/// caller's actor without suspension, so that calls from one actor keep their order.
struct StoreRunner<Store: LocalStore>: Sendable {
    private let store: Store
    private let writes: SerialAccess
    private let reads: any TaskExecutor

    init(store: Store, executor: StoreExecutor) {
        self.store = store
        writes = SerialAccess(executor.writes)
        reads = executor.reads
    }

    nonisolated(nonsending) func read<T: Sendable>(
        _ body: @escaping @Sendable (Store.Reader) throws -> T
    ) async throws -> T {
        try await withTaskExecutorPreference(reads) { try await readConcurrently(body) }
    }

    @concurrent private func readConcurrently<T: Sendable>(
        _ body: @Sendable (Store.Reader) throws -> T
    ) async throws -> T {
        try store.read(body)
    }

    /// Runs a call that changes the store, unless the task is cancelled before it begins.
    nonisolated(nonsending) func perform<T: Sendable>(
        _ body: @Sendable (Store) throws -> T
    ) async throws -> T {
        try await writes.run {
            try Task.checkCancellation()
            return try body(store)
        }
    }

    /// Runs a write transaction, even if the task is cancelled: a push stores the responses to requests in flight.
    nonisolated(nonsending) func writeEvenIfCancelled<T: Sendable>(
        _ body: @escaping @Sendable (Store.Writer) throws -> T
    ) async throws -> T {
        do {
            return try await writes.run { try store.write(body) }
        } catch {
            guard Task.isCancelled, error is CancellationError || (error as? StoreError)?.code == .cancelled else {
                throw error
            }
            // The store has written nothing. A separate task is not cancelled.
            let (store, writes) = (store, writes)
            return try await Task(executorPreference: reads) { try await writes.run { try store.write(body) } }.value
        }
    }
}

/// Runs one call at a time on an executor, in the order of the calls, within the calling task.
private actor SerialAccess {
    private let executor: any SerialExecutor
    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    init(_ executor: any SerialExecutor) { self.executor = executor }

    func run<T: Sendable>(_ body: @Sendable () throws -> T) throws -> T { try body() }
}
