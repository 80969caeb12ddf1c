internal import TidelineStore

/// The definitions of all tables, as of one snapshot.
final class Catalog: Sendable {
    /// A number that increases with every change of a definition.
    let generation: Int64
    /// The number of the next key space.
    let nextSpace: UInt32
    private let tables: [String: StoredTable]
    /// The tables, if there are so few that comparing their names is faster than hashing one.
    private let few: [StoredTable]?

    init(generation: Int64, nextSpace: UInt32, tables: [StoredTable]) {
        self.generation = generation
        self.nextSpace = nextSpace
        self.tables = Dictionary(tables.map { ($0.name, $0) }) { first, _ in first }
        few = tables.count <= 16 ? tables : nil
    }

    /// The catalog of a store without tables.
    static let empty = Catalog(generation: 1, nextSpace: KeySpace.meta.number + 1, tables: [])

    func table(_ name: String) throws(StoreError) -> StoredTable {
        guard let table = table(named: name) else {
            throw StoreError(.noSuchTable, "the table is not defined; define it first", table: name)
        }
        return table
    }

    /// Returns the table with the given name, or `nil` if there is none.
    func table(named name: String) -> StoredTable? {
        if let few { return few.first { $0.name == name } }
        return tables[name]
    }

    var spaces: Set<KeySpace> { Set(tables.values.flatMap(\.definition.spaces)) }

    /// All tables, ordered by name.
    var all: [StoredTable] {
        tables.values.sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
    }
}
