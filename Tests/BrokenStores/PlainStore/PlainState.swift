internal import TidelineStore

/// All tables at one time. A copy is a snapshot: changed parts are copied, the rest is shared.
struct PlainState: Sendable {
    /// The tables by the bytes of their names. `==` on strings would treat canonically equivalent names as equal.
    var tables: [TableName: PlainTable] = [:]

    func table(_ name: String) throws(StoreError) -> PlainTable {
        guard let table = tables[TableName(name)] else {
            throw StoreError(.noSuchTable, "the table was never defined", table: name)
        }
        return table
    }

    /// The changes that recreate these tables.
    var changes: [PlainChange] {
        tables.sorted { $0.key.text < $1.key.text }.flatMap { name, table in
            [.define(table.layout.schema, stored: table.layout.stored)]
                + table.rows.entries.map { PlainChange.put(table: name.text, $0.element) }
        }
    }

    /// Applies a change that was made in a transaction.
    mutating func apply(_ change: PlainChange, flaw: Flaw?) {
        switch change {
        case .define(let schema, let stored):
            let name = TableName(schema.name)
            let layout = TableLayout(schema, stored: stored)
            if tables[name] == nil { tables[name] = PlainTable(layout, flaw: flaw) }
            tables[name]?.evolve(to: layout)
        case .put(let table, let row): tables[TableName(table)]?.put(row)
        case .remove(let table, let key): _ = tables[TableName(table)]?.remove(key)
        }
    }
}

/// The name of a table, compared by its bytes.
struct TableName: Hashable, Sendable {
    let text: String

    init(_ text: String) { self.text = text }

    static func == (a: TableName, b: TableName) -> Bool { a.text.isSameBytes(as: b.text) }
    func hash(into hasher: inout Hasher) { hasher.combine(Array(text.utf8)) }
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
