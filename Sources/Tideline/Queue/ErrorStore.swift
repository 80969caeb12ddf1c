internal import TidelineStore

/// Reads and writes error records in the system table: one record per failed operation, keyed by the operation number.
struct ErrorStore: Sendable {
    let tables: SystemTables

    /// The part of a record that is stored as JSON.
    private struct Properties: Codable {
        var itemID: String
        var revision: Int64
        var code: String
        var status: Int?
        var message: String
        var item: String?
        var serverItem: String?
        var isFinal: Bool?
        /// `nil` in a record of an earlier version, which recorded it in the status.
        var isRowGone: Bool?
        /// `nil` in a record of an earlier version.
        var attempts: Int64?
        /// The time of the failure, in ticks of ``Timestamp``.
        var time: Int64?
    }

    func save(_ record: OperationErrorRecord, in writer: some StoreWriter) throws {
        let properties = Properties(
            itemID: record.itemID, revision: record.revision, code: record.failure.code.rawValue,
            status: record.failure.status, message: record.failure.message, item: record.item?.json,
            serverItem: record.failure.serverItem?.json, isFinal: record.failure.isFinal,
            isRowGone: record.failure.isRowGone, attempts: record.attempts, time: record.time.ticks)
        let row: Row = [
            "id": .string(String(record.operationID)), "operationId": .int(record.operationID),
            "tableKind": .int(record.kind.rawValue), "table": .string(record.table),
            "properties": .json(try RecordJSON.encode(properties)),
        ]
        try writer.upsert(row, into: tables.errors)
    }

    /// Returns the records of all operations, in the order of the operations.
    func all(in reader: some StoreReader) throws -> [OperationErrorRecord] {
        let rows = try reader.rows(matching: TableQuery(tables.errors).order(by: "operationId")).rows
        return try rows.map { try record(from: $0, in: reader) }
    }

    private func record(from row: Row, in reader: some StoreReader) throws -> OperationErrorRecord {
        guard let id = row["operationId"]?.int, let table = row["table"]?.string,
            let kind = row["tableKind"]?.int.flatMap({ OperationKind(rawValue: $0) }),
            let json = row["properties"]?.json
        else { throw StoreError(.corrupt, "an error record is damaged", table: tables.errors, id: row.idText) }
        let properties = try RecordJSON.decode(Properties.self, from: json)
        // An operation may outlive the definition of its table.
        let codec = try reader.schemaIfDefined(of: table).map(RowCodec.init)
        let row = { (json: String) in try codec?.row(json) ?? RowCodec.looseRow(json) }
        var failure = OperationFailure(
            .init(rawValue: properties.code), properties.message, status: properties.status,
            serverItem: try properties.serverItem.map(row),
            isRowGone: properties.isRowGone
                ?? (properties.serverItem == nil && [404, 410].contains(properties.status)))
        failure.isFinal = properties.isFinal ?? false
        return OperationErrorRecord(
            operationID: id, table: table, itemID: properties.itemID, kind: kind, revision: properties.revision,
            attempts: properties.attempts ?? 0, failure: failure, item: try properties.item.map(row),
            time: Timestamp(clampingTicks: properties.time ?? 0))
    }

    /// Returns the record of an operation, or `nil` if there is none.
    func record(of operation: Int64, in reader: some StoreReader) throws -> OperationErrorRecord? {
        try reader.row(in: tables.errors, id: String(operation)).map { try record(from: $0, in: reader) }
    }
}

extension OperationErrorRecord {
    init(_ operation: TableOperation, failure: OperationFailure, item: Row?, time: Timestamp) {
        self.init(
            operationID: operation.id, table: operation.table, itemID: operation.itemID, kind: operation.kind,
            revision: operation.revision, attempts: operation.attempts, failure: failure, item: item, time: time)
    }

    /// Returns whether a push with these settings does not send the operation.
    func isHeld(by settings: PushSettings, _ policy: ConflictPolicy) -> Bool {
        if failure.holdsOperation(policy), !settings.retriesConflicts { return true }
        return switch settings.failureRetry {
        case .all: false
        case .failedOnServer(let except): !isRetried(policy) || except.contains(operationID)
        case .none: true
        }
    }

    /// Returns whether a sync that runs itself sends the operation again after a delay, although nothing has changed:
    /// the server failed, or the policy of the table may resolve the conflict.
    func isRetried(_ policy: ConflictPolicy) -> Bool {
        if failure.isFinal { return false }
        return failure.code == .serverFailed || failure.isConflict && !policy.isManual
    }
}

extension OperationFailure {
    /// Whether pushes skip the operation until it changes, is resolved, or is retried on request. An operation in
    /// conflict is sent again if a policy may now resolve the conflict.
    func holdsOperation(_ policy: ConflictPolicy) -> Bool { isFinal || code == .conflict && policy.isManual }
}

extension TableOperationError {
    /// Creates an error for an operation that has not failed, so that the operation can be resolved in the same way.
    convenience init(waiting operation: TableOperation, resolver: any OperationResolver) {
        let failure = OperationFailure(.waiting, "the operation is waiting to be pushed")
        self.init(
            OperationErrorRecord(operation, failure: failure, item: operation.item, time: .min), resolver: resolver)
    }
}
