public import Tideline
public import TidelineStore

/// A device of a simulation, as an action of the author of a test uses it.
///
/// Changes through these methods are part of the model that the simulation checks: each acknowledged edit must reach
/// the server.
public struct SimulatedDevice: Sendable {
    let device: Device
    let run: WorldRun

    /// The number of the device, from 0.
    public var index: Int { device.index }
    /// The time of the device's clock, which can differ from the server's and can jump.
    public var now: Timestamp { device.now }
    /// The local rows of a table, as committed.
    public func rows(of table: String) throws -> [Row] { try device.rows(of: table) }
    /// The local row with an identifier, or `nil` if there is none.
    public func row(id: String, in table: String) throws -> Row? { try device.row(id, in: table) }

    /// Returns a random number from a range, determined by the seed.
    public func random(in range: Range<Int>) -> Int { StepContext.current?.random(in: range) ?? range.lowerBound }

    /// Pushes; see `SyncClient.push(settings:)`.
    public func push() async throws { try await device.client?.push(settings: run.world.push) }

    /// Pulls; see `SyncClient.pull(_:queryID:settings:)`.
    public func pull(_ query: TableQuery, queryID: String? = nil) async throws {
        try await device.client?.pull(query, queryID: queryID)
    }

    /// Runs a sync that runs itself for a time; see `SyncClient.run(_:settings:)`. Returns at once if one is running on
    /// the device.
    public func sync(
        _ subscriptions: [SyncSubscription], settings: SyncSettings = SyncSettings(), for duration: Duration
    ) async throws {
        guard let client = device.client else { return }
        var settings = settings
        if run.world.customServer != nil { settings.listensToServer = false }
        try await withThrowingTaskGroup(of: Void.self) { [settings] group in
            group.addTask {
                do {
                    try await client.run(subscriptions, settings: settings)
                } catch let error as SyncError where error.code == .invalidArgument && client.status != .stopped {
                    // Another sync is running.
                }
            }
            group.addTask { [executor = run.executor] in try await executor.sleep(for: duration) }
            defer { group.cancelAll() }
            _ = try await group.next()
        }
    }

    /// Inserts a row; see `SyncTable.insert(_:)`.
    public func insert(_ row: Row, into table: String) async throws {
        try await edit(table) { try await $0.insert(row) }
    }

    /// Changes the columns of a row; see `SyncTable.update(id:_:)`.
    public func update(_ table: String, id: String, _ change: @escaping @Sendable (inout Row) -> Void) async throws {
        try await edit(table) { try await $0.update(id: id, change) }
    }

    /// Deletes a row as the user sees it, if the local table has it; see `SyncTable.delete(_:)`.
    public func delete(id: String, from table: String) async throws {
        guard let row = try device.row(id, in: table) else { return }
        run.withOracle { $0.sees(index, row, in: table) }
        try await edit(table) { try await $0.delete(["id": .string(id), "version": row["version"] ?? .null]) }
    }

    /// Changes rows of several tables in one transaction; see `SyncClient.transaction(_:)`.
    public func transaction(_ body: @escaping @Sendable (SyncTransaction) throws -> Void) async throws {
        guard let client = device.client else { throw Generation.Killed() }
        let context = StepContext.current
        let (edits, refusals) = (context?.edits, context?.refusals)
        defer {
            // The model takes what is committed for an edit of the user, and so accepts what should have been rolled
            // back.
            if context?.refusals != refusals, context?.edits != edits {
                run.violated("a transaction that throws changes nothing", "device \(index) committed its changes")
            }
        }
        try await StepContext.$isEditing.withValue(true) {
            try await client.transaction { transaction in
                do {
                    try body(transaction)
                } catch {
                    context?.refused()
                    throw error
                }
            }
        }
    }

    private func edit<T>(_ table: String, _ body: (SyncTable) async throws -> T) async throws {
        guard let client = device.client else { throw Generation.Killed() }
        _ = try await StepContext.$isEditing.withValue(true) { try await body(client.table(table)) }
    }
}
