internal import Synchronization
internal import TidelineStore
internal import TidelineWire

/// A table that is served: its definition, and the reader of its rows' JSON made from it.
struct ServedTable: Sendable {
    let schema: TableSchema
    let parser: PageParser

    init(_ schema: TableSchema) {
        self.schema = schema
        parser = PageParser(schema: schema)
    }
}

/// The tables that are served, and how they grow.
///
/// The lock is held while the store defines a table, so that of two rows with different new columns neither's columns
/// are lost. No transaction's body takes it, so that waiting for it never waits for itself.
final class TableCatalog<Store: LocalStore>: Sendable {
    private let store: Store
    private let tables: Mutex<[String: ServedTable]>

    /// Beyond this a table does not grow: names come from outside and are kept for ever.
    private static var maximumColumns: Int { 1_000 }

    /// Defines the tables in addition to what the store has of them: a column that was ever served stays.
    init(store: Store, schemas: [TableSchema]) throws {
        self.store = store
        let existing = try store.tables()
        try StoreRole.requireServer(existing)
        let definitions = try schemas.map { schema in
            guard schema.idType == .string else {
                throw StoreError(
                    .schemaMismatch, "ids are text in the table protocol", table: schema.name, column: "id")
            }
            let stored = existing.first { $0.name.isSameBytes(as: schema.name) && !$0.isSystem }
            return Self.served(try stored?.union(schema) ?? schema, keeping: [])
        }
        try store.define(definitions + [StoreRole.serverMark])
        let served = try store.appTables().filter { $0.systemColumns == .all && $0.idType == .string }
        tables = Mutex(Dictionary(served.map { ($0.name, ServedTable($0)) }, uniquingKeysWith: { first, _ in first }))
    }

    /// The table of that name, nil when it is not served.
    func table(_ name: String) -> ServedTable? { tables.withLock { $0[name] } }

    /// The table of that name as it would be with these columns; nothing is made.
    ///
    /// - Throws: `StoreError` with code `schemaMismatch` for a definition that no store takes, a table that would have
    ///   too many columns or that belongs to the framework.
    func preview(_ name: String, with columns: [ColumnSchema]) throws -> ServedTable {
        try tables.withLock { ServedTable(try grown($0[name], name, with: columns)) }
    }

    /// The table of that name with these columns; the table or the columns are made where they do not exist.
    ///
    /// - Throws: What ``LocalStore/define(_:)`` throws, and as ``preview(_:with:)``.
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
            throw StoreError(.schemaMismatch, "a table of this name exists and is not served", table: name)
        }
        let known = table?.schema ?? TableSchema(name, columns: [])
        let stored = try store.appTables().first { $0.name.isSameBytes(as: name) }
        let schema = Self.served(try stored?.union(known) ?? known, keeping: columns)
        guard schema.columns.count <= Self.maximumColumns else {
            throw StoreError(
                .schemaMismatch, "a table may have \(Self.maximumColumns) columns", table: name,
                column: schema.columns.last?.name)
        }
        try schema.validate()
        return schema
    }

    /// The definition with further columns, all system columns, and the index by which clients pull.
    private static func served(_ schema: TableSchema, keeping columns: [ColumnSchema]) -> TableSchema {
        var served = schema
        // By bytes, as rows find their columns: a set of strings would hold canonically equivalent names to be one.
        let shape = schema.makeShape()
        served.columns += columns.filter { shape.index(of: $0.name) == nil }
        served.systemColumns = .all
        if !served.indexes.contains(where: { $0.columns.first == "updatedAt" }) {
            served.indexes.append(["updatedAt"])
        }
        return served
    }
}
