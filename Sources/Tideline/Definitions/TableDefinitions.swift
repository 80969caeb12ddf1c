internal import TidelineStore

/// Defines the synchronized tables of a store, and removes columns and indexes.
struct TableDefinitions<Store: LocalStore>: Sendable {
    let queue: OperationQueue<Store>
    let definitions: DefinitionStore

    private var database: SyncDatabase<Store> { queue.database }
    private var operations: OperationStore { queue.operations }

    /// Defines tables in addition to all earlier definitions; see ``SyncClient/define(_:)``.
    ///
    /// - Parameters:
    ///   - keepsExtra: Whether rows keep the server's columns that a table does not define.
    ///   - check: Throws if the definitions, with everything that was defined earlier, are not accepted.
    nonisolated(nonsending) func define(
        _ tables: [TableSchema], keepsExtra: Bool, evolving evolve: @escaping DefinitionStore.Evolution,
        check: @escaping @Sendable (_ unions: [TableSchema]) throws -> Void
    ) async throws {
        for table in tables {
            try RowInput.checkName(table.name)
            try table.checkReferences()
            guard table.idType == .string, table.systemColumns.isSuperset(of: [.updatedAt, .version]),
                !table.systemColumns.contains(.deleted)
            else {
                throw SyncError(
                    .invalidArgument,
                    "a synchronized table needs string ids and the system columns updatedAt and version, "
                        + "but not deleted",
                    table: table.name)
            }
        }
        var tables = tables
        if keepsExtra { for index in tables.indices { tables[index].systemColumns.insert(.extra) } }
        try await database.performing { [definitions, tables] store in
            try definitions.define(tables, in: store, evolving: evolve, check: check)
        }
    }

    // MARK: Columns

    /// See ``SyncClient/drop(columns:from:)``.
    nonisolated(nonsending) func drop(columns: [String], from table: String) async throws {
        try await database.retryingAfterPushes {
            try await database.lock(of: table).withLock {
                try await database.performing { store in
                    try store.redefine { writer in [try remove(columns, from: table, in: writer)] }
                }
            }
        }
    }

    /// Returns the definition without columns that no pending operation uses, and removes them from the record.
    ///
    /// The columns and operations are those that the store holds in the transaction, of all processes.
    private func remove(_ columns: [String], from table: String, in writer: some StoreWriter) throws -> TableSchema {
        let pending = try operations.operations(of: table, in: writer)
        try queue.requireNotInFlight(pending, table: table, in: writer)
        let schema = try writer.schema(of: table)
        for column in columns { try requireUnused(column, pending, schema, in: writer) }
        try definitions.forget(columns: columns, of: table, in: writer)
        try forgetExtra(schema, in: writer)
        try ConfigTable(operations.tables).noteDroppedColumns(of: table, in: writer)
        return schema.removing(columns: columns)
    }

    /// Marks the server's further columns of all rows as not known. The dropped columns are among them now.
    private func forgetExtra(_ schema: TableSchema, in writer: some StoreWriter) throws {
        guard schema.systemColumns.contains(.extra) else { return }
        var ids: [RowID] = []
        try writer.scan(TableQuery(schema.name)) { view in
            if view["__extra"]?.isNull == false { ids.append(view.id) }
            return .next
        }
        try writer.upsert(ids.map { Row(id: $0, distinctColumns: [("__extra", .null)]) }, into: schema.name)
    }

    private func requireUnused(
        _ column: String, _ pending: [TableOperation], _ schema: TableSchema, in reader: some StoreReader
    ) throws {
        guard schema.columns.contains(where: { $0.name == column }) else {
            throw SyncError(
                .invalidArgument, "the table has no app column with this name", table: schema.name, column: column)
        }
        let codec = RowCodec(schema: schema)
        for operation in pending where try sends(column, operation, codec, in: reader) {
            throw SyncError(
                .operationsPending, "the pending \(operation.kind) has a value in this column; push before dropping it",
                table: schema.name, column: column, id: operation.itemID)
        }
    }

    /// Returns whether an operation would send the column, or may have sent it.
    private func sends(
        _ column: String, _ operation: TableOperation, _ codec: RowCodec, in reader: some StoreReader
    ) throws -> Bool {
        if try operation.sent.contains(where: { try codec.row($0)[column] != nil }) { return true }
        guard operation.kind != .delete, let row = try reader.row(in: operation.table, id: operation.itemID) else {
            return false
        }
        let base = try (operation.localBase ?? operation.base).map(codec.row)
        return (row[column] ?? .null) != (base?[column] ?? .null)
    }

    // MARK: Indexes

    /// See ``SyncClient/drop(indexes:from:)``.
    nonisolated(nonsending) func drop(indexes: [IndexSchema], from table: String) async throws {
        try await database.lock(of: table).withLock {
            try await database.performing { [definitions] store in
                try store.redefine { writer in
                    var schema = try writer.schema(of: table)
                    for index in indexes {
                        guard schema.indexes.contains(index) else {
                            throw SyncError(
                                .invalidArgument,
                                "the table has no index on \(index.columns.joined(separator: ", "))", table: table)
                        }
                    }
                    schema.indexes.removeAll { indexes.contains($0) }
                    try definitions.forget(indexes: indexes, of: table, in: writer)
                    return [schema]
                }
            }
        }
    }
}
