internal import Logging
internal import TidelineStore
internal import TidelineWire

/// One push, which performs the actions that ``PushMachine`` decides on.
struct PushRun<Store: LocalStore>: Sendable {
    let context: SyncContext<Store>
    let delegate: (any SyncContextDelegate)?
    let settings: PushSettings

    private typealias Claimed = ClaimedOperation<Store>

    /// The end of an operation, determined by the delegate or the server.
    private struct Answer: Sendable {
        /// The outcome, or `nil` if the delegate ended the push before anything was sent.
        var outcome: Result<OperationSender.Result, OperationFailure>?
        /// The kind that was sent, which a delegate may change.
        var kind: OperationKind
        /// Whether the delegate requested the end of the push.
        var cancelsPush = false
    }

    func run() async -> PushResult {
        var result = PushResult()
        do {
            try await send(&result)
        } catch {
            result.error = context.syncError(error)
        }
        return result
    }

    private func send(_ result: inout PushResult) async throws {
        let operations = context.operations
        var machine = PushMachine()
        var action = machine.handle(try await start(&result))
        while true {
            if Task.isCancelled { throw SyncError(.cancelled, "the push was cancelled") }
            switch action {
            case .find(let after, let last):
                let found = try await context.reading { try operations.first(after: after, upTo: last, in: $0) }
                action = machine.handle(.found(found.map { .init(id: $0.id, table: $0.table, itemKey: $0.itemKey) }))
            case .send(let id):
                action = machine.handle(try await perform(id, &result))
                settings.onProgress?(result.progress)
            case .finish:
                return
            case .giveUp:
                throw SyncError(
                    .serverFailing,
                    "\(PushMachine.maximumServerFailures) operations in a row failed on the server; try again later")
            }
        }
    }

    /// Reads the state of the queue. The errors of held operations are reported again.
    private func start(_ result: inout PushResult) async throws -> PushMachine.Event {
        let (operations, errorStore) = (context.operations, context.errorStore)
        let (last, count, records) = try await context.reading { reader in
            (try operations.lastID(in: reader), try operations.count(in: reader), try errorStore.all(in: reader))
        }
        var earlier = PushMachine.EarlierFailures()
        for record in records {
            if record.failure.holdsOperation, !settings.retriesConflicts {
                earlier.held.insert(record.operationID)
                result.operationErrors.append(TableOperationError(record, resolver: context))
            } else if record.failure.code == .serverFailed {
                earlier.deferred.insert(record.operationID)
            }
        }
        result.progress.total = count - earlier.held.count
        return .started(last: last, earlier: earlier)
    }

    // MARK: One operation

    private func perform(_ id: Int64, _ result: inout PushResult) async throws -> PushMachine.Event {
        let claimed: Claimed
        do {
            guard let operation = try await claim(id) else { return .succeeded }
            claimed = operation
        } catch let failure as OperationFailure {
            return try await record(failure, of: id, &result)
        }
        do {
            let answer = try await answer(to: claimed)
            let event = try await finish(claimed, answer, &result)
            if answer.cancelsPush { throw Self.cancelledByDelegate }
            return event
        } catch is OperationRemoved {
            try await release(claimed) { _, _ in nil }
            return .succeeded
        } catch {
            // A second error, from the store, must not hide the first. The operation is in the queue in any case.
            _ = try? await release(claimed) { try $0.abandon(claimed.operation, in: $1) }
            throw error
        }
    }

    /// Stores the outcome of an operation.
    private func finish(
        _ claimed: Claimed, _ answer: Answer, _ result: inout PushResult
    ) async throws -> PushMachine.Event {
        var sent = claimed.operation
        sent.kind = answer.kind
        let operation = sent
        let record = try await release(claimed) { outcomes, writer in
            try context.recordOwner(in: writer)
            return switch answer.outcome {
            case .success(let answer):
                try outcomes.succeed(operation, snapshot: claimed.snapshot, answer: answer, in: writer)
            case .failure(let failure):
                try outcomes.fail(claimed.operation, failure, in: writer)
            case nil:
                try outcomes.abandon(claimed.operation, in: writer)
            }
        }
        if let record { result.operationErrors.append(TableOperationError(record, resolver: context)) }
        switch answer.outcome {
        case .success(let answer) where record == nil:
            result.progress.sent += 1
            result.warnings += answer.warnings
            for warning in answer.warnings { context.options.logger.warning("\(warning)") }
            return .succeeded
        case .success:
            result.progress.failed += 1
            return .failed(isServerFailure: false)
        case .failure(let failure):
            result.progress.failed += 1
            return .failed(isServerFailure: failure.code == .serverFailed)
        case nil:
            return .aborted
        }
    }

    /// Stores the failure of an operation that could not be claimed.
    private func record(
        _ failure: OperationFailure, of id: Int64, _ result: inout PushResult
    ) async throws -> PushMachine.Event {
        let context = context
        let record: OperationErrorRecord? = try await context.writing { writer in
            guard let operation = try context.operations.operation(id, in: writer) else { return nil }
            let record = OperationErrorRecord(
                operation, failure: failure, item: nil, time: context.options.environment.now())
            try context.errorStore.save(record, in: writer)
            return record
        }
        if let record { result.operationErrors.append(TableOperationError(record, resolver: context)) }
        result.progress.failed += 1
        return .failed(isServerFailure: false)
    }

    /// Marks an operation as in flight and reads its row, in one transaction. Returns `nil` if the operation no longer
    /// exists.
    private func claim(_ id: Int64) async throws -> Claimed? {
        let context = context
        let claimed: Result<Claimed?, OperationFailure> = try await unmarkingOnFailure(id) {
            try await context.writing { writer in
                guard var operation = try context.operations.operation(id, in: writer) else { return .success(nil) }
                guard let schema = try writer.schemaIfDefined(of: operation.table) else {
                    return .failure(.undefinedTable(operation.table))
                }
                let outcomes = PushOutcomes(context, codec: RowCodec(schema: schema))
                guard try outcomes.coalesceOrphan(&operation, in: writer) else { return .success(nil) }
                let snapshot = try writer.row(in: operation.table, id: operation.itemID)
                context.markInFlight(id)
                return .success(Claimed(operation, schema: schema, snapshot: snapshot, context: context))
            }
        }
        return try claimed.get()
    }

    /// Stores the outcome of an operation. After the transaction, the operation is no longer in flight.
    @discardableResult
    private func release(
        _ claimed: Claimed,
        _ body: @escaping @Sendable (PushOutcomes, Store.Writer) throws -> OperationErrorRecord?
    ) async throws -> OperationErrorRecord? {
        let context = context
        let outcomes = PushOutcomes(context, codec: claimed.codec)
        return try await unmarkingOnFailure(claimed.operation.id) {
            try await context.writing { writer in
                defer { context.unmarkInFlight(claimed.operation.id) }
                context.settled.note(
                    table: claimed.operation.table, itemKey: claimed.operation.itemKey,
                    base: claimed.base)
                return try body(outcomes, writer)
            }
        }
    }

    /// Unmarks an operation if the body throws. After a transaction that cannot begin or commit, nothing else would end
    /// the operation.
    private func unmarkingOnFailure<T>(_ id: Int64, _ body: () async throws -> T) async throws -> T {
        do {
            return try await body()
        } catch {
            context.unmarkInFlight(id)
            throw error
        }
    }
}

// MARK: - Responses

extension PushRun {
    private func answer(to claimed: Claimed) async throws -> Answer {
        guard let item = try claimed.item() else {
            let failure = OperationFailure(
                .invalidItem, "the row is no longer in the local table; insert it again, or cancel the operation")
            return Answer(outcome: .failure(failure), kind: claimed.operation.kind)
        }
        guard let delegate else {
            do {
                let result = try await send(item, as: claimed.operation.kind, claimed)
                try claimed.codec.requireFit(result.row, .invalidAnswer)
                return Answer(outcome: .success(result), kind: claimed.operation.kind)
            } catch let failure as OperationFailure {
                return Answer(outcome: .failure(failure), kind: claimed.operation.kind)
            }
        }
        return try await answer(to: claimed, item, of: delegate)
    }

    private func answer(
        to claimed: Claimed, _ item: Row, of delegate: some SyncContextDelegate
    ) async throws -> Answer {
        let operation = PushOperation(claimed.operation, item: item) { kind, item in
            try await send(item, as: kind, claimed)
        }
        do {
            let row = try await DelegateScope.run(in: context) { try await delegate.perform(operation) }
            let result = try result(row, of: operation, claimed)
            return Answer(
                outcome: result.map { .success($0) }, kind: operation.kind, cancelsPush: operation.isCancelled)
        } catch {
            if error is OperationRemoved || Self.endsPush(error) { throw error }
            // A failure that occurred before the delegate cancelled the push is reported with it.
            let met =
                error as? OperationFailure ?? (operation.isCancelled ? operation.failure as? OperationFailure : nil)
            if operation.isCancelled, met == nil { return Answer(kind: operation.kind, cancelsPush: true) }
            let failure = met ?? OperationFailure(.delegate, "the delegate failed: \(error)", cause: error)
            return Answer(outcome: .failure(failure), kind: operation.kind, cancelsPush: operation.isCancelled)
        }
    }

    /// Returns the delegate's result, or `nil` if the delegate ended the push instead.
    ///
    /// A missing row is a result only for a delete, and for an execution that succeeded without a row.
    private func result(
        _ row: Row?, of operation: PushOperation, _ claimed: Claimed
    ) throws -> OperationSender.Result? {
        if let row {
            var result = operation.result ?? OperationSender.Result()
            // A row created by the delegate may name only some of the columns.
            result.row = row == result.row ? row : claimed.snapshot?.merging(row) ?? row
            try claimed.codec.requireFit(result.row, .delegate)
            guard row.id == nil || claimed.schema.itemKey(row.idText).isSameBytes(as: claimed.operation.itemKey) else {
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
        return [.network, .authentication, .store, .cancelled].contains(error.code)
    }

    private static var cancelledByDelegate: SyncError {
        SyncError(.cancelled, "the push was cancelled by the delegate")
    }

    /// Sends an item. An item that does not fit its table, or a request that cannot be encoded (such as an identifier
    /// or value without a wire format), is this operation's failure.
    private func send(
        _ item: Row, as kind: OperationKind, _ claimed: Claimed
    ) async throws -> OperationSender.Result {
        var operation = claimed.operation
        operation.kind = kind
        let sender = OperationSender(
            connection: context.connection, dialect: context.dialect, codec: claimed.codec, operation: operation,
            parameters: settings.parameters.map { ($0.name, $0.value) }, journal: claimed)
        do {
            return try await sender.send(item)
        } catch let error as SyncError where error.code == .invalidArgument {
            throw OperationFailure(.invalidItem, "the row cannot be sent: \(error)", cause: error)
        } catch let error as SyncError where (error.cause as? TransportError)?.code == .tooLarge {
            // The server is reachable, but this response cannot be read, however often it is requested.
            throw OperationFailure(.invalidAnswer, "the response cannot be read: \(error)", cause: error)
        } catch let error as WireError {
            throw OperationFailure(.invalidItem, "the row cannot be sent: \(error)", cause: error)
        }
    }
}

extension OperationFailure {
    fileprivate static func undefinedTable(_ table: String) -> OperationFailure {
        OperationFailure(
            .invalidItem, "the table \(table.debugDescription) is not defined; define it, or cancel the operation")
    }
}

extension RowCodec {
    /// Throws if a row cannot be stored in the table.
    fileprivate func requireFit(_ row: Row?, _ code: OperationFailure.Code) throws {
        guard let row else { return }
        for (name, value) in row.values where !SystemColumns.names.contains(name) {
            guard let column = schema.column(name) else {
                throw OperationFailure(code, "the table has no column \(name.debugDescription)")
            }
            guard !value.isNull || column.isOptional, value.type == nil || value.type == column.type else {
                throw OperationFailure(
                    code,
                    "the row cannot be stored: \(value) does not fit the column \(name.debugDescription) of type "
                        + column.type.rawValue)
            }
        }
    }
}
