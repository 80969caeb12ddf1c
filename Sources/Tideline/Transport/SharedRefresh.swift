internal import Synchronization

/// Lets requests that the server refuses at the same time share one refresh of the authentication.
final class SharedRefresh: Sendable {
    private struct State {
        var successes = 0
        var attempts = 0
        var failure: (any Error)?
    }

    private let lock = AsyncLock()
    private let state = Mutex(State())

    /// The number of refreshes that succeeded. A request notes it before it asks for the authentication.
    var successes: Int { state.withLock { $0.successes } }

    /// Runs `refresh`, unless another call has done so since `successes` was noted.
    ///
    /// - Returns: The result of `refresh`, or `nil` if another call has refreshed the authentication.
    /// - Throws: The error of `refresh`, or of the call that this one waited for. A cancellation is not shared.
    nonisolated(nonsending) func run<T>(
        after successes: Int, _ refresh: nonisolated(nonsending) () async throws -> T
    ) async throws -> T? {
        let attempts = state.withLock { $0.attempts }
        return try await lock.withLock {
            let current = state.withLock { $0 }
            if current.successes != successes { return nil }
            if current.attempts != attempts, let failure = current.failure { throw failure }
            do {
                let result = try await refresh()
                state.withLock { $0 = State(successes: successes + 1, attempts: $0.attempts + 1) }
                return result
            } catch {
                if !(error is CancellationError), !Task.isCancelled {
                    state.withLock { $0 = State(successes: successes, attempts: $0.attempts + 1, failure: error) }
                }
                throw error
            }
        }
    }
}
