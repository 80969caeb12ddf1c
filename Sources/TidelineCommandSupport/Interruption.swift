internal import Foundation
internal import Synchronization

/// Calls back when the process is asked to end, by Ctrl-C or by SIGTERM; a second time, the process ends at once.
package final class Interruption: Sendable {
    /// The exit status of a run that was interrupted.
    package static let status: Int32 = 130

    // Dispatch sources may be used from any thread.
    private nonisolated(unsafe) let sources: [any DispatchSourceSignal]
    private let count = Mutex(0)

    package init(_ body: @escaping @Sendable () -> Void) {
        // The signals must not end the process before the source tells of them.
        sources = [SIGINT, SIGTERM].map { number in
            signal(number, SIG_IGN)
            return DispatchSource.makeSignalSource(signal: number, queue: .global())
        }
        let registered = DispatchSemaphore(value: 0)
        for source in sources {
            source.setRegistrationHandler { registered.signal() }
            source.setEventHandler { [self] in
                let isFirst = count.withLock { count in
                    count += 1
                    return count == 1
                }
                guard isFirst else { _exit(Interruption.status) }
                // Not on this queue, which has to hear the second signal.
                Thread.detachNewThread { body() }
            }
            source.resume()
        }
        // A signal that comes before its source is registered would be lost.
        for _ in sources { _ = registered.wait(timeout: .now() + .seconds(5)) }
    }

    /// From now on the signals end the process, as usual.
    package func end() {
        for source in sources { source.cancel() }
        for number in [SIGINT, SIGTERM] { signal(number, SIG_DFL) }
    }

    /// Waits for the process to end, which the interruption does.
    package func forever() async -> Never {
        while true { try? await Task.sleep(for: .seconds(3600)) }
    }
}

/// Whether a run is being finished: it is finished once, be it by its own end or by an interruption.
package final class Ending: Sendable {
    private let state = Mutex(false)

    package init() {}

    /// Whether somebody has asked.
    package var hasBegun: Bool { state.withLock(\.self) }

    /// True for the first who asks.
    package func begin() -> Bool {
        state.withLock { hasBegun in
            defer { hasBegun = true }
            return !hasBegun
        }
    }
}
