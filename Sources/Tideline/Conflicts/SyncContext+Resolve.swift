internal import TidelineStore

extension SyncContext: OperationResolver {
    nonisolated(nonsending) func resolve(
        _ error: TableOperationError, by resolution: OperationResolution
    ) async throws {
        try await changing { [self] writer in
            try owners.confirmUser(in: writer)
            let operation = try operations.operation(error.operationID, in: writer)
            guard try !isInFlightElsewhere([operation].compactMap(\.self), in: writer) else {
                throw SyncError(
                    .operationInFlight,
                    "another process has the operation in flight; nothing was changed; try again after its push ends",
                    table: error.table, id: error.itemID)
            }
            guard let schema = try writer.schemaIfDefined(of: error.table) else {
                return try discardUndefined(error, by: resolution, in: writer)
            }
            let resolution = try RowInput.checked(resolution, of: error.itemID, for: schema)
            try ConflictResolution(operations: operations, schema: schema, inFlight: clients.inFlight)
                .apply(resolution, to: error.record, in: writer)
            settled.note(
                table: error.table, itemKey: schema.itemKey(error.itemID), base: error.serverItem?.stamp)
        }
    }

    /// Removes an operation of a table that is no longer defined and therefore has no local row.
    private func discardUndefined(
        _ error: TableOperationError, by resolution: OperationResolution, in writer: Writer
    ) throws {
        guard case .discard = resolution else {
            throw SyncError(
                .invalidArgument, "the table is not defined; define it, or cancel the operation and discard the item",
                table: error.table, id: error.itemID)
        }
        guard let operation = try operations.operation(error.operationID, in: writer),
            operation.revision == error.revision
        else {
            throw SyncError(
                .operationChanged, "the operation has changed since the error occurred; nothing was changed",
                table: error.table,
                id: error.itemID)
        }
        try operations.remove(operation, in: writer)
    }
}
