internal import Tideline
public import TidelineStore
internal import TidelineSupport

extension WorldRun {
    /// Checks the invariants of the end: nothing is pending, all replicas equal the server, and those of the author.
    func check() {
        for device in devices {
            do {
                try checkQueue(of: device)
            } catch {
                violated("the stores can be read", "device \(device.index): \(error)")
            }
        }
        withOracle { $0.finish() }
        for device in devices {
            do {
                for table in world.schema { try checkReplica(table, of: device) }
            } catch {
                violated("the stores can be read", "device \(device.index): \(error)")
            }
        }
        let state = SimulationState(run: self)
        for invariant in world.invariants {
            do {
                for message in try invariant.check(state) { violated(invariant.name, message) }
            } catch {
                violated(invariant.name, "\(error)")
            }
        }
    }

    private func checkQueue(of device: Device) throws {
        let pending = try device.rows(of: SystemTables().operations)
        let errors = try device.rows(of: SystemTables().errors).count
        if pending.isEmpty, errors > 0 {
            violated(
                "errors end with their operations", "device \(device.index) has \(errors) errors without operations")
        }
        guard !pending.isEmpty else { return }
        let ids = pending.map { "\($0["table"]?.string ?? "") \($0["itemId"]?.string ?? "")" }
        violated(
            "the queue becomes empty",
            "device \(device.index) still has \(counted(pending.count, "operation")): \(ids.joined(separator: ", "))")
    }

    private func checkReplica(_ table: TableSchema, of device: Device) throws {
        let names = (device.schema.first { $0.name == table.name }?.columns ?? []).map(\.name) + ["version"]
        let local = try device.rows(of: table.name)
        let filter = endsWithFilter(device) ? filter(of: table.name) : nil
        let remote = try server.rows(of: table.name, matching: filter)
        for row in remote {
            let copy = local.first { $0.idText == row.idText }
            let isEqual = copy.map { copy in names.allSatisfy { copy[$0] ?? .null == row[$0] ?? .null } } ?? false
            if !isEqual { differ(row.idText, table, device, copy, row) }
        }
        // A pull does not find rows that no longer match its filter, or that a server without tombstones has deleted,
        // unless it compares them.
        guard removesLeavers || server.softDeletes && filter == nil else { return }
        let ids = Set(remote.map(\.idText))
        for row in try device.rows(of: table.name, matching: filter) where !ids.contains(row.idText) {
            differ(row.idText, table, device, row, nil)
        }
    }

    private func differ(_ id: String, _ table: TableSchema, _ device: Device, _ local: Row?, _ remote: Row?) {
        violated(
            "all replicas equal the server",
            "\(table.name) \(id) on device \(device.index) is \(local?.brief ?? "missing"), on the server "
                + "\(remote?.brief ?? "deleted")")
    }
}

/// The state of a simulation after its final synchronization, for the checks of a test's author.
public struct SimulationState: Sendable {
    let run: WorldRun

    /// The number of devices.
    public var devices: Int { run.devices.count }

    /// Returns the server's rows of a table, without deleted ones.
    public func serverRows(of table: String) throws -> [Row] { try run.server.rows(of: table) }

    /// Returns the local rows of a device, from 0.
    public func rows(of table: String, on device: Int) throws -> [Row] { try run.devices[device].rows(of: table) }

    /// The edits that were acknowledged and then undone: the column finally has a value that the edit had replaced.
    ///
    /// If two users change the same column at the same time, one of the two edits must give way, and is not lost in
    /// this sense. An edit of a row that was deleted is not lost either.
    public var lostEdits: [AcknowledgedEdit] {
        run.withOracle { oracle in oracle.lostEdits { run.server.row($1, in: $0) } }
    }
}
