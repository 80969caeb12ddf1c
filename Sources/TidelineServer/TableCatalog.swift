internal import Synchronization
internal import TidelineStore
internal import TidelineWire

/// A served table: its definition, and the JSON parser for its rows.
struct ServedTable: Sendable {
    let schema: TableSchema
    let parser: PageParser

    init(_ schema: TableSchema) {
        self.schema = schema
        parser = PageParser(schema: schema)
    }
}

/// The served tables, which can gain columns.
///
/// The lock is held while the store defines a table, so that concurrent rows with different new columns do not lose
/// columns. The body of a transaction never takes the lock, so there is no deadlock.
final class TableCatalog<Store: LocalStore>: Sendable {
    private let store: Store
    private let tables: Mutex<[String: ServedTable]>

    /// The maximum number of columns that a table can grow to: clients choose the names, which are kept forever.
    private static var maximumColumns: Int { 1_000 }

    /// Defines the tables in addition to the store's existing definitions: a column that was ever served remains.
    init(store: Store, schemas: [TableSchema]) throws {
        self.store = store
        let existing = try store.tables()
        try StoreRole.requireServer(existing)
        let definitions = try schemas.map { schema in
            guard schema.idType == .string else {
                throw StoreError(
                    .schemaMismatch, "the table protocol requires string ids", table: schema.name, column: "id")
            }
            let stored = existing.first { $0.name.isSameBytes(as: schema.name) && !$0.isSystem }
            return Self.served(try stored?.union(schema) ?? schema, keeping: [])
        }
        try store.define(definitions + [StoreRole.serverMark])
        let served = try store.appTables().filter { $0.systemColumns == .all && $0.idType == .string }
        tables = Mutex(Dictionary(served.map { ($0.name, ServedTable($0)) }, uniquingKeysWith: { first, _ in first }))
    }

    /// Returns the table with the given name, or `nil` if it is not served.
    func table(_ name: String) -> ServedTable? { tables.withLock { $0[name] } }

    /// Returns the table with the given name as it would be with these columns, without creating anything.
    ///
    /// - Throws: `StoreError` with code `schemaMismatch` for a definition that no store accepts, and for a table that
    ///   would have too many columns or that belongs to the framework.
    func preview(_ name: String, with columns: [ColumnSchema]) throws -> ServedTable {
        try tables.withLock { ServedTable(try grown($0[name], name, with: columns)) }
    }

    /// Returns the table with the given name and these columns; a missing table or missing columns are created.
    ///
    /// - Throws: The errors of ``LocalStore/define(_:)`` and of ``preview(_:with:)``.
    func table(_ name: String, with columns: [ColumnSchema]) throws -> ServedTable {
        try tables.withLock { tables in
            let schema = try grown(tables[name], name, with: columns)
            if let table = tables[name], table.schema == schema { return table }
            try store.define([schema])
            let table = ServedTable(schema)
            tables[name] = table
            return table
        }
    }

    private func grown(_ table: ServedTable?, _ name: String, with columns: [ColumnSchema]) throws -> TableSchema {
        if table == nil, try store.tables().contains(where: { $0.name == name }) {
            throw StoreError(.schemaMismatch, "a table with this name exists but is not served", table: name)
        }
        let known = table?.schema ?? TableSchema(name, columns: [])
        let stored = try store.appTables().first { $0.name.isSameBytes(as: name) }
        let schema = Self.served(try stored?.union(known) ?? known, keeping: columns)
        guard schema.columns.count <= Self.maximumColumns else {
            throw StoreError(
                .schemaMismatch, "a table can have at most \(Self.maximumColumns) columns", table: name,
                column: schema.columns.last?.name)
        }
        try schema.validate()
        return schema
    }

    /// Returns the definition with further columns, all system columns, and the index that pulls use.
    private static func served(_ schema: TableSchema, keeping columns: [ColumnSchema]) -> TableSchema {
        var served = schema
        // Compared by bytes, like the columns of rows: a set of strings would treat canonically equivalent names as
        // equal.
        let shape = schema.makeShape()
        served.columns += columns.filter { shape.index(of: $0.name) == nil }
        served.systemColumns = .all
        if !served.indexes.contains(where: { $0.columns.first == "updatedAt" }) {
            served.indexes.append(["updatedAt"])
        }
        return served
    }
}
