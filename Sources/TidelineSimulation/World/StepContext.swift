internal import Synchronization
internal import TidelineSupport

/// The random choices and the requests of one running step. A task-local value, so that concurrent steps do not affect
/// each other.
final class StepContext: Sendable {
    @TaskLocal static var current: StepContext?
    /// Whether the author's policy performs an operation.
    @TaskLocal static var isPerforming = false
    /// Whether the user of the device edits a row.
    @TaskLocal static var isEditing = false
    /// The errors that the task resolves.
    @TaskLocal static var resolution: PolicyObserver.Resolution?

    let step: SimulationStep
    /// The operations that were pending when the step began, if tables reference each other.
    let pending: PendingReferences?
    private struct State {
        var random: SplitMix64
        var requests = 0
        var marks: [Int] = []
        var edits = 0
        var refusals = 0
    }

    private let state: Mutex<State>

    init(_ step: SimulationStep, seed: UInt64, pending: PendingReferences?) {
        self.step = step
        self.pending = pending
        state = Mutex(State(random: SplitMix64(seed: seed &+ UInt64(truncatingIfNeeded: step.number) &* 0x9E37_79B9)))
    }

    /// The mark of the device in the ``Oracle`` at the commit before the latest one of the step, or `nil` if there is
    /// none.
    ///
    /// A request contains no later edits: a push reads the row in one transaction, and stores the attempt in another.
    var mark: Int? { state.withLock { $0.marks.first } }

    /// Records the mark of the device at a commit of the step.
    func committed(at mark: Int) { state.withLock { $0.marks = $0.marks.suffix(1) + [mark] } }

    /// The number of rows that edits of the step have changed.
    var edits: Int { state.withLock { $0.edits } }

    /// The number of transactions of the step whose closure has thrown an error.
    var refusals: Int { state.withLock { $0.refusals } }

    func edited(_ count: Int) { state.withLock { $0.edits += count } }
    func refused() { state.withLock { $0.refusals += 1 } }

    /// Counts a request and returns its fault, or `nil` if it has none.
    func nextFault() -> SimulationStep.Fault? {
        state.withLock { state in
            state.requests += 1
            return step.faults[state.requests]
        }
    }

    /// The number of requests so far.
    var requests: Int { state.withLock { $0.requests } }

    func random(in range: Range<Int>) -> Int { state.withLock { Int.random(in: range, using: &$0.random) } }
    func unitRandom() -> Double { state.withLock { Double.random(in: 0...1, using: &$0.random) } }
}
