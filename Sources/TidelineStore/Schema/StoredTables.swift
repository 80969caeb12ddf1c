/// A table of a store, with values derived from its definition.
@usableFromInline
package protocol StoredTableType: AnyObject, Sendable {
    var schema: TableSchema { get }
}

/// All table definitions in one snapshot of the database of a store.
@usableFromInline
package final class StoredTables<Table: StoredTableType>: Sendable {
    /// The generation number, which increases with every change of definitions.
    package let generation: Int64
    @usableFromInline let tables: [String: Table]

    package init(generation: Int64, tables: [Table]) {
        self.generation = generation
        self.tables = Dictionary(tables.map { ($0.schema.name, $0) }) { first, _ in first }
    }

    @inlinable
    package func table(_ name: String) throws(StoreError) -> Table {
        guard let table = tables[name] else {
            throw StoreError(.noSuchTable, "the table is not defined", table: name)
        }
        return table
    }

    /// Returns the table with the given name, or `nil` if there is none.
    @inlinable
    package func table(named name: String) -> Table? { tables[name] }

    /// The definitions, ordered by name.
    package var schemas: [TableSchema] {
        tables.values.map(\.schema).sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
    }
}
