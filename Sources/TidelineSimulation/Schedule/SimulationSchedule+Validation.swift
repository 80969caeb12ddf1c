internal import TidelineStore
internal import TidelineSupport

extension SimulationSchedule {
    /// Whether each service has a clock behind that of the previous one, and devices pull without a look-back. The
    /// order of timestamps then depends on the services alone.
    var hasClocksBehind: Bool {
        services > 2 && !ServerQuirks(rawValue: serverQuirks).contains(.millisecondStamps)
    }

    /// Throws if the schedule, which can come from a file, cannot be simulated in a world.
    func validate(in world: SimulatedWorld) throws {
        func refuse(_ message: String) -> SimulationError { SimulationError(message) }
        guard (1...64).contains(devices) else { throw refuse("devices is \(devices); use 1 to 64") }
        guard (1...8).contains(services) else { throw refuse("services is \(services); use 1 to 8") }
        let quirks = ServerQuirks(ServerQuirks.named.map(\.quirks))
        guard ServerQuirks(rawValue: serverQuirks).isSubset(of: quirks) else {
            throw refuse("serverQuirks is \(serverQuirks); use the sum of known quirks, at most \(quirks.rawValue)")
        }
        guard steps.count <= 100_000 else { throw refuse("there are \(steps.count) steps; use at most 100,000") }
        var numbers: Set<Int> = []
        for step in steps {
            do {
                guard numbers.insert(step.number).inserted else { throw refuse("another step has the same number") }
                try step.validate(devices: devices, world)
            } catch let error as SimulationError {
                throw refuse("step \(step.number): \(error.description)")
            }
        }
    }
}

extension SimulationStep {
    fileprivate func validate(devices: Int, _ world: SimulatedWorld) throws {
        // The final synchronization has the numbers above.
        try Self.require(number, in: 0...1_000_000, "number")
        try Self.require(overlap ?? 0, in: 0...1_000_000, "overlap")
        try Self.require(kill ?? 1, in: 1...1_000_000, "kill")
        try Self.require(cancel ?? 0, in: 0...1_000_000, "cancel")
        if let device { try Self.require(device, in: 0...devices - 1, "device") }
        guard action.isOnServer == (device == nil) else {
            throw SimulationError(device == nil ? "the action needs a device" : "an action of the server has no device")
        }
        try action.validate(world)
        for (request, fault) in faults.sorted(by: { $0.key < $1.key }) {
            try Self.require(request, in: 1...1_000_000, "the request of a fault")
            try fault.validate()
        }
    }

    fileprivate static func require(_ number: Int, in range: ClosedRange<Int>, _ name: String) throws {
        guard range.contains(number) else {
            throw SimulationError("\(name) is \(number); use \(range.lowerBound) to \(range.upperBound)")
        }
    }
}

extension SimulationStep.Action {
    fileprivate var isOnServer: Bool {
        switch self {
        case .serverWrite, .serverDelete, .serverRestart, .setServerClock, .wait: true
        case .write, .delete, .push, .pull, .sync, .purge, .forcePurge, .restart, .update, .updateElsewhere, .setClock,
            .intermediary, .signIn, .wipe, .custom:
            false
        }
    }

    fileprivate func validate(_ world: SimulatedWorld) throws {
        switch self {
        case .write(let table, let id, let columns):
            let schema = try requireTable(table, world)
            try requireID(id)
            if let column = columns.first(where: { name in !schema.columns.contains { $0.name == name } }) {
                throw SimulationError("the table \(table.debugDescription) has no column \(column.debugDescription)")
            }
        case .delete(let table, let id), .serverWrite(let table, let id), .serverDelete(let table, let id):
            try requireTable(table, world)
            try requireID(id)
        case .pull(let table, let queryID, _):
            try requireTable(table, world)
            if let queryID { try requireID(queryID) }
        case .purge(let table), .forcePurge(let table): try requireTable(table, world)
        case .sync(let seconds), .wait(let seconds): try SimulationStep.require(seconds, in: 0...1_000_000, "seconds")
        case .setClock(let seconds), .setServerClock(let seconds):
            try SimulationStep.require(seconds, in: -1_000_000...1_000_000, "seconds")
        case .intermediary(let intermediary, let seconds):
            try intermediary.validate()
            try SimulationStep.require(seconds, in: 0...1_000_000, "seconds")
        case .signIn(let user): try SimulationStep.require(user, in: 0...1, "the user")
        case .custom(let name):
            guard world.actions.contains(where: { $0.name == name }) else {
                throw SimulationError("the world has no action \(name.debugDescription)")
            }
        case .push, .restart, .update, .updateElsewhere, .wipe, .serverRestart: break
        }
    }

    @discardableResult
    private func requireTable(_ name: String, _ world: SimulatedWorld) throws -> TableSchema {
        guard let table = world.schema.first(where: { $0.name == name }) else {
            throw SimulationError("the world has no table \(name.debugDescription)")
        }
        return table
    }

    /// Throws for identifiers that would be different texts in a path and in a row.
    private func requireID(_ id: String) throws {
        let isPlain = id.utf8.allSatisfy { $0.isASCIIAlphanumeric || "-_".utf8.contains($0) }
        guard isPlain, (1...64).contains(id.utf8.count) else {
            throw SimulationError("the id \(id.debugDescription) must be 1 to 64 ASCII letters, digits, -, or _")
        }
    }
}

extension SimulationStep.Fault {
    fileprivate func validate() throws {
        switch self {
        case .late(let steps): try SimulationStep.require(steps, in: 0...1_000_000, "the steps of a late request")
        case .status(let code, _): try SimulationStep.require(code, in: 300...599, "the code of a status")
        case .lateCommit(let milliseconds):
            try SimulationStep.require(milliseconds, in: 0...1_000_000, "the milliseconds of a late commit")
        case .serverCrash(let call): try SimulationStep.require(call, in: 1...1_000_000, "the call of a crash")
        case .ahead(let seconds): try SimulationStep.require(seconds, in: 0...1_000_000, "the seconds ahead")
        case .requestLost, .responseLost, .overtaken, .doubled, .unreadable, .partial, .otherCase, .cutPage: break
        }
    }
}

extension Intermediary {
    fileprivate func validate() throws {
        switch self {
        case .responds(let status, _, _): try SimulationStep.require(status, in: 200...599, "the status")
        case .limitsResponses(let bytes), .limitsTargets(let bytes):
            try SimulationStep.require(bytes, in: 0...1_000_000, "bytes")
        case .slows(let bytes): try SimulationStep.require(bytes, in: 1...1_000_000, "bytesPerSecond")
        case .resets, .repeats, .withholdsTokens: break
        }
    }
}
