internal import TidelineStore
internal import TidelineWire

/// Stores the definitions of synchronized tables, which only grow.
///
/// For each table, the config table records the union of all definitions by any client of the store. One more record
/// has the references of all tables, which each push reads.
///
/// A store's `define` hides the columns that a definition does not name, so each change of a definition is derived from
/// what the store holds in the transaction that applies it (`LocalStore.redefine(_:)`): other processes may have added
/// columns since it was last read. A store that cannot do both in one transaction is checked again afterwards.
struct DefinitionStore: Sendable {
    let tables: SystemTables

    private static let referencesID = "references"
    /// The maximum number of retries while other processes change the tables.
    private static let maximumRounds = 100

    private var config: ConfigTable { ConfigTable(tables) }

    /// Returns a definition adapted to that of the existing table.
    typealias Evolution =
        @Sendable (_ schema: TableSchema, _ earlier: TableSchema, _ reader: any StoreReader) throws -> TableSchema

    /// Defines tables in addition to all earlier definitions. Writes nothing if nothing changes.
    ///
    /// - Parameter check: Throws if the definitions, with everything that was defined earlier, are not accepted.
    func define(
        _ schemas: [TableSchema], in store: some LocalStore, evolving evolve: Evolution = { schema, _, _ in schema },
        check: (_ unions: [TableSchema]) throws -> Void = { _ in }
    ) throws {
        for _ in 0..<Self.maximumRounds {
            // No table is ever removed.
            let stored = try store.tables()
            let known = stored.filter { !$0.isSystem }.map(\.name)
            let given = try TableEvolution.checked(schemas, beside: stored.map(\.name))
            let before = try store.read { try State(given, known: known, self, evolve, in: $0) }
            try check(before.unions)
            if before.isComplete { return }
            try store.redefine { writer in
                let state = try State(given, known: known, self, evolve, in: writer)
                try check(state.unions)
                for union in state.unrecorded { try save(union, in: writer) }
                if !state.isGraphComplete { try recordReferences(of: state.unions, in: writer) }
                return state.lacking
            }
        }
        throw StoreError(.busy, "other processes keep changing the tables; try again", table: schemas.first?.name)
    }

    /// Defines the system tables, and keeps columns that a later version has added to them.
    ///
    /// - Throws: ``StoreError/Code/schemaMismatch`` for a server's store; any error of the store's `define`.
    func defineSystemTables(in store: some LocalStore) throws {
        try StoreRole.requireClient(store.tables())
        if try store.read({ try lackingSystemTables(in: $0) }).isEmpty { return }
        try store.redefine { try lackingSystemTables(in: $0) }
    }

    private func lackingSystemTables(in reader: some StoreReader) throws -> [TableSchema] {
        try tables.schemas.compactMap { schema in
            guard let existing = try reader.schemaIfDefined(of: schema.name), existing.isSystem else { return schema }
            let union = try existing.union(schema)
            return union == existing ? nil : union
        }
    }

    /// The remaining work until the store has all columns and indexes that were ever defined.
    private struct State {
        /// The definitions that are incomplete in the store.
        var lacking: [TableSchema] = []
        /// The definitions that are incomplete in the record.
        var unrecorded: [TableSchema] = []
        /// The definitions with everything that was ever defined.
        var unions: [TableSchema] = []
        /// Whether the references of the definitions are recorded.
        var isGraphComplete = true

        var isComplete: Bool { lacking.isEmpty && unrecorded.isEmpty && isGraphComplete }

        /// - Parameter known: The names of tables that were stored earlier.
        /// - Throws: ``SyncError`` for a reference to a table that is not defined, or that completes a cycle.
        init(
            _ given: [TableSchema], known: [String], _ definitions: DefinitionStore, _ evolve: Evolution,
            in reader: some StoreReader
        ) throws {
            let references = try definitions.references(in: reader)
            var names = known
            for name in try definitions.tableNames(in: reader) + given.map(\.name) where !names.contains(name) {
                names.append(name)
            }
            for given in given {
                let stored = try reader.schemaIfDefined(of: given.name)
                let schema = try stored.map { try evolve(given, $0, reader) } ?? given
                let recorded = try definitions.recorded(of: schema.name, in: reader)
                var union = try stored?.union(schema) ?? schema
                if let recorded { union = try union.union(recorded) }
                if union != stored { lacking.append(union) }
                if try recorded?.includes(union) != true { unrecorded.append(union) }
                if !union.references.isEmpty, references?.includes(union) != true { isGraphComplete = false }
                unions.append(union)
            }
            try checkReferences(among: names, in: reader)
        }

        /// Throws if a reference of the definitions is to a table that is not defined, or completes a cycle.
        ///
        /// - Parameter names: The names of all tables besides the system tables.
        private func checkReferences(among names: [String], in reader: some StoreReader) throws {
            guard unions.contains(where: { !$0.references.isEmpty }) else { return }
            let others = names.filter { name in !unions.contains { $0.name == name } }
            var graph = ReferenceGraph()
            for schema in unions { graph.add(schema) }
            for name in others { if let schema = try reader.schemaIfDefined(of: name) { graph.add(schema) } }
            try graph.check(among: names)
        }
    }

    /// Returns the names of all tables that were ever defined as synchronized.
    func tableNames(in reader: some StoreReader) throws -> [String] {
        try reader.rows(matching: config.query(.definition).order(by: "table")).rows.compactMap { $0["table"]?.string }
    }

    /// Removes columns from the record.
    func forget(columns: [String], of table: String, in writer: some StoreWriter) throws {
        if let schema = try recorded(of: table, in: writer) {
            try save(schema.removing(columns: columns), in: writer)
        }
        if var graph = try references(in: writer), !graph.references(of: table).isEmpty {
            graph.remove(columns: columns, of: table)
            try save(graph, in: writer)
        }
    }

    /// Removes indexes from the record.
    func forget(indexes: [IndexSchema], of table: String, in writer: some StoreWriter) throws {
        guard var schema = try recorded(of: table, in: writer) else { return }
        schema.indexes.removeAll { indexes.contains($0) }
        try save(schema, in: writer)
    }

    /// Returns the references between all tables, or `nil` if none was ever defined.
    func references(in reader: some StoreReader) throws -> ReferenceGraph? {
        try config.value(of: Self.referencesID, in: reader).map { try RecordJSON.decode(from: $0) }
    }

    // MARK: The record

    private func recordReferences(of schemas: [TableSchema], in writer: some StoreWriter) throws {
        var graph = try references(in: writer) ?? ReferenceGraph()
        for schema in schemas { graph.add(schema) }
        try save(graph, in: writer)
    }

    private func save(_ graph: ReferenceGraph, in writer: some StoreWriter) throws {
        try config.set(RecordJSON.encode(graph), of: Self.referencesID, .references, in: writer)
    }

    fileprivate func recorded(of table: String, in reader: some StoreReader) throws -> TableSchema? {
        try config.value(of: rowID(of: table), in: reader).map { try RecordJSON.decode(from: $0) }
    }

    private func save(_ schema: TableSchema, in writer: some StoreWriter) throws {
        try config.set(
            RecordJSON.encode(schema), of: rowID(of: schema.name), .definition, table: schema.name, key: "definition",
            in: writer)
    }

    private func rowID(of table: String) -> String { "definition \(table)" }
}

extension TableSchema {
    /// A short text that changes when a column is added, is removed, or becomes optional. It is the same in every
    /// process.
    var columnFingerprint: String {
        let columns = allColumns.sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
        return String(columns.flatMap { Array($0.name.utf8) + [$0.isOptional ? 0 : 1] }.stableHash, radix: 16)
    }
}
