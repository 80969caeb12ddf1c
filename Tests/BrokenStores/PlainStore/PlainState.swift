internal import TidelineStore

/// All tables at one time. A copy is a snapshot: changed parts are copied, the rest is shared.
struct PlainState: Sendable {
    /// The tables by name.
    var tables: [String: PlainTable] = [:]

    func table(_ name: String) throws(StoreError) -> PlainTable {
        guard let table = tables[name] else { throw Self.undefined(name) }
        return table
    }

    static func undefined(_ name: String) -> StoreError {
        StoreError(.noSuchTable, "the table was never defined", table: name)
    }

    /// The changes that recreate these tables.
    var changes: [PlainChange] {
        tables.sorted { $0.key < $1.key }.flatMap { name, table in
            [.define(table.layout.schema, stored: table.layout.stored)]
                + table.rows.entries.map { PlainChange.put(table: name, $0.element) }
        }
    }

    /// Applies a change that was made in a transaction.
    mutating func apply(_ change: PlainChange, flaw: Flaw?) {
        switch change {
        case .define(let schema, let stored):
            let layout = TableLayout(schema, stored: stored)
            tables[schema.name, default: PlainTable(layout, flaw: flaw)].evolve(to: layout)
        case .put(let table, let row): tables[table]?.put(row)
        case .remove(let table, let key): _ = tables[table]?.remove(key)
        }
    }
}

/// One change of a transaction, as it is logged.
enum PlainChange: Sendable {
    case define(TableSchema, stored: [ColumnSchema])
    case put(table: String, PlainRow)
    case remove(table: String, key: [UInt8])

    var isRemoval: Bool {
        if case .remove = self { true } else { false }
    }
}

/// The definition and evolution of tables.
enum PlainDefinition {
    /// Returns the changes that define these tables; empty if they are already defined.
    static func changes(defining schemas: [TableSchema], in state: PlainState, flaw: Flaw?) throws -> [PlainChange] {
        let names = Array(state.tables.keys)
        let checked = try flaw?.unchecked(schemas) ?? TableEvolution.checked(schemas, beside: names)
        return try checked.compactMap { schema in
            guard let table = state.tables[schema.name] else { return .define(schema, stored: schema.allColumns) }
            let layout = table.layout
            guard layout.schema != schema, flaw?.isSame(layout.schema, schema) != true else { return nil }
            return .define(schema, stored: try storedColumns(layout, schema, flaw: flaw))
        }
    }

    /// Returns the stored columns, with new columns at the end.
    private static func storedColumns(
        _ layout: TableLayout, _ schema: TableSchema, flaw: Flaw?
    ) throws -> [ColumnSchema] {
        if let columns = flaw?.storedColumns(layout, schema) { return columns }
        let retired = layout.stored.filter { layout.schema.column($0.name) == nil }
        let evolution = try TableEvolution(from: layout.schema, retired: retired, to: schema)
        return layout.stored + evolution.added
    }
}
