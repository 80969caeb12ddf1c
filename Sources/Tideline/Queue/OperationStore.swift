internal import Foundation
internal import TidelineStore

/// The queue as it lies in the system tables: reading and writing operations and their error records within a
/// transaction of the caller.
struct OperationStore: Sendable {
    let tables: SystemTables
    /// The key type of the operation counter in the config table; tokens of pulls have another.
    static let counterKeyType: Int64 = 2

    // MARK: Reading

    func operation(_ id: Int64, in reader: some StoreReader) throws -> TableOperation? {
        try reader.withRow(in: tables.operations, id: .int(id)) { try operation(from: $0.owned()) }
    }

    /// The operations of one row, the oldest first; two at most.
    func operations(of table: String, key: String, in reader: some StoreReader) throws -> [TableOperation] {
        let query = Query(tables.operations)
            .filter(.column("table") == .value(table) && .column("itemKey") == .value(key)).order(by: "id")
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

    /// The oldest operation with a number in a range, both ends included.
    func first(after: Int64, upTo last: Int64, in reader: some StoreReader) throws -> TableOperation? {
        let query = Query(tables.operations)
            .filter(.column("id") > .value(after) && .column("id") <= .value(last)).order(by: "id").limit(1)
        return try operations(matching: query, in: reader).first
    }

    /// The number of the newest operation, 0 when there is none.
    func lastID(in reader: some StoreReader) throws -> Int64 {
        let query = Query(tables.operations).order(by: "id", descending: true).limit(1)
        return try operations(matching: query, in: reader).first?.id ?? 0
    }

    /// How many operations wait, in one table or in all.
    func count(table: String? = nil, in reader: some StoreReader) throws -> Int {
        var query = Query(tables.operations)
        if let table { query = query.filter(.column("table") == .value(table)) }
        return try reader.count(query)
    }

    // MARK: Writing

    /// The number for a new operation: one more than any before, kept beside the queue so that an empty queue does not
    /// begin anew.
    func takeID(in writer: some StoreWriter) throws -> Int64 {
        let key = "lastOperationId"
        var stored: Int64 = 0
        if let row = try writer.row(in: tables.config, id: key) {
            guard let value = row["value"]?.string.flatMap({ Int64($0) }) else { throw damagedCounter(key) }
            stored = value
        }
        let (next, overflow) = try max(stored, lastID(in: writer)).addingReportingOverflow(1)
        guard !overflow else { throw damagedCounter(key) }
        let row: Row = [
            "id": .string(key), "table": "", "key": .string(key), "keyType": .int(Self.counterKeyType),
            "value": .string(String(next)),
        ]
        try writer.upsert(row, into: tables.config)
        return next
    }

    private func damagedCounter(_ key: String) -> StoreError {
        StoreError(.corrupt, "the counter of operations is damaged", table: tables.config, id: key)
    }

    func save(_ operation: TableOperation, in writer: some StoreWriter) throws {
        let sent = String(decoding: try JSONEncoder().encode(operation.sent), as: UTF8.self)
        var row = Row(id: .int(operation.id))
        row["table"] = .string(operation.table)
        row["itemId"] = .string(operation.itemID)
        row["itemKey"] = .string(operation.itemKey)
        row["tableKind"] = .int(operation.kind.rawValue)
        row["properties"] = operation.deletedItem.map { .json($0) } ?? .null
        row["baseVersion"] = operation.baseVersion.map { .string($0) } ?? .null
        row["base"] = operation.base.map { .json($0) } ?? .null
        row["pulled"] = operation.pulled.map { .json($0) } ?? .null
        row["attempts"] = .int(operation.attempts)
        row["sent"] = .json(sent)
        row["restores"] = .bool(operation.restores)
        row["revision"] = .int(operation.revision)
        row["lastError"] = operation.lastError.map { .string($0) } ?? .null
        try writer.upsert(row, into: tables.operations)
    }

    /// Removes an operation and its error record.
    func remove(_ operation: TableOperation, in writer: some StoreWriter) throws {
        try writer.delete(ids: [.int(operation.id)], from: tables.operations)
        try removeError(of: operation.id, in: writer)
    }

    /// Removes the error record of an operation, which has changed or succeeded.
    func removeError(of operation: Int64, in writer: some StoreWriter) throws {
        try writer.delete(ids: [.string(String(operation))], from: tables.errors)
    }

    private func operation(from row: Row) throws -> TableOperation {
        guard case .int(let id)? = row.key, let table = row["table"]?.string, let itemID = row["itemId"]?.string,
            let key = row["itemKey"]?.string, let kind = row["tableKind"]?.int.flatMap({ OperationKind(rawValue: $0) })
        else {
            throw StoreError(.corrupt, "an operation in the queue is damaged", table: tables.operations, id: row.id)
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
        if let sent = row["sent"]?.json {
            operation.sent = try JSONDecoder().decode([String].self, from: Data(sent.utf8))
        }
        return operation
    }
}
