internal import TidelineStore

/// The definition and evolution of tables.
enum PlainDefinition {
    /// Returns the changes that define these tables; empty if they are already defined.
    static func changes(
        defining schemas: [TableSchema], in state: PlainState, flaw: Flaw?
    ) throws -> [PlainChange] {
        let names = Array(state.tables.keys)
        let checked = try flaw?.unchecked(schemas) ?? TableEvolution.checked(schemas, beside: names)
        return try checked.compactMap { schema in
            guard let table = state.tables[schema.name] else {
                return .define(schema, stored: schema.allColumns)
            }
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
