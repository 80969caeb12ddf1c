internal import TidelineStore

extension SyncContext {
    /// Removes columns from a local table, with the indexes over them.
    ///
    /// Drop a column once no version of the app defines it any more: a later ``define(_:)`` that names it adds it again.
    /// - Throws: ``SyncError``: ``SyncError/Code/operationsPending`` while a pending operation would send a value of the
    ///   column; ``SyncError/Code/operationInFlight`` while an operation of the table is on its way;
    ///   ``SyncError/Code/invalidArgument`` for a name that is no column of the app in this table. Nothing is removed
    ///   then.
    public func drop(columns: [String], from table: String) async throws {
        let drop = ColumnDrop(columns: columns, table: table, operations: operations, definitions: definitions)
        try await lock(of: table).withLock {
            try await performing { [self] in try drop.perform(in: $0, inFlight: inFlight) }
        }
    }
}

/// Removes columns for which no operation waits.
struct ColumnDrop: Sendable {
    let columns: [String]
    let table: String
    let operations: OperationStore
    let definitions: DefinitionStore

    func perform(in store: some LocalStore, inFlight: Set<Int64>) throws {
        let (schema, pending) = try store.read { reader in
            let pending = try pendingOperations(in: reader)
            guard inFlight.isDisjoint(with: pending.map(\.id)) else {
                throw SyncError(
                    .operationInFlight, "an operation is on its way to the server; drop the column when the push ends",
                    table: table, column: columns.first)
            }
            let schema = try reader.schema(of: table)
            for column in columns { try check(column, pending, schema, in: reader) }
            return (schema, pending)
        }
        try store.define([schema.removing(columns: columns)])
        let isUnchanged = try store.write { writer in
            guard try revisions(pendingOperations(in: writer)) == revisions(pending) else { return false }
            try definitions.forget(columns: columns, of: table, in: writer)
            return true
        }
        guard !isUnchanged else { return }
        try store.define([schema])
        throw SyncError(
            .operationsPending, "another process changed rows of the table meanwhile; try again", table: table,
            column: columns.first)
    }

    private func pendingOperations(in reader: some StoreReader) throws -> [TableOperation] {
        let query = Query(operations.tables.operations).filter(.column("table") == .value(table)).order(by: "id")
        return try operations.operations(matching: query, in: reader)
    }

    private func revisions(_ pending: [TableOperation]) -> [[Int64]] { pending.map { [$0.id, $0.revision] } }

    private func check(
        _ column: String, _ pending: [TableOperation], _ schema: TableSchema, in reader: some StoreReader
    ) throws {
        guard schema.columns.contains(where: { $0.name.isSameBytes(as: column) }) else {
            throw SyncError(
                .invalidArgument, "the table has no column of this name that could be dropped", table: table,
                column: column)
        }
        let codec = RowCodec(schema: schema)
        for operation in pending where try sends(column, operation, codec, in: reader) {
            throw SyncError(
                .operationsPending, "the pending \(operation.kind) has a value in this column; push before you drop it",
                table: table, column: column, id: operation.itemID)
        }
    }

    /// Whether an operation would send the column, or may have sent it.
    private func sends(
        _ column: String, _ operation: TableOperation, _ codec: RowCodec, in reader: some StoreReader
    ) throws -> Bool {
        if try operation.sent.contains(where: { try codec.row($0)[column] != nil }) { return true }
        guard operation.kind != .delete, let row = try reader.row(in: table, id: operation.itemID) else { return false }
        let base = try operation.base.map(codec.row)
        return (row[column] ?? .null) != (base?[column] ?? .null)
    }
}
