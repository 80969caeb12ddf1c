internal import Synchronization
internal import TidelineStore

/// An operation in flight, with the local row as it was when the operation was claimed. Its journal is stored before a
/// request is sent and after its response.
final class ClaimedOperation: Sendable {
    /// Changes the stored operation. Returns `nil` and changes nothing if the operation no longer exists or if the
    /// closure returns `nil`. Throws if another process has taken over the push.
    typealias Change =
        @Sendable (@escaping @Sendable (inout TableOperation) throws -> Attempt?) async throws -> Changed?
    /// The attempt of a change, and the bodies that are stored after it.
    typealias Changed = (attempt: Attempt, sent: [String])

    let operation: TableOperation
    let codec: RowCodec
    /// The local row, or `nil` if there is none.
    let snapshot: Row?
    /// See ``SyncDatabase/beginPushWrite(_:)``, in the transaction of the claim.
    private let epoch: UInt64?
    private let change: Change
    private let state: Mutex<State>

    private struct State {
        /// The operation as it was stored with the claim.
        var stored: TableOperation
        /// The bodies whose responses were lost.
        var unknown: [String]
        /// The attempt of the first request, if it was stored with the claim and is not sent yet.
        var announced: Attempt?
        /// The values of the first request, if it was stored with the claim and is not a delete.
        var first: RequestValues?
        /// The row to send, if the first request was stored with the claim.
        var item: Row?
    }

    var schema: TableSchema { codec.schema }
    /// The bodies whose responses were lost, as JSON, oldest first.
    var unknownBodies: [String] { state.withLock { $0.unknown } }
    /// The values of the first request, as they were when the operation was claimed, or `nil` if they are not known.
    var first: RequestValues? { state.withLock { $0.first } }

    init(_ operation: TableOperation, codec: RowCodec, snapshot: Row?, at epoch: UInt64?, change: @escaping Change) {
        state = Mutex(State(stored: operation, unknown: operation.sent))
        var operation = operation
        operation.item = try? operation.deletedItem.map(codec.row) ?? snapshot
        self.operation = operation
        self.codec = codec
        self.snapshot = snapshot
        self.epoch = epoch
        self.change = change
    }

    /// Returns the operation as it is stored, or `nil` if it may have changed, or another one of its row have been
    /// added.
    ///
    /// - Parameter epoch: See ``SyncDatabase/beginPushWrite(_:)``.
    func stored(at epoch: UInt64?) -> TableOperation? {
        epoch != nil && epoch == self.epoch ? state.withLock { $0.stored } : nil
    }

    /// The stamp of the base row, or `nil` if there was none.
    var base: RowStamp? {
        operation.baseVersion.map { RowStamp(version: $0, updatedAt: operation.item?["updatedAt"]?.timestamp) }
    }

    /// Returns the row to send with the base version: the local row, or the deleted row for a delete; `nil` if the row
    /// no longer exists.
    func item() throws -> Row? {
        if let item = state.withLock({ $0.item.take() }) { return item }
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
    func announce(
        _ first: RequestValues?, of item: Row, with operations: OperationStore, in writer: some StoreWriter
    ) throws {
        // The operation was read in this transaction.
        var stored = state.withLock { $0.stored }
        let attempt = try note(json(of: first?.noted), of: &stored)
        try operations.save(stored, in: writer)
        state.withLock { [stored] in
            $0 = State(stored: stored, unknown: $0.unknown, announced: attempt, first: first, item: item)
        }
    }

    /// Records that a request is about to be sent. Throws ``OperationRemoved`` if the operation no longer exists.
    ///
    /// - Parameter body: The values that the request and known earlier requests write, relative to the base row; `nil`
    ///   for a request without a body.
    nonisolated(nonsending) func note(_ body: Row?) async throws -> Attempt {
        let announced: Attempt? = state.withLock { state in
            guard let attempt = state.announced.take(), state.first?.noted == body else { return nil }
            state.unknown = attempt.bodies
            return attempt
        }
        if let announced { return announced }
        let (json, kind) = (json(of: body), operation.kind)
        let changed = try await change { [self] operation in
            // Another process has applied or changed the operation since it was claimed. The next push sends the rest.
            operation.kind == kind ? try note(json, of: &operation) : nil
        }
        return try confirmed(changed)
    }

    /// Returns the attempt after a change, and keeps the bodies that were stored.
    private func confirmed(_ changed: Changed?) throws -> Attempt {
        guard let changed else { throw OperationRemoved() }
        state.withLock { $0.unknown = changed.sent }
        return changed.attempt
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

    /// Records that the body of a refused request was not applied, unless another process has sent a request for the
    /// operation since, perhaps with the same body.
    ///
    /// - Returns: Whether the body was removed.
    func forget(_ attempt: Attempt) async throws -> Bool {
        let changed = try await change { operation in
            guard operation.attempts == attempt.number else { return nil }
            operation.sent.removeAll { $0 == attempt.added }
            return attempt
        }
        guard let changed else { return false }
        state.withLock { $0.unknown = changed.sent }
        return true
    }

    /// Records that the row was found deleted, with this tombstone, and is about to be restored.
    func note(tombstone: Row) async throws {
        let json = tombstone.json
        let changed = try await change { operation in
            operation.attempts += 1
            operation.base = json
            operation.baseVersion = tombstone.version
            operation.sent = []
            return Attempt(bodies: [], number: operation.attempts)
        }
        _ = try confirmed(changed)
    }
}

/// The values of an insert or update.
struct RequestValues: Sendable {
    /// The columns to send.
    var body: Row
    /// The base row, or `nil` if there is none.
    var base: Row?
    /// The values that the request writes relative to the base row.
    var noted: Row
}

/// A request that is about to be sent.
struct Attempt: Sendable {
    /// All bodies that may or may not have been applied, including this one, as JSON, oldest first.
    var bodies: [String]
    /// This request's body, if no earlier request had the same one.
    var added: String?
    /// How many requests were made for the operation, by any process, including this one.
    var number: Int64
}

/// An error for an operation that another process of the same store removed before its request was sent.
struct OperationRemoved: Error {}
