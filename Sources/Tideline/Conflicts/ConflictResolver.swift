internal import TidelineStore

/// Resolves the errors of operations, and restores what policies have decided.
final class ConflictResolver<Store: LocalStore>: OperationResolver {
    private let editor: LocalEditor<Store>
    private let decisions: DecisionStore
    private var queue: OperationQueue<Store> { editor.queue }
    private var database: SyncDatabase<Store> { queue.database }

    init(_ editor: LocalEditor<Store>, decisions: DecisionStore) {
        self.editor = editor
        self.decisions = decisions
    }

    // MARK: Errors

    /// Returns the errors of failed operations that are not resolved yet.
    func errors() async throws -> [TableOperationError] {
        try await queue.failures().map { TableOperationError($0, resolver: self) }
    }

    nonisolated(nonsending) func resolve(
        _ error: TableOperationError, by resolution: OperationResolution
    ) async throws {
        try await database.changing { [self] writer in
            try editor.owners.confirmUser(in: writer)
            let operation = try queue.operations.operation(error.operationID, in: writer)
            guard try !queue.isInFlightElsewhere([operation].compactMap(\.self), in: writer) else {
                throw SyncError(
                    .operationInFlight,
                    "another process has the operation in flight; nothing was changed; try again after its push ends",
                    table: error.table, id: error.itemID)
            }
            guard let schema = try writer.schemaIfDefined(of: error.table) else {
                return try discardUndefined(operation, error, by: resolution, in: writer)
            }
            let resolution = try RowInput.checked(resolution, of: error.itemID, for: schema)
            try ConflictResolution(operations: queue.operations, schema: schema, inFlight: database.clients.inFlight)
                .apply(resolution, to: error.record, in: writer)
            database.clients.recentlyPushed.note(
                table: error.table, itemKey: schema.itemKey(error.itemID), base: error.serverItem?.stamp)
        }
    }

    /// Removes an operation of a table that is no longer defined and therefore has no local row.
    private func discardUndefined(
        _ operation: TableOperation?, _ error: TableOperationError, by resolution: OperationResolution,
        in writer: some StoreWriter
    ) throws {
        guard case .discard = resolution else {
            throw SyncError(
                .invalidArgument, "the table is not defined; define it, or cancel the operation and discard the item",
                table: error.table, id: error.itemID)
        }
        guard let operation, operation.revision == error.record.revision else {
            throw SyncError(
                .operationChanged, "the operation has changed since the error occurred; nothing was changed",
                table: error.table, id: error.itemID)
        }
        try queue.operations.remove(operation, in: writer)
    }

    // MARK: Decisions

    /// Returns the conflicts that policies resolved, newest first; see ``SyncClient/decisions(table:id:)``.
    func decisions(table: String? = nil, id: String? = nil) async throws -> [ConflictDecision] {
        try await database.reading { [decisions] in
            try decisions.decisions(table: table, itemID: id, in: $0)
        }
    }

    /// Restores a side of a conflict as a new edit; see ``SyncClient/restore(_:of:)``.
    nonisolated(nonsending) func restore(
        _ version: ConflictDecision.Version, of decision: ConflictDecision
    ) async throws {
        let (table, id) = (decision.table, decision.itemID)
        try editor.options.requireRowWriting(table: table, id: id)
        let row = decision.row(version)
        guard row != nil || version != .base else {
            throw SyncError(
                .noSuchRow, "the base row of this decision is not known; restore the local or the server row",
                table: table, id: id)
        }
        try await database.changing { [editor, decisions] writer in
            let changes = try editor.changes(of: table, in: writer)
            guard try decisions.contains(decision, in: writer) else {
                throw SyncError(
                    .noSuchRow, "the decision is not recorded any more, so it cannot be restored", table: table, id: id)
            }
            let isStored = try RowInput.isStored(id, of: changes.schema, in: writer)
            guard let row, !row.isTombstone else {
                if isStored { try changes.delete(Row(id: .string(id)), in: writer) }
                return
            }
            let columns = changes.schema.columns
            let edit = row.filteringColumns { name in
                columns.contains { $0.name == name && ($0.isOptional || row[name]?.isNull == false) }
            }
            if isStored {
                try changes.update(edit, overwriting: true, in: writer)
            } else {
                _ = try changes.insert(edit, in: writer)
            }
        }
    }
}
