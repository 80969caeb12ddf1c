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
        // A value that is no id stays in the row, to be refused.
        if row["id"] == nil { row.id = context.options.environment.makeID() }
        let (name, prepared) = (self.name, row)
        return try await context.change(table: name) { changes, writer in
            try changes.insert(RowInput.checked(prepared, for: changes.schema), in: writer)
        }
    }

    /// Merges the columns that `row` names into the stored row of its id, and queues the update, in one transaction.
    ///
    /// A row that was read carries its `version`. If the stored row has another one by now, a pull or push has changed it,
    /// and saving the whole row would undo changes of others that the app has not seen. A row without `version` is merged
    /// as it is; local edits that wait in the queue do not change the version.
    /// - Parameter overwriting: Whether to merge the row whatever version it carries.
    /// - Throws: ``SyncError``: ``SyncError/Code/noSuchRow`` for an id that the local table lacks;
    ///   ``SyncError/Code/rowChanged``, with both rows, for a row of another version; otherwise as ``insert(_:)``.
    public nonisolated(nonsending) func update(_ row: Row, overwriting: Bool = false) async throws {
        try await context.change(table: name) { changes, writer in
            let checked = try RowInput.checked(
                row, for: changes.schema, isKnown: RowInput.isStored(row.id, of: changes.schema, in: writer))
            try changes.update(checked, given: overwriting ? nil : row, in: writer)
        }
    }

    /// Changes the stored row of an id by a closure, and queues the update, in one transaction.
    ///
    /// The closure gets the row as it is stored, so that nothing that others have changed is undone. A column that it
    /// takes out of the row is cleared; system columns stay as they are; a row that it leaves as it was queues nothing.
    /// ```swift
    /// try await items.update(id: id) { $0["complete"] = true }
    /// ```
    /// - Returns: The row as stored.
    /// - Throws: ``SyncError``: ``SyncError/Code/noSuchRow`` for an id that the local table lacks;
    ///   ``SyncError/Code/invalidArgument`` for another id, or where the app writes the rows itself
    ///   (``SyncOptions/handlesSyncTableOperations``); otherwise as ``insert(_:)``. What the closure throws is thrown on.
    @discardableResult
    public nonisolated(nonsending) func update(id: String, _ change: @escaping @Sendable (inout Row) throws -> Void)
        async throws -> Row
    {
        guard context.options.handlesSyncTableOperations else {
            throw SyncError(
                .invalidArgument, "the app writes the rows of this context itself; write the row and call update(_:)",
                table: name, id: id)
        }
        return try await context.change(table: name) { changes, writer in
            try RowInput.checkID(
                id, of: changes.schema, isKnown: RowInput.isStored(id, of: changes.schema, in: writer))
            return try changes.update(id: id, in: writer, change)
        }.get()
    }

    /// Deletes the row of that id, and queues the delete with the row's content and version, in one transaction.
    ///
    /// A row that the local table lacks is queued too, as the server may have it.
    /// - Parameter version: The version to delete; without one, whatever version is stored. Where the local table does
    ///   not have the row, the server deletes this version, or without one whatever it has.
    /// - Throws: ``SyncError``: ``SyncError/Code/rowChanged`` where the stored row has another version;
    ///   ``SyncError/Code/invalidArgument`` for a bad id; ``SyncError/Code/store``.
    public nonisolated(nonsending) func delete(id: String, version: String? = nil) async throws {
        try await delete(Row(id: .string(id), distinctColumns: version.map { [("version", .string($0))] } ?? []))
    }

    /// Deletes a row by its id, and by its version if it carries one; see ``delete(id:version:)``.
    public nonisolated(nonsending) func delete(_ row: Row) async throws {
        try await context.change(table: name) { changes, writer in
            try RowInput.checkID(
                of: row, for: changes.schema, isKnown: RowInput.isStored(row.id, of: changes.schema, in: writer))
            try changes.delete(id: row.id, given: row, in: writer)
        }
    }

    // MARK: Reading

    /// The local row of that id, nil when there is none.
    ///
    /// - Throws: ``SyncError`` with code ``SyncError/Code/invalidArgument`` for an id that no row can have.
    public nonisolated(nonsending) func row(id: String) async throws -> Row? {
        let name = name
        return try await context.reading { reader in
            try RowInput.checkName(name)
            let schema = try reader.schema(of: name)
            try RowInput.checkID(id, of: schema, isKnown: RowInput.isStored(id, of: schema, in: reader))
            return try reader.row(in: name, id: id)
        }
    }

    /// The local rows that match, all by default; the query's table is this one.
    ///
    /// - Throws: ``SyncError`` with code ``SyncError/Code/invalidArgument`` for a query that the table cannot answer, such
    ///   as one with a column that it does not define; ``SyncError/Code/store``.
    public nonisolated(nonsending) func rows(matching query: Query? = nil) async throws -> QueryResult {
        let query = try own(query)
        do {
            return try await context.reading { try $0.rows(matching: query) }
        } catch {
            throw argumentError(error)
        }
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

    /// How far an incremental pull has come; nil when it has not begun or its token was reset.
    ///
    /// - Parameter queryID: The name of the pull.
    /// - Throws: ``SyncError`` with code ``SyncError/Code/store``, also for a stored token that cannot be read.
    public func pullToken(queryID: String) async throws -> PullToken? {
        try await context.pullToken(table: name, queryID: queryID)
    }

    /// Drops the token of an incremental pull, so that the next one brings all rows again. A pull with that query id that
    /// is under way ends with ``SyncError/Code/pullInterrupted``.
    ///
    /// - Parameter queryID: The name of the pull; nil for all pulls of the table.
    public func resetPullToken(queryID: String? = nil) async throws {
        try await context.resetToken(table: name, queryID: queryID)
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
        let query = try own(query)
        do {
            return try await context.purge(query, resetsTokens: resetsTokens)
        } catch {
            throw argumentError(error)
        }
    }

    /// Removes all local rows of the table with its pending operations, their errors, and its tokens.
    ///
    /// - Throws: ``SyncError`` with code ``SyncError/Code/operationInFlight`` while an operation of the table is on its
    ///   way; nothing is removed then.
    @discardableResult
    public func forcePurge() async throws -> ForcePurgeResult { try await context.forcePurge(table: name) }

    /// A query that the store refuses is the caller's mistake and no failure of the store.
    private func argumentError(_ error: any Error) -> any Error {
        guard let error = error as? SyncError, let cause = error.cause as? StoreError,
            [.invalidValue, .unsupportedQuery].contains(cause.code)
        else { return error }
        return SyncError(
            .invalidArgument, cause.message, table: error.table ?? name, column: error.column, id: error.id,
            cause: cause)
    }

    private func own(_ query: Query?) throws -> Query {
        try RowInput.checkName(name)
        let query = query ?? Query(name)
        guard query.table == name else {
            throw SyncError(
                .invalidArgument, "the query is of table \(query.table.debugDescription), not of this one", table: name)
        }
        return query
    }
}
