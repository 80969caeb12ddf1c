internal import Synchronization

/// A lock that can be held across suspension points. It is acquired in the order of the calls. A task that is cancelled
/// while it waits leaves the queue and throws.
final class AsyncLock: Sendable {
    private struct State {
        var isHeld = false
        var nextTicket = 0
        var waiting: [(ticket: Int, continuation: CheckedContinuation<Void, any Error>)] = []
    }

    private let state = Mutex(State())

    /// Runs `body` while holding the lock. If the lock is free, the call does not suspend.
    nonisolated(nonsending) func withLock<T>(
        _ body: nonisolated(nonsending) () async throws -> T
    ) async throws -> T {
        try await acquire()
        defer { release() }
        return try await body()
    }

    private nonisolated(nonsending) func acquire() async throws {
        try Task.checkCancellation()
        let ticket: Int? = state.withLock { state in
            guard state.isHeld else {
                state.isHeld = true
                return nil
            }
            state.nextTicket += 1
            return state.nextTicket
        }
        guard let ticket else { return }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                enter(ticket, continuation)
            }
        } onCancel: {
            cancel(ticket)
        }
    }

    private func enter(_ ticket: Int, _ continuation: CheckedContinuation<Void, any Error>) {
        // If the task was cancelled before this point, the handler has already run and found nothing to cancel.
        let outcome: Result<Void, any Error>? = state.withLock { state in
            if Task.isCancelled { return .failure(CancellationError()) }
            guard state.isHeld else {
                state.isHeld = true
                return .success(())
            }
            state.waiting.append((ticket, continuation))
            return nil
        }
        if let outcome { continuation.resume(with: outcome) }
    }

    private func cancel(_ ticket: Int) {
        let continuation = state.withLock { state in
            state.waiting.firstIndex { $0.ticket == ticket }.map { state.waiting.remove(at: $0).continuation }
        }
        continuation?.resume(throwing: CancellationError())
    }

    private func release() {
        let next = state.withLock { state in
            guard !state.waiting.isEmpty else {
                state.isHeld = false
                return CheckedContinuation<Void, any Error>?.none
            }
            return state.waiting.removeFirst().continuation
        }
        next?.resume()
    }
}
