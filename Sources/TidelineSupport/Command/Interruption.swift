#if Commands
internal import Foundation
internal import Synchronization

/// Calls a closure when the process receives SIGINT (Ctrl-C) or SIGTERM. A second signal ends the process at once.
package final class Interruption: Sendable {
    /// The exit status of a run that was interrupted.
    package static let status: Int32 = 130

    // Dispatch sources may be used from any thread.
    private nonisolated(unsafe) let sources: [any DispatchSourceSignal]
    private let isSignaled = Atomic(false)

    package init(_ body: @escaping @Sendable () -> Void) {
        // The signals must not end the process before the dispatch source reports them.
        sources = [SIGINT, SIGTERM].map { number in
            signal(number, SIG_IGN)
            return DispatchSource.makeSignalSource(signal: number, queue: .global())
        }
        let registered = DispatchSemaphore(value: 0)
        for source in sources {
            source.setRegistrationHandler { registered.signal() }
            source.setEventHandler { [self] in
                if isSignaled.exchange(true, ordering: .relaxed) { _exit(Interruption.status) }
                // The body runs on its own thread, because this queue must receive the second signal.
                Thread.detachNewThread { body() }
            }
            source.resume()
        }
        // A signal that arrives before its source is registered would be lost.
        for _ in sources { _ = registered.wait(timeout: .now() + .seconds(60)) }
    }

    /// Restores the default behavior, in which the signals end the process.
    package func end() {
        for source in sources { source.cancel() }
        for number in [SIGINT, SIGTERM] { signal(number, SIG_DFL) }
    }

    /// Suspends until the interruption handler ends the process.
    package func forever() async -> Never {
        while true { try? await Task.sleep(for: .seconds(3600)) }
    }
}

/// Whether a run has begun to finish. A run finishes only once, whether it completes or is interrupted.
package final class Ending: Sendable {
    private let state = Atomic(false)

    package init() {}

    /// Whether finishing has begun.
    package var hasBegun: Bool { state.load(ordering: .acquiring) }

    /// Marks the run as finishing. Returns `true` for the first call only.
    package func begin() -> Bool { !state.exchange(true, ordering: .acquiringAndReleasing) }
}
#endif
