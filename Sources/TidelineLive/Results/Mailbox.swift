internal import TidelineStore

/// A result's change up to a commit.
struct Delivery: Sendable {
    var delta: ResultDelta
    var commit: Int
}

/// The changes that a consumer has not read yet, merged into one, or the consumer that waits for the next.
final class Mailbox: Sendable {
    private typealias Waiter = CheckedContinuation<Delivery?, any Error>

    private struct State {
        var pending: Delivery?
        var waiters: [(id: Int, continuation: Waiter)] = []
        var nextWaiter = 0
        var isFinished = false
        /// The error that the consumer has not received yet.
        var error: (any Error)?

        mutating func take() -> Result<Delivery?, any Error>? {
            if let delivery = pending {
                pending = nil
                return .success(delivery)
            }
            if let failure = error {
                error = nil
                return .failure(failure)
            }
            return isFinished ? .success(nil) : nil
        }
    }

    private let state = LockedValue(State())

    /// Passes a change to the waiting consumer, or keeps it, merged with those before.
    func deliver(_ delta: ResultDelta, commit: Int) {
        let waiter = state.withLock { state -> Waiter? in
            guard !state.isFinished, !delta.isEmpty else { return nil }
            guard var pending = state.pending else {
                guard state.waiters.isEmpty else { return state.waiters.removeFirst().continuation }
                state.pending = Delivery(delta: delta, commit: commit)
                return nil
            }
            // The only owner of the delta changes it without a copy.
            state.pending = nil
            pending.delta.merge(delta)
            pending.commit = commit
            if !pending.delta.isEmpty { state.pending = pending }
            return nil
        }
        waiter?.resume(returning: Delivery(delta: delta, commit: commit))
    }

    /// Ends the deliveries, with an error after those that were not read yet, if there is one.
    func finish(_ error: (any Error)?) {
        let waiters = state.withLock { state in
            guard !state.isFinished else { return [Waiter]() }
            state.isFinished = true
            if state.waiters.isEmpty { state.error = error }
            defer { state.waiters = [] }
            return state.waiters.map(\.continuation)
        }
        for (index, waiter) in waiters.enumerated() {
            if let error, index == 0 { waiter.resume(throwing: error) } else { waiter.resume(returning: nil) }
        }
    }

    /// Returns the unread change, or `nil` if there is none.
    func take() throws -> Delivery? { try state.withLock { $0.take() }?.get() ?? nil }

    /// Waits for the next change, or returns `nil` if the task is cancelled or the deliveries have ended.
    func next(isolation actor: isolated (any Actor)?) async throws -> Delivery? {
        let id = state.withLock { state in
            state.nextWaiter += 1
            return state.nextWaiter
        }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let result = state.withLock { state -> Result<Delivery?, any Error>? in
                    if Task.isCancelled { return .success(nil) }
                    if let result = state.take() { return result }
                    state.waiters.append((id, continuation))
                    return nil
                }
                if let result { continuation.resume(with: result) }
            }
        } onCancel: {
            let waiter = state.withLock { state -> Waiter? in
                guard let index = state.waiters.firstIndex(where: { $0.id == id }) else { return nil }
                return state.waiters.remove(at: index).continuation
            }
            waiter?.resume(returning: nil)
        }
    }
}
