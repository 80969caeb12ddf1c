internal import Dispatch

/// Looks for the commits of other processes and other stores, until it is released: after each signal, and at
/// intervals.
///
/// A thread waits for the time of each look. A dispatch timer wakes two threads each time, at more than twice the cost.
final class ExternalCommitTimer: Sendable {
    /// The least number of nanoseconds between two looks, except while nothing is signaled. A look that takes longer is
    /// followed by a pause as long as itself.
    private static let interval: UInt64 = 45_000_000

    private let look: @Sendable () -> Void
    private let signal: CommitSignal?
    private let end = DispatchSemaphore(value: 0)

    /// Starts the timer.
    ///
    /// - Parameters:
    ///   - queue: A serial queue, whose thread waits and looks.
    ///   - signal: The signal that others send after their commits, or `nil` to look at each interval.
    ///   - quiet: Returns the nanoseconds after which it looks without a signal, for programs that do not send it.
    ///   - look: Looks for commits. Called on the queue.
    init(
        on queue: DispatchQueue, signal: CommitSignal?, quiet: @escaping @Sendable () -> UInt64,
        look: @escaping @Sendable () -> Void
    ) {
        self.look = look
        self.signal = signal
        queue.async { [weak self, end, first = signal?.number] in
            // Others may have committed before the first number.
            self?.look()
            var (number, pause) = (first, signal == nil ? Self.interval : 0)
            while end.wait(timeout: .now() + .nanoseconds(Int(clamping: pause))) == .timedOut {
                var least = Self.interval
                if let signal, let known = number {
                    if !signal.wait(whileNumberIs: known, nanoseconds: quiet()) { least = 0 }
                    number = signal.number
                }
                guard let duration = self?.measureLook() else { return }
                pause = max(least, duration)
            }
        }
    }

    deinit {
        end.signal()
        signal?.send()
    }

    /// Looks, and returns how long that took in nanoseconds.
    private func measureLook() -> UInt64 {
        let start = DispatchTime.now().uptimeNanoseconds
        look()
        return DispatchTime.now().uptimeNanoseconds - start
    }
}
