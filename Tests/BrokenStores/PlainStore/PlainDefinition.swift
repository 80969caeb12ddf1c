internal import TidelineStore

/// How tables are defined and evolve.
enum PlainDefinition {
    /// What is to be done so that these tables are defined; nothing where they are already.
    static func changes(
        defining schemas: [TableSchema], in state: PlainState, flaw: Flaw?
    ) throws -> [PlainChange] {
        let names = state.tables.keys.map(\.text)
        let checked = try flaw?.unchecked(schemas) ?? TableEvolution.checked(schemas, beside: names)
        return try checked.compactMap { schema in
            guard let table = state.tables[TableName(schema.name)] else {
                return .define(schema, stored: schema.allColumns)
            }
            let layout = table.layout
            guard layout.schema != schema, flaw?.isSame(layout.schema, schema) != true else { return nil }
            return .define(schema, stored: try storedColumns(layout, schema, flaw: flaw))
        }
    }

    /// The columns that are stored, with those that are new behind them.
    private static func storedColumns(
        _ layout: TableLayout, _ schema: TableSchema, flaw: Flaw?
    ) throws -> [ColumnSchema] {
        if let columns = flaw?.storedColumns(layout, schema) { return columns }
        let retired = layout.stored.filter { layout.schema.column($0.name) == nil }
        let evolution = try TableEvolution(from: layout.schema, retired: retired, to: schema)
        return layout.stored + evolution.added
    }
}
