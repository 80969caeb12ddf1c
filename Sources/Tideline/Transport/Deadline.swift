internal import Synchronization

/// Runs `operation` for at most `timeout` after its last progress, then cancels it, and waits until it has ended.
///
/// Transports use it because the time limits of HTTP clients apply to a part of an exchange: async-http-client's ends
/// with the head of the response, and URLSession's is restarted by every byte.
///
/// - Returns: The result of `operation`, also if it ends with one after it was cancelled.
/// - Throws: The error of `operation`, or a ``TransportError`` with code `timeout`.
package func withDeadline<T: Sendable>(
    _ timeout: Duration, _ operation: @escaping @Sendable (Deadline) async throws -> T
) async throws -> T {
    try await Deadlines.shared.run(for: timeout, operation)
}

/// The deadline of one operation.
package struct Deadline: Sendable {
    fileprivate let deadlines: Deadlines
    fileprivate let number: Int
    fileprivate let timeout: Duration

    /// Notes that a body has grown. Each further 64 KiB restart the time, so that a large body may arrive slowly, but
    /// one that arrives in single bytes may not.
    package func bodyHasGrown(from earlier: Int, to count: Int) {
        if earlier >> 16 != count >> 16 { deadlines.restart(number, after: timeout) }
    }
}

/// The deadlines of the operations under way.
///
/// One task sleeps until the earliest of them. A cancelled `Task.sleep` keeps the memory of its task and its timer,
/// about 700 bytes, until its time is over. With one for each operation, a long push would take more and more memory.
final class Deadlines: Sendable {
    static let shared = Deadlines()

    private struct State {
        var cancellations: [Int: (deadline: ContinuousClock.Instant, cancel: @Sendable () -> Void)] = [:]
        var lastNumber = 0
        /// The earliest time at which a task wakes up.
        var wakeUp: ContinuousClock.Instant?
    }

    private let state = Mutex(State())

    /// Runs `operation` for at most `timeout`; see ``withDeadline(_:_:)``.
    func run<T: Sendable>(
        for timeout: Duration, _ operation: @escaping @Sendable (Deadline) async throws -> T
    ) async throws -> T {
        let number = state.withLock { state in
            state.lastNumber += 1
            return state.lastNumber
        }
        let task = Task { try await operation(Deadline(deadlines: self, number: number, timeout: timeout)) }
        add(number, after: timeout) { task.cancel() }
        let result = await withTaskCancellationHandler {
            await task.result
        } onCancel: {
            task.cancel()
        }
        let isInTime = remove(number)
        if case .failure = result, !isInTime { throw TransportError.timeout(after: timeout) }
        return try result.get()
    }

    private func time(after timeout: Duration) -> ContinuousClock.Instant {
        // A longer time exceeds the range of some clocks.
        ContinuousClock.now.advanced(by: min(timeout, .seconds(86_400 * 366)))
    }

    /// Adds a deadline, at which `cancel` is called and the deadline removed.
    private func add(_ number: Int, after timeout: Duration, cancel: @escaping @Sendable () -> Void) {
        let deadline = time(after: timeout)
        let isEarliest = state.withLock { state in
            state.cancellations[number] = (deadline, cancel)
            let isEarliest = state.wakeUp.map { deadline < $0 } ?? true
            if isEarliest { state.wakeUp = deadline }
            return isEarliest
        }
        // Detached, because the task outlives the operation, whose task-local values it would keep.
        if isEarliest { Task.detached { await self.wait(until: deadline) } }
    }

    /// Moves a deadline, unless it has passed.
    fileprivate func restart(_ number: Int, after timeout: Duration) {
        let deadline = time(after: timeout)
        state.withLock { $0.cancellations[number]?.deadline = deadline }
    }

    /// Removes a deadline, and returns whether it has not passed.
    private func remove(_ number: Int) -> Bool {
        state.withLock { $0.cancellations.removeValue(forKey: number) != nil }
    }

    /// Cancels the operations whose deadlines pass, until there are none, or another task wakes up earlier.
    private func wait(until deadline: ContinuousClock.Instant) async {
        var next: ContinuousClock.Instant? = deadline
        while let wakeUp = next {
            try? await Task.sleep(until: wakeUp, clock: .continuous)
            let passed: [@Sendable () -> Void]
            (passed, next) = state.withLock { state in
                guard state.wakeUp == wakeUp else { return ([], nil) }
                let passed = state.cancellations.filter { $0.value.deadline <= wakeUp }
                for number in passed.keys { state.cancellations[number] = nil }
                state.wakeUp = state.cancellations.values.map(\.deadline).min()
                return (passed.values.map(\.cancel), state.wakeUp)
            }
            for cancel in passed { cancel() }
        }
    }
}
