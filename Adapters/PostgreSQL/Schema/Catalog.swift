internal import TidelineStore

/// All table definitions in one snapshot of the database.
final class Catalog: Sendable {
    /// The generation number, which increases with every change of definitions.
    let generation: Int64
    private let tables: [String: StoredTable]

    init(generation: Int64, tables: [StoredTable]) {
        self.generation = generation
        self.tables = Dictionary(tables.map { ($0.schema.name, $0) }) { first, _ in first }
    }

    /// Returns the table with the given name.
    func table(_ name: String) throws(StoreError) -> StoredTable {
        guard let table = table(named: name) else {
            throw StoreError(.noSuchTable, "the table is not defined", table: name)
        }
        return table
    }

    /// Returns the table with the given name, or `nil` if there is none.
    func table(named name: String) -> StoredTable? { tables[name] }

    /// The definitions, ordered by name.
    var schemas: [TableSchema] {
        tables.values.map(\.schema).sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
    }
}
