internal import Synchronization
internal import TidelineStore

/// An operation in flight, with the local row as it was when the operation was claimed.
final class ClaimedOperation<Store: LocalStore>: AttemptJournal {
    private let database: SyncDatabase<Store>
    private let operations: OperationStore
    let operation: TableOperation
    let codec: RowCodec
    /// The local row, or `nil` if there is none.
    let snapshot: Row?
    /// The lease of the push, if other processes share the store.
    private let lease: PushLease?
    private let state: Mutex<State>

    private struct State {
        /// The bodies whose responses were lost.
        var unknown: [String]
        /// The attempt of the first request, if it was stored with the claim and is not sent yet.
        var announced: Attempt?
        /// The values of the first request, if it was stored with the claim and is not a delete.
        var first: OperationSender.Values?
    }

    var schema: TableSchema { codec.schema }
    var unknownBodies: [String] { state.withLock { $0.unknown } }
    /// The values of the first request, as they were when the operation was claimed, or `nil` if they are not known.
    var first: OperationSender.Values? { state.withLock { $0.first } }

    init(
        _ operation: TableOperation, codec: RowCodec, snapshot: Row?, database: SyncDatabase<Store>,
        operations: OperationStore, lease: PushLease?
    ) {
        var operation = operation
        operation.item = try? operation.deletedItem.map(codec.row) ?? snapshot
        self.operation = operation
        self.codec = codec
        self.snapshot = snapshot
        self.database = database
        self.operations = operations
        self.lease = lease
        state = Mutex(State(unknown: operation.sent))
    }

    /// The stamp of the base row, or `nil` if there was none.
    var base: RowStamp? {
        operation.baseVersion.map { RowStamp(version: $0, updatedAt: operation.item?["updatedAt"]?.timestamp) }
    }

    /// Returns the row to send with the base version: the local row, or the deleted row for a delete; `nil` if the row
    /// no longer exists.
    func item() throws -> Row? {
        guard var item = try operation.kind == .delete ? operation.deletedItem.map(codec.row) ?? Row() : snapshot else {
            return nil
        }
        item.id = .string(operation.itemID)
        let version: Value? = operation.baseVersion.map { .string($0) }
        // A row that is not changed stays packed.
        if item["version"] != version { item["version"] = version }
        return item
    }

    // MARK: Journal

    /// Records the first request in the transaction that claims the operation.
    func announce(_ first: OperationSender.Values?, in writer: SyncDatabase<Store>.Writer) throws {
        // The operation was read in this transaction.
        var stored = operation
        let attempt = try note(json(of: first?.noted), of: &stored)
        try operations.save(stored, in: writer)
        state.withLock { state in
            state.announced = attempt
            state.first = first
        }
    }

    func note(_ body: Row?) async throws -> Attempt {
        let announced: Attempt? = state.withLock { state in
            guard let attempt = state.announced.take(), state.first?.noted == body else { return nil }
            state.unknown = attempt.bodies
            return attempt
        }
        if let announced { return announced }
        let (json, kind) = (json(of: body), operation.kind)
        let attempt: Attempt? = try await change { [self] operation in
            // Another process has applied or changed the operation since it was claimed. The next push sends the rest.
            guard operation.kind == kind else { return nil }
            return try note(json, of: &operation)
        }
        guard let attempt else { throw OperationRemoved() }
        return attempt
    }

    /// Returns a body as it is stored. Those of a restore are marked.
    private func json(of body: Row?) -> String? {
        guard var body else { return nil }
        body.isRestored = operation.restores
        return body.json
    }

    private func note(_ json: String?, of operation: inout TableOperation) throws -> Attempt {
        operation.attempts += 1
        var attempt = Attempt(bodies: operation.sent, added: nil, number: operation.attempts)
        guard let json else { return attempt }
        let codec = codec
        if try operation.note(sent: json, columns: { Set(try codec.row($0).columnNames) }) { attempt.added = json }
        attempt.bodies = operation.sent
        return attempt
    }

    func forget(_ attempt: Attempt) async throws -> Bool {
        let isForgotten: Bool? = try await change { operation in
            guard operation.attempts == attempt.number else { return nil }
            operation.sent.removeAll { $0 == attempt.added }
            return true
        }
        return isForgotten ?? false
    }

    func note(tombstone: Row) async throws {
        let json = tombstone.json
        let isNoted: Bool? = try await change { operation in
            operation.base = json
            operation.baseVersion = tombstone.version
            operation.sent = []
            return true
        }
        guard isNoted != nil else { throw OperationRemoved() }
    }

    /// Changes the stored operation. Returns `nil` and changes nothing if the operation no longer exists or if `body`
    /// returns `nil`. Throws if another process has taken over the push.
    private func change<T: Sendable>(_ body: @escaping @Sendable (inout TableOperation) throws -> T?) async throws -> T?
    {
        let (database, operations, lease, id) = (database, operations, lease, operation.id)
        let outcome: (T, [String])? = try await database.writing { writer in
            guard try lease?.confirm(in: writer) ?? true else { throw SyncError.leaseLost }
            guard var operation = try operations.operation(id, in: writer),
                let result = try body(&operation)
            else { return nil }
            try operations.save(operation, in: writer)
            return (result, operation.sent)
        }
        guard let (result, sent) = outcome else { return nil }
        state.withLock { $0.unknown = sent }
        return result
    }
}
