internal import TidelineStore

/// Writes what came of an operation that was in flight, within one transaction.
struct PushOutcomes: Sendable {
    let operations: OperationStore
    let errors: ErrorStore
    let codec: RowCodec

    private var schema: TableSchema { codec.schema }

    /// The server has carried the operation out.
    ///
    /// - Parameters:
    ///   - sent: The operation as it was when its request was made.
    ///   - snapshot: The local row as it was then.
    ///   - server: The row in the answer; nil for a delete, and where the delegate returned none.
    func succeed(_ sent: TableOperation, snapshot: Row?, server: Row?, in writer: some StoreWriter) throws {
        guard let current = try operations.operation(sent.id, in: writer) else { return }
        let waiting = try waitingOperation(behind: sent, in: writer)
        if sent.kind == .delete {
            try succeedDelete(current, sent: sent, waiting: waiting, server: server, in: writer)
        } else if let server {
            try take(over: server, snapshot: snapshot, current: current, sent: sent, waiting: waiting, in: writer)
        } else if var waiting {
            waiting.baseVersion = current.baseVersion
            waiting.base = current.base
            try operations.save(waiting, in: writer)
            try operations.remove(current, in: writer)
        } else if current.revision == sent.revision {
            try operations.remove(current, in: writer)
        }
    }

    private func succeedDelete(
        _ current: TableOperation, sent: TableOperation, waiting: TableOperation?, server: Row?,
        in writer: some StoreWriter
    ) throws {
        if var waiting {
            waiting.baseVersion = server?.version
            waiting.base = nil
            try operations.save(waiting, in: writer)
            try operations.remove(current, in: writer)
        } else if current.revision != sent.revision {
            // Another process restored the row while the delete was on its way.
            try rebase(current, onto: nil, version: server?.version, in: writer)
        } else {
            try operations.remove(current, in: writer)
            // A pull saw the row while the delete was on its way: it was brought back. Else a tombstone will follow.
            if let pulled = try current.pulled.map(codec.row), current.pulled != sent.pulled,
                pulled["deleted"]?.bool != true
            {
                try writer.upsert(pulled.fitted(to: schema, id: sent.itemID), into: schema.name)
            }
        }
    }

    private func take(
        over answer: Row, snapshot: Row?, current: TableOperation, sent: TableOperation, waiting: TableOperation?,
        in writer: some StoreWriter
    ) throws {
        let local = try writer.row(in: schema.name, id: sent.itemID)
        // A row that the delegate made up may name a few columns only.
        let server = try newest(snapshot?.merging(answer) ?? answer, current.pulled)
        var merged = server
        if let local, let snapshot {
            merged = RowMerge.merge(local: local, sent: snapshot, server: server, columns: codec.appColumns)
        }
        let isEdited = !codec.differingColumns(merged, server).isEmpty
        if var waiting {
            waiting.baseVersion = server.version
            waiting.base = codec.json(server)
            try operations.save(waiting, in: writer)
            try operations.remove(current, in: writer)
        } else if current.revision != sent.revision || isEdited {
            // Another process edited the row while the request was on its way.
            try rebase(current, onto: server, version: server.version, in: writer)
        } else {
            try operations.remove(current, in: writer)
            if server["deleted"]?.bool == true {
                try writer.delete(id: sent.itemID, from: schema.name)
                return
            }
        }
        guard (waiting ?? current).kind != .delete else { return }
        try writer.upsert(merged.fitted(to: schema, id: sent.itemID), into: schema.name)
    }

    /// The row in an answer, or a later one that a pull brought while the answer was on its way.
    private func newest(_ answer: Row, _ pulled: String?) throws -> Row {
        guard let pulled = try pulled.map(codec.row), let pulledAt = pulled["updatedAt"]?.timestamp,
            let answeredAt = answer["updatedAt"]?.timestamp, pulledAt > answeredAt
        else { return answer }
        return pulled
    }

    /// The operation goes on from what the server has now.
    private func rebase(
        _ operation: TableOperation, onto server: Row?, version: String?, in writer: some StoreWriter
    ) throws {
        var operation = operation
        if operation.kind == .insert { operation.kind = .update }
        operation.base = server.map(codec.json)
        operation.pulled = nil
        operation.baseVersion = version
        operation.attempts = 0
        operation.sent = []
        operation.lastError = nil
        operation.revision += 1
        try operations.save(operation, in: writer)
        try operations.removeError(of: operation.id, in: writer)
    }

    /// The operation stays in the queue, joined with one that came behind it meanwhile.
    ///
    /// - Parameter failure: Why, kept with the operation; nil when the push was aborted and nothing is known of it.
    /// - Returns: The error record, nil when there is none or the operation is gone.
    func fail(
        _ sent: TableOperation, _ failure: OperationFailure?, in writer: some StoreWriter
    ) throws -> OperationErrorRecord? {
        guard var current = try operations.operation(sent.id, in: writer) else { return nil }
        if let waiting = try waitingOperation(behind: sent, in: writer) {
            guard try join(&current, with: waiting, in: writer) else { return nil }
        }
        guard let failure else {
            try operations.save(current, in: writer)
            return nil
        }
        current.lastError = failure.message
        // The server's row shows none of what was sent. Were it kept, the same values written by another client would
        // later be taken for an own write.
        if failure.code == .conflict, failure.serverItem != nil { current.sent = [] }
        try operations.save(current, in: writer)
        let item = try current.deletedItem.map(codec.row) ?? writer.row(in: schema.name, id: current.itemID)
        let record = OperationErrorRecord(
            operationID: current.id, table: current.table, itemID: current.itemID, kind: current.kind,
            revision: current.revision, failure: failure, item: item)
        try errors.save(record, codec: codec, in: writer)
        return record
    }

    /// Joins an operation with one behind it that a push left there when its process ended.
    ///
    /// - Returns: Whether there is still something to send.
    func joinLeftBehind(_ current: inout TableOperation, in writer: some StoreWriter) throws -> Bool {
        guard let waiting = try waitingOperation(behind: current, in: writer) else { return true }
        guard try join(&current, with: waiting, in: writer) else { return false }
        try operations.save(current, in: writer)
        try operations.removeError(of: current.id, in: writer)
        return true
    }

    /// Joins an operation that is no longer in flight with the one behind it; false when both are gone.
    private func join(
        _ current: inout TableOperation, with waiting: TableOperation, in writer: some StoreWriter
    ) throws -> Bool {
        let change: OperationKind = waiting.restores ? .insert : waiting.kind
        try operations.remove(waiting, in: writer)
        switch OperationCollapse.decide(change, onto: current.state, isStrict: false) {
        case .remove:
            try operations.remove(current, in: writer)
            return false
        case .change(let kind, let restores):
            current.kind = kind
            current.restores = restores
            current.deletedItem = waiting.deletedItem
        case .keep, .ignore, .enqueue, .refuseExisting, .refuseDeleted:
            break
        }
        current.revision += 1
        return true
    }

    private func waitingOperation(behind sent: TableOperation, in reader: some StoreReader) throws -> TableOperation? {
        try operations.operations(of: sent.table, key: sent.itemKey, in: reader).last { $0.id > sent.id }
    }
}
