internal import TidelineStore
internal import TidelineWire

/// Sends operations and determines their ends, with the delegate if there is one.
extension PushRun {
    /// Sends an operation, or lets the delegate perform it.
    nonisolated(nonsending) func answer(to claimed: ClaimedOperation) async throws -> PushAnswer {
        let kind = claimed.operation.kind
        do {
            guard let item = try claimed.item() else {
                throw OperationFailure(
                    .invalidItem, "the row is no longer in the local table; insert it again, or cancel the operation")
            }
            if let delegate { return try await answer(to: claimed, item, of: delegate) }
            let result = try await send(item, as: kind, claimed)
            try claimed.codec.requireFit(result.row, .invalidAnswer)
            return PushAnswer(outcome: .success(result), kind: kind)
        } catch let failure as OperationFailure {
            return PushAnswer(outcome: .failure(failure), kind: kind)
        }
    }

    private func answer(
        to claimed: ClaimedOperation, _ item: Row, of delegate: some SyncContextDelegate
    ) async throws -> PushAnswer {
        let operation = PushOperation(claimed.operation, item: item) { kind, item in
            try await send(item, as: kind, claimed)
        }
        do {
            let row = try await CallScope.run(for: pusher.database.clients, isPush: true) {
                try await delegate.perform(operation)
            }
            let result = try result(row, of: operation, claimed)
            return PushAnswer(
                outcome: result.map { .success($0) }, kind: operation.kind, cancelsPush: operation.isCancelled)
        } catch {
            if error is OperationRemoved || Self.endsPush(error) { throw error }
            // A failure that occurred before the delegate cancelled the push is reported with it.
            let met =
                error as? OperationFailure ?? (operation.isCancelled ? operation.failure as? OperationFailure : nil)
            if operation.isCancelled, met == nil { return PushAnswer(kind: operation.kind, cancelsPush: true) }
            let failure = met ?? OperationFailure(.delegate, "the delegate failed: \(error)", cause: error)
            return PushAnswer(outcome: .failure(failure), kind: operation.kind, cancelsPush: operation.isCancelled)
        }
    }

    /// Returns the delegate's result, or `nil` if the delegate ended the push instead.
    ///
    /// A missing row is a result only for a delete, and for an execution that succeeded without a row.
    private func result(
        _ row: Row?, of operation: PushOperation, _ claimed: ClaimedOperation
    ) throws -> OperationSender.Result? {
        if let row {
            var result = operation.result ?? OperationSender.Result()
            // A row created by the delegate may name only some of the columns.
            if row != result.row {
                var merged = claimed.snapshot?.merging(row) ?? row
                // The further columns of the snapshot do not belong to the row's version.
                if row.extra == nil { merged.extra = nil }
                result.row = merged
            }
            try claimed.codec.requireFit(result.row, .delegate)
            guard row.id == nil || claimed.schema.hasSameKey(row.idText, claimed.operation.itemKey) else {
                throw OperationFailure(
                    .delegate,
                    "the delegate returned a row with the id \(row.idText.debugDescription) instead of "
                        + claimed.operation.itemID.debugDescription)
            }
            return result
        }
        if let failure = operation.failure { throw failure }
        if let result = operation.result { return result }
        if operation.isCancelled { return nil }
        if operation.kind != .delete {
            throw OperationFailure(.delegate, "the delegate neither executed the operation nor returned a row")
        }
        return OperationSender.Result()
    }

    /// Returns whether an error ends the push. Other errors of the sync core come from calls that the delegate made.
    private static func endsPush(_ error: any Error) -> Bool {
        if error is CancellationError { return Task.isCancelled }
        guard let error = error as? SyncError else { return false }
        return [.network, .authentication, .otherUser, .store, .cancelled, .otherProcess].contains(error.code)
    }

    /// Sends an item. An item that does not fit its table, or a request that cannot be encoded (such as an identifier
    /// or value without a wire format), is this operation's failure.
    private nonisolated(nonsending) func send(
        _ item: Row, as kind: OperationKind, _ claimed: ClaimedOperation
    ) async throws -> OperationSender.Result {
        do {
            return try await sender(for: claimed, as: kind).send(item)
        } catch let error as SyncError where error.code == .invalidArgument {
            throw OperationFailure(.invalidItem, "the row cannot be sent: \(error)", cause: error)
        } catch let error as SyncError where error.code == .invalidAnswer {
            // The server is reachable, but this response cannot be read, however often it is requested.
            throw OperationFailure(.invalidAnswer, "the response cannot be read: \(error)", cause: error)
        } catch let error as WireError {
            throw OperationFailure(.invalidItem, "the row cannot be sent: \(error)", cause: error)
        }
    }
}
