internal import TidelineStore

/// All table definitions in one snapshot of the database.
final class Catalog: Sendable {
    /// The generation number, which increases with every change of definitions.
    let generation: Int64
    private let tables: [String: StoredTable]

    init(generation: Int64, tables: [StoredTable]) {
        self.generation = generation
        self.tables = Dictionary(tables.map { (Self.key($0.schema.name), $0) }) { first, _ in first }
    }

    /// Returns the table with the given name, compared byte by byte.
    func table(_ name: String) throws(StoreError) -> StoredTable {
        guard let table = table(named: name) else {
            throw StoreError(.noSuchTable, "the table is not defined", table: name)
        }
        return table
    }

    /// Returns the table with the given name, compared byte by byte, or `nil` if there is none.
    func table(named name: String) -> StoredTable? { tables[Self.key(name)] }

    /// The definitions, ordered by name.
    var schemas: [TableSchema] {
        tables.values.map(\.schema).sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
    }

    /// Returns the dictionary key of a name. Strings compare by canonical equivalence but names by their bytes, so a
    /// name beyond ASCII becomes a list of its bytes.
    private static func key(_ name: String) -> String {
        name.utf8.allSatisfy { $0 < 0x80 } ? name : "\u{1}" + name.utf8.map(String.init).joined(separator: ",")
    }
}
