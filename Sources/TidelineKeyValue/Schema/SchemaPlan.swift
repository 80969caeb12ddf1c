internal import TidelineStore

/// The changes that turn the existing tables into the requested ones. The plan itself changes nothing.
struct SchemaPlan {
    /// A table that is created or changed.
    struct Change {
        let table: StoredTable
        /// New indexes of an existing table, which have to be filled.
        let filled: [StoredIndex]
        /// The spaces of removed indexes.
        let removed: [KeySpace]
    }

    /// The changes, in the order in which the tables were given.
    private(set) var changes: [Change] = []
    private var nextSpace: UInt32
    /// The spaces of all definitions, including those of indexes that the plan removes.
    private var used: Set<KeySpace>
    /// The maximum number of spaces, or `nil` if there is no limit.
    private let limit: Int?
    /// No smaller number is unused, except that of the catalog.
    private var smallestUnused = KeySpace.meta.number + 1

    /// Whether all tables are already as requested.
    var isEmpty: Bool { changes.isEmpty }

    /// - Parameter limit: The maximum number of tables and indexes, or `nil` if there is no limit.
    /// - Throws: ``StoreError/Code/schemaMismatch``, naming table and column; ``StoreError/Code/tooManyTables``.
    init(defining schemas: [TableSchema], over catalog: Catalog, limit: Int?) throws(StoreError) {
        nextSpace = catalog.nextSpace
        used = catalog.spaces
        self.limit = limit
        for schema in try TableEvolution.checked(schemas, beside: catalog.all.map(\.name)) {
            if let existing = catalog.table(named: schema.name) {
                try evolve(existing, to: schema)
            } else {
                try create(schema)
            }
        }
    }

    func catalog(after catalog: Catalog) -> Catalog {
        let changed = changes.map(\.table)
        let kept = catalog.all.filter { table in !changed.contains { $0.rows == table.rows } }
        return Catalog(generation: catalog.generation + 1, nextSpace: nextSpace, tables: kept + changed)
    }

    private mutating func create(_ schema: TableSchema) throws(StoreError) {
        let rows = try takeSpace(for: schema)
        let indexes = try schema.distinctIndexes.map { (columns) throws(StoreError) in
            StoredDefinition.Index(columns: columns, space: try takeSpace(for: schema))
        }
        let definition = StoredDefinition(
            schema: schema, retired: [], layouts: [schema.allColumns], rows: rows, indexes: indexes)
        changes.append(Change(table: StoredTable(definition), filled: [], removed: []))
    }

    private mutating func evolve(_ table: StoredTable, to schema: TableSchema) throws(StoreError) {
        guard table.schema != schema else { return }
        let evolution = try TableEvolution(from: table.schema, retired: table.definition.retired, to: schema)
        var definition = table.definition
        definition.schema = schema
        definition.retired = evolution.retired
        let columns = schema.allColumns + evolution.retired
        // An earlier layout is used again, so that definitions in turn do not add layouts without end.
        let known = definition.layouts.lastIndex { StoredDefinition.isStored(columns, as: $0) }
        if known == nil { definition.layouts.append(columns) }
        definition.layout = known.flatMap { $0 == definition.layouts.count - 1 ? nil : $0 }
        definition.indexes = try schema.distinctIndexes.map { (columns) throws(StoreError) in
            let kept = table.definition.indexes.first { $0.columns == columns }
            if let kept { return kept }
            return StoredDefinition.Index(columns: columns, space: try takeSpace(for: schema))
        }
        let changed = StoredTable(definition)
        let old = Set(table.definition.indexes.map(\.space))
        let new = Set(definition.indexes.map(\.space))
        changes.append(
            Change(
                table: changed, filled: changed.indexes.filter { !old.contains($0.space) },
                removed: old.subtracting(new).sorted()))
    }

    /// Returns an unused space. That of an index that was removed earlier is empty, and some engines keep it.
    private mutating func takeSpace(for schema: TableSchema) throws(StoreError) -> KeySpace {
        if let limit, used.count >= limit {
            throw StoreError(
                .tooManyTables,
                "the store can have at most \(limit) tables and indexes, including those that this definition removes",
                table: schema.name)
        }
        while used.contains(KeySpace(number: smallestUnused)) { smallestUnused += 1 }
        let space = KeySpace(number: smallestUnused)
        guard space.number < .max else {
            throw StoreError(.tooManyTables, "the store has no key spaces left", table: schema.name)
        }
        used.insert(space)
        nextSpace = max(nextSpace, space.number + 1)
        return space
    }
}
