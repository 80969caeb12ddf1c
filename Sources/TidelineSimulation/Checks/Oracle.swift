public import TidelineStore

/// A plain model of what the users and the server did, which knows no queue and no protocol.
///
/// Every edit writes unique values, so a value identifies its edit. A device has *seen* a value once it was in its
/// local row, or in the server row of a conflict. Each device has a count of what it saw and did, its *mark*.
struct Oracle {
    struct Cell: Hashable {
        var table: String
        var row: String
        var column: String
    }

    private struct RowName: Hashable {
        var table: String
        var row: String
    }

    private struct Edit {
        var value: Value
        var mark: Int
    }

    private struct Device {
        var mark = 0
        var seen: [Cell: [Value: Int]] = [:]
        /// The edits of each cell that no resolution dropped and no delete superseded.
        var edits: [Cell: [Edit]] = [:]
        /// The mark of the latest delete of each row.
        var deletes: [RowName: Int] = [:]
        /// The rows that the device deleted although its local table did not have them, whatever the server has, until
        /// the device changes the server's row.
        var unconditionalDeletes: Set<RowName> = []
        /// The rows that the device deleted and that the server has had since.
        var wantsGone: Set<RowName> = []
        /// The mark of the latest insert of each row.
        var inserts: [RowName: Int] = [:]
        /// The marks at which the device inserted or restored each row, until a request that was sent later has created
        /// the row on the server.
        var restores: [RowName: [Int]] = [:]
        /// The values that a resolution kept, each of which can take effect once more.
        var kept: [Cell: Set<Value>] = [:]
        /// Every value that the device wrote.
        var own: [Cell: Set<Value>] = [:]
        /// The mark of the latest decision of a conflict policy about each row.
        var decisions: [RowName: Int] = [:]
    }

    private let keepsTombstones: Bool
    private var devices: [Device]
    /// The columns with unique values, by table.
    private let columns: [String: [String]]
    private var applied: [Cell: Set<Value>] = [:]
    /// The values that the server had before, and that no later edit may bring back by accident.
    private var replaced: [Cell: Set<Value>] = [:]
    /// The request that created each row of the server, if a device sent it.
    private var creations: [RowName: (device: Int, sentAt: Int)] = [:]
    /// The rows that the server deleted at least once.
    private var deleted: Set<RowName> = []
    private var log: [(edit: AcknowledgedEdit, mark: Int)] = []
    private(set) var violations: [Violation] = []

    /// - Parameter keepsTombstones: Whether the server refuses to insert a deleted row. If not, it cannot recognize a
    ///   repeated insert.
    init(devices count: Int, schema: [TableSchema], keepsTombstones: Bool = true) {
        self.keepsTombstones = keepsTombstones
        devices = Array(repeating: Device(), count: count)
        columns = Dictionary(schema.map { ($0.name, $0.uniqueColumns) }, uniquingKeysWith: { first, _ in first })
    }

    private func cells(_ table: String, _ row: String) -> [Cell] {
        (columns[table] ?? []).map { Cell(table: table, row: row, column: $0) }
    }

    mutating func violated(_ invariant: String, _ message: String) {
        violations.append(Violation(invariant: invariant, message: message))
    }

    // MARK: Devices

    /// Records that a device has seen a local row, or the server row of a conflict.
    mutating func sees(_ device: Int, _ row: Row, in table: String) {
        devices[device].mark += 1
        for cell in cells(table, row.idText) {
            guard let value = row[cell.column], !value.isNull else { continue }
            if devices[device].seen[cell]?[value] == nil {
                devices[device].seen[cell, default: [:]][value] = devices[device].mark
            }
        }
    }

    /// Records an acknowledged edit with the columns that it wrote, including nulls.
    mutating func edited(_ device: Int, _ row: Row, in table: String, inserts: Bool, step: Int) {
        let name = RowName(table: table, row: row.idText)
        devices[device].mark += 1
        devices[device].deletes[name] = nil
        devices[device].wantsGone.remove(name)
        if inserts {
            devices[device].inserts[name] = devices[device].mark
            devices[device].restores[name, default: []].append(devices[device].mark)
        }
        for cell in cells(table, row.idText) {
            guard let value = row[cell.column] else { continue }
            let edit = Edit(value: value, mark: devices[device].mark)
            if inserts {
                devices[device].edits[cell] = [edit]
            } else {
                devices[device].edits[cell, default: []].append(edit)
            }
            devices[device].own[cell, default: []].insert(value)
            replaced[cell]?.remove(value)
            let acknowledged = AcknowledgedEdit(
                device: device, step: step, table: table, id: row.idText, column: cell.column, value: value)
            log.append((acknowledged, devices[device].mark))
        }
    }

    /// Records an acknowledged delete.
    ///
    /// - Parameters:
    ///   - local: The row as it was, or `nil` if the local table did not have it.
    ///   - remote: The server's row, or `nil` if it has none.
    mutating func deleted(_ device: Int, _ id: String, in table: String, local: Row?, remote: Row?) {
        let name = RowName(table: table, row: id)
        // The delete of an insert that the server has not processed only removes it from the queue; another device may
        // have inserted the same row.
        let isFromServer = local?["version"]?.isNull == false
        let isCreated =
            creations[name].map { $0.device == device && $0.sentAt >= devices[device].inserts[name] ?? .max } ?? false
        devices[device].mark += 1
        let isGone = remote == nil || !(isFromServer || isCreated)
        for cell in cells(table, id) { devices[device].edits[cell] = nil }
        devices[device].deletes[name] = devices[device].mark
        if local == nil { devices[device].unconditionalDeletes.insert(name) }
        if !isGone { devices[device].wantsGone.insert(name) }
    }

    func mark(of device: Int) -> Int { devices[device].mark }

    /// Returns whether a device has written a value.
    func wrote(_ device: Int, _ value: Value, to column: String, of id: String, in table: String) -> Bool {
        devices[device].own[Cell(table: table, row: id, column: column)]?.contains(value) == true
    }

    /// Returns whether the server has deleted a row at least once.
    func wasDeleted(_ id: String, in table: String) -> Bool { deleted.contains(RowName(table: table, row: id)) }

    /// Records that a resolution dropped the device's pending changes of a row.
    ///
    /// - Parameter mark: The mark of the device when the error was reported. A resolution does not affect later edits.
    mutating func dropped(_ device: Int, _ id: String, in table: String, before mark: Int) {
        let name = RowName(table: table, row: id)
        for cell in cells(table, id) { devices[device].edits[cell]?.removeAll { $0.mark <= mark } }
        if let deleted = devices[device].deletes[name], deleted > mark { return }
        devices[device].deletes[name] = nil
        devices[device].wantsGone.remove(name)
        devices[device].restores[name] = nil
    }

    /// Records that the user dropped all pending changes of a table.
    mutating func droppedAll(_ device: Int, in table: String) {
        for cell in devices[device].edits.keys where cell.table == table { devices[device].edits[cell] = nil }
        for name in devices[device].deletes.keys where name.table == table { devices[device].deletes[name] = nil }
        devices[device].wantsGone = devices[device].wantsGone.filter { $0.table != table }
        devices[device].restores = devices[device].restores.filter { $0.key.table != table }
    }

    /// Records that a resolution kept the device's operation with a row, or its delete if `row` is `nil`, after the
    /// policy has seen the server row.
    mutating func kept(_ device: Int, _ id: String, in table: String, _ row: Row?) {
        let name = RowName(table: table, row: id)
        devices[device].mark += 1
        guard let row else {
            devices[device].deletes[name] = devices[device].mark
            return
        }
        devices[device].restores[name, default: []].append(devices[device].mark)
        for cell in cells(table, id) {
            let value = row[cell.column] ?? .null
            devices[device].edits[cell, default: []].append(Edit(value: value, mark: devices[device].mark))
            devices[device].kept[cell, default: []].insert(value)
        }
    }

    /// Records that a conflict policy decided, after it has seen the server row.
    ///
    /// A row that differs from the server's is kept; otherwise the device's changes are dropped.
    mutating func decided(_ device: Int, _ id: String, in table: String, server: Row?, result: Row?) {
        let isServers = cells(table, id).allSatisfy { result?[$0.column] ?? .null == server?[$0.column] ?? .null }
        if isServers, (result == nil) == (server == nil) {
            dropped(device, id, in: table, before: devices[device].mark)
        } else {
            kept(device, id, in: table, result)
        }
        devices[device].decisions[RowName(table: table, row: id)] = devices[device].mark
    }

    /// The mark of the latest decision of a conflict policy about a row, or `nil` if there is none.
    func decision(_ device: Int, _ id: String, in table: String) -> Int? {
        devices[device].decisions[RowName(table: table, row: id)]
    }

    // MARK: Server

    /// Records that the server changed a row, for a device's request or on its own. A row that was deleted is `nil`.
    ///
    /// - Parameter sentAt: The mark of the device when it sent the request.
    mutating func serverWrote(
        _ device: Int?, _ id: String, in table: String, before: Row?, after: Row?, sentAt: Int = .max,
        _ request: String
    ) {
        let name = RowName(table: table, row: id)
        if before == nil || after == nil { creations[name] = after == nil ? nil : device.map { ($0, sentAt) } }
        if let device, before == nil, after != nil { checkRestore(device, name, sentAt: sentAt, request) }
        for cell in cells(table, id) {
            let (old, new) = (before?[cell.column] ?? .null, after?[cell.column] ?? .null)
            if after != nil { applied[cell, default: []].insert(new) }
            // Values of a row that did not exist belong to no device, so the device that restores the row can replace
            // them.
            if let device, before == nil, after != nil { devices[device].own[cell, default: []].insert(new) }
            if before != nil, after != nil, old != new {
                checkRepetition(cell, from: old, to: new, by: device, request)
            }
            guard let device, before != nil, old != new || after == nil, !old.isNull else { continue }
            checkOverwrite(device, cell, of: old, with: after == nil ? nil : new, request)
        }
        if let device { devices[device].unconditionalDeletes.remove(name) }
        guard after == nil else { return }
        deleted.insert(name)
        for index in devices.indices { devices[index].wantsGone.remove(name) }
    }

    private mutating func checkRestore(_ device: Int, _ name: RowName, sentAt: Int, _ request: String) {
        let marks = devices[device].restores[name] ?? []
        devices[device].restores[name] = marks.filter { $0 > sentAt }
        guard keepsTombstones, deleted.contains(name), !marks.contains(where: { $0 <= sentAt }) else { return }
        violated(
            "deleted rows stay deleted",
            "device \(device) brought back the row \(name.row) of \(name.table), which was deleted: \(request)")
    }

    private mutating func checkRepetition(
        _ cell: Cell, from old: Value, to new: Value, by device: Int?, _ request: String
    ) {
        let isKept = device.map { devices[$0].kept[cell]?.remove(new) != nil } ?? false
        if !new.isNull, !isKept, replaced[cell]?.contains(new) == true {
            violated(
                "each operation takes effect once",
                "\(new) of \(cell.row).\(cell.column) was replaced before, and took effect again: \(request)")
        }
        if !old.isNull { replaced[cell, default: []].insert(old) }
    }

    private mutating func checkOverwrite(
        _ index: Int, _ cell: Cell, of old: Value, with new: Value?, _ request: String
    ) {
        let device = devices[index]
        let name = RowName(table: cell.table, row: cell.row)
        if device.own[cell]?.contains(old) == true { return }
        if new == nil, device.unconditionalDeletes.contains(name) { return }
        let mark = if let new { device.edits[cell]?.last { $0.value == new }?.mark } else { device.deletes[name] }
        if let seen = device.seen[cell]?[old], seen <= mark ?? device.mark { return }
        violated(
            "nothing is overwritten unseen",
            "device \(index) overwrote \(old) of \(cell.row).\(cell.column) with \(new.map { "\($0)" } ?? "a delete"), "
                + "which it had not seen: \(request)")
    }

    // MARK: The end

    /// Checks, after everything was pushed, that each edit and delete has reached the server.
    mutating func finish() {
        for (index, device) in devices.enumerated() {
            for name in device.wantsGone.sorted(by: { ($0.table, $0.row) < ($1.table, $1.row) }) {
                violated(
                    "no edit is lost", "the delete of \(name.row) of \(name.table) on device \(index) was lost")
            }
            for (cell, edits) in device.edits.sorted(by: { $0.key < $1.key }) {
                guard let last = edits.last, !last.value.isNull, applied[cell]?.contains(last.value) != true else {
                    continue
                }
                violated("no edit is lost", "device \(index) lost \(last.value) of \(cell.row).\(cell.column)")
            }
        }
    }

    /// Returns the edits whose column finally has a value that the edit had replaced.
    func lostEdits(server: (_ table: String, _ id: String) -> Row?) -> [AcknowledgedEdit] {
        log.indices.filter { index in
            let (edit, mark) = log[index]
            guard let row = server(edit.table, edit.id) else { return false }
            let final = row[edit.column] ?? .null
            guard final != edit.value else { return false }
            let cell = Cell(table: edit.table, row: edit.id, column: edit.column)
            // Someone wrote the value again later.
            let isWritten = log[index...].contains { later, _ in
                later.value == final && (later.table, later.id, later.column) == (edit.table, edit.id, edit.column)
            }
            if isWritten { return false }
            if final.isNull { return !(devices.contains { $0.own[cell]?.contains(.null) == true }) }
            return devices[edit.device].seen[cell]?[final].map { $0 <= mark } ?? false
        }.map { log[$0].edit }
    }
}

extension TableSchema {
    /// The columns into which every edit writes a unique value.
    var uniqueColumns: [String] {
        columns.filter { column in
            ![.bool, .timestamp].contains(column.type) && !references.contains { $0.column == column.name }
        }.map(\.name)
    }
}

extension Oracle.Cell: Comparable {
    static func < (a: Self, b: Self) -> Bool { (a.table, a.row, a.column) < (b.table, b.row, b.column) }
}

/// A promise that a simulation has seen broken.
public struct Violation: Sendable, Hashable, Codable, CustomStringConvertible {
    /// The invariant, such as `no edit is lost`.
    public var invariant: String
    /// The values, rows, or operations that break it.
    public var message: String

    public var description: String { "\(invariant): \(message)" }
}

/// A change of one column by the user of a device, which the local store had committed.
public struct AcknowledgedEdit: Sendable, Hashable, CustomStringConvertible {
    /// The device.
    public var device: Int
    /// The number of the step.
    public var step: Int
    /// The table.
    public var table: String
    /// The identifier of the row.
    public var id: String
    /// The column.
    public var column: String
    /// The value that was written.
    public var value: Value

    public var description: String {
        "\(value) of \(id).\(column) in \(table), written by device \(device) in step \(step)"
    }
}
