internal import TidelineStore

/// Stores the outcome of an operation that was in flight, in one transaction.
struct PushOutcomes: Sendable {
    let operations: OperationStore
    let errors: ErrorStore
    let decisions: DecisionStore
    let recentlyPushed: RecentlyPushedRows
    let codec: RowCodec
    /// The policy for conflicts of the table.
    let policy: ConflictPolicy
    let now: @Sendable () -> Timestamp

    var schema: TableSchema { codec.schema }

    // MARK: Succeeding

    /// Stores that the server has applied the operation.
    ///
    /// - Parameters:
    ///   - sent: The operation as it was when its request was made, with the kind that was sent.
    ///   - stored: The stored operation, if nobody can have changed the queue since it was claimed; `nil` to read it.
    ///   - snapshot: The local row as it was then.
    ///   - mayResolve: Whether the policy may resolve a conflict with an edit that was made in the meantime.
    func succeed(
        _ sent: TableOperation, stored: TableOperation?, snapshot: Row?, answer: OperationSender.Result,
        mayResolve: Bool, in writer: some StoreWriter
    ) throws -> StoredEnd {
        guard let current = try stored ?? operations.operation(sent.id, in: writer) else { return .done }
        let waiting = try stored == nil ? waitingOperation(behind: sent, in: writer) : nil
        let newer = try newerCopy(answer, current, sent)
        if let newer, !newer.isTombstone {
            do {
                try codec.requireFit(newer, .invalidAnswer)
            } catch let failure as OperationFailure {
                return try fail(sent, failure, mayResolve: false, in: writer)
            }
        }
        if let server = newer ?? answer.row {
            var ancestor = answer.ancestor
            if newer != nil, ancestor == nil {
                // Others may have changed columns that the app has edited.
                ancestor = try (answer.isUnsent ? current.base.map(codec.row) : answer.row).map(codec.completed)
            }
            return try apply(
                server, ancestor: ancestor, snapshot: snapshot, current: current, sent: sent, waiting: waiting,
                mayResolve: mayResolve, in: writer)
        }
        if sent.kind == .delete {
            try succeedDelete(current, sent: sent, waiting: waiting, tombstone: answer.tombstone, in: writer)
        } else if var waiting {
            waiting.baseVersion = current.baseVersion
            waiting.base = current.base
            waiting.localBase = current.localBase
            try operations.save(waiting, in: writer)
            try operations.remove(current, in: writer)
        } else if current.revision == sent.revision {
            try operations.remove(current, in: writer)
        }
        return .done
    }

    /// Returns a row from a pull that is newer than that of the response: one received while the request was in flight,
    /// or before if nothing was sent.
    ///
    /// The order of requests decides, because the server's clock may go back: a row received before the request was
    /// made is older than the response. If the only request of an operation replaced a known version, a row with
    /// neither this version nor that of the response is newer. Otherwise the timestamps decide. Of two rows with the
    /// same timestamp, the pulled one is newer, as it is not the row that the request replaced. Without timestamps, a
    /// row of neither of these versions is newer: if it is older, the pull that received it has not yet received the
    /// row of the response.
    private func newerCopy(
        _ answer: OperationSender.Result, _ current: TableOperation, _ sent: TableOperation
    ) throws -> Row? {
        if answer.isUnsent { return try current.pulled.map(codec.row).map(codec.completed) }
        guard let row = answer.row, let pulled = try copy(of: current, since: sent) else { return nil }
        let isOther = pulled.version.map { $0 != row.version && $0 != sent.baseVersion } ?? false
        // A restore is two requests.
        let isOnlyRequest =
            sent.baseVersion != nil && !sent.restores && current.attempts <= 1 && current.sent.count <= 1
        let isNewer =
            if let pulledAt = pulled.updatedAt, let answeredAt = row.updatedAt {
                pulledAt >= answeredAt || isOnlyRequest && isOther
            } else {
                isOther
            }
        return isNewer ? codec.completed(pulled) : nil
    }

    /// Returns the row that a pull has received while a request was in flight, or `nil` if it shows the state before
    /// the request: a pull that fetches all rows receives that state again, for columns that the known row may lack.
    private func copy(of current: TableOperation, since sent: TableOperation) throws -> Row? {
        guard current.pulled != sent.pulled, let pulled = try current.pulled.map(codec.row) else { return nil }
        let known = try [sent.base, sent.pulled].compactMap { try $0.map(codec.row)?.stamp }
        return pulled.stamp.map(known.contains) == true ? nil : pulled
    }

    private func succeedDelete(
        _ current: TableOperation, sent: TableOperation, waiting: TableOperation?, tombstone: Row?,
        in writer: some StoreWriter
    ) throws {
        // A row that others restored while the delete was in flight. No later pull returns it again.
        let restored = try copy(of: current, since: sent) == nil ? nil : current.pulled
        if var waiting {
            // A pending restore restores this tombstone, or a row with this content.
            let content = try tombstone ?? deletedRow(of: current, sent)
            waiting.baseVersion = tombstone?.version
            waiting.base = content.map(\.json)
            waiting.pulled = restored
            try operations.save(waiting, in: writer)
            try operations.remove(current, in: writer)
        } else if current.revision != sent.revision {
            // Another process restored the row while the delete was in flight.
            try rebase(
                current, onto: tombstone ?? deletedRow(of: current, sent), version: tombstone?.version,
                pulled: restored, in: writer)
        } else {
            try operations.remove(current, in: writer)
            // Otherwise a tombstone will follow.
            if restored != nil { return try codec.storePulled(of: current, in: writer) }
            if current.kind != .delete { try writer.delete(id: sent.itemID, from: schema.name) }
        }
    }

    /// Returns the deleted row marked as deleted, without a version because that of the tombstone is not known.
    private func deletedRow(of current: TableOperation, _ sent: TableOperation) throws -> Row? {
        guard var row = try (current.base ?? sent.deletedItem).map(codec.row) else { return nil }
        for json in current.sent { row = row.merging(try codec.row(json)) }
        row["version"] = nil
        row["updatedAt"] = nil
        row["deleted"] = true
        return row
    }

    /// Stores the server row as the local row and keeps edits made since the request was sent.
    private func apply(
        _ server: Row, ancestor: Row?, snapshot: Row?, current: TableOperation, sent: TableOperation,
        waiting: TableOperation?, mayResolve: Bool, in writer: some StoreWriter
    ) throws -> StoredEnd {
        let local = try writer.row(in: schema.name, id: sent.itemID)
        // Without a snapshot, the row was inserted again in the meantime.
        let edits = local.map { self.edits(in: $0, since: snapshot ?? server) } ?? Row()
        let isDeleted = local == nil && snapshot != nil
        let counts = isDeleted ? { _ in true } : policy.counts
        if let ancestor,
            codec.overlaps(isDeleted ? codec.completed(Row()) : edits, server, ancestor: ancestor, counts: counts)
        {
            // Others changed columns on the server that the app has edited or deleted locally.
            let failure = OperationFailure(.conflict, "the row was changed on the server", serverItem: server)
            return try fail(sent, failure, ancestor: ancestor, mayResolve: mayResolve, in: writer)
        }
        let merged = edits.isEmpty ? server : server.merging(edits)
        if var waiting {
            waiting.baseVersion = server.version
            waiting.base = server.json
            try operations.save(waiting, in: writer)
            try operations.remove(current, in: writer)
            if waiting.kind == .delete { return .done }
        } else if current.revision != sent.revision
            || !edits.isEmpty && !codec.changes(of: merged, since: server).isEmpty
        {
            // Another process edited the row while the request was in flight.
            try rebase(current, onto: server, version: server.version, in: writer)
            if current.kind == .delete { return .done }
        } else {
            try operations.remove(current, in: writer)
            if server.isTombstone {
                try writer.delete(id: sent.itemID, from: schema.name)
                return .done
            }
        }
        try codec.replace(sent.itemID, by: merged, in: writer)
        return .done
    }

    /// Returns the changes of the local row since another state of it.
    private func edits(in local: Row, since row: Row) -> Row {
        row.hasSameBytes(as: local) ? Row() : codec.changes(of: local, since: row)
    }

    /// Rebases the operation onto the current server row.
    private func rebase(
        _ operation: TableOperation, onto server: Row?, version: String?, pulled: String? = nil,
        in writer: some StoreWriter
    ) throws {
        var operation = operation
        if operation.kind == .insert { operation.kind = .update }
        operation.base = server.map(\.json)
        operation.pulled = pulled
        operation.baseVersion = version
        operation.attempts = 0
        operation.sent = []
        operation.lastError = nil
        operation.revision += 1
        try operations.save(operation, in: writer)
        try operations.removeError(of: operation.id, in: writer)
    }

    // MARK: Failing

    /// Stores that the operation failed. It stays in the queue, coalesced with any operation added after it, unless the
    /// policy resolves the conflict.
    ///
    /// If the row was changed while the request was in flight, the error is returned only. The changed row has not
    /// failed, and the next push sends it. Only a conflict and a final failure also apply to the changed row.
    ///
    /// - Parameters:
    ///   - ancestor: The row as the operation left it on the server, if it was applied before the conflict.
    ///   - mayResolve: Whether the policy may resolve a conflict.
    func fail(
        _ sent: TableOperation, _ failure: OperationFailure, ancestor: Row? = nil, mayResolve: Bool,
        in writer: some StoreWriter
    ) throws -> StoredEnd {
        guard var current = try coalesced(sent, in: writer) else { return .done }
        let item = try current.deletedItem.map(codec.row) ?? writer.row(in: schema.name, id: current.itemID)
        try replaceOlderCopy(by: failure, of: &current, sent)
        var failure = failure
        var match: LostRequests.Match?
        if failure.code == .conflict {
            let lost = LostRequests(
                current, codec: codec, base: try current.base.map(codec.row), bodies: try current.sent.map(codec.row))
            match = failure.serverItem.flatMap { lost.match($0) }
            let known = try ancestor.map { Ancestor(row: $0) } ?? self.ancestor(of: current, lost, match)
            if let end = try resolve(current, item: item, &failure, known, mayResolve: mayResolve, in: writer) {
                return end
            }
        }
        let hasChanged = current.revision != sent.revision && !failure.isConflict && !failure.isFinal
        current.lastError = hasChanged ? nil : failure.message
        // A delete or restore that replaced an unanswered insert keeps its bodies: without them it would apply to any
        // row.
        let replacesInsert = current.kind != .insert && current.base == nil && current.baseVersion == nil
        if failure.isConflict, !replacesInsert, failure.serverItem != nil {
            // The part of the server row that shows the operation's own values was applied, and nothing else. An insert
            // may have been applied and then changed by others: its row is still its own, if it is deleted.
            current.sent = match.map { [$0.body.json] } ?? (current.kind == .insert ? current.sent : [])
        }
        try operations.save(current, in: writer)
        var record = OperationErrorRecord(current, failure: failure, item: item, time: now())
        if hasChanged {
            record.revision = sent.revision
            try operations.removeError(of: current.id, in: writer)
        } else {
            try errors.save(record, in: writer)
        }
        return .failed(record)
    }

    /// Replaces a row from a pull that is older than the server row of a failure: one received before the request was
    /// made, or one with an earlier timestamp. No later pull returns it again, so something must take its place, unless
    /// the row is gone.
    private func replaceOlderCopy(
        by failure: OperationFailure, of current: inout TableOperation, _ sent: TableOperation
    ) throws {
        guard current.pulled != nil, failure.isRowGone || failure.serverItem != nil else { return }
        let copy = try copy(of: current, since: sent)
        guard let server = failure.serverItem else {
            if copy == nil { current.pulled = nil }
            return
        }
        if copy == nil || copy?.updatedAt ?? .min < server.updatedAt ?? .min { current.pulled = server.json }
    }

    /// Stores that the push ended with an unknown outcome of the operation, which stays in the queue.
    func abandon(_ sent: TableOperation, in writer: some StoreWriter) throws -> StoredEnd {
        guard let current = try coalesced(sent, in: writer) else { return .done }
        try operations.save(current, in: writer)
        // The error of an earlier push does not apply to a row that has changed since.
        if current.revision != sent.revision { try operations.removeError(of: current.id, in: writer) }
        return .done
    }

    private func coalesced(_ sent: TableOperation, in writer: some StoreWriter) throws -> TableOperation? {
        guard var current = try operations.operation(sent.id, in: writer) else { return nil }
        guard let waiting = try waitingOperation(behind: sent, in: writer) else { return current }
        return try coalesce(&current, with: waiting, in: writer) ? current : nil
    }

    /// Coalesces an operation with a later one of its row, left by a push whose process ended.
    ///
    /// - Returns: Whether there is still something to send.
    func coalesceOrphan(_ current: inout TableOperation, in writer: some StoreWriter) throws -> Bool {
        guard let waiting = try waitingOperation(behind: current, in: writer) else { return true }
        guard try coalesce(&current, with: waiting, in: writer) else { return false }
        try operations.save(current, in: writer)
        try operations.removeError(of: current.id, in: writer)
        return true
    }

    /// Coalesces an operation that is no longer in flight with the later one of its row. Returns `false` if both were
    /// removed.
    private func coalesce(
        _ current: inout TableOperation, with waiting: TableOperation, in writer: some StoreWriter
    ) throws -> Bool {
        let change: OperationKind = waiting.restores ? .insert : waiting.kind
        try operations.remove(waiting, in: writer)
        let state = current.state(isInFlight: false)
        switch OperationCollapse.decide(change, onto: state, rejectsInsertOverPendingDelete: false) {
        case .remove:
            try operations.remove(current, in: writer)
            try codec.storePulled(of: current, in: writer)
            return false
        case .change(let kind, let restores):
            try current.change(to: kind, restores: restores, codec)
            current.deletedItem = waiting.deletedItem
        case .keep, .ignore, .enqueue, .refuseExisting, .refuseDeleted:
            break
        }
        current.revision += 1
        current.lastError = nil
        return true
    }

    private func waitingOperation(behind sent: TableOperation, in reader: some StoreReader) throws -> TableOperation? {
        try operations.operations(of: sent.table, key: sent.itemKey, after: sent.id, in: reader).last
    }
}
