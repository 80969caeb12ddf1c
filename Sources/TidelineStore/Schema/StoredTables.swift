/// A table of a store, with values derived from its definition.
@usableFromInline
package protocol StoredTableType: AnyObject, Sendable {
    var schema: TableSchema { get }
}

/// The definition of a table as a database stores it, as JSON.
package protocol StoredTableDefinition: Codable {
    var schema: TableSchema { get }
    /// Columns that are no longer part of the definition. They stay in the table with their values.
    var retired: [ColumnSchema] { get }
}

extension StoredTableDefinition {
    /// Decodes and checks the stored definition of the table with the given name.
    ///
    /// - Parameter path: The place of the store, for error messages.
    /// - Throws: ``StoreError/Code/corrupt``; ``StoreError/Code/schemaMismatch`` for a name that is not in
    ///   normalization form C.
    package static func decode(_ json: String, of table: String, path: String?) throws(StoreError) -> Self {
        let decoded = try? RecordJSON.decode(Self.self, from: json)
        try decoded?.schema.requireStoredFormC(retired: decoded?.retired ?? [], path: path)
        do {
            let stored = try decoded ?? RecordJSON.decode(Self.self, from: json)
            try stored.schema.validateStored()
            guard stored.schema.name == table,
                stored.schema.columns.count + stored.retired.count < Int(UInt16.max)
            else { throw StoreError(.corrupt, "the definition belongs to another table", table: table) }
            return stored
        } catch {
            throw StoreError(
                .corrupt, "the stored definition of a table is damaged", table: table, path: path, cause: error)
        }
    }
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
