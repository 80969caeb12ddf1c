internal import Dispatch
internal import Synchronization
internal import TidelineSupport

/// Runs the jobs of a simulation one at a time on one thread, in an order that a seed determines, on a virtual clock.
///
/// The clock advances only when no job is ready, so a simulation never waits. A task continues until it waits or until
/// an event: a call of a store, the end of a pause, or a call of the world. Then a task is chosen again. The number of
/// jobs between two events has no effect, because it depends on the optimization of the build.
final class SimulationExecutor: TaskExecutor, Sendable {
    /// A job of a task, or of an actor on one of the serial executors.
    private struct Job {
        let job: UnownedJob
        let lane: Lane?
        /// The number of the job's task, in the order in which the tasks began.
        let task: Int
    }

    private struct Timer {
        let time: Duration
        let number: Int
        let continuation: UnsafeContinuation<Void, Never>

        func isBefore(_ other: Timer) -> Bool { (time, number) < (other.time, other.number) }
    }

    private struct State {
        var ready: [Job] = []
        var timers: [Timer] = []
        var now: Duration = .zero
        var timerCount = 0
        var events = 0
        /// The tasks that let another one be chosen.
        var turns: [UnsafeContinuation<Void, Never>] = []
        /// The numbers of the tasks, by their identifiers.
        var tasks: [String: Int] = [:]
        var taskCount = 0
        var seed: UInt64 = 0
        /// The numbers of events and tasks at the time of the latest seed.
        var base = (events: 0, tasks: 0)

        /// Returns the job of the task that is chosen until the next event.
        mutating func takeNext() -> Job {
            guard ready.count > 1 else { return ready.removeLast() }
            let state = seed &+ UInt64(events - base.events) << 32
            let index = ready.indices.max {
                rank(ready[$0].task, state) < rank(ready[$1].task, state)
            }
            return ready.remove(at: index ?? 0)
        }

        /// Returns the number of a job's task. A job without a task, such as that of a yield, counts as a task of its
        /// own.
        mutating func number(of job: UnownedJob) -> Int {
            // The only public form of a task's identifier.
            let id = job.description
            if let number = tasks[id] { return number }
            defer { taskCount += 1 }
            if !id.contains("nil") { tasks[id] = taskCount }
            return taskCount
        }

        private func rank(_ task: Int, _ state: UInt64) -> UInt64 {
            var random = SplitMix64(seed: state &+ UInt64(truncatingIfNeeded: task - base.tasks))
            return random.next()
        }
    }

    /// A serial executor whose jobs run on the thread of the simulation.
    private final class Lane: SerialExecutor {
        private let executor: SimulationExecutor

        init(_ executor: SimulationExecutor) { self.executor = executor }

        func enqueue(_ job: consuming ExecutorJob) { executor.add(UnownedJob(job), to: self) }
    }

    private let state = Mutex(State())
    private let arrivals = DispatchSemaphore(value: 0)

    /// The virtual time since the start of the simulation.
    var now: Duration { state.withLock { $0.now } }

    /// Whether a job can run without an advance of the clock.
    var isReady: Bool { state.withLock { !$0.ready.isEmpty || !$0.turns.isEmpty } }

    /// Makes a serial executor of its own for the writes of one client.
    func makeLane() -> any SerialExecutor { Lane(self) }

    /// The number of events so far.
    var events: Int { state.withLock { $0.events } }

    /// Counts an event, after which another task can be chosen.
    func noteEvent() { state.withLock { $0.events += 1 } }

    /// Lets another task be chosen.
    ///
    /// Where code that follows a call of the core has an effect on the world, this makes the order of the effects
    /// independent of the build: optimized code can return from the core without another job.
    nonisolated(nonsending) func turn() async {
        await withUnsafeContinuation { continuation in
            state.withLock { state in
                state.events += 1
                state.turns.append(continuation)
            }
        }
    }

    /// Sets the seed of the next choices.
    func seed(_ seed: UInt64) {
        state.withLock { state in
            state.seed = seed
            state.base = (state.events, state.taskCount)
        }
    }

    func enqueue(_ job: consuming ExecutorJob) { add(UnownedJob(job), to: nil) }

    private func add(_ job: UnownedJob, to lane: Lane?) {
        state.withLock { $0.ready.append(Job(job: job, lane: lane, task: $0.number(of: job))) }
        arrivals.signal()
    }

    /// Suspends the task until the clock has advanced or the task is cancelled.
    nonisolated(nonsending) func sleep(for duration: Duration) async throws {
        try Task.checkCancellation()
        let number = state.withLock { state in
            state.timerCount += 1
            return state.timerCount
        }
        await withTaskCancellationHandler {
            await withUnsafeContinuation { continuation in
                let isCancelled = state.withLock { state in
                    if Task.isCancelled { return true }
                    state.timers.append(
                        Timer(time: state.now + duration, number: number, continuation: continuation))
                    return false
                }
                if isCancelled { continuation.resume() }
            }
        } onCancel: {
            let timer = state.withLock { state in
                state.timers.firstIndex { $0.number == number }.map { state.timers.remove(at: $0) }
            }
            timer?.continuation.resume()
        }
        try Task.checkCancellation()
    }

    /// Advances the clock while no job is ready.
    func advance(by duration: Duration) { state.withLock { $0.now += duration } }

    /// Runs one ready job. If there is none, advances the clock to the next timer.
    ///
    /// - Returns: Whether there was a job or a timer.
    func runNext() -> Bool {
        enum Next {
            case job(Job)
            case timer(Timer)
        }
        let turns = state.withLock { state in
            defer { state.turns = [] }
            return state.turns
        }
        for turn in turns { turn.resume() }
        let next: Next? = state.withLock { state in
            if !state.ready.isEmpty { return .job(state.takeNext()) }
            guard let index = state.timers.indices.min(by: { state.timers[$0].isBefore(state.timers[$1]) }) else {
                return nil
            }
            let timer = state.timers.remove(at: index)
            state.events += 1
            state.now = max(state.now, timer.time)
            return .timer(timer)
        }
        switch next {
        case .job(let job):
            // Counts down the signal of the job's arrival.
            _ = arrivals.wait(timeout: .now())
            if let lane = job.lane {
                job.job.runSynchronously(
                    isolatedTo: lane.asUnownedSerialExecutor(), taskExecutor: asUnownedTaskExecutor())
            } else {
                job.job.runSynchronously(on: asUnownedTaskExecutor())
            }
        case .timer(let timer): timer.continuation.resume()
        case nil: return false
        }
        return true
    }

    /// Waits for a job from a task that left the simulation, such as a detached task, for a real second.
    ///
    /// - Returns: Whether a job has arrived.
    func waitForEscapedTask() -> Bool { arrivals.wait(timeout: .now() + .seconds(1)) == .success && isReady }
}
