public import TidelineStore

extension SyncClient {
    /// Creates local tables, or adds columns and indexes to existing ones.
    ///
    /// Definitions only grow. A column that any client of the store has defined stays, with its index, whether or not
    /// these definitions name it, and is pushed and pulled like the others. An older version of an app, or its
    /// extension, therefore hides nothing from a newer one. To remove a column, call ``drop(columns:from:)``.
    ///
    /// A new column is null in existing rows until the next pull of each query id, which fetches all rows again. In a
    /// row whose version is unchanged, it keeps values where the server has none. Make a new column optional; otherwise
    /// clients with an older definition cannot insert rows.
    ///
    /// References grow like columns: a reference that any client has defined stays until its column is dropped, also if
    /// these definitions omit it or name another table for its column. The tables of one call may reference each other
    /// in any order. See <doc:References> for the order in which a push sends the rows.
    /// - Throws: ``SyncError`` with code invalidArgument for a table that cannot be synchronized: one without string
    ///   identifiers, without the columns `updatedAt` and `version`, or with the column `deleted`; with code
    ///   invalidArgument, with table and column, for a conflict policy that does not fit a table, a reference in a
    ///   column that is missing or not of type string, a reference to a table that is not defined, and a reference that
    ///   completes a cycle between tables; with code store for definitions that the store rejects, such as a column
    ///   whose type differs from an earlier definition.
    public nonisolated(nonsending) func define(_ tables: [TableSchema]) async throws {
        try await define(tables, mergeRules: [:])
    }

    /// Defines tables, with the merge rules of their records by table.
    nonisolated(nonsending) func define(
        _ tables: [TableSchema], mergeRules: [String: [String: MergeRule]],
        evolving evolve: @escaping DefinitionStore.Evolution = { schema, _, _ in schema }
    ) async throws {
        let wanted = context.policies.adding(mergeRules, for: tables)
        try await context.definitions.define(tables, keepsExtra: context.dialect.replacesWholeRows, evolving: evolve) {
            if wanted.areUsed { try wanted.check($0) }
        }
        context.policies.add(mergeRules, for: tables)
    }

    /// Removes columns from a local table, with their indexes and references.
    ///
    /// Drop a column only when no version of the app still defines it. A later ``define(_:)`` that names the column
    /// adds it again. Waits while another process that shares the store may have an operation of the table in flight.
    /// - Throws: ``SyncError``. Nothing is removed then.
    ///   - ``SyncError/Code/operationsPending`` if a pending operation would send a value of the column.
    ///   - ``SyncError/Code/operationInFlight`` if an operation of the table is in flight in this process.
    ///   - ``SyncError/Code/cancelled`` if the task is cancelled while it waits.
    ///   - ``SyncError/Code/invalidArgument`` if a name is not an app column of this table.
    public nonisolated(nonsending) func drop(columns: [String], from table: String) async throws {
        try await context.definitions.drop(columns: columns, from: table)
    }

    /// Removes indexes that no version of the app declares any more from a local table.
    ///
    /// Definitions only grow, so an index that a definition omits stays, and each edit maintains it. A later
    /// ``define(_:)`` that names the index builds it again.
    /// - Throws: ``SyncError`` with code ``SyncError/Code/invalidArgument`` if the table does not have an index. No
    ///   index is removed then.
    public nonisolated(nonsending) func drop(indexes: [IndexSchema], from table: String) async throws {
        try await context.definitions.drop(indexes: indexes, from: table)
    }

    // MARK: Owner

    /// Assigns the store to this client's server and user, whatever its previous owner.
    ///
    /// Removes the rows of all synchronized tables, the tokens, and the error records in one transaction. The next
    /// pulls fetch the rows from this server; those of a running sync begin at once. Waits for running pulls and a
    /// running push, also that of another process.
    /// - Parameter keepingPending: Whether pending operations and their rows are kept and pushed unchanged to this
    ///   server. Use `true` if the same data has moved to another address. An operation is in conflict if the new
    ///   server does not have its row in the base version.
    /// - Returns: The number of rows and operations removed.
    /// - Throws: ``SyncError`` with code ``SyncError/Code/operationInFlight`` if a push has not ended cleanly;
    ///   ``SyncError/Code/invalidArgument`` if called within ``SyncContextDelegate/perform(_:)``. Nothing is changed
    ///   then.
    @discardableResult
    public func switchServer(keepingPending: Bool) async throws -> ForcePurgeResult {
        let result = try await context.cleaner.empty(keepingPending: keepingPending) {
            [owners = context.cleaner.owners] in owners.own
        }
        context.database.clients.syncs.notify(of: .reset(table: nil))
        return result
    }

    /// Removes the rows of all synchronized tables, the pending operations, their errors, the records of decisions
    /// about conflicts, and the tokens, in one transaction. The store then belongs to the next server and user that use
    /// it.
    ///
    /// Waits for running pulls and a running push, also that of another process. A running sync then pulls all rows for
    /// the user who is signed in; to sign out, call ``stop(wiping:)``.
    /// - Returns: The number of rows and operations removed.
    /// - Throws: As ``switchServer(keepingPending:)``.
    @discardableResult
    public func wipe() async throws -> ForcePurgeResult {
        let result = try await context.cleaner.wipe()
        context.database.clients.syncs.notify(of: .reset(table: nil))
        return result
    }
}
