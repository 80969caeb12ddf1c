internal import TidelineStore

/// Resolves one failed operation in one transaction, provided that the operation has not changed since it failed.
struct ConflictResolution: Sendable {
    let operations: OperationStore
    let schema: TableSchema
    /// The operations that are in flight.
    let inFlight: Set<Int64>

    private var codec: RowCodec { RowCodec(schema: schema) }

    /// Resolves an error, unless its operation has changed since.
    func apply(_ resolution: OperationResolution, to error: OperationErrorRecord, in writer: some StoreWriter) throws {
        try apply(resolution, to: unchangedOperation(of: error, in: writer), error, in: writer)
    }

    /// Resolves the error of an operation.
    func apply(
        _ resolution: OperationResolution, to operation: TableOperation, _ error: OperationErrorRecord,
        in writer: some StoreWriter
    ) throws {
        var operation = operation
        switch resolution {
        case .discard:
            try discard(operation, error: error, in: writer)
        case .update(let item):
            try operations.remove(operation, in: writer)
            try storeNewest(stamped(item, operation, error), error, pulled: operation.pulled, in: writer)
        case .keep(let item):
            let failed = operation
            try rebase(&operation, onto: item, error: error)
            // The server cannot insert a row that it already has, or update a row that it no longer has.
            if operation.kind == .insert, error.failure.serverItem != nil { operation.kind = .update }
            operation.restores = operation.kind == .update && (operation.restores || error.isRowGone)
            try store(operation, item: stamped(item, failed, error), in: writer)
        case .modify(let kind, let item):
            try modify(&operation, to: kind, item: item, error: error, in: writer)
        }
    }

    /// Returns the operation if it has not changed since the error occurred; otherwise throws.
    private func unchangedOperation(
        of error: OperationErrorRecord, in reader: some StoreReader
    ) throws -> TableOperation {
        let pending = try operations.operations(
            of: schema.name, key: schema.itemKey(error.itemID), in: reader)
        guard let operation = pending.first, pending.count == 1, operation.id == error.operationID,
            operation.revision == error.revision, !inFlight.contains(operation.id)
        else {
            throw SyncError(
                .operationChanged, "the row was edited or pushed after the error occurred; nothing was changed",
                table: error.table, id: error.itemID)
        }
        return operation
    }

    private func discard(
        _ operation: TableOperation, error: OperationErrorRecord, in writer: some StoreWriter
    ) throws {
        try operations.remove(operation, in: writer)
        let base = try error.isRowGone ? nil : (operation.localBase ?? operation.base).map(codec.row)
        // A pull after the failure received a newer row than the response to the push.
        let known = try operation.pulled.map(codec.row) ?? error.failure.serverItem ?? base
        // If the newest row does not fit the table, an older one that does is stored.
        let candidates = known?.isTombstone == true ? [] : [known, base].compactMap(\.self)
        if let row = candidates.first(where: { !$0.isTombstone && codec.fits($0) }) {
            try codec.replace(operation.itemID, by: row, in: writer)
        } else {
            try writer.delete(id: operation.itemID, from: schema.name)
            // A service that does not show a row, without saying that it was deleted, may show it again as it was.
            if error.isRowGone, known == nil, operation.kind != .delete {
                try ConfigTable(operations.tables).noteHidden(operation.itemID, of: schema.name, in: writer)
            }
        }
    }

    /// Rebases the operation onto the version of the server's row.
    ///
    /// The version of the item is used instead if it differs from the server's, the failed, and the local version: the
    /// caller has then read a newer row from the server.
    private func rebase(_ operation: inout TableOperation, onto item: Row?, error: OperationErrorRecord) throws {
        operation.revision += 1
        operation.lastError = nil
        let failed = operation.baseVersion
        let isKnown = item?.version == failed || item?.version == error.item?.version
        let given = isKnown ? nil : item?.version
        operation.baseVersion = given ?? error.failure.serverItem?.version ?? failed
        if let server = error.failure.serverItem {
            operation.base = operation.baseVersion == server.version ? server.json : nil
            operation.sent = []
        } else if operation.baseVersion != failed {
            operation.base = nil
        }
    }

    /// Returns the item with the server's system columns, unless the item has a version other than the failed or local
    /// one.
    private func stamped(_ item: Row, _ operation: TableOperation, _ error: OperationErrorRecord) -> Row {
        guard let server = error.failure.serverItem, !server.isTombstone,
            [nil, operation.baseVersion, error.item?.version].contains(item.version)
        else { return item }
        return item.merging(server.filteringColumns { SystemColumns.names.contains($0) })
    }

    private func modify(
        _ operation: inout TableOperation, to kind: OperationKind, item: Row?, error: OperationErrorRecord,
        in writer: some StoreWriter
    ) throws {
        let content = try item ?? writer.row(in: schema.name, id: operation.itemID) ?? error.item
        operation.kind = kind
        operation.restores = kind != .delete && error.isRowGone
        try rebase(&operation, onto: item, error: error)
        switch kind {
        case .insert:
            operation.baseVersion = nil
            operation.base = nil
            operation.deletedItem = nil
        case .update:
            operation.deletedItem = nil
        case .delete:
            operation.deletedItem = content.map(\.json)
            try operations.save(operation, in: writer)
            try operations.removeError(of: operation.id, in: writer)
            try writer.delete(id: operation.itemID, from: schema.name)
            return
        }
        guard let content else {
            throw SyncError(
                .noSuchRow, "the row to \(kind) is not stored; pass the item", table: schema.name, id: operation.itemID)
        }
        try store(operation, item: content, in: writer)
    }

    private func store(_ operation: TableOperation, item: Row, in writer: some StoreWriter) throws {
        var operation = operation
        if operation.kind == .delete {
            let kept = try operation.deletedItem.map(codec.row) ?? Row()
            operation.deletedItem = kept.merging(item).json
        } else {
            try writer.upsert(item.fitted(to: schema, id: operation.itemID), into: schema.name)
        }
        try operations.save(operation, in: writer)
        try operations.removeError(of: operation.id, in: writer)
    }

    /// Stores the item, or the row from a pull after the failure, unless the caller has read a newer one.
    ///
    /// The result is the same as if the pull had come after the resolution, because no later pull returns that row
    /// again. A pulled row that does not fit the table is omitted.
    private func storeNewest(
        _ item: Row, _ error: OperationErrorRecord, pulled: String?, in writer: some StoreWriter
    ) throws {
        let id = error.itemID
        let isOfFailure = item.version == error.failure.serverItem?.version
        guard let pulled = try pulled.map(codec.row), pulled.isTombstone || codec.fits(pulled),
            isOfFailure || item.changedAt <= pulled.changedAt
        else {
            return try writer.upsert(item.fitted(to: schema, id: id), into: schema.name)
        }
        if pulled.version == item.version {
            // Columns that were defined after the item was read have values in the pulled row only.
            let row = pulled.isTombstone ? item : pulled.merging(item)
            return try writer.upsert(row.fitted(to: schema, id: id), into: schema.name)
        }
        if pulled.isTombstone {
            try writer.delete(id: id, from: schema.name)
        } else {
            try codec.replace(id, by: pulled, in: writer)
        }
    }

}

extension Row {
    fileprivate var changedAt: Timestamp { updatedAt ?? .min }
}
