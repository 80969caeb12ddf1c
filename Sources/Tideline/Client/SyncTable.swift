public import TidelineLive
public import TidelineStore
internal import TidelineWire

/// A local table whose changes are queued until a push, and into which a pull stores the server's rows.
///
/// Insert, update, and delete access only the local store and never wait for the network. Calls from the tasks of one
/// actor take effect in the order in which they are made, even if none waits for the one before. A task that is
/// cancelled before its transaction begins changes nothing and throws ``SyncError/Code/cancelled``.
///
/// A table does not depend on the type of the store: `let items: SyncTable` holds for every store.
public struct SyncTable: Sendable {
    /// The name of the table, locally and on the server.
    public let name: String
    let context: any TableContext

    // MARK: Local changes

    /// Inserts a row and queues the insert, in one transaction.
    ///
    /// A row without an identifier (absent, null, or empty) gets a new UUID. System columns in `row` are ignored
    /// because the server sets them.
    /// - Returns: The row as stored.
    /// - Throws: ``SyncError``.
    ///   - ``SyncError/Code/rowExists`` if the table or the queue already has a row with the identifier.
    ///   - ``SyncError/Code/invalidArgument``, with the column, for an invalid identifier, an unknown column, a name
    ///     that begins with `__`, or a value of the wrong type.
    ///   - ``SyncError/Code/otherUser`` if the store belongs to another user.
    ///   - ``SyncError/Code/store`` if the store fails.
    @discardableResult
    public nonisolated(nonsending) func insert(_ row: Row) async throws -> Row {
        guard row.needsID else { return try await context.insert(row, into: name) }
        var row = row
        row.id = .string(context.options.environment.makeID())
        return try await context.insert(row, into: name)
    }

    /// Merges the columns that `row` names into the stored row with its identifier, and queues the update, in one
    /// transaction.
    ///
    /// A row that was read includes its `version`. If the stored row has a different version, a pull or push has
    /// changed it, and saving the whole row would undo changes of others that the app has not seen. A row without
    /// `version` is merged without this check. Pending local edits do not change the version.
    /// - Parameter overwriting: Whether to merge the row regardless of its version.
    /// - Throws: ``SyncError``: ``SyncError/Code/noSuchRow`` if the local table has no row with the identifier;
    ///   ``SyncError/Code/rowChanged``, with both rows, for a row with a different version; otherwise as
    ///   ``insert(_:)``.
    public nonisolated(nonsending) func update(_ row: Row, overwriting: Bool = false) async throws {
        try await context.update(row, in: name, overwriting: overwriting)
    }

    /// Changes a stored row with a closure and queues the update, in one transaction.
    ///
    /// The closure receives the row as stored, so that changes of others are not undone. A column that the closure
    /// removes is set to null. System columns do not change. A row that the closure does not change queues no
    /// operation.
    /// ```swift
    /// try await items.update(id: id) { $0["complete"] = true }
    /// ```
    /// - Returns: The row as stored.
    /// - Throws: ``SyncError``: ``SyncError/Code/noSuchRow`` if the local table has no row with the identifier;
    ///   ``SyncError/Code/invalidArgument`` if the closure changes the identifier, or if the app writes the rows itself
    ///   (``SyncOptions/handlesSyncTableOperations``); otherwise as ``insert(_:)``. Rethrows any error of the closure.
    @discardableResult
    public nonisolated(nonsending) func update(id: String, _ change: @escaping @Sendable (inout Row) throws -> Void)
        async throws -> Row
    {
        try context.options.requireRowWriting(table: name, id: id)
        return try await context.update(id: id, in: name, change)
    }

    /// Deletes the row with the given identifier, and queues the delete with the row's content and version, in one
    /// transaction.
    ///
    /// The delete is queued even if the local table has no such row because the server may have it.
    /// - Parameter version: The version to delete, or `nil` for any version. If the local table does not have the row,
    ///   the server deletes this version, or any version if this is `nil`.
    /// - Throws: ``SyncError``: ``SyncError/Code/rowChanged`` if the stored row has a different version;
    ///   ``SyncError/Code/invalidArgument`` for an invalid identifier; ``SyncError/Code/store``.
    public nonisolated(nonsending) func delete(id: String, version: String? = nil) async throws {
        try await delete(Row(id: id, version: version))
    }

    /// Deletes a row by its identifier, and by its version if it has one; see ``delete(id:version:)``.
    public nonisolated(nonsending) func delete(_ row: Row) async throws {
        try await context.delete(row, from: name)
    }

    // MARK: Reading

    /// Returns the local row with the given identifier, or `nil` if there is none.
    ///
    /// - Throws: ``SyncError`` with code ``SyncError/Code/invalidArgument`` for an identifier that no row can have.
    public nonisolated(nonsending) func row(id: String) async throws -> Row? {
        try await context.row(id: id, in: name)
    }

    /// Returns the local rows that match a query of this table, by default all rows.
    ///
    /// - Throws: ``SyncError`` with code ``SyncError/Code/invalidArgument`` for an invalid query, such as one with a
    ///   column that the table does not define; ``SyncError/Code/store``.
    public nonisolated(nonsending) func rows(matching query: TableQuery? = nil) async throws -> QueryResult {
        let query = try own(query)
        do {
            return try await context.rows(matching: query)
        } catch {
            throw SyncError.wrapping(error).asArgumentError(table: name)
        }
    }

    /// Observes the local rows that match a query of this table, by default all rows.
    ///
    /// The sequence begins with the rows as they are and continues with one update for each transaction that changes
    /// them: a local edit, a page of a pull, the response to a push, or a transaction. See <doc:LiveQueries>.
    /// ```swift
    /// for try await update in items.observe(open) { list.apply(update.changes, update.rows) }
    /// ```
    /// - Returns: A sequence that throws ``SyncError``, with code ``SyncError/Code/invalidArgument`` for an invalid
    ///   query.
    public func observe(_ query: TableQuery? = nil) -> LiveQuery<Row> {
        do {
            return context.observe(try own(query))
        } catch {
            return LiveQuery(failing: error, query: query ?? TableQuery(name))
        }
    }

    /// Observes the number of local rows that match a query of this table, by default all rows.
    public func observeCount(_ query: TableQuery? = nil) -> LiveValue<Int> { observeValue(query) { $0 } }

    /// Observes whether a local row matches a query of this table, by default any row.
    public func observeExistence(_ query: TableQuery? = nil) -> LiveValue<Bool> { observeValue(query) { $0 > 0 } }

    private func observeValue<T: Sendable & Equatable>(_ query: TableQuery?, _ value: @escaping @Sendable (Int) -> T)
        -> LiveValue<T>
    {
        do {
            return context.observeValue(try own(query), value)
        } catch {
            return LiveValue(failing: error, query: query ?? TableQuery(name), value: value)
        }
    }

    // MARK: Pull and purge

    /// Fetches the server's matching rows into the local table. Pushes first if the table has pending operations.
    ///
    /// A row that matched a filter before, and that was changed on the server so that it no longer does, stays in the
    /// local table as it was, unless ``PullSettings/removesLeavers`` is set; see <doc:Pulls>.
    ///
    /// - Parameters:
    ///   - query: The rows to pull, by default all. It must be a query of this table.
    ///   - queryID: A name for an incremental pull of these rows: 1 to 255 characters, not blank. The next pull with
    ///     the same query id fetches only the rows that have changed. If `nil`, every pull fetches all rows.
    ///   - settings: See ``PullSettings``.
    /// - Returns: The result of the pull.
    /// - Throws: ``SyncError``. Rows that were already stored stay, and the next pull continues from there.
    @discardableResult
    public func pull(
        _ query: TableQuery? = nil, queryID: String? = nil, settings: PullSettings = PullSettings()
    ) async throws -> PullResult {
        try await context.pull(own(query), queryID: queryID, settings: settings)
    }

    /// Compares the local rows that match a query of this table with the server's, and changes nothing.
    ///
    /// Lists the identifiers and versions of the rows that match on the server. This finds rows that no incremental
    /// pull receives, such as rows that were imported into the server's database with old timestamps. See <doc:Pulls>.
    ///
    /// - Parameters:
    ///   - query: The rows to compare, by default all. It must not have skip or limit.
    ///   - settings: The page size and the parameters of the requests.
    /// - Returns: The differences. Rows with pending operations are listed separately.
    /// - Throws: ``SyncError``, as ``pull(_:queryID:settings:)``; with code ``SyncError/Code/invalidAnswer`` if the
    ///   server does not count the rows, which would show that the list is complete.
    public func verify(
        _ query: TableQuery? = nil, settings: PullSettings = PullSettings()
    ) async throws -> TableComparison {
        try await context.verify(own(query), settings: settings)
    }

    /// Compares the local rows that match a query of this table with the server's, fetches the rows that are missing or
    /// have another version, and removes those that only the local table has.
    ///
    /// Rows with pending operations do not change. Tokens do not change either, unless no row is left in the table:
    /// then they are removed, so that the next pulls begin with the first row.
    ///
    /// - Parameters:
    ///   - query: The rows to repair, by default all. It must not have skip or limit.
    ///   - settings: See ``PullSettings``.
    /// - Returns: The differences, and what was changed.
    /// - Throws: ``SyncError``, as ``verify(_:settings:)``. Rows that were already stored stay.
    @discardableResult
    public func repair(_ query: TableQuery? = nil, settings: PullSettings = PullSettings()) async throws -> TableRepair
    {
        try await context.repair(own(query), settings: settings)
    }

    /// Returns the token of an incremental pull, or `nil` if the pull has not begun or its token was reset.
    ///
    /// - Parameter queryID: The name of the pull.
    /// - Throws: ``SyncError`` with code ``SyncError/Code/store``, including for a stored token that cannot be read.
    public func pullToken(queryID: String) async throws -> PullToken? {
        try await context.pullToken(table: name, queryID: queryID)
    }

    /// Removes the token of an incremental pull, so that the next pull fetches all rows again. A running pull with that
    /// query id throws ``SyncError/Code/pullInterrupted``. A running sync with a subscription of the table pulls at
    /// once.
    ///
    /// - Parameter queryID: The name of the pull, or `nil` for all pulls of the table.
    public func resetPullToken(queryID: String? = nil) async throws {
        try await context.resetToken(table: name, queryID: queryID)
    }

    /// Removes the matching local rows without deleting them on the server. Throws if the table has pending operations.
    ///
    /// - Parameters:
    ///   - query: The rows to remove, by default all. It must be a query of this table.
    ///   - resetsTokens: Whether the table's incremental pulls start from the beginning, those of a running sync at
    ///     once; `true` by default. If `false`, purged rows return only when they change on the server.
    /// - Returns: The number of rows removed.
    /// - Throws: ``SyncError`` with code ``SyncError/Code/operationsPending``. Nothing is removed then.
    @discardableResult
    public nonisolated(nonsending) func purge(_ query: TableQuery? = nil, resetsTokens: Bool = true) async throws -> Int
    {
        let query = try own(query)
        do {
            return try await context.purge(query, resetsTokens: resetsTokens)
        } catch {
            throw SyncError.wrapping(error).asArgumentError(table: name)
        }
    }

    /// Removes all local rows of the table, its pending operations, their errors, the decisions about its conflicts,
    /// and its tokens. A running sync with a subscription of the table pulls at once.
    ///
    /// - Throws: ``SyncError`` with code ``SyncError/Code/operationInFlight`` if an operation of the table is in
    ///   flight, or may be in another process that shares the store. Nothing is removed then.
    @discardableResult
    public nonisolated(nonsending) func forcePurge() async throws -> ForcePurgeResult {
        try await context.forcePurge(table: name)
    }

    private func own(_ query: TableQuery?) throws -> TableQuery {
        try RowInput.checkName(name)
        let query = query ?? TableQuery(name)
        guard query.table == name else {
            throw SyncError(
                .invalidArgument, "the query is for the table \(query.table.debugDescription), not for this table",
                table: name)
        }
        return query
    }
}

extension Row {
    /// Whether the row has no identifier. A value that is not a valid one stays in the row and fails validation.
    var needsID: Bool { id == nil && self["id"] == nil }

    /// Creates a row that names a stored row, in the given version if it is not `nil`.
    init(id: String, version: String?) {
        self.init(id: .string(id), distinctColumns: version.map { [("version", .string($0))] } ?? [])
    }
}

extension SyncOptions {
    /// Throws if the app writes the rows itself.
    func requireRowWriting(table: String, id: String? = nil) throws {
        guard handlesSyncTableOperations else {
            throw SyncError(
                .invalidArgument, "the app writes the rows of this context; write the row and call update(_:)",
                table: table, id: id)
        }
    }
}

extension SyncError {
    /// Returns an error of the store that was caused by an invalid query as ``Code/invalidArgument``, and other errors
    /// unchanged.
    func asArgumentError(table: String) -> SyncError {
        guard let cause = cause as? StoreError, [.invalidValue, .unsupportedQuery].contains(cause.code) else {
            return self
        }
        return SyncError(
            .invalidArgument, cause.message, table: self.table ?? table, column: column, id: id, cause: cause)
    }
}
