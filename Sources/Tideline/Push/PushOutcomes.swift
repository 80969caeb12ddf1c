internal import TidelineStore

/// Writes how an operation that was in flight ended, within one transaction.
struct PushOutcomes: Sendable {
    let operations: OperationStore
    let errors: ErrorStore
    let codec: RowCodec
    let now: @Sendable () -> Timestamp

    init<Store: LocalStore>(_ context: SyncContext<Store>, codec: RowCodec) {
        operations = context.operations
        errors = context.errorStore
        now = context.options.environment.now
        self.codec = codec
    }

    private var schema: TableSchema { codec.schema }

    // MARK: Succeeding

    /// The server has carried the operation out.
    ///
    /// - Parameters:
    ///   - sent: The operation as it was when its request was made, of the kind that was sent.
    ///   - snapshot: The local row as it was then.
    /// - Returns: The error record of a conflict with an edit that was made meanwhile; nil when there is none.
    func succeed(
        _ sent: TableOperation, snapshot: Row?, answer: OperationSender.Result, in writer: some StoreWriter
    ) throws -> OperationErrorRecord? {
        guard let current = try operations.operation(sent.id, in: writer) else { return nil }
        let waiting = try waitingOperation(behind: sent, in: writer)
        if let server = try newest(answer, current) {
            return try apply(
                server, ancestor: answer.ancestor, snapshot: snapshot, current: current, sent: sent, waiting: waiting,
                in: writer)
        }
        if sent.kind == .delete {
            try succeedDelete(current, sent: sent, waiting: waiting, tombstone: answer.tombstone, in: writer)
        } else if var waiting {
            waiting.baseVersion = current.baseVersion
            waiting.base = current.base
            try operations.save(waiting, in: writer)
            try operations.remove(current, in: writer)
        } else if current.revision == sent.revision {
            try operations.remove(current, in: writer)
        }
        return nil
    }

    /// The row in an answer, or a later one that a pull brought: while the answer was on its way, or before, where nothing
    /// was sent.
    private func newest(_ answer: OperationSender.Result, _ current: TableOperation) throws -> Row? {
        guard let pulled = try current.pulled.map(codec.row) else { return answer.row }
        if answer.isUnsent { return codec.completed(pulled) }
        guard let row = answer.row, let pulledAt = pulled.updatedAt, let answeredAt = row.updatedAt,
            pulledAt > answeredAt
        else { return answer.row }
        return codec.completed(pulled)
    }

    private func succeedDelete(
        _ current: TableOperation, sent: TableOperation, waiting: TableOperation?, tombstone: Row?,
        in writer: some StoreWriter
    ) throws {
        if var waiting {
            // A restore that waits brings this very tombstone back, or a row of this content.
            let content = try tombstone ?? deletedRow(of: current, sent)
            waiting.baseVersion = tombstone?.version
            waiting.base = content.map(codec.json)
            try operations.save(waiting, in: writer)
            try operations.remove(current, in: writer)
        } else if current.revision != sent.revision {
            // Another process restored the row while the delete was on its way.
            try rebase(
                current, onto: tombstone ?? deletedRow(of: current, sent), version: tombstone?.version, in: writer)
        } else {
            try operations.remove(current, in: writer)
            // A pull saw the row while the delete was on its way: it was brought back. Else a tombstone will follow.
            if current.pulled != sent.pulled { return try storePulled(of: current, in: writer) }
            if current.kind != .delete { try writer.delete(id: sent.itemID, from: schema.name) }
        }
    }

    /// The content of the row that was deleted, marked so, without a version: that of the tombstone is not known.
    private func deletedRow(of current: TableOperation, _ sent: TableOperation) throws -> Row? {
        guard var row = try (current.base ?? sent.deletedItem).map(codec.row) else { return nil }
        for json in current.sent { row = row.merging(try codec.row(json)) }
        row["version"] = nil
        row["updatedAt"] = nil
        row["deleted"] = true
        return row
    }

    /// The local row takes over the server's row and keeps what was edited since the request left.
    private func apply(
        _ server: Row, ancestor: Row?, snapshot: Row?, current: TableOperation, sent: TableOperation,
        waiting: TableOperation?, in writer: some StoreWriter
    ) throws -> OperationErrorRecord? {
        let local = try writer.row(in: schema.name, id: sent.itemID)
        // Without a snapshot the row was inserted again meanwhile.
        let edits = local.map { codec.changes(of: $0, since: snapshot ?? server) } ?? Row()
        let isDeleted = local == nil && snapshot != nil
        if let ancestor, codec.overlaps(isDeleted ? codec.completed(Row()) : edits, server, ancestor: ancestor) {
            // Others changed on the server what the app has edited or deleted here.
            let failure = OperationFailure(
                .conflict, "the row was changed on the server", status: 409, serverItem: server)
            return try fail(sent, failure, in: writer)
        }
        let merged = server.merging(edits)
        if var waiting {
            waiting.baseVersion = server.version
            waiting.base = codec.json(server)
            try operations.save(waiting, in: writer)
            try operations.remove(current, in: writer)
            if waiting.kind == .delete { return nil }
        } else if current.revision != sent.revision || !codec.changes(of: merged, since: server).isEmpty {
            // Another process edited the row while the request was on its way.
            try rebase(current, onto: server, version: server.version, in: writer)
            if current.kind == .delete { return nil }
        } else {
            try operations.remove(current, in: writer)
            if server.isTombstone {
                try writer.delete(id: sent.itemID, from: schema.name)
                return nil
            }
        }
        try replace(sent.itemID, by: merged, in: writer)
        return nil
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

    // MARK: Failing

    /// The operation stays in the queue, and what came behind it meanwhile is coalesced with it.
    ///
    /// - Returns: The error record, nil when the operation is gone.
    func fail(
        _ sent: TableOperation, _ failure: OperationFailure, in writer: some StoreWriter
    ) throws -> OperationErrorRecord? {
        guard var current = try coalesced(sent, in: writer) else { return nil }
        current.lastError = failure.message
        if failure.code == .conflict, let server = failure.serverItem {
            // What the server's row shows of the operation's own was carried out, and nothing else was.
            let lost = LostRequests(
                codec: codec, base: try current.base.map(codec.row), bodies: try current.sent.map(codec.row))
            current.sent = lost.match(server).map { [codec.json($0.body)] } ?? []
        }
        try operations.save(current, in: writer)
        let item = try current.deletedItem.map(codec.row) ?? writer.row(in: schema.name, id: current.itemID)
        let record = OperationErrorRecord(current, failure: failure, item: item, time: now())
        try errors.save(record, in: writer)
        return record
    }

    /// Nothing is known of what became of the operation: the push ended. It stays in the queue.
    func abandon(_ sent: TableOperation, in writer: some StoreWriter) throws -> OperationErrorRecord? {
        if let current = try coalesced(sent, in: writer) { try operations.save(current, in: writer) }
        return nil
    }

    private func coalesced(_ sent: TableOperation, in writer: some StoreWriter) throws -> TableOperation? {
        guard var current = try operations.operation(sent.id, in: writer) else { return nil }
        guard let waiting = try waitingOperation(behind: sent, in: writer) else { return current }
        return try coalesce(&current, with: waiting, in: writer) ? current : nil
    }

    /// Coalesces an operation with one behind it that a push left there when its process ended.
    ///
    /// - Returns: Whether there is still something to send.
    func coalesceOrphan(_ current: inout TableOperation, in writer: some StoreWriter) throws -> Bool {
        guard let waiting = try waitingOperation(behind: current, in: writer) else { return true }
        guard try coalesce(&current, with: waiting, in: writer) else { return false }
        try operations.save(current, in: writer)
        try operations.removeError(of: current.id, in: writer)
        return true
    }

    /// Coalesces an operation that is no longer in flight with the one behind it; false when both are gone.
    private func coalesce(
        _ current: inout TableOperation, with waiting: TableOperation, in writer: some StoreWriter
    ) throws -> Bool {
        let change: OperationKind = waiting.restores ? .insert : waiting.kind
        try operations.remove(waiting, in: writer)
        switch OperationCollapse.decide(change, onto: current.state, isStrict: false) {
        case .remove:
            try operations.remove(current, in: writer)
            try storePulled(of: current, in: writer)
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

    /// Stores the row that a pull has kept beside an operation that is gone: no later pull brings it again.
    private func storePulled(of operation: TableOperation, in writer: some StoreWriter) throws {
        guard let pulled = try operation.pulled.map(codec.row), !pulled.isTombstone else { return }
        try replace(operation.itemID, by: pulled, in: writer)
    }

    private func replace(_ id: String, by row: Row, in writer: some StoreWriter) throws {
        try writer.upsert(codec.completed(row).fitted(to: schema, id: id), into: schema.name)
    }

    private func waitingOperation(behind sent: TableOperation, in reader: some StoreReader) throws -> TableOperation? {
        try operations.operations(of: sent.table, key: sent.itemKey, in: reader).last { $0.id > sent.id }
    }
}
