internal import TidelineStore
internal import TidelineSupport

/// Makes the schedule of a seed.
struct ScheduleGenerator {
    private let world: SimulatedWorld
    private var random: SplitMix64
    private let seed: UInt64
    /// The device and the row of the previous step. Faults often need several steps at the same place.
    private var latest: (device: Int, table: Int, row: Int) = (0, 0, 1)

    /// The next steps of the latest device: concurrent steps and conflicts need several at the same row.
    private var burst: ArraySlice<SimulationStep> = []
    /// The number of rows that this schedule uses.
    private let rows: Int

    init(seed: UInt64, world: SimulatedWorld) {
        self.seed = seed
        self.world = world
        random = SplitMix64(seed: seed)
        rows = Int.random(in: 1...world.rows, using: &random)
    }

    mutating func makeSchedule() -> SimulationSchedule {
        var schedule = SimulationSchedule(
            seed: seed, devices: world.devices, serverQuirks: pick(world.servers).rawValue,
            services: 1, steps: [])
        let hasSeveralServices = happens(30)
        if world.faults.contains(.server) {
            if world.services > 2 {
                schedule.services = Int.random(in: 2...world.services, using: &random)
            } else if hasSeveralServices {
                schedule.services = world.services
            }
        }
        schedule.steps = (1...max(1, world.steps)).prefix(world.steps).map { makeStep($0, schedule) }
        return schedule
    }

    private mutating func happens(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &random) < percent }
    private mutating func pick<T>(_ choices: [T]) -> T { choices[Int.random(in: 0..<choices.count, using: &random)] }

    private mutating func makeStep(_ number: Int, _ schedule: SimulationSchedule) -> SimulationStep {
        if var next = burst.popFirst() {
            next.number = number
            let overlap = next.overlap
            next = disturbed(next, schedule)
            if overlap != nil { next.overlap = overlap }
            return next
        }
        var step = makeSingleStep(number, schedule)
        switch step.action {
        case .pull(let table, _, _) where happens(20):
            // The device edits and pushes while it pulls.
            step.overlap = Int.random(in: 1..<40, using: &random)
            burst = [
                SimulationStep(0, write(table), on: step.device, overlap: Int.random(in: 0..<8, using: &random)),
                SimulationStep(0, .push, on: step.device),
            ]
        case .write(let table, let id, _) where happens(15):
            burst = [
                SimulationStep(0, .push, on: step.device), SimulationStep(0, .push, on: step.device),
                SimulationStep(0, .delete(table: table, id: id), on: step.device),
            ]
        default: break
        }
        return step
    }

    private mutating func write(_ table: String) -> SimulationStep.Action {
        let schema = world.schema.first { $0.name == table } ?? world.schema[0]
        return .write(table: table, id: "r\(latest.row)", columns: columns(of: schema))
    }

    private mutating func makeSingleStep(_ number: Int, _ schedule: SimulationSchedule) -> SimulationStep {
        let custom = world.actions.reduce(0) { $0 + $1.weight }
        var choice = Int.random(in: 0..<100 + custom, using: &random)
        if happens(65) { latest.device = Int.random(in: 0..<world.devices, using: &random) }
        if happens(50) {
            latest.table = Int.random(in: 0..<world.schema.count, using: &random)
            latest.row = Int.random(in: 1...rows, using: &random)
        }
        guard choice < 100 else {
            choice -= 100
            let action = world.actions.first {
                choice -= $0.weight
                return choice < 0
            }
            return disturbed(SimulationStep(number, .custom(name: action?.name ?? ""), on: latest.device), schedule)
        }
        return disturbed(makeStep(choice, number, schedule), schedule)
    }

    /// Returns a step of one of the kinds that every world has.
    ///
    /// - Parameter choice: A number below 100 that determines the kind.
    private mutating func makeStep(_ choice: Int, _ number: Int, _ schedule: SimulationSchedule) -> SimulationStep {
        let (device, table, id) = (latest.device, world.schema[latest.table], "r\(latest.row)")
        return switch choice {
        case ..<31: SimulationStep(number, write(table.name), on: device)
        case ..<40: SimulationStep(number, .delete(table: table.name, id: id), on: device)
        case ..<60: SimulationStep(number, .push, on: device)
        case ..<74: SimulationStep(number, pull(table), on: device)
        case ..<76: SimulationStep(number, .sync(seconds: Int.random(in: 1..<200, using: &random)), on: device)
        case ..<77: SimulationStep(number, .purge(table: table.name), on: device)
        case ..<78: SimulationStep(number, .forcePurge(table: table.name), on: device)
        case ..<80: SimulationStep(number, .restart, on: device)
        case ..<81: SimulationStep(number, .update, on: device)
        case ..<84: jump(number, device, schedule)
        case ..<89: SimulationStep(number, .serverWrite(table: table.name, id: id))
        case ..<91: SimulationStep(number, .serverDelete(table: table.name, id: id))
        case ..<92: SimulationStep(number, .serverRestart)
        case ..<96 where world.faults.contains(.intermediaries):
            SimulationStep(number, .intermediary(intermediary(), seconds: pick([2, 20, 600, 7200])), on: device)
        case 96 where world.faults.contains(.identities):
            SimulationStep(number, .signIn(user: happens(70) ? 0 : 1), on: device)
        case 97 where world.faults.contains(.identities):
            SimulationStep(number, happens(50) ? .wipe : .updateElsewhere, on: device)
        default: SimulationStep(number, .wait(seconds: pick([1, 4, 60, 3600])))
        }
    }

    private mutating func columns(of table: TableSchema) -> [String] {
        let names = table.columns.filter { $0.type != .timestamp }.map(\.name)
        let some = names.filter { _ in happens(50) }
        return some.isEmpty && !names.isEmpty ? [pick(names)] : some
    }

    private mutating func pull(_ table: TableSchema) -> SimulationStep.Action {
        switch Int.random(in: 0..<10, using: &random) {
        case ..<7: .pull(table: table.name, queryID: "all", isFiltered: false)
        case ..<9: .pull(table: table.name, queryID: "some", isFiltered: true)
        default: .pull(table: table.name, queryID: nil, isFiltered: false)
        }
    }

    private mutating func intermediary() -> Intermediary {
        switch Int.random(in: 0..<16, using: &random) {
        case ..<10:
            let requests: Intermediary.Requests = happens(70) ? .all : happens(70) ? .writes : .reads
            let body = pick(Intermediary.Body.allCases)
            let status = pick(Intermediary.statuses)
            // A dialect may take success without a page for that of its server, and a failure of all writes looks like
            // one that the operations cause.
            return .responds(
                status: status, body: status == 200 && !world.hasProxies ? .page : body,
                to: [500, 503].contains(status) ? .all : requests)
        case 10: return .limitsResponses(bytes: pick([100, 300, 500]))
        case 11: return .limitsTargets(bytes: pick([40, 120, 200]))
        case 12: return .slows(bytesPerSecond: pick([2, 5, 10]))
        case 13, 14: return .repeats
        default: return happens(50) ? .withholdsTokens : .resets(row: "r\(latest.row)")
        }
    }

    private mutating func jump(_ number: Int, _ device: Int, _ schedule: SimulationSchedule) -> SimulationStep {
        guard world.faults.contains(.clocks) else { return SimulationStep(number, .wait(seconds: 1)) }
        let seconds = pick([-3600, -60, -1, 1, 60, 3600])
        if happens(50) { return SimulationStep(number, .setClock(seconds: seconds), on: device) }
        // A server that stamps rows with a clock, and not later than all earlier rows, loses rows of more than the
        // look-back for every client when its clock goes back.
        let isCoarse =
            ServerQuirks(rawValue: schedule.serverQuirks).contains(.millisecondStamps) || world.customServer != nil
        return SimulationStep(number, .setServerClock(seconds: isCoarse ? max(-1, seconds) : seconds))
    }

    // MARK: Faults

    private mutating func disturbed(_ step: SimulationStep, _ schedule: SimulationSchedule) -> SimulationStep {
        var step = step
        guard step.device != nil else { return step }
        if happens(45) { step.overlap = Int.random(in: 0..<48, using: &random) }
        if usesNetwork(step.action), world.faults.contains(.network), happens(4) {
            // The device is cut off during the step.
            for request in 1...8 { step.faults[request] = .requestLost }
        } else if usesNetwork(step.action) {
            for request in 1...6 where step.faults[request] == nil && happens(request == 1 ? 25 : 12) {
                let fault = fault(schedule)
                step.faults[request] = fault
                // A server often responds to a retry in the same way.
                if case .status = fault, happens(40) { step.faults[request + 1] = fault }
            }
        }
        if world.faults.contains(.kills), happens(8) { step.kill = Int.random(in: 1...24, using: &random) }
        if world.faults.contains(.cancellation), happens(3) { step.cancel = Int.random(in: 0..<60, using: &random) }
        return step
    }

    private func usesNetwork(_ action: SimulationStep.Action) -> Bool {
        switch action {
        case .push, .pull, .sync, .custom: true
        default: false
        }
    }

    private mutating func fault(_ schedule: SimulationSchedule) -> SimulationStep.Fault? {
        var kinds: [SimulationStep.Fault] =
            (world.faults.contains(.network)
                ? [.requestLost, .responseLost, .overtaken(isLost: happens(60)), .late(steps: 0), .doubled] : [])
            + (world.faults.contains(.server)
                ? [
                    .status(code: 0, processed: false), .unreadable, .cutPage, .lateCommit(milliseconds: 0),
                    .serverCrash(call: 0), .partial, .otherCase, .ahead(seconds: 0),
                ]
                : [])
        kinds.removeAll { world.excludes($0) }
        guard !kinds.isEmpty else { return nil }
        switch pick(kinds) {
        case .late: return .late(steps: Int.random(in: 1...8, using: &random))
        case .status:
            // A refusal with 4xx means that the request was not processed.
            return happens(40)
                ? .status(code: pick([500, 502, 503, 504]), processed: true)
                : .status(code: pick(Intermediary.statuses.filter { $0 >= 300 }), processed: false)
        case .lateCommit: return .lateCommit(milliseconds: pick([1, 500, 3000]))
        case .serverCrash: return .serverCrash(call: Int.random(in: 1...5, using: &random))
        case .ahead: return .ahead(seconds: pick([60, 86_400]))
        case let other: return other
        }
    }
}
