public import TidelineStore
internal import TidelineWire

/// A local table whose changes wait in the queue until a push, and into which a pull brings the server's rows.
///
/// Insert, update and delete touch the local store alone and never wait for the network. Calls that the tasks of one
/// actor make take effect in the order in which they are made, also when none waits for the one before; a task that is
/// cancelled before its transaction begins changes nothing and gets the error ``SyncError/Code/cancelled``.
public struct SyncTable<Store: LocalStore>: Sendable {
    /// The name of the table, here and on the server.
    public let name: String
    /// The context it belongs to.
    public let context: SyncContext<Store>

    // MARK: Local changes

    /// Inserts a row and queues its insert, in one transaction.
    ///
    /// A row without an id (none, null or empty) gets a new UUID. System columns in `row` are left out: the server
    /// makes them.
    /// - Returns: The row as stored.
    /// - Throws: ``SyncError``: ``SyncError/Code/rowExists`` for an id that the table or the queue has;
    ///   ``SyncError/Code/invalidArgument``, naming the column, for a bad id, an unknown column, a name that begins
    ///   with `__`, a value of the wrong type; ``SyncError/Code/store``.
    @discardableResult
    public nonisolated(nonsending) func insert(_ row: Row) async throws -> Row {
        var row = row
        if row.id.isEmpty { row.id = context.options.environment.makeID() }
        let (name, prepared) = (self.name, row)
        return try await context.change(table: name) { changes, writer in
            try changes.insert(RowInput.checked(prepared, for: changes.schema), in: writer)
        }
    }

    /// Merges the columns that `row` names into the stored row of its id, and queues the update, in one transaction.
    ///
    /// - Throws: ``SyncError``: ``SyncError/Code/noSuchRow`` for an id that the local table lacks; otherwise as
    ///   ``insert(_:)``.
    public nonisolated(nonsending) func update(_ row: Row) async throws {
        try await context.change(table: name) { changes, writer in
            try changes.update(RowInput.checked(row, for: changes.schema), in: writer)
        }
    }

    /// Deletes the row of that id, and queues the delete with the row's content and version, in one transaction.
    ///
    /// A row that the local table lacks is queued too, as the server may have it.
    /// - Parameter version: The version to delete, where the local table does not have the row; without one the
    ///   server deletes whatever it has.
    public nonisolated(nonsending) func delete(id: String, version: String? = nil) async throws {
        try await context.change(table: name) { changes, writer in
            try RowInput.checkID(id, of: changes.schema)
            try changes.delete(id: id, version: version, in: writer)
        }
    }

    /// Deletes a row by its id; see ``delete(id:version:)``.
    public nonisolated(nonsending) func delete(_ row: Row) async throws {
        try await delete(id: row.id, version: row.version)
    }

    // MARK: Reading

    /// The local row of that id, nil when there is none.
    public nonisolated(nonsending) func row(id: String) async throws -> Row? {
        let name = name
        return try await context.reading { try $0.row(in: name, id: id) }
    }

    /// The local rows that match, all by default; the query's table is this one.
    public nonisolated(nonsending) func rows(matching query: Query? = nil) async throws -> QueryResult {
        let query = try own(query)
        return try await context.reading { try $0.rows(matching: query) }
    }

    // MARK: Pull and purge

    /// Brings the server's rows that match into the local table; pushes first when the table has pending operations.
    ///
    /// - Parameters:
    ///   - query: Which rows, all by default; the query's table is this one.
    ///   - queryID: A name for an incremental pull of these rows: 1 to 255 characters, not blank. The next pull with the
    ///     same id brings only what changed since. Nil brings all rows every time.
    ///   - settings: See ``PullSettings``.
    /// - Returns: What the pull did.
    /// - Throws: ``SyncError``. What was stored before stays, and the next pull goes on from there.
    @discardableResult
    public func pull(
        _ query: Query? = nil, queryID: String? = nil, settings: PullSettings = PullSettings()
    ) async throws -> PullResult {
        try await context.pull(own(query), queryID: queryID, settings: settings)
    }

    /// Removes the local rows that match, all by default, without telling the server; a table with pending operations
    /// refuses.
    ///
    /// - Parameters:
    ///   - query: Which rows; the query's table is this one.
    ///   - resetsTokens: Whether the table's incremental pulls begin anew (the default). If not, purged rows come back
    ///     only when they change on the server.
    /// - Returns: How many rows were removed.
    /// - Throws: ``SyncError`` with code ``SyncError/Code/operationsPending``; nothing is removed then.
    @discardableResult
    public func purge(_ query: Query? = nil, resetsTokens: Bool = true) async throws -> Int {
        try await context.purge(own(query), resetsTokens: resetsTokens)
    }

    /// Removes all local rows of the table with its pending operations, their errors, and its tokens.
    ///
    /// - Throws: ``SyncError`` with code ``SyncError/Code/operationInFlight`` while an operation of the table is on its
    ///   way; nothing is removed then.
    @discardableResult
    public func forcePurge() async throws -> ForcePurgeResult { try await context.forcePurge(table: name) }

    private func own(_ query: Query?) throws -> Query {
        let query = query ?? Query(name)
        guard query.table == name else {
            throw SyncError(
                .invalidArgument, "the query is of table \(query.table.debugDescription), not of this one", table: name)
        }
        return query
    }
}
