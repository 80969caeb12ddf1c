internal import Synchronization
internal import TidelineStore

/// An operation in flight, with the local row as it was when the operation was claimed.
final class ClaimedOperation<Store: LocalStore>: AttemptJournal {
    let context: SyncContext<Store>
    let operation: TableOperation
    let schema: TableSchema
    /// The local row, or `nil` if there is none.
    let snapshot: Row?
    private let unknown: Mutex<[String]>

    var codec: RowCodec { RowCodec(schema: schema) }
    var unknownBodies: [String] { unknown.withLock { $0 } }

    init(_ operation: TableOperation, schema: TableSchema, snapshot: Row?, context: SyncContext<Store>) {
        var operation = operation
        operation.item = try? operation.deletedItem.map(RowCodec(schema: schema).row) ?? snapshot
        self.operation = operation
        self.schema = schema
        self.snapshot = snapshot
        self.context = context
        unknown = Mutex(operation.sent)
    }

    /// The stamp of the base row, or `nil` if there was none.
    var base: RowStamp? {
        operation.baseVersion.map { RowStamp(version: $0, updatedAt: operation.item?["updatedAt"]?.timestamp) }
    }

    /// Returns the row to send with the base version: the local row, or the deleted row for a delete; `nil` if the row
    /// no longer exists.
    func item() throws -> Row? {
        var item = try operation.kind == .delete ? operation.deletedItem.map(codec.row) ?? Row() : snapshot
        item?.id = .string(operation.itemID)
        item?["version"] = operation.baseVersion.map { .string($0) }
        return item
    }

    // MARK: Journal

    func note(_ body: Row?) async throws -> Attempt {
        let (codec, kind) = (codec, operation.kind)
        let attempt: Attempt? = try await change { operation in
            // Another process has applied or changed the operation since it was claimed. The next push sends the rest.
            guard operation.kind == kind else { return nil }
            operation.attempts += 1
            let number = operation.attempts
            guard let body else { return Attempt(bodies: operation.sent, added: nil, number: number) }
            let json = body.json
            let isNew = try operation.note(sent: json) { Set(try codec.row($0).columnNames) }
            return Attempt(bodies: operation.sent, added: isNew ? json : nil, number: number)
        }
        guard let attempt else { throw OperationRemoved() }
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
    /// returns `nil`.
    private func change<T: Sendable>(_ body: @escaping @Sendable (inout TableOperation) throws -> T?) async throws -> T?
    {
        let (context, id) = (context, operation.id)
        let outcome: (T, [String])? = try await context.writing { writer in
            guard var operation = try context.operations.operation(id, in: writer),
                let result = try body(&operation)
            else { return nil }
            try context.operations.save(operation, in: writer)
            return (result, operation.sent)
        }
        guard let (result, sent) = outcome else { return nil }
        unknown.withLock { $0 = sent }
        return result
    }
}
