import TidelineStore

/// What several devices and a server did to rows, and whether anything of it was lost or overwritten unseen.
///
/// Every edit writes values that occur once, so that a value tells who wrote it and when. A device has *seen* a value once
/// its local row, or the server's row in a conflict, has shown it.
struct SyncOracle: Sendable {
    struct Cell: Hashable, Sendable {
        var row: String
        var column: String
    }

    /// A value that a device wrote into its local row.
    private struct Edit: Sendable {
        var value: Value
        /// How much the device had seen by then.
        var mark: Int
    }

    private struct Device: Sendable {
        var seen: [Cell: [Value: Int]] = [:]
        var mark = 0
        /// The edits of each cell that still count: none that a resolution dropped or a delete ended.
        var edits: [Cell: [Edit]] = [:]
        /// How much the device had seen when it deleted a row, for deletes that count.
        var deletes: [String: Int] = [:]
        /// Rows that the device deleted and that have not been gone on the server since.
        var wantsGone: Set<String> = []
        /// Every value that the device ever wrote.
        var own: [Cell: Set<Value>] = [:]
    }

    static let columns = ["text", "priority"]

    private var devices: [Device]
    private var applied: [Cell: Set<Value>] = [:]
    private(set) var violations: [String] = []

    init(devices count: Int) { devices = Array(repeating: Device(), count: count) }

    // MARK: What devices do

    /// A local row, or a server's in a conflict, was shown.
    mutating func sees(_ device: Int, _ row: Row) {
        devices[device].mark += 1
        for column in Self.columns {
            guard let value = row[column], !value.isNull else { continue }
            let cell = Cell(row: row.id, column: column)
            if devices[device].seen[cell]?[value] == nil {
                devices[device].seen[cell, default: [:]][value] = devices[device].mark
            }
        }
    }

    /// The device wrote these columns, null included.
    mutating func edited(_ device: Int, _ row: Row) {
        devices[device].mark += 1
        devices[device].deletes[row.id] = nil
        devices[device].wantsGone.remove(row.id)
        for column in Self.columns {
            guard let value = row[column] else { continue }
            let cell = Cell(row: row.id, column: column)
            devices[device].edits[cell, default: []].append(Edit(value: value, mark: devices[device].mark))
            devices[device].own[cell, default: []].insert(value)
        }
    }

    /// - Parameter isGone: Whether the server has no such row, or no longer.
    mutating func deleted(_ device: Int, _ id: String, isGone: Bool) {
        devices[device].mark += 1
        for column in Self.columns { devices[device].edits[Cell(row: id, column: column)] = nil }
        devices[device].deletes[id] = devices[device].mark
        if !isGone { devices[device].wantsGone.insert(id) }
    }

    /// A resolution dropped the device's pending changes of the row.
    mutating func dropped(_ device: Int, _ id: String) {
        for column in Self.columns { devices[device].edits[Cell(row: id, column: column)] = nil }
        devices[device].deletes[id] = nil
        devices[device].wantsGone.remove(id)
    }

    /// A resolution kept the device's row although it has seen the server's.
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

    // MARK: What the server does

    /// The server changed a row, nil where there is none; at a device's request, or on its own.
    mutating func serverWrote(_ device: Int?, _ id: String, before: Row?, after: Row?, _ request: String) {
        for column in Self.columns {
            let cell = Cell(row: id, column: column)
            let (old, new) = (before?[column] ?? .null, after?[column] ?? .null)
            if after != nil { applied[cell, default: []].insert(new) }
            // Values of a row that was gone are nobody's: the device that restores the row may replace them.
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

    // MARK: At the end

    /// Everything was pushed: each edit and delete that still counts has reached the server.
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
