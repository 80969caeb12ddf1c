internal import TidelineStore

/// The end of an operation that was in flight, as stored.
enum StoredEnd: Sendable {
    /// The server has applied the operation, or it no longer exists.
    case done
    /// The operation failed and stays in the queue.
    case failed(OperationErrorRecord)
    /// A policy has ended a conflict: the local row is the server's.
    case settled
    /// A policy has resolved a conflict: the operation is to be sent on the version of the conflict.
    case rebased
}

/// Resolves conflicts by the policy of their table, in the transaction that stores the outcome.
extension PushOutcomes {
    /// The common ancestor of the local row and the server row of a conflict.
    struct Ancestor {
        var row: Row?
        /// The columns that a request with an unknown outcome may have written.
        var uncertain: Set<String> = []
    }

    /// Returns the ancestor: the base row, with the values of a request that the server row shows to be applied.
    func ancestor(
        of operation: TableOperation, _ lost: LostRequests, _ match: LostRequests.Match?
    ) throws -> Ancestor {
        let base = try operation.localBase.map(codec.row) ?? lost.base
        if let match {
            let row = (base ?? Row()).merging(match.body)
            return Ancestor(row: base != nil || operation.kind == .insert ? codec.completed(row) : row)
        }
        let columns = lost.bodies.flatMap(\.columnNames)
        return Ancestor(row: base.map(codec.completed), uncertain: Set(columns))
    }

    /// Lets the policy resolve a conflict, unless the two rows are the same.
    ///
    /// - Parameters:
    ///   - item: The local row, or the deleted row for a delete.
    ///   - failure: The conflict. Becomes the failure of the policy if that fails, and final if the policy leaves the
    ///     conflict to the app.
    ///   - mayResolve: Whether the policy may be asked.
    /// - Returns: The end of the operation, or `nil` if the conflict is not resolved.
    func resolve(
        _ current: TableOperation, item: Row?, _ failure: inout OperationFailure, _ ancestor: Ancestor,
        mayResolve: Bool, in writer: some StoreWriter
    ) throws -> StoredEnd? {
        let record = OperationErrorRecord(current, failure: failure, item: item, time: now())
        if try isSame(item, current, failure) {
            try settle(record, current, .discard, in: writer)
            return .settled
        }
        guard mayResolve, !policy.isManual, let conflict = conflict(of: record, item: item, current, ancestor) else {
            return nil
        }
        let (decision, rule): (ConflictPolicy.Decision, String)
        do throws(OperationFailure) {
            (decision, rule) = try decide(conflict, failure)
        } catch {
            failure = error
            return nil
        }
        guard let resolution = resolution(decision, of: conflict, current.kind) else {
            failure.isFinal = true
            return nil
        }
        try settle(record, current, resolution, in: writer)
        var result: Row?
        if case .row(let row) = decision { result = row }
        try decisions.add(
            operations.takeID(in: writer), conflict, rule: rule, result: result, time: record.time, in: writer)
        if case .discard = resolution { return .settled }
        return .rebased
    }

    /// Returns the conflict for the policy, or `nil` if there is nothing that a policy can decide about.
    private func conflict(
        of record: OperationErrorRecord, item: Row?, _ current: TableOperation, _ ancestor: Ancestor
    ) -> RowConflict? {
        let isDelete = current.kind == .delete
        guard record.failure.serverItem != nil || record.isRowGone, item != nil || isDelete else { return nil }
        let conflict = RowConflict(
            table: schema.name, id: current.itemID, base: ancestor.row,
            local: isDelete ? nil : item.map(codec.completed),
            server: record.isRowGone ? nil : record.failure.serverItem.map(codec.completed),
            isInsert: current.kind == .insert, uncertain: ancestor.uncertain)
        return conflict.local != nil || conflict.server != nil ? conflict : nil
    }

    /// Returns whether an edit during the request has made the local row the same as the newest known row of the
    /// server, so that there is nothing to decide. Equal changes of a column that adds them up are two changes.
    private func isSame(_ item: Row?, _ current: TableOperation, _ failure: OperationFailure) throws -> Bool {
        guard current.kind != .delete, let item, let server = try current.pulled.map(codec.row) ?? failure.serverItem,
            !server.isTombstone, !codec.appColumns.contains(where: policy.counts)
        else { return false }
        return codec.changes(of: item, since: codec.completed(server)).isEmpty
    }

    /// Ends a conflict.
    private func settle(
        _ record: OperationErrorRecord, _ current: TableOperation, _ resolution: OperationResolution,
        in writer: some StoreWriter
    ) throws {
        try ConflictResolution(operations: operations, schema: schema, inFlight: [])
            .apply(resolution, to: current, record, in: writer)
        recentlyPushed.note(table: schema.name, itemKey: current.itemKey, base: record.failure.serverItem?.stamp)
    }

    /// Returns the decision of the policy, with a complete row that fits the table.
    private func decide(
        _ conflict: RowConflict, _ failure: OperationFailure
    ) throws(OperationFailure) -> (ConflictPolicy.Decision, rule: String) {
        func failed(_ message: String, cause: (any Error)?) -> OperationFailure {
            OperationFailure(
                .policy, "the conflict policy \(policy.name) of the table \(schema.name.debugDescription) \(message)",
                status: failure.status, serverItem: failure.serverItem, isRowGone: failure.isRowGone,
                cause: cause)
        }
        let decided: PolicyDecision
        do {
            decided = try policy.decide(conflict, codec)
        } catch let error as PolicyError {
            let place = error.column.map { " in the column \($0.debugDescription)" } ?? ""
            throw failed("failed\(place): \(error.message)", cause: error.cause)
        } catch {
            throw failed("failed: \(error)", cause: error)
        }
        guard case .row(let row) = decided.decision else { return (decided.decision, decided.rule) }
        do {
            guard case .keep(let checked) = try RowInput.checked(.keep(row), of: conflict.id, for: schema) else {
                return (decided.decision, decided.rule)
            }
            var result = (conflict.server ?? conflict.local ?? Row()).merging(checked).filteringColumns { name in
                codec.appColumns.contains(name)
            }
            result.id = .string(conflict.id)
            return (.row(result), decided.rule)
        } catch {
            let place = (error as? SyncError)?.column.map { " in the column \($0.debugDescription)" } ?? ""
            let reason = (error as? SyncError)?.message ?? "\(error)"
            throw failed("returned a row that cannot be stored\(place): \(reason)", cause: error)
        }
    }

    /// Returns the resolution that carries out a decision, or `nil` for none.
    private func resolution(
        _ decision: ConflictPolicy.Decision, of conflict: RowConflict, _ kind: OperationKind
    ) -> OperationResolution? {
        switch decision {
        case .manual: return nil
        case .delete:
            guard conflict.server != nil else { return .discard }
            return kind == .delete ? .keep(Row()) : .modify(.delete, nil)
        case .row(let row):
            if let server = conflict.server, codec.changes(of: row, since: server).isEmpty { return .discard }
            return kind == .delete ? .modify(.update, row) : .keep(row)
        }
    }
}
