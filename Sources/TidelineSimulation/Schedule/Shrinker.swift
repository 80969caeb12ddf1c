/// Shortens a schedule that fails while it fails in the same way: fewer steps, faults, and devices, less concurrency.
struct Shrinker {
    private var schedule: SimulationSchedule
    private let original: SimulationSchedule
    private let world: SimulatedWorld
    private let invariant: String
    /// The number of runs that are left.
    private var budget = 3_000

    init(schedule: SimulationSchedule, world: SimulatedWorld, invariant: String) {
        self.schedule = schedule
        original = schedule
        self.world = world
        self.invariant = invariant
    }

    /// Returns the failure of the shortest schedule that was found.
    ///
    /// - Parameter outcome: The outcome of the schedule before it is shortened.
    mutating func run(from outcome: WorldOutcome) throws -> SimulationFailure {
        while try shortenOnce() {}
        let final = try WorldRun(schedule, world: world, recordsTimeline: true).run()
        var violations = final.violations.filter { $0.invariant == invariant }
        if violations.isEmpty {
            schedule = original
            violations = outcome.violations
            violations.append(
                Violation(
                    invariant: "the same seed gives the same run",
                    message: "the violation did not occur when the simulation was repeated"))
        }
        return SimulationFailure(
            violations: violations, schedule: schedule, originalSteps: original.steps.count,
            timeline: final.result.timeline)
    }

    /// Tries each simplification once, and returns whether one succeeded.
    private mutating func shortenOnce() throws -> Bool {
        var succeeded = try removeSteps()
        for index in schedule.steps.indices {
            succeeded = try simplify(stepAt: index) || succeeded
        }
        succeeded = try removeDevices() || succeeded
        succeeded = try attempt { $0.services = 1 } || succeeded
        return try attempt { $0.serverQuirks = 0 } || succeeded
    }

    /// Removes groups of steps, of half of the schedule down to single steps.
    private mutating func removeSteps() throws -> Bool {
        var succeeded = false
        var size = max(1, schedule.steps.count / 2)
        while true {
            var start = schedule.steps.count - size
            while start > -size {
                let range = max(0, start)..<min(schedule.steps.count, start + size)
                if !range.isEmpty, try attempt({ $0.steps.removeSubrange(range) }) { succeeded = true }
                start -= size
            }
            guard size > 1 else { return succeeded }
            size /= 2
        }
    }

    private mutating func simplify(stepAt index: Int) throws -> Bool {
        var succeeded = false
        for request in schedule.steps[index].faults.keys.sorted() {
            succeeded = try attempt { $0.steps[index].faults[request] = nil } || succeeded
        }
        succeeded = try attempt { $0.steps[index].kill = nil } || succeeded
        succeeded = try attempt { $0.steps[index].cancel = nil } || succeeded
        if let overlap = schedule.steps[index].overlap {
            let simpler = [nil, 0, overlap / 2]
            succeeded = try simpler.contains { value in try attempt { $0.steps[index].overlap = value } } || succeeded
        }
        if case .write(let table, let id, let columns) = schedule.steps[index].action, columns.count > 1 {
            for column in columns {
                let fewer = columns.filter { $0 != column }
                succeeded =
                    try attempt { $0.steps[index].action = .write(table: table, id: id, columns: fewer) } || succeeded
                if succeeded { break }
            }
        }
        return succeeded
    }

    private mutating func removeDevices() throws -> Bool {
        let last = (schedule.steps.compactMap(\.device).max() ?? 0) + 1
        return try attempt { $0.devices = min($0.devices, last) }
    }

    /// Changes the schedule, and keeps the change if the schedule still fails.
    private mutating func attempt(_ change: (inout SimulationSchedule) -> Void) throws -> Bool {
        var candidate = schedule
        change(&candidate)
        guard candidate != schedule, budget > 0 else { return false }
        budget -= 1
        let outcome = try WorldRun(candidate, world: world, recordsTimeline: false).run()
        guard outcome.violations.contains(where: { $0.invariant == invariant }) else { return false }
        schedule = candidate
        return true
    }
}
