internal import TidelineStore

/// Restores a row that was deleted locally and inserted again. It replaces the deleted row and nothing else.
extension OperationSender {
    /// Sends the new content of the deleted row, whether the row still exists, is a tombstone, or was removed.
    func restore(_ item: Row) async throws -> Result {
        let deleted = try operation.base.map(codec.row)
        if let deleted, !deleted.isTombstone, let version = item.version {
            let changes = decided(item, over: codec.changes(of: item, since: deleted))
            if changes.isEmpty { return try await settle(item, deleted, answer: nil) }
            guard case .known(let target) = try await target(of: version, operation.base, deleted) else {
                return try await settle(item, deleted, answer: nil)
            }
            let attempt = try await journal.note(changes)
            var body = changes
            body.id = .string(id)
            let answer = try await ask(update(body, target))
            switch try kind(of: answer) {
            case .done: return try await result(answer, sent: body, ancestor: deleted.merging(changes))
            case .conflict: return try await settle(item, deleted, answer: answer)
            case .gone:
                try await forgetRefused(attempt, after: answer)
                return try await settle(item, deleted, answer: answer)
            default: throw try await rejection(answer, to: attempt)
            }
        }
        return try await settle(item, deleted, answer: nil)
    }

    /// Requests the server row and continues from its state.
    private func settle(_ item: Row, _ deleted: Row?, answer: RowAnswer?) async throws -> Result {
        let conflict = answer.flatMap { $0.answer.kind == .conflict ? $0 : nil }
        guard let server = try await lookUp(after: conflict) else { return try await insert(item) }
        let bodies = try journal.unknownBodies.map(codec.row)
        if server.isTombstone {
            guard isDeleted(server, deleted, bodies) else { throw self.conflict(answer, server: server) }
            return try await undelete(item, server)
        }
        if codec.appColumns.allSatisfy({ codec.isSame(server, item, in: $0) }) { return Result(row: server) }
        // The row still exists, or an earlier request whose response was lost has restored it. Its state must be that
        // of the delete or of a lost request.
        let lost = LostRequests(operation, codec: codec, base: deleted, bodies: bodies)
        guard deleted != nil || !bodies.isEmpty, let match = lost.exactMatch(server) else {
            throw self.conflict(answer, server: server)
        }
        return try await replace(server, by: item, known: match.body, base: deleted)
    }

    /// Returns whether the tombstone is that of the locally deleted row: the same tombstone that an earlier request
    /// found, or one with the deleted content. A tombstone with restored content is one of others.
    private func isDeleted(_ tombstone: Row, _ deleted: Row?, _ bodies: [Row]) -> Bool {
        if let deleted, deleted.isTombstone, deleted.version != nil {
            return deleted.version == tombstone.version && deleted["updatedAt"] == tombstone["updatedAt"]
        }
        if deleted == nil, bodies.isEmpty { return true }
        let match = LostRequests(operation, codec: codec, base: deleted, bodies: bodies).exactMatch(tombstone)
        return match.map { !$0.body.isRestored } ?? false
    }

    /// Restores a deleted row if no one has changed it since, and replaces its content.
    func undelete(_ item: Row, _ tombstone: Row) async throws -> Result {
        try await journal.note(tombstone: tombstone)
        var request = request(.undelete, version: tombstone.version, current: tombstone.json)
        request.parameters = []
        let answer = try await ask(request)
        let lost = LostRequests(operation, codec: codec, base: tombstone, bodies: [])
        switch answer.answer.kind {
        case .signInNeeded, .unavailable, .notFromService:
            throw answer.answer.failure()
        case .done, .conflict:
            let isDone = answer.answer.kind == .done
            let server = try await isDone ? row(in: answer, from: tombstone).row : conflictingRow(in: answer)
            guard let server, !server.isTombstone, lost.exactMatch(server) != nil else {
                throw conflict(answer, server: server)
            }
            return try await replace(server, by: item, known: Row(), base: tombstone)
        case .gone, .serverFailed, .refused:
            // The table may not support undelete.
            return try await insert(item)
        }
    }

    /// Sends the differences between the item and the server row, including null.
    private func replace(_ server: Row, by item: Row, known: Row, base: Row?) async throws -> Result {
        let changes = codec.changes(of: item, since: server)
        if changes.isEmpty { return Result(row: server) }
        return try await patch(
            changes, of: item, version: server.version, known: known, base: base ?? Row(), server: server, round: 1)
    }
}

extension Row {
    /// Whether the row was deleted on the server.
    var isTombstone: Bool { self["deleted"]?.bool == true }

    /// Whether this is a stored body of a request that restores a deleted row.
    var isRestored: Bool {
        get { self["deleted"]?.bool == false }
        set { self["deleted"] = newValue ? false : nil }
    }
}
