internal import Synchronization
internal import TidelineStore

/// Runs the blocking calls of the store on a ``SyncEnvironment/StoreExecutor``, within the calling task. Errors become
/// ``SyncError``s.
///
/// Writes run one at a time, in the order of the calls. Until it reaches the executor of the writes, a call runs on its
/// caller's actor without suspension, so that calls from one actor keep their order.
struct StoreRunner: Sendable {
    private let writes: SerialAccess
    private let reads: any TaskExecutor

    init(_ executor: SyncEnvironment.StoreExecutor) {
        writes = SerialAccess(executor.writes)
        reads = executor.reads
    }

    /// Whether a write waits until another one ends.
    var hasWaitingWrites: Bool { writes.hasWaiting }

    nonisolated(nonsending) func read<T: Sendable>(_ body: @escaping @Sendable () throws -> T) async throws -> T {
        do {
            return try await withTaskExecutorPreference(reads) { try await Self.runConcurrently(body) }
        } catch {
            throw SyncError.wrapping(error)
        }
    }

    @concurrent private static func runConcurrently<T: Sendable>(_ body: @Sendable () throws -> T) async throws -> T {
        try body()
    }

    /// Runs a call that changes the store, unless the task is cancelled before it begins.
    nonisolated(nonsending) func perform<T: Sendable>(_ body: @Sendable () throws -> T) async throws -> T {
        writes.noteCall()
        do {
            return try await writes.run {
                try Task.checkCancellation()
                return try body()
            }
        } catch {
            throw SyncError.wrapping(error)
        }
    }

    /// Runs a write transaction, even if the task is cancelled: a push stores the responses to requests in flight.
    nonisolated(nonsending) func performEvenIfCancelled<T: Sendable>(
        _ body: @escaping @Sendable () throws -> T
    ) async throws -> T {
        writes.noteCall()
        do {
            return try await writes.run(body)
        } catch {
            guard Task.isCancelled, error is CancellationError || (error as? StoreError)?.code == .cancelled else {
                throw SyncError.wrapping(error)
            }
            // The store has written nothing. A separate task is not cancelled.
            return try await Task(executorPreference: reads) { try await perform(body) }.value
        }
    }
}

/// Runs one call at a time on an executor, in the order of the calls, within the calling task.
private actor SerialAccess {
    private let executor: any SerialExecutor
    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    /// The number of calls that have not begun.
    private let waiting = Atomic(0)

    init(_ executor: any SerialExecutor) { self.executor = executor }

    nonisolated var hasWaiting: Bool { waiting.load(ordering: .relaxed) > 0 }

    /// Notes that ``run(_:)`` is about to be called.
    nonisolated func noteCall() { waiting.add(1, ordering: .relaxed) }

    func run<T: Sendable>(_ body: @Sendable () throws -> T) throws -> T {
        waiting.subtract(1, ordering: .relaxed)
        return try body()
    }
}
