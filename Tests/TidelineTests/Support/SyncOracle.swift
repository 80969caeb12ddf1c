import TidelineStore

/// The changes that several devices and a server made, and a check that no change is lost or overwritten unseen.
///
/// Every edit writes unique values, so a value identifies its device and time. A device has *seen* a value once it was
/// in its local row, or in the server's row of a conflict.
struct SyncOracle: Sendable {
    struct Cell: Hashable, Sendable {
        var row: String
        var column: String
    }

    /// A value that a device wrote to its local row.
    private struct Edit: Sendable {
        var value: Value
        /// The device's count of seen rows and changes at the time of the edit.
        var mark: Int
    }

    private struct Device: Sendable {
        var seen: [Cell: [Value: Int]] = [:]
        var mark = 0
        /// The effective edits of each cell: those not dropped by a resolution or superseded by a delete.
        var edits: [Cell: [Edit]] = [:]
        /// The device's count at the time it deleted a row, for effective deletes.
        var deletes: [String: Int] = [:]
        /// The rows that the device deleted and that have existed on the server ever since.
        var wantsGone: Set<String> = []
        /// Every value that the device wrote.
        var own: [Cell: Set<Value>] = [:]
    }

    static let columns = ["text", "priority"]

    private var devices: [Device]
    private var applied: [Cell: Set<Value>] = [:]
    private(set) var violations: [String] = []

    init(devices count: Int) { devices = Array(repeating: Device(), count: count) }

    // MARK: Device events

    /// Records that the device has seen a local row, or the server's row of a conflict.
    mutating func sees(_ device: Int, _ row: Row) {
        devices[device].mark += 1
        for column in Self.columns {
            guard let value = row[column], !value.isNull else { continue }
            let cell = Cell(row: row.idText, column: column)
            if devices[device].seen[cell]?[value] == nil {
                devices[device].seen[cell, default: [:]][value] = devices[device].mark
            }
        }
    }

    /// Records that the device wrote these columns, including nulls.
    mutating func edited(_ device: Int, _ row: Row) {
        devices[device].mark += 1
        devices[device].deletes[row.idText] = nil
        devices[device].wantsGone.remove(row.idText)
        for column in Self.columns {
            guard let value = row[column] else { continue }
            let cell = Cell(row: row.idText, column: column)
            devices[device].edits[cell, default: []].append(Edit(value: value, mark: devices[device].mark))
            devices[device].own[cell, default: []].insert(value)
        }
    }

    /// - Parameter isGone: Whether the server does not have the row.
    mutating func deleted(_ device: Int, _ id: String, isGone: Bool) {
        devices[device].mark += 1
        for column in Self.columns { devices[device].edits[Cell(row: id, column: column)] = nil }
        devices[device].deletes[id] = devices[device].mark
        if !isGone { devices[device].wantsGone.insert(id) }
    }

    /// Records that a resolution dropped the device's pending changes of the row.
    mutating func dropped(_ device: Int, _ id: String) {
        for column in Self.columns { devices[device].edits[Cell(row: id, column: column)] = nil }
        devices[device].deletes[id] = nil
        devices[device].wantsGone.remove(id)
    }

    /// Records that a resolution kept the device's row after it has seen the server's row.
    mutating func kept(_ device: Int, _ id: String, _ local: Row?) {
        devices[device].mark += 1
        guard let local else {
            devices[device].deletes[id] = devices[device].mark
            return
        }
        for column in Self.columns {
            let cell = Cell(row: id, column: column)
            let edit = Edit(value: local[column] ?? .null, mark: devices[device].mark)
            devices[device].edits[cell, default: []].append(edit)
        }
    }

    // MARK: Server events

    /// Records that the server changed a row, for a device's request or on its own. A missing row is `nil`.
    mutating func serverWrote(_ device: Int?, _ id: String, before: Row?, after: Row?, _ request: String) {
        for column in Self.columns {
            let cell = Cell(row: id, column: column)
            let (old, new) = (before?[column] ?? .null, after?[column] ?? .null)
            if after != nil { applied[cell, default: []].insert(new) }
            // Values of a row that did not exist belong to no device, so the device that restores the row can replace
            // them.
            if let device, before == nil, after != nil { devices[device].own[cell, default: []].insert(new) }
            guard let device, before != nil, old != new || after == nil, !old.isNull else { continue }
            check(device, cell, overwrites: old, with: after == nil ? nil : new, request)
        }
        if after == nil { for index in devices.indices { devices[index].wantsGone.remove(id) } }
    }

    private mutating func check(
        _ index: Int, _ cell: Cell, overwrites old: Value, with new: Value?, _ request: String
    ) {
        let device = devices[index]
        if device.own[cell]?.contains(old) == true { return }
        let mark: Int
        if let new {
            mark = device.edits[cell]?.last { $0.value == new }?.mark ?? device.mark
        } else {
            mark = device.deletes[cell.row] ?? device.mark
        }
        guard let seen = device.seen[cell]?[old], seen <= mark else {
            violations.append(
                "device \(index) overwrote \(old) of \(cell.row).\(cell.column) with \(new.map { "\($0)" } ?? "a delete") "
                    + "unseen: \(request)")
            return
        }
    }

    // MARK: Final check

    /// Checks, after everything is pushed, that each effective edit and delete has reached the server.
    mutating func finish() {
        for (index, device) in devices.enumerated() {
            for row in device.wantsGone { violations.append("the delete of \(row) on device \(index) was lost") }
            for (cell, edits) in device.edits {
                guard let last = edits.last, !last.value.isNull, applied[cell]?.contains(last.value) != true else {
                    continue
                }
                violations.append("device \(index) lost \(last.value) of \(cell.row).\(cell.column)")
            }
        }
    }

    mutating func violated(_ message: String) { violations.append(message) }
}
