internal import Synchronization
internal import TidelineStore

/// Reads and writes operations and their error records in the system tables, within a transaction of the caller.
struct OperationStore: Sendable {
    let tables: SystemTables
    private let sequenceCounter = SequenceCounter()
    /// The key type of the operation counter in the config table. Pull tokens have a different key type.
    static let counterKeyType: Int64 = 2

    // MARK: Reading

    func operation(_ id: Int64, in reader: some StoreReader) throws -> TableOperation? {
        try reader.withRow(in: tables.operations, id: .int(id)) { try operation(from: $0.owned()) }
    }

    /// Returns the operations of one row, oldest first; at most two.
    func operations(of table: String, key: String, in reader: some StoreReader) throws -> [TableOperation] {
        let query = Query(tables.operations)
            .filter(.column("table") == .value(table) && .column("itemKey") == .value(key)).order(by: "id")
        return try operations(matching: query, in: reader)
    }

    /// Returns the operations of a table, oldest first.
    func operations(of table: String, in reader: some StoreReader) throws -> [TableOperation] {
        let query = Query(tables.operations).filter(.column("table") == .value(table)).order(by: "id")
        return try operations(matching: query, in: reader)
    }

    func operations(matching query: Query, in reader: some StoreReader) throws -> [TableOperation] {
        var found: [TableOperation] = []
        try reader.scan(query) { view in
            found.append(try operation(from: view.owned()))
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
        let query = Query(tables.operations)
            .filter(.column("id") > .value(after) && .column("id") <= .value(last)).order(by: "id").limit(1)
        return try operations(matching: query, in: reader).first
    }

    /// Returns the number of the newest operation, or 0 if the queue is empty.
    func lastID(in reader: some StoreReader) throws -> Int64 {
        let query = Query(tables.operations).order(by: "id", descending: true).limit(1)
        var last: Int64 = 0
        try reader.scan(query) { view in
            if case .int(let id) = view.id { last = id }
            return .stop
        }
        return last
    }

    /// Returns the number of pending operations of one table, or of all tables.
    func count(table: String? = nil, in reader: some StoreReader) throws -> Int {
        var query = Query(tables.operations)
        if let table { query = query.filter(.column("table") == .value(table)) }
        return try reader.count(query)
    }

    // MARK: Writing

    /// Assigns the number of a new operation: one more than any earlier number.
    ///
    /// The counter is stored outside the queue so that numbers do not restart when the queue is empty. If the counter
    /// was lost or reset, the number of the newest operation replaces it. Adding an operation and raising the counter
    /// are one transaction, so the newest operation is read only if the counter is lower than the last number assigned
    /// here.
    func takeID(in writer: some StoreWriter) throws -> Int64 {
        let key = "lastOperationId"
        var stored: Int64 = 0
        if let row = try writer.row(in: tables.config, id: key) {
            guard let value = row["value"]?.string.flatMap({ Int64($0) }) else { throw damagedCounter(key) }
            stored = value
        }
        if !sequenceCounter.isAtLeast(stored) { stored = try max(stored, lastID(in: writer)) }
        let (next, overflow) = stored.addingReportingOverflow(1)
        guard !overflow else { throw damagedCounter(key) }
        sequenceCounter.note(next)
        let row = Row(
            id: .string(key),
            distinctColumns: [
                ("table", ""), ("key", .string(key)), ("keyType", .int(Self.counterKeyType)),
                ("value", .string(String(next))),
            ])
        try writer.upsert(row, into: tables.config)
        return next
    }

    private func damagedCounter(_ key: String) -> StoreError {
        StoreError(.corrupt, "the operation counter is damaged", table: tables.config, id: key)
    }

    func save(_ operation: TableOperation, in writer: some StoreWriter) throws {
        let row = Row(
            id: .int(operation.id),
            distinctColumns: [
                ("table", .string(operation.table)), ("itemId", .string(operation.itemID)),
                ("itemKey", .string(operation.itemKey)), ("tableKind", .int(operation.kind.rawValue)),
                ("properties", operation.deletedItem.map { .json($0) } ?? .null),
                ("baseVersion", operation.baseVersion.map { .string($0) } ?? .null),
                ("base", operation.base.map { .json($0) } ?? .null),
                ("pulled", operation.pulled.map { .json($0) } ?? .null), ("attempts", .int(operation.attempts)),
                ("sent", .json(try Self.json(operation.sent))), ("restores", .bool(operation.restores)),
                ("revision", .int(operation.revision)),
                ("lastError", operation.lastError.map { .string($0) } ?? .null),
            ])
        try writer.upsert(row, into: tables.operations)
    }

    private static let nothingSent = "[]"

    /// Encodes the bodies that were sent. Most operations have none and need no encoder.
    private static func json(_ sent: [String]) throws -> String {
        sent.isEmpty ? nothingSent : try RecordJSON.encode(sent)
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

    private func operation(from row: Row) throws -> TableOperation {
        guard case .int(let id)? = row.id, let table = row["table"]?.string, let itemID = row["itemId"]?.string,
            let key = row["itemKey"]?.string, let kind = row["tableKind"]?.int.flatMap({ OperationKind(rawValue: $0) })
        else {
            throw StoreError(.corrupt, "an operation in the queue is damaged", table: tables.operations, id: row.idText)
        }
        var operation = TableOperation(id: id, table: table, itemID: itemID, itemKey: key, kind: kind)
        operation.deletedItem = row["properties"]?.json
        operation.baseVersion = row["baseVersion"]?.string
        operation.base = row["base"]?.json
        operation.pulled = row["pulled"]?.json
        operation.attempts = row["attempts"]?.int ?? 0
        operation.restores = row["restores"]?.bool ?? false
        operation.revision = row["revision"]?.int ?? 0
        operation.lastError = row["lastError"]?.string
        if let sent = row["sent"]?.json, sent != Self.nothingSent {
            operation.sent = try RecordJSON.decode(from: sent)
        }
        return operation
    }
}

/// The last operation number that this process assigned, used to detect a counter that was lost or reset.
private final class SequenceCounter: Sendable {
    private let last = Atomic(Int64.max)

    /// Returns whether a stored counter is at least the last number assigned here.
    func isAtLeast(_ number: Int64) -> Bool { number >= last.load(ordering: .relaxed) }

    /// Records a number that was assigned. If the transaction rolls back, the stored counter is lower and is verified
    /// again.
    func note(_ number: Int64) { last.store(number, ordering: .relaxed) }
}
