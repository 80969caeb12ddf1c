internal import Dispatch

/// Looks for the commits of other processes and other stores at intervals, until it is released.
///
/// `@unchecked Sendable`: a dispatch source may be used from any thread.
final class ExternalCommitTimer: @unchecked Sendable {
    /// The nanoseconds between two looks. A look that takes longer is followed by a pause as long as itself.
    private static let interval: UInt64 = 40_000_000

    private let source: any DispatchSourceTimer
    private let look: @Sendable () -> Void

    /// Starts the timer.
    ///
    /// - Parameters:
    ///   - queue: A serial queue for the looks.
    ///   - look: Looks for commits. Called on the queue.
    init(on queue: DispatchQueue, look: @escaping @Sendable () -> Void) {
        source = DispatchSource.makeTimerSource(queue: queue)
        self.look = look
        source.setEventHandler { [weak self] in self?.run() }
        schedule(after: Self.interval)
        source.activate()
    }

    deinit { source.cancel() }

    private func run() {
        let start = DispatchTime.now().uptimeNanoseconds
        look()
        schedule(after: max(Self.interval, DispatchTime.now().uptimeNanoseconds - start))
    }

    private func schedule(after pause: UInt64) {
        source.schedule(deadline: .now() + .nanoseconds(Int(clamping: pause)), leeway: .milliseconds(5))
    }
}
