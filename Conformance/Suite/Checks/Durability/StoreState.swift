internal import TidelineStore

/// The content of a store: its app tables with their rows, sorted by identifier.
struct StoreState: Sendable {
    private(set) var tables: [TableSchema] = []
    private(set) var rows: [String: [Row]] = [:]

    /// Creates the empty state.
    init() {}

    /// Reads the state of a store.
    init(of store: any LocalStore) throws {
        tables = try store.appTables()
        rows = try StoreState.rows(of: tables, in: store)
    }

    private static func rows<Store: LocalStore>(of tables: [TableSchema], in store: Store) throws -> [String: [Row]] {
        try store.read { reader in
            try Dictionary(uniqueKeysWithValues: tables.map { ($0.name, try reader.allRows($0.name)) })
        }
    }

    /// Describes how another state differs from this one, or returns `nil` if they are equal.
    func difference(in found: StoreState) -> String? {
        guard found.tables.map(\.name) == tables.map(\.name) else {
            return "found the tables \(found.tables.map(\.name)), expected \(tables.map(\.name))"
        }
        for (table, other) in zip(tables, found.tables) {
            guard table.allColumns.map(\.name) == other.allColumns.map(\.name) else {
                return "\(table.name) has the columns \(other.allColumns.map(\.name)), "
                    + "expected \(table.allColumns.map(\.name))"
            }
            let (right, rows) = (rows[table.name] ?? [], found.rows[table.name] ?? [])
            if let difference = RowDifference(found: rows, expected: right) { return "\(table.name): \(difference)" }
        }
        return nil
    }

    // MARK: Changing

    /// Defines or evolves a table.
    mutating func define(_ table: TableSchema) {
        tables.removeAll { $0.name == table.name }
        tables.append(table)
        tables.sort { $0.name < $1.name }
        rows[table.name] = table.completing(rows[table.name] ?? [])
    }

    /// Changes rows; stored rows name all columns.
    mutating func apply(_ change: TableChange) {
        guard let table = tables.first(where: { $0.name == change.table }) else { return }
        let gone = Set(change.deleted + change.rows.compactMap(\.id))
        let kept = (rows[change.table] ?? []).filter { row in row.id.map { !gone.contains($0) } ?? true }
        rows[change.table] = (kept + table.completing(change.rows)).sorted { $0.idText < $1.idText }
    }
}

/// The changes of one transaction to one table.
struct TableChange: Sendable {
    var table: String
    var rows: [Row] = []
    var deleted: [RowID] = []
}

extension LocalStore {
    /// Makes changes in one transaction.
    func commit(_ changes: [TableChange]) throws {
        try write { writer in
            for change in changes {
                if !change.deleted.isEmpty { try writer.delete(ids: change.deleted, from: change.table) }
                try writer.upsert(change.rows, into: change.table)
            }
        }
    }
}
