internal import Synchronization

/// One run of a process, between its start and its end, which can come at any call of the store or the network.
///
/// A process that was killed still runs in the simulation, but each of its calls throws before it has an effect.
final class Generation: Sendable {
    /// Thrown by each call after the process was killed.
    struct Killed: Error, CustomStringConvertible {
        var description: String { "the process was killed" }
    }

    private struct State {
        var isDead = false
        /// The number of points until the process is killed, or `nil` if it is not.
        var remaining: Int?
    }

    private let state = Mutex(State())
    private let executor: SimulationExecutor

    init(_ executor: SimulationExecutor) { self.executor = executor }

    var isDead: Bool { state.withLock { $0.isDead } }

    /// Kills the process at the point with this number, counted from now, starting at 1; `nil` to let it live.
    func kill(at point: Int?) { state.withLock { $0.remaining = point } }

    func kill() { state.withLock { $0.isDead = true } }

    /// Passes a point at which the process can be killed.
    ///
    /// - Throws: ``Killed``.
    func pass() throws {
        executor.noteEvent()
        try state.withLock { state in
            if let remaining = state.remaining {
                state.remaining = remaining - 1
                if remaining <= 1 { state.isDead = true }
            }
            if state.isDead { throw Killed() }
        }
    }
}
