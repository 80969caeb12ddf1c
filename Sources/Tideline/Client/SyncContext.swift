public import TidelineStore

/// The queue of pending operations of a local store, with push and pull.
public final class SyncContext<Store: LocalStore>: Sendable {
    /// The local store.
    public let store: Store

    let connection: ServerConnection
    let family: any ServerFamily
    let database: SyncDatabase<Store>
    let queue: OperationQueue<Store>
    let editor: LocalEditor
    let definitions: TableDefinitions<Store>
    let cleaner: StoreCleaner<Store>
    let policies: PolicyBook
    let resolver: ConflictResolver<Store>
    let pusher: Pusher<Store>
    let puller: Puller<Store>

    init(store: Store, connection: ServerConnection, _ family: any ServerFamily) throws {
        let options = connection.options
        try options.validate()
        let tables = options.systemTables
        let operations = OperationStore(tables: tables)
        let definitionStore = DefinitionStore(tables: tables)
        let decisions = DecisionStore(tables: tables, maximumCount: options.maximumDecisions)
        let tokens = TokenStore(tables: tables, makeID: options.environment.makeID)
        let recentlyPushed = RecentlyPushedRows()
        let owners = OwnerStore(
            tables: tables, server: connection.base.identity, user: options.userID, account: connection.account,
            hasAuthorization: options.authorization != nil)
        self.store = store
        self.connection = connection
        self.family = family
        database = SyncDatabase(store: store, options: options)
        queue = OperationQueue(database: database, operations: operations, errors: ErrorStore(tables: tables))
        editor = LocalEditor(operations: operations, owners: owners, clients: database.clients, options: options)
        definitions = TableDefinitions(queue: queue, definitions: definitionStore)
        cleaner = StoreCleaner(queue: queue, definitions: definitionStore, owners: owners, tokens: tokens)
        policies = PolicyBook(options)
        resolver = ConflictResolver(queue, editor: editor, decisions: decisions, recentlyPushed: recentlyPushed)
        let owner = StoreOwnership(owners, of: database, operations: operations)
        pusher = Pusher(
            queue, of: owner, definitions: definitionStore, decisions: decisions, policies: policies,
            recentlyPushed: recentlyPushed, to: connection, family, resolver: resolver)
        puller = Puller(
            database: database, operations: operations, owner: owner, tokens: tokens, recentlyPushed: recentlyPushed,
            connection: connection, family: family)
        try definitionStore.defineSystemTables(in: store)
    }

    /// The options of the context.
    public var options: SyncOptions { connection.options }

    /// The delegate that takes part in pushes, or `nil` if there is none.
    public var delegate: (any SyncContextDelegate)? {
        get { pusher.delegate }
        set { pusher.delegate = newValue }
    }

    /// Creates local tables, or adds columns and indexes to existing ones.
    ///
    /// Definitions only grow. A column that any client of the store has defined stays, with its index, whether or not
    /// these definitions name it, and is pushed and pulled like the others. An older version of an app, or its
    /// extension, therefore hides nothing from a newer one. To remove a column, call ``drop(columns:from:)``.
    ///
    /// A new column is null in existing rows until the next pull of each query id, which fetches all rows again. Make
    /// it optional; otherwise clients with an older definition cannot insert rows.
    ///
    /// References grow like columns: a reference that any client has defined stays until its column is dropped, also if
    /// these definitions omit it or name another table for its column. The tables of one call may reference each other in
    /// any order. See <doc:References> for the order in which a push sends the rows.
    /// - Throws: ``SyncError`` with code invalidArgument for a table that cannot be synchronized: one without string
    ///   identifiers, or without the columns `updatedAt` and `version`; with code invalidArgument, with table and column,
    ///   for a conflict policy that does not fit a table, a reference in a column that is missing or not of type string,
    ///   a reference to a table that is not defined, and a reference that completes a cycle between tables; with code
    ///   store for definitions that the store rejects, such as a column whose type differs from an earlier definition.
    public nonisolated(nonsending) func define(_ tables: [TableSchema]) async throws {
        try await define(tables, mergeRules: [:])
    }

    /// Defines tables, with the merge rules of their records by table.
    nonisolated(nonsending) func define(
        _ tables: [TableSchema], mergeRules: [String: [String: MergeRule]],
        evolving evolve: @escaping DefinitionStore.Evolution = { schema, _, _ in schema }
    ) async throws {
        let wanted = policies.adding(mergeRules, for: tables)
        try await definitions.define(tables, keepsExtra: family.replacesWholeRows, evolving: evolve) {
            if wanted.areUsed { try wanted.check($0) }
        }
        policies.add(mergeRules, for: tables)
    }

    /// Removes columns from a local table, with their indexes and references.
    ///
    /// Drop a column only when no version of the app still defines it. A later ``define(_:)`` that names the column
    /// adds it again.
    /// - Throws: ``SyncError``. Nothing is removed then.
    ///   - ``SyncError/Code/operationsPending`` if a pending operation would send a value of the column.
    ///   - ``SyncError/Code/operationInFlight`` if an operation of the table is in flight, or may be in another process
    ///     that shares the store.
    ///   - ``SyncError/Code/invalidArgument`` if a name is not an app column of this table.
    public nonisolated(nonsending) func drop(columns: [String], from table: String) async throws {
        try await definitions.drop(columns: columns, from: table)
    }

    /// Removes indexes that no version of the app declares any more from a local table.
    ///
    /// Definitions only grow, so an index that a definition omits stays, and each edit maintains it. A later ``define(_:)``
    /// that names the index builds it again.
    /// - Throws: ``SyncError`` with code ``SyncError/Code/invalidArgument`` if the table does not have an index. No index is
    ///   removed then.
    public nonisolated(nonsending) func drop(indexes: [IndexSchema], from table: String) async throws {
        try await definitions.drop(indexes: indexes, from: table)
    }

    // MARK: The queue

    /// The number of pending operations.
    public var pendingOperationsCount: Int {
        get async throws { try await queue.count }
    }

    /// Returns the pending operations, oldest first.
    public func pendingOperations() async throws -> [TableOperation] { try await queue.pending() }

    /// Removes a pending operation and discards the local changes.
    ///
    /// If the server row is known, it becomes the local row. Otherwise the local row is removed until the next pull
    /// returns it.
    ///
    /// - Parameter operation: An operation returned by ``pendingOperations()``.
    /// - Throws: ``SyncError`` with code ``SyncError/Code/operationChanged`` if the row was edited or pushed in the
    ///   meantime; ``SyncError/Code/operationInFlight`` while another process has it in flight. Nothing is changed then.
    public nonisolated(nonsending) func cancelOperationAndDiscardItem(_ operation: TableOperation) async throws {
        try await resolver.resolve(TableOperationError(waiting: operation, resolver: resolver), by: .discard)
    }

    /// Removes a pending operation and stores `item` as the local row.
    ///
    /// - Parameter operation: An operation returned by ``pendingOperations()``.
    /// - Throws: As ``cancelOperationAndDiscardItem(_:)``; ``SyncError/Code/invalidArgument`` for an item that does not
    ///   fit the table or has a different identifier.
    public nonisolated(nonsending) func cancelOperation(_ operation: TableOperation, updating item: Row) async throws {
        try await resolver.resolve(TableOperationError(waiting: operation, resolver: resolver), by: .update(item))
    }

    /// Returns the errors of failed operations that are not resolved yet. They are stored and survive a restart.
    public func operationErrors() async throws -> [TableOperationError] { try await resolver.errors() }

    /// Returns the conflicts that policies resolved, newest first; see ``SyncClient/decisions(table:id:)``.
    public func decisions(table: String? = nil, id: String? = nil) async throws -> [ConflictDecision] {
        try await resolver.decisions(table: table, id: id)
    }

    /// Restores a side of a conflict as a new edit; see ``SyncClient/restore(_:of:)``.
    public nonisolated(nonsending) func restore(
        _ version: ConflictDecision.Version, of decision: ConflictDecision
    ) async throws {
        try await resolver.restore(version, of: decision)
    }

    // MARK: Push and pull

    /// Sends the pending operations of all tables, in the order in which they were made, several at a time; see
    /// ``PushSettings/maxInFlight``. A declared reference between tables changes this order; see <doc:References>.
    ///
    /// One push runs at a time. A second call waits for the first to end. Where several processes share the store, such as an
    /// app and its extension, one of them pushes at a time; see ``PushSettings/whenOtherProcessPushes``. A call within
    /// ``SyncContextDelegate/perform(_:)`` throws because it would wait for itself; a call within
    /// ``SyncContextDelegate/pushCompleted(_:)`` is allowed.
    ///
    /// An operation in conflict is reported but not sent again until its row is edited, the conflict is resolved, or
    /// ``PushSettings/retriesConflicts`` is set. Operations that failed on the server in an earlier push are sent last.
    /// - Returns: The result of the push.
    /// - Throws: ``SyncError``. Operations that were not applied stay in the queue.
    ///   - Code network, authentication, serverFailing, store, or cancelled: the push was aborted. The error includes
    ///     the errors of operations that failed before.
    ///   - Code otherProcess: another process is pushing, or has taken over this push after this process was suspended.
    ///   - Code completedWithErrors: every operation was attempted, and some failed.
    ///   - Code invalidArgument: the call was made within a push, a setting is invalid, or a conflict policy names a table
    ///     or column that is not defined.
    @discardableResult
    public func push(settings: PushSettings = PushSettings()) async throws -> PushResult {
        try await pusher.push(settings: settings)
    }

    /// Removes the token of an incremental pull, so that the next pull fetches all rows again.
    ///
    /// - Parameter queryID: The name of the pull, or `nil` for all pulls of the table.
    public func resetToken(table: String, queryID: String? = nil) async throws {
        try RowInput.checkName(table)
        try await database.writing { [tokens = puller.tokens] in
            try tokens.remove(table: table, queryID: queryID, in: $0)
        }
    }

    // MARK: Owner

    /// Assigns the store to this client's server and user, whatever its previous owner.
    ///
    /// Removes the rows of all synchronized tables, the tokens, and the error records in one transaction. The next
    /// pulls fetch the rows from this server. Waits for running pulls and a running push, also that of another process.
    /// - Parameter keepingPending: Whether pending operations and their rows are kept and pushed unchanged to this
    ///   server. Use `true` if the same data has moved to another address. An operation is in conflict if the new
    ///   server does not have its row in the base version.
    /// - Returns: The number of rows and operations removed.
    /// - Throws: ``SyncError`` with code ``SyncError/Code/operationInFlight`` if a push has not ended cleanly;
    ///   ``SyncError/Code/invalidArgument`` if called within ``SyncContextDelegate/perform(_:)``. Nothing is changed
    ///   then.
    @discardableResult
    public func switchServer(keepingPending: Bool) async throws -> ForcePurgeResult {
        try await cleaner.empty(keepingPending: keepingPending) { [owners = cleaner.owners] in owners.own }
    }

    /// Removes the rows of all synchronized tables, the pending operations, their errors, the records of decisions about
    /// conflicts, and the tokens, in one transaction. The store then belongs to the next server and user that use it.
    ///
    /// Waits for running pulls and a running push, also that of another process.
    /// - Returns: The number of rows and operations removed.
    /// - Throws: As ``switchServer(keepingPending:)``.
    @discardableResult
    public func wipe() async throws -> ForcePurgeResult {
        try await cleaner.empty(keepingPending: false) { StoreOwner() }
    }
}
