#if Commands
internal import Foundation
internal import Synchronization

/// Calls back if it is not reset for some time.
final class WorkerAlarm: Sendable {
    private struct State {
        var item: DispatchWorkItem?
        var hasRung = false
    }

    private let seconds: Double
    private let body: @Sendable () -> Void
    private let state = Mutex(State())

    init(after seconds: Double, _ body: @escaping @Sendable () -> Void) {
        self.seconds = seconds
        self.body = body
        reset()
    }

    /// Whether the alarm has called back.
    var hasRung: Bool { state.withLock { $0.hasRung } }

    /// Restarts the timer.
    func reset() {
        state.withLock { state in
            state.item?.cancel()
            let item = DispatchWorkItem { [weak self] in self?.ring() }
            state.item = item
            DispatchQueue.global().asyncAfter(deadline: .now() + seconds, execute: item)
        }
    }

    /// Cancels the timer.
    func cancel() { state.withLock { $0.item?.cancel() } }

    private func ring() {
        state.withLock { $0.hasRung = true }
        body()
    }
}
#endif
