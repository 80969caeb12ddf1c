internal import TidelineStore

/// Removes columns that no pending operation uses.
struct ColumnDrop: Sendable {
    let columns: [String]
    let table: String
    let operations: OperationStore
    let definitions: DefinitionStore

    /// Removes the columns from what the store holds in the transaction, with the columns and operations of all
    /// processes.
    ///
    /// - Parameter requireNotInFlight: A closure that throws if one of the operations is in flight.
    func perform<Store: LocalStore>(
        in store: Store, requireNotInFlight: ([TableOperation], Store.Writer) throws -> Void
    ) throws {
        try store.redefine { writer in
            let pending = try operations.operations(of: table, in: writer)
            try requireNotInFlight(pending, writer)
            let schema = try writer.schema(of: table)
            for column in columns { try check(column, pending, schema, in: writer) }
            try definitions.forget(columns: columns, of: table, in: writer)
            try forgetExtra(schema, in: writer)
            try ConfigTable(operations.tables).noteDroppedColumns(of: table, in: writer)
            return [schema.removing(columns: columns)]
        }
    }

    /// Marks the server's further columns of all rows as not known. The dropped columns are among them now.
    private func forgetExtra(_ schema: TableSchema, in writer: some StoreWriter) throws {
        guard schema.systemColumns.contains(.extra) else { return }
        var ids: [RowID] = []
        try writer.scan(TableQuery(table)) { view in
            if view["__extra"]?.isNull == false { ids.append(view.id) }
            return .next
        }
        try writer.upsert(ids.map { Row(id: $0, distinctColumns: [("__extra", .null)]) }, into: table)
    }

    private func check(
        _ column: String, _ pending: [TableOperation], _ schema: TableSchema, in reader: some StoreReader
    ) throws {
        guard schema.columns.contains(where: { $0.name == column }) else {
            throw SyncError(
                .invalidArgument, "the table has no app column with this name", table: table,
                column: column)
        }
        let codec = RowCodec(schema: schema)
        for operation in pending where try sends(column, operation, codec, in: reader) {
            throw SyncError(
                .operationsPending, "the pending \(operation.kind) has a value in this column; push before dropping it",
                table: table, column: column, id: operation.itemID)
        }
    }

    /// Returns whether an operation would send the column, or may have sent it.
    private func sends(
        _ column: String, _ operation: TableOperation, _ codec: RowCodec, in reader: some StoreReader
    ) throws -> Bool {
        if try operation.sent.contains(where: { try codec.row($0)[column] != nil }) { return true }
        guard operation.kind != .delete, let row = try reader.row(in: table, id: operation.itemID) else { return false }
        let base = try (operation.localBase ?? operation.base).map(codec.row)
        return (row[column] ?? .null) != (base?[column] ?? .null)
    }
}
