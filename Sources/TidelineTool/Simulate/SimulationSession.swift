#if Tool
internal import ArgumentParser
internal import Foundation
internal import Synchronization
internal import TidelineSimulation
internal import TidelineSupport

/// A run of the command: several simulations at a time, in the order of their seeds, up to the first violation.
final class SimulationSession: Sendable {
    private struct State {
        /// The next seed, or `nil` if there is no other.
        var next: UInt64?
        /// The simulations that run, by seed.
        var running: [UInt64: SimulatedStores] = [:]
        var report = SimulationReport()
        var failures: [UInt64: any Error] = [:]
        /// The schedule of a single simulation without a violation.
        var schedule: SimulationSchedule?
        /// The time at which progress was last shown.
        var shown = ContinuousClock.now
    }

    private let command: SimulateCommand
    private let schedule: SimulationSchedule?
    private let output: Output?
    private let configure: @Sendable (inout SimulatedWorld) -> Void
    private let folder: SimulationFolder
    private let seeds: SeedRange
    private let progress = ProgressLine()
    private let ending = Ending()
    private let start = ContinuousClock.now
    private let state: Mutex<State>

    /// - Parameters:
    ///   - schedule: The schedule of `--replay`, or `nil` to simulate seeds.
    ///   - output: The destination of the schedule of a violation.
    ///   - configure: Changes the world in addition to the options.
    init(
        _ command: SimulateCommand, schedule: SimulationSchedule? = nil, output: Output? = nil,
        configure: @escaping @Sendable (inout SimulatedWorld) -> Void = { _ in }
    ) throws {
        self.command = command
        self.schedule = schedule
        self.output = output
        self.configure = configure
        folder = try SimulationFolder(try command.store ?? SimulatedStoreKind(parsing: "memory"))
        seeds = schedule.map { SeedRange($0.seed, $0.seed) } ?? command.seeds ?? SeedRange(1, 1000)
        state = Mutex(State(next: seeds.first))
    }

    /// Runs the simulations, prints the result, and returns the exit status.
    func run() async throws -> Int32 {
        let interruption = Interruption { [self] in
            guard ending.begin() else { return }
            _ = try? finish(isInterrupted: true)
            // Skip exit handlers of libraries, because the engines are still running.
            fflush(nil)
            _exit(Interruption.status)
        }
        defer { interruption.end() }
        if !command.json { StandardOutput.line(heading) }
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<command.jobs { group.addTask { await self.work() } }
        }
        guard ending.begin() else { await interruption.forever() }
        return try finish(isInterrupted: false)
    }

    private var heading: String {
        if let file = command.replay { return "Simulating the schedule in \(ScheduleFile.name(of: file))." }
        if seeds.first == seeds.last, command.minutes == nil { return "Simulating seed \(seeds.first)." }
        return "Simulating seeds from \(seeds.first)"
            + (command.minutes.map { " for \($0.formatted()) min." } ?? " to \(seeds.last).")
    }

    // MARK: Simulations

    private func work() async {
        while let seed = takeSeed() {
            let stores = SimulatedStores(in: folder)
            state.withLock { $0.running[seed] = stores }
            let configure: (inout SimulatedWorld) -> Void = { [self] world in
                command.configure(&world, seed: schedule?.seed ?? seed)
                self.configure(&world)
                world.openStore = { [self] name in
                    showProgress()
                    return try stores.open(name)
                }
            }
            let simulation = schedule.map { Simulation($0, configure) } ?? Simulation(seed: seed, configure)
            let result: Result<SimulationResult, any Error>
            do { result = .success(try await simulation.run()) } catch { result = .failure(error) }
            stores.end()
            note(result, of: simulation, seed)
        }
    }

    /// Returns the next seed, or `nil` after the last one, after a violation, or after the time of `--minutes`.
    private func takeSeed() -> UInt64? {
        let elapsed = ContinuousClock.now - start
        return state.withLock { state in
            guard let seed = state.next, state.failures.isEmpty, !ending.hasBegun else { return nil }
            if let minutes = command.minutes {
                guard elapsed < .seconds(minutes * 60) else { return nil }
                state.next = seed == .max ? nil : seed + 1
            } else {
                state.next = seed < seeds.last ? seed + 1 : nil
            }
            return seed
        }
    }

    private func note(_ result: Result<SimulationResult, any Error>, of simulation: Simulation, _ seed: UInt64) {
        state.withLock { state in
            state.running[seed] = nil
            switch result {
            case .success(let result):
                state.report.seeds += 1
                state.report.worldSteps += result.events
                if command.timeline { state.report.timeline = result.timeline }
                if command.isSingle { state.schedule = simulation.schedule }
            case .failure(let error): state.failures[seed] = error
            }
        }
    }

    // MARK: Progress

    private func showProgress() {
        let now = ContinuousClock.now
        let text: String? = state.withLock { state in
            guard now - state.shown > .milliseconds(200), !ending.hasBegun else { return nil }
            state.shown = now
            if let (seed, stores) = Self.failing(state) {
                return "seed \(seed) fails; shortening its schedule, \(stores.runs - 1) runs"
            }
            var report = state.report
            report.seconds = (now - start) / .seconds(1)
            return "\(SimulationReport.number(report.seeds)) seeds\(target(now - start)), \(report.rates)"
        }
        if let text { progress.show(text) }
    }

    /// Returns the lowest seed whose schedule is being shortened.
    private static func failing(_ state: State) -> (seed: UInt64, stores: SimulatedStores)? {
        state.running.filter { $0.value.runs > 1 }.min { $0.key < $1.key }.map { ($0.key, $0.value) }
    }

    private func target(_ elapsed: Duration) -> String {
        guard let minutes = command.minutes else { return " of \(SimulationReport.number(seeds.count))" }
        let left = max(0, minutes * 60 - elapsed / .seconds(1))
        return left < 90 ? ", \(Int(left)) s left" : ", \(Int(left / 60)) min left"
    }

    // MARK: The end

    /// Prints the result, saves the schedule, and returns the exit status.
    private func finish(isInterrupted: Bool) throws -> Int32 {
        progress.clear()
        // Before the files are removed, which simulations that still run would report.
        let (report, problem, schedule) = result(isInterrupted: isInterrupted)
        folder.remove()
        let failure = problem?.error as? SimulationFailure
        if let (seed, error) = problem, failure == nil {
            guard error is SimulationError, let file = command.replay else {
                throw ToolError("seed \(seed) cannot be simulated: \(error)")
            }
            throw ValidationError("--replay: \(ScheduleFile.name(of: file)) cannot be simulated: \(error)")
        }
        if command.json { try JSONOutput.print(report) } else { print(report, failure) }
        if isInterrupted { Output.note("interrupted: \(outcome(of: report))") }
        let isSaved = save(schedule)
        if isInterrupted { return Interruption.status }
        return failure != nil ? 1 : isSaved ? 0 : ExitStatus.usage
    }

    /// Returns the report, the error with the lowest seed, and the schedule to save.
    private func result(
        isInterrupted: Bool
    ) -> (report: SimulationReport, problem: (seed: UInt64, error: any Error)?, schedule: SimulationSchedule?) {
        state.withLock { state in
            var report = state.report
            report.seconds = (ContinuousClock.now - start) / .seconds(1)
            report.processorSeconds = Self.processorSeconds
            report.isInterrupted = isInterrupted
            report.incompleteSeeds = state.running.keys.sorted()
            report.failingSeed = Self.failing(state)?.seed
            let problem = state.failures.min { $0.key < $1.key }.map { (seed: $0.key, error: $0.value) }
            let failure = problem?.error as? SimulationFailure
            report.failure = failure.map(SimulationReport.Failure.init)
            return (report, problem, failure?.schedule ?? state.schedule)
        }
    }

    private static var processorSeconds: Double {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    private func print(_ report: SimulationReport, _ failure: SimulationFailure?) {
        for line in report.timeline ?? [] { StandardOutput.line(line) }
        if let failure {
            StandardOutput.line("\(failure)\n\nRepeat it with: \(command.repetition(of: failure.seed))")
        }
        if !report.isInterrupted { StandardOutput.line(outcome(of: report)) }
    }

    /// The numbers and the outcome on one line.
    private func outcome(of report: SimulationReport) -> String {
        var parts = [report.numbers]
        if let seed = report.failure?.seed ?? report.failingSeed {
            parts.append("seed \(seed) violates an invariant")
        } else {
            parts.append("no violation")
        }
        if !report.incompleteSeeds.isEmpty {
            parts.append("not completed: \(report.incompleteSeeds.map(String.init).joined(separator: ", "))")
        }
        return parts.joined(separator: "; ")
    }

    /// Writes the schedule to the file of `--save`, and returns whether it succeeded.
    private func save(_ schedule: SimulationSchedule?) -> Bool {
        guard let output, let path = output.path, let schedule else { return true }
        do {
            try output.write(try JSONOutput.text(schedule) + "\n")
        } catch {
            Output.note("--save: \(error)")
            return false
        }
        let command = self.command.repetition(of: schedule.seed, schedule: path)
        Output.note("saved the schedule; repeat it with: \(command)")
        return true
    }
}
#endif
