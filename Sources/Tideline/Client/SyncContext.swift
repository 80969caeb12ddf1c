public import TidelineStore

/// The queue of pending operations of a local store, with push and pull.
public final class SyncContext<Store: LocalStore>: Sendable {
    /// The local store.
    public let store: Store

    let connection: ServerConnection
    let dialect: any ClientDialect
    let database: SyncDatabase<Store>
    let queue: OperationQueue<Store>
    let editor: LocalEditor<Store>
    let definitions: TableDefinitions<Store>
    let cleaner: StoreCleaner<Store>
    let policies: PolicyBook
    let resolver: ConflictResolver<Store>
    let pusher: Pusher<Store>
    let puller: Puller<Store>

    init(store: Store, connection: ServerConnection, _ dialect: any ClientDialect) throws {
        let options = connection.options
        try options.validate()
        let tables = options.systemTables
        let operations = OperationStore(tables: tables)
        let definitionStore = DefinitionStore(tables: tables)
        let decisions = DecisionStore(tables: tables, maximumCount: options.maximumDecisions)
        let config = ConfigTable(tables)
        let tokens = TokenStore(config: config, makeID: options.environment.makeID)
        let owners = OwnerStore(
            config: config, server: connection.base.identity, user: options.userID, account: connection.account,
            hasAuthorization: options.authorization != nil)
        self.store = store
        self.connection = connection
        self.dialect = dialect
        let database = SyncDatabase(store: store, options: options)
        self.database = database
        let recentlyPushed = database.clients.recentlyPushed
        queue = OperationQueue(database: database, operations: operations, errors: ErrorStore(tables: tables))
        editor = LocalEditor(queue: queue, owners: owners, options: options)
        definitions = TableDefinitions(queue: queue, definitions: definitionStore)
        cleaner = StoreCleaner(queue: queue, definitions: definitionStore, owners: owners, tokens: tokens)
        policies = PolicyBook(options)
        resolver = ConflictResolver(editor, decisions: decisions)
        let owner = StoreOwnership(owners, of: database, operations: operations)
        pusher = Pusher(
            queue, of: owner, definitions: definitionStore, decisions: decisions, policies: policies,
            recentlyPushed: recentlyPushed, to: connection, dialect, resolver: resolver)
        puller = Puller(
            database: database, operations: operations, owner: owner, tokens: tokens, recentlyPushed: recentlyPushed,
            connection: connection, dialect: dialect)
        try definitionStore.defineSystemTables(in: store)
    }

    /// The options of the context.
    public var options: SyncOptions { connection.options }

    /// The delegate that takes part in pushes, or `nil` if there is none.
    public var delegate: (any SyncContextDelegate)? {
        get { pusher.delegate }
        set { pusher.delegate = newValue }
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
    ///   meantime; ``SyncError/Code/operationInFlight`` while another process has it in flight. Nothing is changed
    ///   then.
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

    // MARK: Push and pull

    /// Sends the pending operations of all tables, in the order in which they were made, several at a time; see
    /// ``PushSettings/maxInFlight``. A declared reference between tables changes this order; see <doc:References>.
    ///
    /// One push runs at a time. A second call waits for the first to end. Where several processes share the store, such
    /// as an app and its extension, one of them pushes at a time; see ``PushSettings/whenOtherProcessPushes``. A call
    /// within ``SyncContextDelegate/perform(_:)`` throws because it would wait for itself; a call within
    /// ``SyncContextDelegate/pushCompleted(_:)`` is allowed.
    ///
    /// An operation in conflict is reported but not sent again until its row is edited, the conflict is resolved, or
    /// ``PushSettings/retriesConflicts`` is set. Operations that failed on the server in an earlier push are sent last.
    /// - Returns: The result of the push.
    /// - Throws: ``SyncError``. Operations that were not applied stay in the queue.
    ///   - Code network, authentication, serverFailing, store, or cancelled: the push was aborted. The error includes
    ///     the errors of operations that failed before.
    ///   - Code otherProcess: another process is pushing, or has taken over this push after this process was suspended.
    ///   - Code completedWithErrors: some operations failed, are in conflict since an earlier push, or wait for such an
    ///     operation; all others were applied.
    ///   - Code otherServer or otherUser: the store belongs to another server or user.
    ///   - Code invalidArgument: the call was made within a push, a setting is invalid, or a conflict policy names a
    ///     table or column that is not defined.
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
        database.clients.syncs.notify(of: .reset(table: table))
    }
}
