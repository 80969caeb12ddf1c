internal import TidelineStore
internal import TidelineWire

/// One push: performs what ``PushMachine`` decides.
struct PushRun<Store: LocalStore>: Sendable {
    let context: SyncContext<Store>
    let delegate: (any SyncContextDelegate)?
    let settings: PushSettings

    /// What came of a push.
    struct Outcome: Sendable {
        var errors: [TableOperationError] = []
        var abort: SyncError?
    }

    /// An operation in hand, with the local row as it was when it was taken.
    private struct InHand: Sendable {
        var operation: TableOperation
        var schema: TableSchema
        var snapshot: Row?
        var item: Row?
    }

    func run() async -> Outcome {
        var outcome = Outcome()
        var machine = PushMachine()
        do {
            let operations = context.operations
            var action = machine.handle(.started(last: try await context.reading { try operations.lastID(in: $0) }))
            while true {
                if Task.isCancelled { throw SyncError(.cancelled, "the push was cancelled") }
                switch action {
                case .find(let after, let last):
                    let found = try await context.reading { try operations.first(after: after, upTo: last, in: $0) }
                    action = machine.handle(
                        .found(found.map { .init(id: $0.id, table: $0.table, itemKey: $0.itemKey) }))
                case .send(let id):
                    action = machine.handle(try await perform(id, &outcome))
                case .finish:
                    return outcome
                case .giveUp:
                    throw SyncError(
                        .serverFailing,
                        "\(PushMachine.maximumServerFailures) operations in a row failed for the server's own reasons")
                }
            }
        } catch {
            outcome.abort = context.syncError(error)
            return outcome
        }
    }

    // MARK: One operation

    private func perform(_ id: Int64, _ outcome: inout Outcome) async throws -> PushMachine.Event {
        guard let inHand = try await take(id) else { return .succeeded }
        do {
            let server = try await answer(to: inHand)
            try await finish(inHand) { outcomes, writer in
                try outcomes.succeed(
                    inHand.operation, snapshot: inHand.snapshot, server: server.row, in: writer)
                return nil
            }
            if server.cancelsPush { throw Self.cancelledByDelegate }
            return .succeeded
        } catch is OperationGone {
            try await finish(inHand) { _, _ in nil }
            return .succeeded
        } catch let failure as OperationFailure {
            let record = try await finish(inHand) { try $0.fail(inHand.operation, failure, in: $1) }
            if let record { outcome.errors.append(TableOperationError(record, resolver: context)) }
            return .failed(isServerFailure: failure.code == .serverFailed)
        } catch {
            // A second failure, of the store, must not hide the first; the operation is in the queue in any case.
            _ = try? await finish(inHand) { try $0.fail(inHand.operation, nil, in: $1) }
            throw error
        }
    }

    /// Marks an operation as in flight and reads its row, in one transaction; nil when it is gone.
    private func take(_ id: Int64) async throws -> InHand? {
        let context = context
        return try await unmarkingOnFailure(id) {
            try await context.writing { writer in
                guard var operation = try context.operations.operation(id, in: writer) else { return nil }
                let schema = try writer.schema(of: operation.table)
                let codec = RowCodec(schema: schema)
                let outcomes = PushOutcomes(operations: context.operations, errors: context.errorStore, codec: codec)
                guard try outcomes.joinLeftBehind(&operation, in: writer) else { return nil }
                let snapshot = try writer.row(in: operation.table, id: operation.itemID)
                var item = try operation.kind == .delete ? operation.deletedItem.map(codec.row) ?? Row() : snapshot
                item?.id = operation.itemID
                item?["version"] = operation.baseVersion.map { .string($0) }
                context.markInFlight(id)
                return InHand(operation: operation, schema: schema, snapshot: snapshot, item: item)
            }
        }
    }

    /// Writes the end of an operation; with the transaction it is no longer in flight.
    @discardableResult
    private func finish(
        _ inHand: InHand,
        _ body: @escaping @Sendable (PushOutcomes, Store.Writer) throws -> OperationErrorRecord?
    ) async throws -> OperationErrorRecord? {
        let context = context
        let outcomes = PushOutcomes(
            operations: context.operations, errors: context.errorStore, codec: RowCodec(schema: inHand.schema))
        return try await unmarkingOnFailure(inHand.operation.id) {
            try await context.writing { writer in
                defer { context.unmarkInFlight(inHand.operation.id) }
                context.settled.note(
                    table: inHand.operation.table, itemKey: inHand.operation.itemKey,
                    version: inHand.operation.baseVersion)
                return try body(outcomes, writer)
            }
        }
    }

    /// A transaction that cannot begin or commit must not leave its operation in flight: nothing would ever end it.
    private func unmarkingOnFailure<T>(_ id: Int64, _ body: () async throws -> T) async throws -> T {
        do {
            return try await body()
        } catch {
            context.unmarkInFlight(id)
            throw error
        }
    }

    private func answer(to inHand: InHand) async throws -> (row: Row?, cancelsPush: Bool) {
        guard let item = inHand.item else {
            throw OperationFailure(.invalidItem, "the row is no longer in the local table")
        }
        let sender = makeSender(inHand)
        guard let delegate else { return (try await sending { try await sender.send(item) }, false) }
        let operation = PushOperation(inHand.operation, item: item) { item in
            try await sending { try await sender.send(item) }
        }
        do {
            let row = try await DelegateScope.run(in: context) { try await delegate.perform(operation) }
            try check(row, of: operation)
            return (row, operation.isCancelled)
        } catch {
            if operation.isCancelled || error is CancellationError { throw Self.cancelledByDelegate }
            if error is OperationFailure || error is OperationGone || Self.endsPush(error) { throw error }
            throw OperationFailure(.delegate, "the delegate failed: \(error)")
        }
    }

    /// Whether an error ends the push; others of the core come from calls that the delegate made on its own.
    private static func endsPush(_ error: any Error) -> Bool {
        guard let error = error as? SyncError else { return false }
        return [.network, .authentication, .store, .cancelled].contains(error.code)
    }

    private static var cancelledByDelegate: SyncError {
        SyncError(.cancelled, "the push was cancelled by the delegate")
    }

    /// No row is a result only of a delete, and of an execution that succeeded without one.
    private func check(_ row: Row?, of operation: PushOperation) throws {
        guard row == nil else { return }
        if let failure = operation.failure { throw failure }
        guard !operation.hasExecuted else { return }
        if operation.isCancelled { throw Self.cancelledByDelegate }
        if operation.operation.kind != .delete {
            throw OperationFailure(.delegate, "the delegate neither executed the operation nor returned a row")
        }
    }

    private func makeSender(_ inHand: InHand) -> OperationSender {
        let context = context
        let codec = RowCodec(schema: inHand.schema)
        return OperationSender(
            connection: context.connection, dialect: context.dialect, codec: codec, operation: inHand.operation,
            parameters: settings.parameters.map { ($0.name, $0.value) },
            noteAttempt: { body in
                let attempt: OperationSender.Attempt? = try await context.writing { writer in
                    guard var operation = try context.operations.operation(inHand.operation.id, in: writer) else {
                        return nil
                    }
                    operation.attempts += 1
                    let json = codec.json(body)
                    let isNew = try !body.isEmpty && operation.note(sent: json) { Set(try codec.row($0).columnNames) }
                    try context.operations.save(operation, in: writer)
                    return OperationSender.Attempt(sent: operation.sent, added: isNew ? json : nil)
                }
                guard let attempt else { throw OperationGone() }
                return attempt
            },
            forgetAttempt: { body in
                try await context.writing { writer in
                    guard var operation = try context.operations.operation(inHand.operation.id, in: writer) else {
                        return
                    }
                    operation.sent.removeAll { $0 == body }
                    try context.operations.save(operation, in: writer)
                }
            })
    }

    /// A row that does not fit its table, or a request that cannot be written (an id or value the wire has no form for),
    /// is this operation's failure.
    private func sending(_ body: () async throws -> Row?) async throws -> Row? {
        do {
            return try await body()
        } catch let error as SyncError where error.code == .invalidArgument {
            throw OperationFailure(.invalidItem, "the row cannot be sent: \(error)")
        } catch let error as SyncError where (error.cause as? TransportError)?.code == .tooLarge {
            // The server is there; this answer alone cannot be taken, however often it is asked for.
            throw OperationFailure(.invalidAnswer, "the answer cannot be read: \(error)")
        } catch let error as WireError {
            throw OperationFailure(.invalidItem, "the row cannot be sent: \(error)")
        }
    }
}

/// The operation was dropped, by another process over the same store, before its request left.
struct OperationGone: Error {}
