internal import Synchronization
internal import Tideline
internal import TidelineStore
internal import TidelineSupport
internal import TidelineWire

/// One execution of a schedule.
///
/// Everything runs on the thread that calls ``run()``: jobs of tasks, calls of stores, and the services.
final class WorldRun: Sendable {
    struct State {
        var oracle: Oracle
        var timeline: [String]?
        /// The requests that arrive late, each with the position of the step before which it arrives.
        var late: [(message: Message, position: Int)] = []
        var position = 0
        /// Whether the schedule has ended and the world has no more faults.
        var isHealing = false
        var runningActions = 0
        var jobs = 0
        /// The tasks to cancel, each at a number of events.
        var cancellations: [(events: Int, task: Task<Void, Never>)] = []
        var tasks: [Task<Void, Never>] = []
        /// The token of the user who edited a row of a device last, with the mark of the device in the ``Oracle``
        /// before.
        var authors: [LocalRow: (token: String, mark: Int)] = [:]
        /// The rows that the server has refused to change for a device, and those that the device has looked up.
        var verdicts: Set<LocalRow> = []
        /// The versions of each row that pages have shown to a device.
        var shown: [LocalRow: Set<String>] = [:]
        /// The rows that the server has changed for a device.
        var written: Set<LocalRow> = []
    }

    /// A row of a device.
    struct LocalRow: Hashable {
        var device: Int
        var table: String
        var id: String
    }

    let world: SimulatedWorld
    let schedule: SimulationSchedule
    let executor = SimulationExecutor()
    let devices: [Device]
    let server: SimulatedServer
    let state: Mutex<State>

    /// The number of runs in this process, which makes the names of their stores unique.
    private static let runs = Atomic(0)
    let usesPolicies: Bool

    init(_ schedule: SimulationSchedule, world: SimulatedWorld, recordsTimeline: Bool) throws {
        self.schedule = schedule
        self.world = world
        usesPolicies = world.options.usesPolicies
        let executor = executor
        let run = Self.runs.add(1, ordering: .relaxed).newValue
        executor.seed(schedule.seed)
        server = try SimulatedServer(
            base: AnyStore(try world.openStore("server-\(run)")), world: world, schedule: schedule, executor: executor)
        devices = try (0..<schedule.devices).map {
            try Device($0, run: run, world: world, executor: executor, seed: schedule.seed)
        }
        state = Mutex(
            State(
                oracle: Oracle(
                    devices: schedule.devices, schema: world.schema, keepsTombstones: server.keepsTombstones),
                timeline: recordsTimeline ? [] : nil))
    }

    // MARK: Running

    /// Runs the schedule, synchronizes everything, and checks the invariants.
    func run() throws -> WorldOutcome {
        defer {
            for device in devices { device.end() }
            server.end()
        }
        do {
            try runAll()
        } catch let stop as Stop {
            violated(stop.invariant, stop.message)
            abandon()
        }
        return state.withLock { state in
            let result = SimulationResult(
                events: executor.events, duration: executor.now, timeline: state.timeline ?? [])
            return WorldOutcome(violations: state.oracle.violations, result: result)
        }
    }

    /// The reason why a simulation cannot continue.
    private struct Stop: Error {
        var invariant: String
        var message: String
    }

    private func runAll() throws {
        for device in devices { begin(SimulationStep(0, .restart, on: device.index)) }
        try runJobs()
        for (position, step) in schedule.steps.enumerated() {
            try deliverLate(before: position)
            let seed = schedule.seed &+ UInt64(truncatingIfNeeded: step.number)
            executor.seed(seed)
            // Time passes between some steps, so that not all rows are within the look-back of every pull.
            var random = SplitMix64(seed: ~seed)
            executor.advance(by: .seconds([0, 0, 0, 2, 8].randomElement(using: &random) ?? 0))
            begin(step)
            try runJobs(atMost: step.overlap ?? .max)
        }
        try runJobs()
        try deliverLate(before: .max)
        try heal()
        check()
    }

    /// Runs jobs until all actions have ended, or until a number of events.
    private func runJobs(atMost limit: Int = .max, until end: Duration? = nil) throws {
        let start = executor.events
        while executor.events - start < limit, end.map({ executor.now < $0 }) ?? true,
            executor.isReady || state.withLock({ $0.runningActions > 0 })
        {
            guard executor.runNext() || executor.waitForEscapedTask() else {
                throw Stop(
                    invariant: "every action ends",
                    message: "\(unendedActions()), and nothing can run; a policy or an action may wait for something "
                        + "outside of the simulation, such as a detached task, a sleep, or a network")
            }
            let events = executor.events
            let (jobs, due) = state.withLock { state in
                state.jobs += 1
                let due = state.cancellations.filter { $0.events <= events }
                if !due.isEmpty { state.cancellations.removeAll { $0.events <= events } }
                return (state.jobs, due)
            }
            for cancellation in due { cancellation.task.cancel() }
            guard jobs < world.maximumJobs else {
                throw Stop(
                    invariant: "every action ends",
                    message: "\(unendedActions()) after \(jobs) jobs (SimulatedWorld.maximumJobs)")
            }
        }
    }

    private func unendedActions() -> String {
        let count = state.withLock { $0.runningActions }
        return count == 1 ? "1 action has not ended" : "\(count) actions have not ended"
    }

    /// Ends the processes, so that the tasks that wait end too.
    private func abandon() {
        for device in devices { device.generation.kill() }
        for task in state.withLock({ $0.tasks }) { task.cancel() }
        var jobs = 0
        while jobs < 100_000, executor.runNext() { jobs += 1 }
    }

    /// Begins a step, in a task of its own.
    private func begin(_ step: SimulationStep) {
        let pending = step.device.flatMap { PendingReferences(of: devices[$0]) }
        let context = StepContext(step, seed: schedule.seed, pending: pending)
        executor.noteEvent()
        let events = executor.events
        state.withLock { $0.runningActions += 1 }
        let task = Task(executorPreference: executor) { [self] in
            await StepContext.$current.withValue(context) { await perform(step) }
            state.withLock { $0.runningActions -= 1 }
        }
        state.withLock { state in
            state.position += 1
            state.tasks.removeAll { _ in state.runningActions == 1 }
            state.tasks.append(task)
            if let cancel = step.cancel { state.cancellations.append((events + cancel, task)) }
        }
    }

    // MARK: Records

    var isHealing: Bool { state.withLock { $0.isHealing } }

    func withOracle<T>(_ body: (inout Oracle) throws -> T) rethrows -> T {
        try state.withLock { try body(&$0.oracle) }
    }

    func violated(_ invariant: String, _ message: String) { withOracle { $0.violated(invariant, message) } }

    /// Adds a line to the timeline, if it is recorded.
    func log(_ text: @autoclosure () -> String) {
        guard state.withLock({ $0.timeline != nil }) else { return }
        let line = "\(timeText())  \(text())"
        state.withLock { $0.timeline?.append(line) }
    }

    private func timeText() -> String {
        let milliseconds = executor.now.ticks / Timestamp.ticksPerMillisecond
        let text = "\(milliseconds / 1000)." + String("\(1000 + milliseconds % 1000)".dropFirst())
        return String(repeating: " ", count: max(0, 9 - text.count)) + text
    }

    /// Records what a transaction of a device changed: an edit of its user, or rows that the user sees from then on.
    func committed(_ changes: [SimulatedStore.Change], on device: Device) {
        let step = StepContext.current?.step
        if StepContext.isEditing { StepContext.current?.edited(changes.count) }
        for change in changes {
            if StepContext.isEditing {
                edited(change, on: device, step: step?.number ?? 0)
            } else if let row = change.after {
                checkProgress(from: change.before, to: row, in: change.table, device)
                withOracle { $0.sees(device.index, row, in: change.table) }
            }
        }
        switch step?.action {
        case .forcePurge(let table): withOracle { $0.droppedAll(device.index, in: table) }
        case .wipe:
            for table in world.schema { withOracle { $0.droppedAll(device.index, in: table.name) } }
            state.withLock { state in state.authors = state.authors.filter { $0.key.device != device.index } }
            if !changes.isEmpty { checkWipe(of: device) }
        case .purge: break
        default:
            let decided = usesPolicies ? noteDecisions(of: device) : []
            if !StepContext.isEditing { checkRemovals(changes, on: device, decided: decided) }
        }
        StepContext.resolution?.committed()
        StepContext.current?.committed(at: withOracle { $0.mark(of: device.index) })
    }

    /// Records what a transaction of a device decided by its conflict policies.
    ///
    /// - Returns: The identifiers of the rows.
    private func noteDecisions(of device: Device) -> [String] {
        let decisions = (try? device.takeDecisions()) ?? []
        for decision in decisions {
            guard let table = decision["table"]?.string, let id = decision["itemId"]?.string else { continue }
            func side(_ name: String) -> Row? {
                guard let schema = world.schema.first(where: { $0.name == table }), let text = decision[name]?.json
                else { return nil }
                var row = try? PageParser(schema: schema).parseRow(Array(text.utf8), requireID: false)
                row?.id = .string(id)
                return row
            }
            let (rule, server, result) = (decision["rule"]?.string ?? "", side("server"), side("result"))
            log("device \(device.index): \(rule): \(id) is \(result.map(\.brief) ?? "deleted")")
            let check = DecisionCheck(
                rule: rule, base: side("base"), local: side("local"), server: server, result: result)
            let columns = world.schema.first { $0.name == table }?.columns.map(\.name) ?? []
            withOracle { oracle in
                if let violation = check.violation(in: columns) {
                    oracle.violated("policies decide by their rules", "\(rule), \(table) \(id): \(violation)")
                }
                if let server { oracle.sees(device.index, server, in: table) }
                oracle.decided(device.index, id, in: table, server: server, result: result)
            }
            checkVerdict(on: id, in: table, rule, device)
            if server == nil { checkGone(id, in: table, device) }
        }
        return decisions.compactMap { $0["itemId"]?.string }
    }

    /// Checks that a row does not go back to an older version. The versions of the simulated server are numbered,
    /// unless it numbers them for each row.
    private func checkProgress(from before: Row?, to after: Row, in table: String, _ device: Device) {
        guard !server.isEmptied, let old = before?["version"]?.string, let new = after["version"]?.string, old != new,
            let oldNumber = Int(old.dropFirst()), let newNumber = Int(new.dropFirst()), newNumber < oldNumber
        else { return }
        violated(
            "local rows do not go back",
            "\(table) \(after.idText) on device \(device.index) went from \(old) back to \(new)")
    }

    private func edited(_ change: SimulatedStore.Change, on device: Device, step: Int) {
        let author = LocalRow(device: device.index, table: change.table, id: change.id.text)
        let token = device.token
        state.withLock { state in
            state.authors[author] = token.map { ($0, state.oracle.mark(of: device.index)) }
        }
        guard var row = change.after else {
            log("device \(device.index): the user deleted \(change.id.text)")
            let remote = server.row(change.id.text, in: change.table)
            return withOracle {
                $0.deleted(device.index, change.id.text, in: change.table, local: change.before, remote: remote)
            }
        }
        if let before = change.before {
            for (name, value) in row.values where name != "id" && value == before[name] ?? .null { row[name] = nil }
        }
        log(
            "device \(device.index): the user \(change.before == nil ? "inserted" : "changed") \(change.id.text): \(row.brief)"
        )
        withOracle { oracle in
            if let before = change.before { oracle.sees(device.index, before, in: change.table) }
            oracle.edited(device.index, row, in: change.table, inserts: change.before == nil, step: step)
        }
    }

    // MARK: The end

    /// Synchronizes all devices over a network without faults: all push until nothing is pending, and pull.
    private func heal() throws {
        for device in devices where device.generation.isDead { begin(SimulationStep(0, .restart, on: device.index)) }
        try runJobs()
        for device in devices { try device.signInOwner() }
        var number = 1_000_000
        func run(_ action: SimulationStep.Action, on device: Device) throws {
            number += 1
            begin(SimulationStep(number, action, on: device.index))
            try runJobs()
        }
        // In some seeds, a sync runs on each device when the faults end, and nothing else helps.
        let healsByItself = schedule.seed % 8 == 1
        if healsByItself {
            for index in devices.indices { begin(SimulationStep(number + 1 + index, .sync(seconds: 1300), on: index)) }
            number += devices.count
            try runJobs(until: executor.now + .seconds(100))
        }
        log("all faults end; every device pushes until nothing is pending, and pulls")
        state.withLock { $0.isHealing = true }
        server.endFaults()
        for device in devices { device.place(nil) }
        if healsByItself {
            try runJobs(until: executor.now + .seconds(700))
            let rows = try writeLastRows()
            try runJobs()
            try checkArrivals(of: rows)
        }
        for _ in 1...6 where devices.contains(where: { pendingCount($0) > 0 }) {
            for device in devices { try run(.push, on: device) }
        }
        // A pull that continues an interrupted one leaves to the next one what has become visible before its position.
        let pulls = world.customServer == nil ? 1 : 2
        for device in devices {
            for table in world.schema { for _ in 0..<pulls { try run(lastPull(of: table, by: device), on: device) } }
        }
    }

    private func lastPull(of table: TableSchema, by device: Device) -> SimulationStep.Action {
        let isFiltered = endsWithFilter(device)
        return .pull(table: table.name, queryID: isFiltered ? "some" : "all", isFiltered: isFiltered)
    }

    /// Whether the device finally pulls only the rows that match a filter.
    func endsWithFilter(_ device: Device) -> Bool { device.index == 2 && schedule.seed % 2 == 0 }

    func pendingCount(_ device: Device) -> Int {
        (try? device.base.read { try $0.count(TableQuery(SystemTables().operations)) }) ?? 0
    }
}

/// The result of one execution of a schedule.
struct WorldOutcome: Sendable {
    var violations: [Violation]
    var result: SimulationResult
}
