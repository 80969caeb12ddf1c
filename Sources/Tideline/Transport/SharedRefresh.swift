internal import Synchronization

/// Lets requests that the server refuses at the same time share one refresh of the authentication.
final class SharedRefresh: Sendable {
    /// The numbers of refreshes that succeeded, and of all that ended.
    struct Count: Sendable {
        var successes = 0
        var attempts = 0
    }

    private struct State {
        var count = Count()
        var failure: (any Error)?
        /// The number of sign-ins, after which earlier failures say nothing.
        var signIns = 0
    }

    private let lock = AsyncLock()
    private let state = Mutex(State())

    /// The number of refreshes. A request notes it before it asks for the authentication.
    var count: Count { state.withLock { $0.count } }

    /// Notes a sign-in. A failure before it is not shared, nor that of a refresh in progress.
    func noteSignIn() {
        state.withLock { state in
            state.failure = nil
            state.signIns += 1
        }
    }

    /// Runs `refresh`, unless another call has done so since `count` was noted.
    ///
    /// - Returns: The result of `refresh`, or `nil` if another call has refreshed the authentication.
    /// - Throws: The error of `refresh`, or of another call since `count` was noted and since the last sign-in. A
    ///   cancellation is not shared.
    nonisolated(nonsending) func run<T>(
        after count: Count, _ refresh: nonisolated(nonsending) () async throws -> T
    ) async throws -> T? {
        try await lock.withLock {
            let current = state.withLock { $0 }
            if current.count.successes != count.successes { return nil }
            if current.count.attempts != count.attempts, let failure = current.failure { throw failure }
            do {
                let result = try await refresh()
                state.withLock { state in
                    state.count.successes += 1
                    state.count.attempts += 1
                    state.failure = nil
                }
                return result
            } catch {
                if !(error is CancellationError), !Task.isCancelled {
                    state.withLock { state in
                        state.count.attempts += 1
                        state.failure = state.signIns == current.signIns ? error : nil
                    }
                }
                throw error
            }
        }
    }
}
