internal import Dispatch
internal import Synchronization

/// Runs asynchronous work for a caller that waits.
///
/// The tasks run on threads of their own: the caller may hold one of the few on which Swift's tasks run by default, and were
/// all of those held by callers that wait, they would wait for ever.
enum BlockingTask {
    /// Does the work and returns what it returns.
    static func run<T: Sendable>(_ body: @escaping @Sendable () async throws -> T) throws -> T {
        let outcome = Outcome<T>()
        let isDone = DispatchSemaphore(value: 0)
        Task.detached(executorPreference: Threads.shared) {
            do {
                let value = try await body()
                outcome.result.withLock { $0 = .success(value) }
            } catch {
                outcome.result.withLock { $0 = .failure(error) }
            }
            isDone.signal()
        }
        isDone.wait()
        guard let result = outcome.result.withLock({ $0 }) else { throw CancellationError() }
        return try result.get()
    }

    private final class Outcome<T: Sendable>: Sendable {
        let result = Mutex<Result<T, any Error>?>(nil)
    }

    private final class Threads: TaskExecutor {
        static let shared = Threads()
        private let queue = DispatchQueue(label: "tideline.benchmark.tasks", attributes: .concurrent)

        func enqueue(_ job: consuming ExecutorJob) {
            let job = UnownedJob(job)
            queue.async { [self] in job.runSynchronously(on: asUnownedTaskExecutor()) }
        }
    }
}
