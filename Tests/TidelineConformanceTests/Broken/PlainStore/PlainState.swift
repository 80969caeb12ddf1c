import TidelineStore

/// All tables at one moment. A copy is a snapshot: what is changed is copied, the rest is shared.
struct PlainState: Sendable {
    var tables: [String: PlainTable] = [:]

    func table(_ name: String) throws(StoreError) -> PlainTable {
        guard let table = tables.first(where: { $0.key.isSameBytes(as: name) })?.value else {
            throw StoreError(.noSuchTable, "the table was never defined", table: name)
        }
        return table
    }

    /// Makes a change that was made in a transaction before.
    mutating func apply(_ change: PlainChange, flaw: Flaw?) {
        switch change {
        case .define(let schema, let stored):
            let layout = TableLayout(schema, stored: stored)
            if tables[schema.name] == nil { tables[schema.name] = PlainTable(layout, flaw: flaw) }
            tables[schema.name]?.evolve(to: layout)
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
}
