internal import Synchronization
internal import TidelineStore
internal import TidelineWire

/// Reads and writes operations and their error records in the system tables, within a transaction of the caller.
final class OperationStore: Sendable {
    let tables: SystemTables
    private let block = NumberBlock()
    private let queued = QueuedRows()
    /// The memory of the app's changes, one for rows and one for operations.
    let (spareRows, spareOperations) = (SpareBatch(), SpareBatch())
    private let columns = KnownQueueColumns()
    private static let counterID = "lastOperationId"

    init(tables: SystemTables) { self.tables = tables }

    // MARK: Reading

    func operation(_ id: Int64, in reader: some StoreReader) throws -> TableOperation? {
        try reader.withRow(in: tables.operations, id: .int(id)) { try operation(from: $0) }
    }

    private static let (tableColumn, keyColumn) = (RowPredicate.column("table"), RowPredicate.column("itemKey"))

    /// Returns the operations of one row with a number greater than `after`, oldest first; at most two.
    func operations(
        of table: String, key: String, after: Int64 = .min, in reader: some StoreReader
    ) throws -> [TableOperation] {
        // The order is that of the numbers. Stores look such a query up in the index without planning it.
        let isOfRow = RowPredicate.and([
            .comparison(.equal, Self.tableColumn, .literal(.string(table))),
            .comparison(.equal, Self.keyColumn, .literal(.string(key))),
        ])
        var found: [TableOperation] = []
        try reader.scan(TableQuery(tables.operations, predicate: isOfRow)) { view in
            if case .int(let id) = view.id, id <= after { return .next }
            found.append(try operation(from: view))
            return .next
        }
        return found
    }

    /// Returns the operations of one row, without a lookup if the row is known to have none.
    ///
    /// - Parameter epoch: See ``SyncDatabase/commitEpoch(_:)``; `nil` in a read transaction.
    func operations(
        of table: String, key: String, at epoch: UInt64?, in reader: some StoreReader
    ) throws -> [TableOperation] {
        guard try queued.mayContain(key, at: epoch, read: { try queuedRows(upTo: $0, in: reader) }) else { return [] }
        let found = try operations(of: table, key: key, in: reader)
        if found.isEmpty, epoch != nil { queued.noteMiss() }
        return found
    }

    /// Returns the rows of the queue, or `nil` if it has more than `maximum` operations.
    private func queuedRows(upTo maximum: Int, in reader: some StoreReader) throws -> RowFilter? {
        var (rows, count) = (RowFilter(upTo: maximum), 0)
        let query = TableQuery(tables.operations).select("itemKey").limit(maximum + 1)
        try reader.scan(query) { view in
            count += 1
            guard count <= maximum, let column = view.shape.index(of: "itemKey") else {
                count = .max
                return .stop
            }
            // A damaged operation may have no key. No lookup finds it.
            if let hash = view.withBytes(at: column, { queued.hasher.hash($0) }) { rows.insert(hash) }
            return .next
        }
        return count <= maximum ? rows : nil
    }

    /// Returns the operations of a table, oldest first.
    func operations(of table: String, in reader: some StoreReader) throws -> [TableOperation] {
        let query = TableQuery(tables.operations).filter(.column("table") == .value(table)).order(by: "id")
        return try operations(matching: query, in: reader)
    }

    /// Returns the oldest operation of each of the given rows that has one.
    ///
    /// The cost depends on the number of rows, not on that of operations: a queue of at most as many operations is read
    /// once, and the rows are looked up in a longer one, except those that are known to have none.
    ///
    /// - Parameter epoch: See ``SyncDatabase/commitEpoch(_:)``; `nil` in a read transaction.
    func oldestOperations(
        of rows: borrowing PackedRows, _ range: Range<Int>, _ schema: TableSchema, at epoch: UInt64?,
        in reader: some StoreReader
    ) throws -> IDTable<TableOperation> {
        guard !range.isEmpty else { return IDTable(matching: schema.idMatching) }
        if queued.count(at: epoch) <= range.count,
            let all = try operations(of: schema.name, ofQueueUpTo: range.count, in: reader)
        {
            return IDTable(all.lazy.map { (.string($0.itemID), $0) }, matching: schema.idMatching)
        }
        var found = IDTable<TableOperation>(matching: schema.idMatching)
        for index in range {
            let key = rows.withRow(at: index) { schema.itemKey($0.idText) }
            guard let oldest = try operations(of: schema.name, key: key, at: epoch, in: reader).first else { continue }
            oldest.itemID.withUTF8Bytes { found.insert(oldest, for: $0) }
        }
        return found
    }

    /// Returns the operations of a table, oldest first, or `nil` if the queue of all tables has more than `maximum`
    /// operations.
    private func operations(
        of table: String, ofQueueUpTo maximum: Int, in reader: some StoreReader
    ) throws -> [TableOperation]? {
        var (found, count): ([TableOperation], Int) = ([], 0)
        try reader.scan(TableQuery(tables.operations).order(by: "id").limit(maximum + 1)) { view in
            count += 1
            guard count <= maximum else { return .stop }
            if view["table"]?.string == table { found.append(try operation(from: view)) }
            return .next
        }
        return count <= maximum ? found : nil
    }

    /// Returns whether the table has pending operations.
    func isPending(table: String, in reader: some StoreReader) throws -> Bool {
        try !reader.isEmpty(TableQuery(tables.operations).filter(.column("table") == .value(table)))
    }

    func operations(matching query: TableQuery, in reader: some StoreReader) throws -> [TableOperation] {
        var found: [TableOperation] = []
        try reader.scan(query) { view in
            found.append(try operation(from: view))
            return .next
        }
        return found
    }

    /// Returns the local row of an operation, or the deleted row for a delete.
    func item(of operation: TableOperation, in reader: some StoreReader) throws -> Row? {
        guard let schema = try reader.schemaIfDefined(of: operation.table) else {
            return try operation.deletedItem.map(RowCodec.looseRow)
        }
        if let deleted = operation.deletedItem { return try RowCodec(schema: schema).row(deleted) }
        return try reader.row(in: operation.table, id: operation.itemID)
    }

    /// Returns the oldest operation with a number greater than `after` and at most `last`.
    func first(after: Int64, upTo last: Int64, in reader: some StoreReader) throws -> TableOperation? {
        // Numbers are usually consecutive, and a lookup takes a fraction of the time of a query.
        if after < last, let next = try operation(after + 1, in: reader) { return next }
        let query = TableQuery(tables.operations)
            .filter(.column("id") > .value(after) && .column("id") <= .value(last)).order(by: "id").limit(1)
        return try operations(matching: query, in: reader).first
    }

    /// Calls `body` with each operation with a number greater than `after`, oldest first.
    func forEach(after: Int64, in reader: some StoreReader, _ body: (TableOperation) throws -> Void) throws {
        try reader.scan(TableQuery(tables.operations).filter(.column("id") > .value(after)).order(by: "id")) { view in
            try body(operation(from: view))
            return .next
        }
    }

    /// Returns the number of the newest operation, or 0 if the queue is empty.
    func lastID(in reader: some StoreReader) throws -> Int64 {
        let query = TableQuery(tables.operations).order(by: "id", descending: true).limit(1)
        var last: Int64 = 0
        try reader.scan(query) { view in
            if case .int(let id) = view.id { last = id }
            return .stop
        }
        return last
    }

    /// Returns the number of pending operations of one table, or of all tables.
    func count(table: String? = nil, in reader: some StoreReader) throws -> Int {
        var query = TableQuery(tables.operations)
        if let table { query = query.filter(.column("table") == .value(table)) }
        return try reader.count(query)
    }

    // MARK: Writing

    /// Assigns the number of a new operation: greater than any earlier number.
    ///
    /// The counter in the config table is an upper bound of all numbers that were assigned. It is stored outside the
    /// queue so that numbers do not restart when the queue is empty, and raised by ``NumberBlock/size`` at a time so
    /// that most operations only read it. The numbers up to it belong to the block that is named beside it. Any other
    /// client, such as another process, raises it again, so that later operations always have greater numbers. If the
    /// counter was lost or reset, the number of the newest operation replaces it.
    ///
    /// - Parameters:
    ///   - epoch: See ``SyncDatabase/commitEpoch(_:)``. In the epoch of the last call, the block is still this
    ///     client's.
    ///   - isOwn: Whether an earlier call in this transaction has found that the block is this client's, so that the
    ///     counter need not be read again.
    func takeID(in writer: some StoreWriter, at epoch: UInt64? = nil, isOwn: Bool = false) throws -> Int64 {
        if let next = block.takeOwn(at: epoch, isOwn: isOwn) { return next }
        let config = ConfigTable(tables)
        let stored = try config.value(of: Self.counterID, in: writer)
        if let next = block.take(from: stored, at: epoch) { return next }
        let counted = try stored.map(counter) ?? 0
        let last = block.isLast(stored) ? counted : try max(counted, lastID(in: writer))
        let (limit, overflow) = last.addingReportingOverflow(NumberBlock.size)
        guard !overflow else { throw damagedCounter() }
        // The name is compared only: a block whose transaction rolled back must not equal the one that replaced it.
        let name = "\(limit) \(String(UInt64.random(in: .min ... .max), radix: 16))"
        try config.set(name, of: Self.counterID, .counter, in: writer)
        return block.begin(name, after: last, upTo: limit, at: epoch)
    }

    /// Returns the number in a stored counter, which stands alone or before the name of a block.
    private func counter(_ stored: String) throws -> Int64 {
        guard let number = stored.split(separator: " ").first.flatMap({ Int64($0) }) else { throw damagedCounter() }
        return number
    }

    private func damagedCounter() -> StoreError {
        StoreError(.corrupt, "the operation counter is damaged", table: tables.config, id: Self.counterID)
    }

    func save(_ operation: TableOperation, in writer: some StoreWriter) throws {
        var rows = try makeRows(in: writer)
        try save(operation, using: &rows, in: writer)
        spareOperations.keep(rows)
    }

    /// Returns an empty batch for ``save(_:using:in:)``, which several calls in one transaction may share.
    func makeRows(in reader: some StoreReader) throws -> PackedRows {
        spareOperations.take(try reader.shape(of: tables.operations))
    }

    func save(_ operation: TableOperation, using rows: inout PackedRows, in writer: some StoreWriter) throws {
        rows.removeAll()
        try rows.append(operation, at: columns.columns(of: rows.shape), sent: Self.json(operation.sent))
        queued.insert(operation.itemKey)
        try writer.upsert(rows, into: tables.operations)
    }

    private static let nothingSent = "[]"

    /// Encodes the bodies that were sent. Most operations have none and need no encoder.
    private static func json(_ sent: [String]) -> String {
        sent.isEmpty ? nothingSent : JSONTexts.encode(sent)
    }

    /// Removes an operation and its error record.
    func remove(_ operation: TableOperation, in writer: some StoreWriter) throws {
        try writer.delete(ids: [.int(operation.id)], from: tables.operations)
        try removeError(of: operation.id, in: writer)
    }

    /// Removes the error record of an operation that changed or succeeded.
    func removeError(of operation: Int64, in writer: some StoreWriter) throws {
        try writer.delete(ids: [.string(String(operation))], from: tables.errors)
    }

    private func operation(from row: borrowing RowView) throws -> TableOperation {
        let columns = try columns.columns(of: row.shape)
        guard case .int(let id) = row.id, let table = row.string(at: columns.table),
            let itemID = row.string(at: columns.itemID), let key = row.string(at: columns.itemKey),
            let kind = row.int(at: columns.kind).flatMap({ OperationKind(rawValue: $0) })
        else {
            throw StoreError(.corrupt, "an operation in the queue is damaged", table: tables.operations, id: row.idText)
        }
        var operation = TableOperation(id: id, table: table, itemID: itemID, itemKey: key, kind: kind)
        operation.deletedItem = row.json(at: columns.properties)
        operation.baseVersion = row.string(at: columns.baseVersion)
        operation.base = row.json(at: columns.base)
        operation.localBase = row.json(at: columns.localBase)
        operation.pulled = row.json(at: columns.pulled)
        operation.attempts = row.int(at: columns.attempts) ?? 0
        operation.restores = row.bool(at: columns.restores) ?? false
        operation.revision = row.int(at: columns.revision) ?? 0
        operation.lastError = row.string(at: columns.lastError)
        if let sent = row.json(at: columns.sent), sent != Self.nothingSent {
            do {
                operation.sent = try JSONTexts.decode(sent)
            } catch {
                throw StoreError(
                    .corrupt, "an operation in the queue is damaged: \(error.message)", table: tables.operations,
                    column: "sent", id: row.idText)
            }
        }
        return operation
    }
}

/// The positions of the columns of the queue's table in rows of one shape.
private struct QueueColumns {
    let shape: RowShape
    let table, itemID, itemKey, kind, properties, baseVersion, base, pulled, attempts, sent, restores, revision: Int
    let lastError, localBase: Int

    init(_ shape: RowShape) throws {
        func position(_ column: String) throws -> Int {
            if let position = shape.index(of: column) { return position }
            throw StoreError(
                .schemaMismatch, "the table of the queue lacks a column; create the client again", table: shape.table,
                column: column)
        }
        self.shape = shape
        (table, itemID, itemKey) = (try position("table"), try position("itemId"), try position("itemKey"))
        (kind, properties) = (try position("tableKind"), try position("properties"))
        (baseVersion, base, pulled) = (try position("baseVersion"), try position("base"), try position("pulled"))
        (attempts, sent, restores) = (try position("attempts"), try position("sent"), try position("restores"))
        (revision, lastError) = (try position("revision"), try position("lastError"))
        localBase = try position("localBase")
    }
}

/// The columns of the last shape, because finding their names takes longer than reading an operation.
private final class KnownQueueColumns: Sendable {
    private let last = Mutex<QueueColumns?>(nil)

    func columns(of shape: RowShape) throws -> QueueColumns {
        if let known = last.withLock({ $0 }), known.shape === shape { return known }
        let columns = try QueueColumns(shape)
        last.withLock { $0 = columns }
        return columns
    }
}

extension PackedRows {
    /// Appends an operation, without an intermediate row.
    fileprivate mutating func append(
        _ operation: TableOperation, at columns: QueueColumns, sent: String
    ) throws(StoreError) {
        beginRow()
        set(operation.table, as: .string, at: columns.table)
        set(operation.itemID, as: .string, at: columns.itemID)
        set(operation.itemKey, as: .string, at: columns.itemKey)
        setInt(operation.kind.rawValue, at: columns.kind)
        set(operation.deletedItem, as: .json, at: columns.properties)
        set(operation.baseVersion, as: .string, at: columns.baseVersion)
        set(operation.base, as: .json, at: columns.base)
        set(operation.pulled, as: .json, at: columns.pulled)
        setInt(operation.attempts, at: columns.attempts)
        set(sent, as: .json, at: columns.sent)
        setBool(operation.restores, at: columns.restores)
        setInt(operation.revision, at: columns.revision)
        set(operation.lastError, as: .string, at: columns.lastError)
        set(operation.localBase, as: .json, at: columns.localBase)
        setID(.int(operation.id))
        try endRow()
    }

    private mutating func set(_ text: String?, as tag: RowTag, at position: Int) {
        guard var text else { return setNull(at: position) }
        text.withUTF8 { setBytes(UnsafeRawBufferPointer($0), as: tag, at: position) }
    }
}

extension RowView {
    /// Returns the JSON text at a position, or `nil` if the value is not JSON.
    fileprivate borrowing func json(at index: Int) -> String? {
        guard tag(at: index) == .json else { return nil }
        return withBytes(at: index) { String(decoding: $0, as: UTF8.self) }
    }
}

/// A batch whose memory the next transaction uses.
final class SpareBatch: Sendable {
    private let batch = Mutex<PackedRows?>(nil)

    /// Returns an empty batch for rows of a shape.
    func take(_ shape: RowShape) -> PackedRows {
        guard var rows = batch.withLock({ $0.take() }), rows.shape === shape else {
            return PackedRows(shape: shape, byteCapacity: 1_024)
        }
        rows.removeAll()
        return rows
    }

    func keep(_ rows: consuming PackedRows) {
        guard !rows.isLarge else { return }
        var rows: PackedRows? = rows
        batch.withLock { swap(&$0, &rows) }
    }
}

extension PackedRows {
    /// Whether the memory of the batch is not worth keeping.
    var isLarge: Bool { byteCount > 65_536 }
}

/// The operation numbers that this client may still assign; see ``OperationStore/takeID(in:at:isOwn:)``.
///
/// If a transaction that began a block rolls back, the stored counter differs from the block, and the next operation
/// begins another block. Numbers that a transaction took before it rolled back are not assigned again.
private final class NumberBlock: Sendable {
    /// The number of operations for which the counter is raised. A client that ends leaves the rest unused.
    static let size: Int64 = 64

    private struct State {
        /// The counter as this client stored it, or `nil` if it has not.
        var name: String?
        var last: Int64 = 0
        var limit: Int64 = 0
        /// The epoch in which the stored counter was last found to be that of the block; see
        /// ``SyncDatabase/commitEpoch(_:)``.
        var epoch: UInt64?
    }

    private let state = Mutex(State())

    /// Returns the next number if the stored counter is that of the block and the block has numbers left.
    func take(from stored: String?, at epoch: UInt64?) -> Int64? {
        state.withLock { state in
            guard let name = state.name, name == stored, state.last < state.limit else { return nil }
            state.last += 1
            state.epoch = epoch
            return state.last
        }
    }

    /// Returns the next number if the block is known to be this client's and has numbers left.
    func takeOwn(at epoch: UInt64?, isOwn: Bool) -> Int64? {
        state.withLock { state in
            guard isOwn || epoch != nil && epoch == state.epoch, state.name != nil, state.last < state.limit else {
                return nil
            }
            state.last += 1
            return state.last
        }
    }

    /// Returns whether the stored counter is that of the block, so that no other client has assigned numbers since.
    func isLast(_ stored: String?) -> Bool { state.withLock { $0.name != nil && $0.name == stored } }

    /// Begins a block and returns its first number.
    func begin(_ name: String, after last: Int64, upTo limit: Int64, at epoch: UInt64?) -> Int64 {
        state.withLock { $0 = State(name: name, last: last + 1, limit: limit, epoch: epoch) }
        return last + 1
    }
}

extension StoreReader {
    /// Returns whether no row matches a query.
    func isEmpty(_ query: TableQuery) throws -> Bool {
        var isEmpty = true
        try scan(query.limit(1)) { _ in
            isEmpty = false
            return .stop
        }
        return isEmpty
    }
}
