internal import Tideline
internal import TidelineStore

extension WorldRun {
    /// Performs the action of a step. An error that the documentation does not announce is a violation.
    func perform(_ step: SimulationStep) async {
        if step.number > 0 { log(title(of: step)) }
        let device = step.device.map { devices[$0] }
        let generation = device?.generation
        if let kill = step.kill { generation?.kill(at: kill) }
        var failure: (any Error)?
        do {
            if let device {
                if device.generation.isDead, step.action != .restart { try await start(device) }
                try await perform(step, on: device)
            } else {
                try performOnServer(step)
            }
        } catch {
            failure = error
        }
        await executor.turn()
        if let failure, generation?.isDead != true { judge(failure, of: step) }
        if step.kill != nil { generation?.kill(at: nil) }
        guard let device else { return }
        if generation?.isDead == true, step.action != .restart { log("device \(device.index): the process was killed") }
    }

    private func title(of step: SimulationStep) -> String {
        let extras =
            (step.kill.map { [", killed at call \($0)"] } ?? [])
            + (step.cancel.map { [", cancelled after \($0) events"] } ?? [])
        let number = isHealing ? "" : "step \(step.number), "
        return "\(step.device.map { "device \($0)" } ?? "server"): \(number)\(step.action.expression)\(extras.joined())"
    }

    /// Records an error that no fault explains.
    private func judge(_ error: any Error, of step: SimulationStep) {
        // The errors of single operations follow on lines of their own, and were reported to the policy.
        log("\(step.device.map { "device \($0)" } ?? "server"): \("\(error)".prefix { $0 != "\n" })")
        if error is CancellationError { return }
        if let error = error as? SyncError, Self.isExpected(error.code, step.action) { return }
        violated("errors are documented", "step \(step.number), \(step.action.expression): \(error)")
    }

    private static func isExpected(_ code: SyncError.Code, _ action: SimulationStep.Action) -> Bool {
        switch action {
        case .write, .delete: [.cancelled, .rowExists, .noSuchRow, .rowChanged, .otherUser].contains(code)
        case .push, .pull, .sync, .custom, .restart, .update, .updateElsewhere:
            ![.store, .invalidArgument, .noProgress].contains(code)
        case .purge, .forcePurge, .wipe: [.cancelled, .operationsPending, .operationInFlight].contains(code)
        default: false
        }
    }

    private func start(_ device: Device) async throws {
        try await device.start(self, delegate: PolicyObserver(run: self, device: device, policy: world.policy))
    }

    private func perform(_ step: SimulationStep, on device: Device) async throws {
        if case .restart = step.action { return try await start(device) }
        guard let client = device.client else { return }
        switch step.action {
        case .write(let table, let id, let columns):
            let known = device.schema.first { $0.name == table }?.columns ?? []
            try await write(id, in: table, columns: known.filter { columns.contains($0.name) }, step, device)
        case .delete(let table, let id): try await delete(id, from: table, device)
        case .push: try await client.push(settings: world.push)
        case .pull(let table, let queryID, let isFiltered):
            try await pull(table, queryID, isFiltered: isFiltered, step, client)
        case .sync(let seconds):
            let subscriptions = world.schema.map {
                SyncSubscription($0.name, interval: .seconds(max(30, seconds / 10)))
            }
            try await SimulatedDevice(device: device, run: self)
                .sync(subscriptions, settings: SyncSettings(pull: pullSettings), for: .seconds(seconds))
        case .purge(let table): try await client.table(table).purge()
        case .forcePurge(let table): try await client.table(table).forcePurge()
        case .update:
            try await client.define(world.schema)
            device.update()
        case .updateElsewhere:
            try await updateElsewhere(device)
        case .setClock(let seconds): device.moveClock(by: seconds)
        case .intermediary(let intermediary, let seconds): device.place(intermediary, for: seconds)
        case .signIn(let user): device.signIn(user)
        case .wipe: try await client.wipe()
        case .custom(let name):
            // The validation of the schedule has refused names that the world does not have.
            let action = world.actions.first { $0.name == name }
            try await action?.body(SimulatedDevice(device: device, run: self))
        default: break
        }
    }

    private func pull(
        _ table: String, _ queryID: String?, isFiltered: Bool, _ step: SimulationStep,
        _ client: SyncClient<SimulatedStore>
    ) async throws {
        let query = TableQuery(table, predicate: isFiltered ? filter(of: table) : nil)
        let id = queryID.map { isFiltered ? "\($0)-filtered" : $0 }
        var settings = pullSettings
        if isHealing && removesLeavers || isFiltered && step.number % 3 == 0 { settings.removesLeavers = .zero }
        // Another query id would keep its rows.
        if isHealing, removesLeavers {
            try await client.table(table).resetPullToken(queryID: isFiltered ? "all" : "some-filtered")
        }
        try await client.pull(query, queryID: id, settings: settings)
    }

    /// Defines the tables of the next version in the device's store, as another process does.
    private func updateElsewhere(_ device: Device) async throws {
        let store = SimulatedStore(device.base, generation: device.generation, observing: world.schema) { _ in }
        let transport = SimulatedTransport(device: device.index, generation: device.generation, run: self)
        let other = try SyncClient(
            url: "http://server.simulation", store: store, transport: transport, options: device.makeOptions())
        try await other.define(world.schema)
    }

    /// Whether the last pulls of the devices remove the rows that no longer match on the server.
    var removesLeavers: Bool { schedule.seed % 5 < 2 }

    private var pullSettings: PullSettings {
        PullSettings(
            pageSize: isHealing && schedule.seed % 3 != 0 ? 100 : 2, whenPushFails: .pullOthers,
            lookback: schedule.hasClocksBehind ? .zero : .seconds(5), push: world.push)
    }

    /// The filter of the pulls of some rows: those whose first number is even, or whose first text is not null.
    func filter(of table: String) -> RowPredicate? {
        // A custom dialect may be unable to filter; see SimulatedWorld.speak.
        guard world.customServer == nil else { return nil }
        let columns = world.schema.first { $0.name == table }?.columns ?? []
        if let number = columns.first(where: { $0.type == .int }) { return .column(number.name) > 8 }
        return columns.first { $0.type == .string }.map { .column($0.name) != .null }
    }

    // MARK: Edits

    /// Returns the row with the values of a step in some columns.
    ///
    /// - Parameter device: The device whose user writes the values, or `nil` for the server.
    func values(
        _ id: String, in table: String, _ columns: [ColumnSchema], of number: Int, by device: Device? = nil
    ) -> Row {
        var row: Row = ["id": .string(id)]
        let author = device.map { "d\($0.index)" } ?? "s"
        let references = world.schema.first { $0.name == table }?.references ?? []
        for column in columns {
            if references.contains(where: { $0.column == column.name }) {
                // One row more than there can be: a row may reference one that does not exist.
                row[column.name] = .string("r\(number % (world.rows + 1) + 1)")
                continue
            }
            row[column.name] =
                switch column.type {
                case .string: .string("\(author).\(number)")
                case .int: .int(Int64(number))
                case .double: .double(Double(number) + 0.5)
                case .bool: .bool(number % 2 == 0)
                case .timestamp: .timestamp(device?.now ?? Timestamp(clampingTicks: SimulatedServer.epoch))
                case .bytes: .bytes(Array("\(author).\(number)".utf8))
                case .json: .json("[\(number)]")
                }
        }
        return row
    }

    private func write(
        _ id: String, in table: String, columns: [ColumnSchema], _ step: SimulationStep, _ device: Device
    ) async throws {
        let stamps = device.schema.first { $0.name == table }?.columns.filter { $0.type == .timestamp } ?? []
        let row = values(id, in: table, columns + stamps, of: step.number, by: device)
        guard !columns.isEmpty || !stamps.isEmpty else { return }
        let edits = SimulatedDevice(device: device, run: self)
        if try device.row(id, in: table) == nil {
            try await edits.insert(row, into: table)
        } else {
            try await edits.update(table, id: id) { $0 = $0.merging(row) }
        }
    }

    private func delete(_ id: String, from table: String, _ device: Device) async throws {
        guard try device.row(id, in: table) != nil else { return }
        try await SimulatedDevice(device: device, run: self).delete(id: id, from: table)
    }

    /// Returns the pending operation of a row as it is stored, or `nil` if there is none.
    func pendingOperation(of id: String, in table: String, _ device: Device) throws -> Row? {
        let filter: RowPredicate = .column("table") == .value(table) && .column("itemId") == .value(id)
        return try device.rows(of: SystemTables().operations, matching: filter).first
    }

    // MARK: Server

    private func performOnServer(_ step: SimulationStep) throws {
        switch step.action {
        case .serverWrite(let table, let id):
            let columns = world.schema.first { $0.name == table }?.columns ?? []
            let some = columns.filter { _ in StepContext.current?.random(in: 0..<2) == 0 }
            let row = values(id, in: table, some, of: step.number)
            guard row.columnNames.count > 1 else { return }
            let isThere = server.row(id, in: table) != nil
            try serverEdit(table, id, row, insert: !isThere)
        case .serverDelete(let table, let id):
            if server.row(id, in: table) != nil { try serverEdit(table, id, nil) }
        case .serverRestart:
            try server.restart()
            guard world.emptiesServer, let context = StepContext.current, context.random(in: 0..<2) == 0 else { break }
            // A day is the most by which stamps are ahead of the clock, and the steps take days.
            let seconds = context.random(in: 0..<2) * -100 * 86_400
            log("server: it lost its rows, and its clock moved by \(seconds) seconds")
            note(try server.empty(movingClockBy: seconds), of: nil)
        case .setServerClock(let seconds): try server.setClock(by: seconds)
        case .wait(let seconds): executor.advance(by: .seconds(seconds))
        default: break
        }
    }
}

extension Row {
    /// Whether the server has deleted the row.
    var isTombstone: Bool { self["deleted"]?.bool ?? false }

    /// The app's columns on one line: `title=d0.3 rank=5 version=v7`.
    var brief: String {
        values.filter { !["id", "createdAt", "updatedAt", "deleted"].contains($0.name) && !$0.value.isNull }
            .map { "\($0.name)=\($0.value)" }.joined(separator: " ")
    }
}
