internal import Tideline
internal import TidelineStore
internal import TidelineWire

/// The pending operations of a device at the start of a step that a push must send before others, because of references
/// between tables.
struct PendingReferences: Sendable {
    /// An operation that precedes those of other rows.
    private struct Entry {
        var number: Int64
        var revision: Int64
        /// The row that is referenced.
        var table: String
        var key: String
    }

    /// The operations that create a row, which precede those of rows that reference it.
    private var creations: [Entry] = []
    /// The operations that remove a reference to a row, which precede its delete.
    private var removals: [Entry] = []
    private let schema: [TableSchema]

    /// Reads the queue of a device. References of a table to itself are not considered: rows can form cycles.
    init?(of device: Device) {
        schema = device.schema
        guard schema.contains(where: { !$0.references.isEmpty }) else { return nil }
        do {
            try device.base.read { try readQueue(in: $0) }
        } catch {
            // The device has not defined its tables yet.
            return nil
        }
    }

    private mutating func readQueue(in reader: some StoreReader) throws {
        for row in try reader.rows(matching: TableQuery(SystemTables().operations)).rows {
            guard let number = row["id"]?.int, let name = row["table"]?.string, let id = row["itemId"]?.string,
                let kind = row["tableKind"]?.int.flatMap({ OperationKind(rawValue: $0) }),
                let table = schema.first(where: { $0.name == name })
            else { continue }
            let revision = row["revision"]?.int ?? 0
            if kind == .insert || row["restores"]?.bool == true {
                creations.append(
                    Entry(number: number, revision: revision, table: name, key: id.asciiLowercased))
            }
            guard let json = row["base"]?.json else { continue }
            let base = try PageParser(schema: table).parseRow(Array(json.utf8), requireID: false)
            let local = kind == .delete ? nil : try reader.row(in: name, id: id)
            for (target, key) in Self.targets(of: base, table)
            where !Self.targets(of: local ?? Row(), table).contains(where: { $0 == (target, key) }) {
                removals.append(Entry(number: number, revision: revision, table: target, key: key))
            }
        }
    }

    private static func targets(of row: Row, _ table: TableSchema) -> [(table: String, key: String)] {
        table.references.filter { $0.table != table.name }.compactMap { reference in
            row[reference.column]?.string.map { (reference.table, $0.asciiLowercased) }
        }
    }

    /// Returns the violation if the push must not send an operation yet, or `nil`.
    func violation(by operation: TableOperation, item: Row, on device: Device) -> Violation? {
        let invariant: String
        let earlier: [Entry]
        if operation.kind == .delete {
            invariant = "children are deleted before their parents"
            let key = operation.itemID.asciiLowercased
            earlier = removals.filter { $0.table == operation.table && $0.key == key }
        } else {
            invariant = "parents are inserted before their children"
            guard let table = schema.first(where: { $0.name == operation.table }) else { return nil }
            let targets = Self.targets(of: item, table)
            earlier = creations.filter { entry in targets.contains { $0 == (entry.table, entry.key) } }
        }
        guard let entry = earlier.first(where: { isUnchanged($0, on: device) }) else { return nil }
        return Violation(
            invariant: invariant,
            message: "device \(device.index) sends operation \(operation.id), the \(operation.kind) of "
                + "\(operation.itemID) in \(operation.table), before operation \(entry.number)")
    }

    /// Returns whether an operation is still pending, as it was at the start of the step.
    private func isUnchanged(_ entry: Entry, on device: Device) -> Bool {
        let row = try? device.base.read { try $0.row(in: SystemTables().operations, id: .int(entry.number)) }
        return row.flatMap { $0["revision"]?.int ?? 0 } == entry.revision
    }
}
