internal import TidelineStore

extension SyncContext {
    /// Makes sure that the store is of this client's server and user, before anything is sent.
    func confirmOwner() async throws {
        let owners = owners
        recordsOwner = try await reading { try owners.confirm(owners.own, in: $0) } != nil
    }

    /// Records server and user with the first answer that is stored, if they are not recorded: an address where nobody
    /// answers does not bind the store.
    func recordOwner(in writer: Store.Writer) throws {
        guard recordsOwner, let owner = try owners.confirm(owners.own, in: writer) else { return }
        try owners.save(owner, in: writer)
    }

    /// Makes the store this client's, whichever server and user it was of.
    ///
    /// Removes the rows of all synchronized tables, which the next pulls bring from this server, with tokens and error
    /// records, in one transaction. Waits for a push and pulls that are under way.
    /// - Parameter keepingPending: Whether pending operations stay in the queue with their rows, to be pushed to this
    ///   server as they are: right where the same data has moved to another address. A row that the new server does not
    ///   have in the version they were made on is a conflict.
    /// - Returns: How many rows and operations were removed.
    /// - Throws: ``SyncError`` with code ``SyncError/Code/operationInFlight`` where a push has not ended cleanly;
    ///   ``SyncError/Code/invalidArgument`` from within ``SyncContextDelegate/perform(_:)``. Nothing is changed then.
    @discardableResult
    public func switchServer(keepingPending: Bool) async throws -> ForcePurgeResult {
        try await empty(keepingPending: keepingPending, owner: owners.own)
    }

    /// Removes the rows of all synchronized tables, the pending operations, their errors and the tokens, in one
    /// transaction; the store then is of the server and user that next use it.
    ///
    /// Waits for a push and pulls that are under way.
    /// - Returns: How many rows and operations were removed.
    /// - Throws: As ``switchServer(keepingPending:)``.
    @discardableResult
    public func wipe() async throws -> ForcePurgeResult { try await empty(keepingPending: false, owner: StoreOwner()) }

    private func empty(keepingPending: Bool, owner: StoreOwner) async throws -> ForcePurgeResult {
        let definitions = definitions
        let tables = try await reading { try definitions.tableNames(in: $0) }
        return try await withExclusiveAccess(to: tables) {
            try await writing { [self] writer in
                guard inFlight.isEmpty else {
                    throw SyncError(.operationInFlight, "an operation is on its way to the server; try again later")
                }
                var result = ForcePurgeResult()
                for table in tables {
                    result.rows += try removeRows(of: table, keepingPending: keepingPending, in: writer)
                }
                if !keepingPending {
                    result.operations = try writer.delete(matching: Query(operations.tables.operations))
                }
                try writer.delete(matching: Query(operations.tables.errors))
                try tokens.removeAll(in: writer)
                try owners.save(owner, in: writer)
                return result
            }
        }
    }

    private func removeRows(of table: String, keepingPending: Bool, in writer: Store.Writer) throws -> Int {
        guard keepingPending else { return try writer.delete(matching: Query(table)) }
        let schema = try writer.schema(of: table)
        let ofTable = Query(operations.tables.operations).filter(.column("table") == .value(table))
        let pending = Set(try operations.operations(matching: ofTable, in: writer).map { Array($0.itemKey.utf8) })
        guard !pending.isEmpty else { return try writer.delete(matching: Query(table)) }
        var ids: [RowID] = []
        try writer.scan(Query(table)) { view in
            if !pending.contains(Array(schema.itemKey(view.id).utf8)) { ids.append(view.key) }
            return .next
        }
        return try writer.delete(ids: ids, from: table)
    }
}
