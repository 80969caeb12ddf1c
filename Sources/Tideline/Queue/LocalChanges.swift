internal import Synchronization
internal import TidelineStore

/// Whether the current transaction has assigned the number of an operation, so that the block of numbers is this client's.
private final class TransactionNumbers: Sendable {
    private let state = Atomic(false)

    var areOwn: Bool { state.load(ordering: .relaxed) }

    func noteOwn() { state.store(true, ordering: .relaxed) }
}

/// Applies a change by the app in one transaction, so that a row and its queue entry are always written together.
struct LocalChanges: Sendable {
    let operations: OperationStore
    let schema: TableSchema
    /// Whether this type writes rows. If not, the app writes them.
    let writesRows: Bool
    /// Whether an insert over a pending delete is an error.
    let rejectsInsertOverPendingDelete: Bool
    /// The operations that are in flight.
    let inFlight: Set<Int64>
    private let numbers = TransactionNumbers()

    /// Inserts a row and returns it as stored.
    func insert(_ given: Row, in writer: some StoreWriter) throws -> Row {
        var row = try RowInput.checked(given, for: schema)
        let pending = try pendingOperations(of: row.idText, in: writer)
        if writesRows, try RowInput.isStored(row.idText, of: schema, in: writer) {
            throw SyncError(
                .rowExists, "the local table already has a row with this id", table: schema.name, id: row.idText)
        }
        try apply(.insert, to: row.idText, stored: nil, after: pending, in: writer)
        guard writesRows else { return row }
        // A restored row keeps the case of the identifier in its operations.
        if let newest = pending.last { row.id = .string(newest.itemID) }
        // The row is new, so it is stored as it is packed here and need not be read back.
        var rows = PackedRows(shape: try writer.shape(of: schema.name), byteCapacity: 512)
        try rows.append(completing: row)
        try writer.upsert(rows, into: schema.name)
        return rows.withRow(at: 0) { $0.owned() }
    }

    /// Merges the named columns into a row. Unless `overwriting` is true, the row's version must equal the stored
    /// version.
    func update(_ given: Row, overwriting: Bool, in writer: some StoreWriter) throws {
        let row = try RowInput.checked(
            given, for: schema, isKnown: RowInput.isStored(given.idText, of: schema, in: writer))
        try merge(row, given: overwriting ? nil : given, in: writer)
    }

    private func merge(_ row: Row, given: Row?, in writer: some StoreWriter) throws {
        let stored = try writer.row(in: schema.name, id: row.idText)
        try requireCurrent(given, stored)
        guard stored != nil || !writesRows else {
            throw noSuchRow(row.idText)
        }
        let pending = try pendingOperations(of: row.idText, in: writer)
        try apply(.update, to: stored?.idText ?? row.idText, stored: stored, after: pending, in: writer)
        if writesRows { try writer.upsert(row, into: schema.name) }
    }

    /// Changes the stored row with a closure.
    ///
    /// - Returns: The row as stored, or the error that the closure threw. After an error nothing is changed.
    func update(
        id: String, in writer: some StoreWriter, _ change: (inout Row) throws -> Void
    ) throws -> Result<Row, any Error> {
        try RowInput.checkID(id, of: schema, isKnown: RowInput.isStored(id, of: schema, in: writer))
        guard let stored = try writer.row(in: schema.name, id: id) else { throw noSuchRow(id) }
        var changed = stored
        do {
            try change(&changed)
        } catch {
            return .failure(error)
        }
        let edits = try RowInput.edits(from: stored, to: changed, of: schema)
        guard !edits.isEmpty else { return .success(stored) }
        try merge(edits, given: nil, in: writer)
        return .success(try writer.row(in: schema.name, id: id) ?? changed)
    }

    /// Deletes a row. The delete of a row that is not stored is queued too because the server may have the row.
    ///
    /// - Parameter given: The row's identifier, and its version if that must equal the stored version.
    func delete(_ given: Row, in writer: some StoreWriter) throws {
        try RowInput.checkID(
            of: given, for: schema, isKnown: RowInput.isStored(given.idText, of: schema, in: writer))
        let id = given.idText
        let stored = try writer.row(in: schema.name, id: id)
        try requireCurrent(given, stored)
        let pending = try pendingOperations(of: id, in: writer)
        try apply(
            .delete, to: stored?.idText ?? id, stored: stored, givenVersion: given.version, after: pending, in: writer)
        guard writesRows else { return }
        try writer.delete(id: id, from: schema.name)
        // The insert was removed from the queue. Store the row that a pull received in the meantime, because no later
        // pull returns it.
        guard let newest = pending.last, try operations.operation(newest.id, in: writer) == nil else { return }
        try codec.storePulled(of: newest, in: writer)
    }

    private var codec: RowCodec { RowCodec(schema: schema) }

    /// Throws if the given row has a version other than the stored one: it was read before the latest change.
    private func requireCurrent(_ given: Row?, _ stored: Row?) throws {
        guard let given, let stored, let version = given["version"], version != stored["version"] ?? .null else {
            return
        }
        var error = SyncError(
            .rowChanged,
            "the row has changed since it was read; apply the change to the current row with update(id:_:), or pass "
                + "overwriting: true", table: schema.name, id: stored.idText)
        (error.givenRow, error.storedRow) = (given, stored)
        throw error
    }

    private func noSuchRow(_ id: String) -> SyncError {
        SyncError(.noSuchRow, "the local table has no row with this id", table: schema.name, id: id)
    }

    // MARK: Queue

    private func pendingOperations(of id: String, in reader: some StoreReader) throws -> [TableOperation] {
        try operations.operations(of: schema.name, key: schema.itemKey(id), in: reader)
    }

    private func apply(
        _ change: OperationKind, to id: String, stored: Row?, givenVersion: String? = nil,
        after pending: [TableOperation], in writer: some StoreWriter
    ) throws {
        var state = pending.last?.state
        if let newest = pending.last { state?.isInFlight = inFlight.contains(newest.id) }
        switch OperationCollapse.decide(
            change, onto: state, rejectsInsertOverPendingDelete: rejectsInsertOverPendingDelete)
        {
        case .ignore: return
        case .refuseExisting:
            throw SyncError(
                .rowExists, "an operation for a row with this id is already pending", table: schema.name, id: id)
        case .refuseDeleted:
            throw SyncError(
                .noSuchRow, "the row was deleted locally, and its delete is pending", table: schema.name, id: id)
        case .remove:
            if let newest = pending.last { try operations.remove(newest, in: writer) }
        case .enqueue(let kind, let restores):
            try enqueue(
                kind, restores: restores, id: pending.last?.itemID ?? id, stored: stored, givenVersion: givenVersion,
                isFirst: pending.isEmpty, in: writer)
        case .keep:
            guard var newest = pending.last else { return }
            try revise(&newest, in: writer)
        case .change(let kind, let restores):
            guard var newest = pending.last else { return }
            try newest.change(to: kind, restores: restores, RowCodec(schema: schema))
            newest.deletedItem = kind == .delete ? stored?.json : nil
            try revise(&newest, in: writer)
        }
    }

    private func enqueue(
        _ kind: OperationKind, restores: Bool, id: String, stored: Row?, givenVersion: String?, isFirst: Bool,
        in writer: some StoreWriter
    ) throws {
        var operation = TableOperation(
            id: try operations.takeID(in: writer, isOwn: numbers.areOwn), table: schema.name, itemID: id,
            itemKey: schema.itemKey(id), kind: kind)
        numbers.noteOwn()
        operation.restores = restores
        let isFirstChange = isFirst && kind != .insert
        // The app may already have written the row, which therefore is not a valid base row.
        let hasBase = isFirstChange && writesRows
        let content = hasBase || kind == .delete ? stored?.json : nil
        if kind == .delete { operation.deletedItem = content }
        // The response to an operation in flight sets the base row and base version of the operation after it.
        if isFirstChange { operation.baseVersion = stored == nil ? givenVersion : stored?.version }
        if hasBase { operation.base = content }
        try operations.save(operation, in: writer)
    }

    private func revise(_ operation: inout TableOperation, in writer: some StoreWriter) throws {
        operation.revision += 1
        operation.lastError = nil
        try operations.save(operation, in: writer)
        try operations.removeError(of: operation.id, in: writer)
    }
}
