internal import Foundation
internal import TidelineStore

/// All tables as one snapshot of the database defines them.
final class Catalog: Sendable {
    /// The number that every change of definitions advances.
    let generation: Int64
    private let tables: [String: StoredTable]

    init(generation: Int64, tables: [StoredTable]) {
        self.generation = generation
        self.tables = Dictionary(tables.map { (Self.key($0.schema.name), $0) }) { first, _ in first }
    }

    /// The table of that name, byte for byte.
    func table(_ name: String) throws(StoreError) -> StoredTable {
        guard let table = table(named: name) else {
            throw StoreError(.noSuchTable, "the table was never defined", table: name)
        }
        return table
    }

    /// The table of that name, byte for byte, if there is one.
    func table(named name: String) -> StoredTable? { tables[Self.key(name)] }

    /// The definitions, in order of name.
    var schemas: [TableSchema] {
        tables.values.map(\.schema).sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
    }

    /// Strings compare by canonical equivalence, names by their bytes: beyond ASCII, the key spells out the bytes.
    private static func key(_ name: String) -> String {
        name.utf8.allSatisfy { $0 < 0x80 } ? name : "\u{1}" + name.utf8.map(String.init).joined(separator: ",")
    }
}

extension Connection {
    /// The number of the current snapshot's definitions. As the first read of a transaction it fixes the snapshot.
    func generation() throws(StoreError) -> Int64 {
        let generation = try integer(FileFormat.selectGeneration)
        guard generation > 0 else { throw StoreError(.corrupt, "the store has lost its definitions", path: path) }
        return generation
    }

    /// All definitions in the current snapshot.
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
            else { throw StoreError(.corrupt, "the definition is another table's", table: name) }
            return StoredTable(stored.schema, retired: stored.retired)
        } catch {
            throw StoreError(
                .corrupt, "the stored definition of a table is damaged", table: name, path: path, cause: error)
        }
    }
}
