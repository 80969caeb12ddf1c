internal import Dispatch

/// Looks for the commits of other processes and other stores at intervals, until it is released.
///
/// A thread waits for the time of each look. A dispatch timer wakes two threads each time, at more than twice the cost.
final class ExternalCommitTimer: Sendable {
    /// The nanoseconds between two looks. A look that takes longer is followed by a pause as long as itself.
    private static let interval: UInt64 = 45_000_000

    private let look: @Sendable () -> Void
    private let end = DispatchSemaphore(value: 0)

    /// Starts the timer.
    ///
    /// - Parameters:
    ///   - queue: A serial queue, whose thread waits and looks.
    ///   - look: Looks for commits. Called on the queue.
    init(on queue: DispatchQueue, look: @escaping @Sendable () -> Void) {
        self.look = look
        queue.async { [weak self, end] in
            var pause = Self.interval
            while end.wait(timeout: .now() + .nanoseconds(Int(clamping: pause))) == .timedOut {
                guard let duration = self?.measureLook() else { return }
                pause = max(Self.interval, duration)
            }
        }
    }

    deinit { end.signal() }

    /// Looks, and returns how long that took in nanoseconds.
    private func measureLook() -> UInt64 {
        let start = DispatchTime.now().uptimeNanoseconds
        look()
        return DispatchTime.now().uptimeNanoseconds - start
    }
}
