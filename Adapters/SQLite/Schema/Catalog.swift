internal import Foundation
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

extension Connection {
    /// Returns the generation number of the current snapshot. As the first read of a transaction, it fixes the
    /// snapshot.
    func generation() throws(StoreError) -> Int64 {
        let generation = try integer(FileFormat.selectGeneration)
        guard generation > 0 else { throw StoreError(.corrupt, "the definitions record is missing", path: path) }
        return generation
    }

    /// Loads all definitions in the current snapshot.
    func loadCatalog(generation: Int64) throws(StoreError) -> Catalog {
        let statement = try takeStatement(FileFormat.selectDefinitions)
        defer { putBack(statement) }
        var tables: [StoredTable] = []
        while try statement.step() {
            tables.append(try storedTable(statement.text(0) ?? "", definition: statement.text(1) ?? ""))
        }
        return Catalog(generation: generation, tables: tables)
    }

    private func storedTable(_ name: String, definition: String) throws(StoreError) -> StoredTable {
        do {
            let stored = try JSONDecoder().decode(StoredDefinition.self, from: Data(definition.utf8))
            try stored.schema.validate()
            guard stored.schema.name.isSameBytes(as: name),
                stored.schema.columns.count + stored.retired.count < Int(UInt16.max)
            else { throw StoreError(.corrupt, "the definition belongs to another table", table: name) }
            return StoredTable(stored.schema, retired: stored.retired)
        } catch {
            throw StoreError(
                .corrupt, "the stored definition of a table is damaged", table: name, path: path, cause: error)
        }
    }
}
