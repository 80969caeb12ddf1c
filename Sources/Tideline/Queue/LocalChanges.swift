internal import TidelineStore

/// Applies changes by the app of one table in one transaction, so that a row and its queue entry are always written
/// together. It belongs to the transaction: what its changes look up is looked up once.
final class LocalChanges {
    let operations: OperationStore
    let schema: TableSchema
    /// See ``SyncDatabase/commitEpoch(_:)``.
    private let epoch: UInt64?
    /// Whether this type writes rows. If not, the app writes them.
    private let writesRows: Bool
    /// Whether an insert over a pending delete is an error.
    private let rejectsInsertOverPendingDelete: Bool
    /// The operations that are in flight.
    private let inFlight: Set<Int64>
    /// Whether a change has assigned the number of an operation, so that the block of numbers is this client's.
    private var hasNumbers = false
    /// The batches in which rows and operations are packed, one at a time, or `nil` before the first.
    private var rows: PackedRows?
    private var queueRows: PackedRows?

    init(
        operations: OperationStore, schema: TableSchema, epoch: UInt64?, writesRows: Bool,
        rejectsInsertOverPendingDelete: Bool, inFlight: Set<Int64>
    ) {
        self.operations = operations
        self.schema = schema
        self.epoch = epoch
        self.writesRows = writesRows
        self.rejectsInsertOverPendingDelete = rejectsInsertOverPendingDelete
        self.inFlight = inFlight
    }

    deinit {
        if let rows = rows.take() { operations.spareRows.keep(rows) }
        if let rows = queueRows.take() { operations.spareOperations.keep(rows) }
    }

    /// Inserts a row with an identifier that is valid for a new row, and returns it as stored.
    func insert(_ given: Row, in writer: some StoreWriter) throws -> Row {
        guard writesRows else {
            let row = try RowInput.checked(given, for: schema)
            let pending = try pendingOperations(of: row.idText, in: writer)
            try apply(.insert, to: row.idText, stored: nil, after: pending, in: writer)
            return row
        }
        var rows = try takeRows(in: writer)
        try RowInput.pack(given, for: schema, completing: true, into: &rows)
        let id = given.idText
        let pending = try pendingOperations(of: id, in: writer)
        if try RowInput.isStored(id, of: schema, in: writer) {
            throw SyncError(.rowExists, "the local table already has a row with this id", table: schema.name, id: id)
        }
        try apply(.insert, to: id, stored: nil, after: pending, in: writer)
        // A restored row keeps the case of the identifier in its operations.
        rows.setID(.string(pending.last?.itemID ?? id))
        try rows.endRow()
        try writer.upsert(rows, into: schema.name)
        // The row is new, so it is stored as it is packed here and need not be read back.
        let row = rows.withRow(at: 0) { $0.owned() }
        keep(rows)
        return row
    }

    /// Returns an empty batch for the table's rows.
    private func takeRows(in writer: some StoreWriter) throws -> PackedRows {
        guard var rows = rows.take() else {
            return operations.spareRows.take(try writer.shape(of: schema.name))
        }
        rows.removeAll()
        return rows
    }

    private func keep(_ rows: consuming PackedRows) {
        if !rows.isLarge { self.rows = consume rows }
    }

    /// Merges the named columns into a row. Unless `overwriting` is true, the row's version must equal the stored
    /// version.
    func update(_ given: Row, overwriting: Bool, in writer: some StoreWriter) throws {
        try RowInput.checkID(
            of: given, for: schema, isKnown: RowInput.isStored(given.idText, of: schema, in: writer))
        var rows = try takeRows(in: writer)
        try RowInput.pack(given, for: schema, completing: false, into: &rows)
        rows.setID(.string(given.idText))
        try rows.endRow()
        let stored = try writer.row(in: schema.name, id: given.idText)
        if !overwriting { try requireCurrent(given, stored) }
        guard stored != nil || !writesRows else { throw noSuchRow(given.idText) }
        try merge(rows, id: given.idText, over: stored, in: writer)
        keep(rows)
    }

    /// Merges a packed row into the stored one, and queues the update.
    private func merge(
        _ rows: borrowing PackedRows, id: String, over stored: Row?, in writer: some StoreWriter
    ) throws {
        let pending = try pendingOperations(of: id, in: writer)
        try apply(.update, to: stored?.idText ?? id, stored: stored, after: pending, in: writer)
        if writesRows { try writer.upsert(rows, into: schema.name) }
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
        var rows = try takeRows(in: writer)
        try rows.append(edits)
        try merge(rows, id: id, over: stored, in: writer)
        keep(rows)
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
    private func requireCurrent(_ given: Row, _ stored: Row?) throws {
        guard let stored, let version = given["version"], version != stored["version"] ?? .null else { return }
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
        try operations.operations(of: schema.name, key: schema.itemKey(id), at: epoch, in: reader)
    }

    private func apply(
        _ change: OperationKind, to id: String, stored: Row?, givenVersion: String? = nil,
        after pending: [TableOperation], in writer: some StoreWriter
    ) throws {
        let state = pending.last.map { $0.state(isInFlight: inFlight.contains($0.id)) }
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
            try newest.change(to: kind, restores: restores, codec)
            newest.deletedItem = kind == .delete ? stored?.json : nil
            try revise(&newest, in: writer)
        }
    }

    private func enqueue(
        _ kind: OperationKind, restores: Bool, id: String, stored: Row?, givenVersion: String?, isFirst: Bool,
        in writer: some StoreWriter
    ) throws {
        var operation = TableOperation(
            id: try operations.takeID(in: writer, at: epoch, isOwn: hasNumbers), table: schema.name,
            itemID: id, itemKey: schema.itemKey(id), kind: kind)
        hasNumbers = true
        operation.restores = restores
        let isFirstChange = isFirst && kind != .insert
        // The app may already have written the row, which therefore is not a valid base row.
        let hasBase = isFirstChange && writesRows
        let content = hasBase || kind == .delete ? stored?.json : nil
        if kind == .delete { operation.deletedItem = content }
        // The response to an operation in flight sets the base row and base version of the operation after it.
        if isFirstChange { operation.baseVersion = stored == nil ? givenVersion : stored?.version }
        if hasBase { operation.base = content }
        try save(operation, in: writer)
    }

    private func save(_ operation: TableOperation, in writer: some StoreWriter) throws {
        var rows = try queueRows.take() ?? operations.makeRows(in: writer)
        try operations.save(operation, using: &rows, in: writer)
        if !rows.isLarge { queueRows = consume rows }
    }

    private func revise(_ operation: inout TableOperation, in writer: some StoreWriter) throws {
        operation.revision += 1
        operation.lastError = nil
        try save(operation, in: writer)
        try operations.removeError(of: operation.id, in: writer)
    }
}
