internal import Synchronization
internal import TidelineStore
internal import TidelineWire

/// A served table: its definition, and the JSON parser for its rows.
final class ServedTable: Sendable {
    let schema: TableSchema
    let parser: PageParser
    /// The revision of the definition's record when the definition was read.
    let revision: Int64

    init(_ schema: TableSchema, revision: Int64) {
        self.schema = schema
        self.revision = revision
        parser = PageParser(schema: schema)
    }

    /// Checks that the definition is still current in a snapshot or transaction.
    ///
    /// - Throws: ``OutdatedDefinition`` if another service has changed it.
    func requireCurrent(in reader: some StoreReader) throws {
        try requireCurrent(ServedTableRecord(of: schema.name, in: reader), in: reader)
    }

    /// Checks that the definition is that of the store and of the table's record.
    ///
    /// - Throws: ``OutdatedDefinition``.
    func requireCurrent(_ record: ServedTableRecord, in reader: some StoreReader) throws {
        guard record.revision == revision, try reader.schema(of: schema.name) == schema else {
            throw OutdatedDefinition()
        }
    }
}

/// The definition of a table has changed since it was read; read it again and repeat the request.
struct OutdatedDefinition: Error {}

/// The served tables, which can gain columns, also from other services over the same store.
///
/// A store's `define` hides the columns that a definition does not name. If two services define a table at the same
/// time, one may hide columns that the other has just added. Therefore each service adds its definition to a record
/// after defining the table, and defines the table again if the store then lacks recorded columns. A request that finds
/// another definition than its service knows reads it again, and completes it first if columns are hidden.
///
/// One thread at a time reads or changes definitions of the store. The body of a transaction never does, so there is no
/// deadlock. Looking up a known table never waits for the store.
final class TableCatalog<Store: LocalStore>: Sendable {
    private struct State {
        var tables: [String: ServedTable] = [:]
        /// The number of times that a definition was replaced by another one.
        var changes = 0

        mutating func update(_ name: String, to table: ServedTable?) {
            let known = tables[name]
            if known?.schema != table?.schema || known?.revision != table?.revision { changes += 1 }
            tables[name] = table
        }
    }

    private let store: Store
    private let rules: ServedSchemas
    private let maximumTables: Int
    private let maximumColumns: Int
    private let state = LockedValue(State())
    /// Held while definitions of the store are read or changed.
    private let defining = Mutex(())

    /// The maximum number of retries while other services change a table.
    private static var maximumRounds: Int { 100 }

    /// Defines the tables in addition to the store's existing definitions: a column that was ever served remains.
    init(store: Store, options: TableServiceOptions) throws {
        self.store = store
        rules = options.servedSchemas
        maximumTables = options.maximumTables
        maximumColumns = options.maximumColumns
        let schemas = options.schemas
        let existing = try store.tables()
        try StoreRole.requireServer(existing)
        let definitions = try rules.merged(schemas, over: existing, hasRows: store.hasRows(in:))
        let records = existing.first { $0.name == ServedTableRecord.schema.name }
        try store.define(definitions + [try records?.union(ServedTableRecord.schema) ?? ServedTableRecord.schema])
        try complete(definitions)
        for schema in try store.appTables() where ServedSchemas.isServed(schema) { try refresh(schema.name) }
    }

    /// Returns the table with the given name, or `nil` if it is not known to be served; see ``refresh(_:)``.
    func table(_ name: String) -> ServedTable? { state.withLock { $0.tables[name] } }

    /// The definitions of all known tables.
    var schemas: [TableSchema] { state.withLock { $0.tables.values.map(\.schema) } }

    /// A number that changes with each known definition.
    ///
    /// A request that fails compares it with the number from before it began. Comparing only what its own call of
    /// ``refresh(_:)`` changes is not enough: another request may have just read the new definition.
    var changes: Int { state.withLock { $0.changes } }

    /// Reads the definition of a table again.
    func refresh(_ name: String) throws {
        try defining.withLock { _ in
            let table = try current(name)
            state.withLock { $0.update(name, to: table) }
        }
    }

    /// Returns the table with the given name as it would be with these columns, without creating anything.
    ///
    /// - Throws: `StoreError` with code `schemaMismatch` for a definition that no store accepts, and for a table that
    ///   would have too many columns or that belongs to the framework.
    func preview(_ name: String, with columns: [ColumnSchema]) throws -> ServedTable {
        try defining.withLock { _ in
            ServedTable(try grown(name, with: columns), revision: table(name)?.revision ?? 0)
        }
    }

    /// Returns the table with the given name and these columns; a missing table or missing columns are created.
    ///
    /// - Throws: The errors of ``LocalStore/define(_:)`` and of ``preview(_:with:)``.
    func table(_ name: String, with columns: [ColumnSchema]) throws -> ServedTable {
        try defining.withLock { _ in
            let schema = try grown(name, with: columns)
            if let table = table(name), table.schema == schema { return table }
            try store.define([schema])
            try complete([schema])
            guard let table = try current(name) else {
                throw StoreError(.noSuchTable, "the table is missing", table: name)
            }
            state.withLock { $0.update(name, to: table) }
            return table
        }
    }

    // MARK: Definitions

    /// Returns a served table as the store has it now, or `nil` if there is none with this name.
    private func current(_ name: String) throws -> ServedTable? {
        for _ in 0..<Self.maximumRounds {
            guard let stored = try store.appTables().first(where: { $0.name == name }),
                ServedSchemas.isServed(stored)
            else { return nil }
            // Records are found by the bytes of their names.
            let name = stored.name
            let (schema, definition, revision) = try store.read { reader in
                (
                    try reader.schema(of: name), try ServedTableRecord.definition(of: name, in: reader, rules),
                    try ServedTableRecord(of: name, in: reader).revision
                )
            }
            guard let definition, definition != schema else { return ServedTable(schema, revision: revision) }
            // A service ended, or is about to add its columns, after it had hidden those of another.
            try store.define([definition])
            try complete([definition])
        }
        throw Self.changing(name)
    }

    /// Records definitions that the store has, and defines the tables again until nothing that any service has recorded
    /// is missing.
    private func complete(_ definitions: [TableSchema]) throws {
        guard !definitions.isEmpty else { return }
        for _ in 0..<Self.maximumRounds {
            let isComplete = try store.read { reader in
                try definitions.allSatisfy { definition in
                    try ServedTableRecord.isComplete(definition, in: reader, rules)
                }
            }
            if isComplete { return }
            let lacking = try store.write { writer in
                try definitions.compactMap { try ServedTableRecord.add($0, in: writer, rules) }
            }
            if lacking.isEmpty { return }
            try store.define(lacking)
        }
        throw Self.changing(definitions[0].name)
    }

    private static func changing(_ name: String) -> StoreError {
        StoreError(.busy, "other services keep changing the table; try again", table: name)
    }

    /// Returns the definition of a table with further columns.
    private func grown(_ name: String, with columns: [ColumnSchema]) throws -> TableSchema {
        let (table, count) = state.withLock { ($0.tables[name], $0.tables.count) }
        let existing = try store.tables()
        let stored = existing.first { $0.name == name }
        guard stored != nil || count < maximumTables else {
            throw StoreError(
                .schemaMismatch, "the server has \(count) tables, and requests can add no more", table: name)
        }
        if table == nil, let stored, stored.isSystem || !ServedSchemas.isServed(stored) {
            throw StoreError(.schemaMismatch, "a table with this name exists but is not served", table: name)
        }
        let known = try stored.flatMap { stored in
            try store.read { try ServedTableRecord.definition(of: stored.name, in: $0, rules) }
        }
        let schema = rules.served(known ?? table?.schema ?? TableSchema(name, columns: []), keeping: columns)
        guard schema.columns.count <= maximumColumns else {
            throw StoreError(
                .schemaMismatch, "a table can have at most \(maximumColumns) columns", table: name,
                column: schema.columns.last?.name)
        }
        _ = try TableEvolution.checked([schema], beside: existing.map(\.name))
        return schema
    }
}
