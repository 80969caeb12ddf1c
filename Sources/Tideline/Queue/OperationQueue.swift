internal import TidelineStore

/// The queue of pending operations, with the errors of those that failed.
struct OperationQueue<Store: LocalStore>: Sendable {
    let database: SyncDatabase<Store>
    let operations: OperationStore
    let errors: ErrorStore

    /// The number of pending operations.
    var count: Int {
        get async throws { try await database.reading { [operations] in try operations.count(in: $0) } }
    }

    /// Returns the pending operations with their rows, oldest first.
    func pending() async throws -> [TableOperation] {
        try await database.reading { [operations] reader in
            let query = TableQuery(operations.tables.operations).order(by: "id")
            return try operations.operations(matching: query, in: reader).map { operation in
                var operation = operation
                operation.item = try operations.item(of: operation, in: reader)
                return operation
            }
        }
    }

    /// Returns whether one of the tables has pending operations.
    func hasOperations(of tables: [String]) async throws -> Bool {
        try await database.reading { [operations] reader in
            try tables.contains { try operations.isPending(table: $0, in: reader) }
        }
    }

    /// Returns the number of operations that a push with these settings would send, and the numbers of those that
    /// failed.
    func count(
        toSendWith settings: PushSettings, _ policy: @escaping @Sendable (String) -> ConflictPolicy
    ) async throws -> (toSend: Int, failed: Set<Int64>) {
        try await database.reading { [operations, errors] reader in
            let count = try operations.count(in: reader)
            let records = try count > 0 ? errors.all(in: reader) : []
            let held = records.count { $0.isHeld(by: settings, policy($0.table)) }
            return (toSend: count - held, failed: Set(records.map(\.operationID)))
        }
    }

    /// Returns the records of the operations that failed.
    func failures() async throws -> [OperationErrorRecord] {
        try await database.reading { [errors] in try errors.all(in: $0) }
    }

    /// Returns the number of the newest pending operation, or 0, and those of the operations that failed.
    func newestAndFailed() async throws -> (newest: Int64, failed: Set<Int64>) {
        try await database.reading { [operations, errors] reader in
            let newest = try operations.lastID(in: reader)
            let failed = try newest > 0 ? errors.all(in: reader) : []
            return (newest: newest, failed: Set(failed.map(\.operationID)))
        }
    }

    // MARK: In flight

    /// Throws if one of the operations is in flight in this process, or may be in another one.
    ///
    /// While another process holds the lease, each operation that was attempted since it last failed may be in flight
    /// there.
    func requireNotInFlight(_ pending: [TableOperation], table: String, in reader: some StoreReader) throws {
        let isHere = !database.clients.inFlight.isDisjoint(with: pending.map(\.id))
        guard try isHere || isInFlightElsewhere(pending, in: reader) else { return }
        let place = isHere ? "" : " in another process"
        var error = SyncError(
            .operationInFlight, "an operation is in flight\(place); try again after the push ends", table: table)
        error.isInFlightElsewhere = !isHere
        throw error
    }

    /// Returns whether another process may have one of the operations in flight.
    func isInFlightElsewhere(_ pending: [TableOperation], in reader: some StoreReader) throws -> Bool {
        let attempted = pending.filter { $0.attempts > 0 }
        guard !attempted.isEmpty, try database.makePushLease()?.other(in: reader) != nil else { return false }
        return try attempted.contains { operation in
            try errors.record(of: operation.id, in: reader)?.attempts != operation.attempts
        }
    }
}
