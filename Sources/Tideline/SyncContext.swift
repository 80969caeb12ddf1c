internal import HTTPTypes
internal import Synchronization
internal import TidelineLive
public import TidelineStore
internal import TidelineWire

/// The queue of pending operations of a local store, with push and pull.
public final class SyncContext<Store: LocalStore>: Sendable {
    /// The local store.
    public let store: Store
    /// The options of the context.
    public let options: SyncOptions

    /// The store through which the context writes, so that live queries see each change.
    let observed: ObservedStore<Store>
    typealias Writer = ObservedStore<Store>.Writer

    let connection: ServerConnection
    let family: any ServerFamily
    let operations: OperationStore
    let errorStore: ErrorStore
    let decisionStore: DecisionStore
    let tokens: TokenStore
    let definitions: DefinitionStore
    let owners: OwnerStore
    let settled = RecentlyPushedRows()
    let codecs = CodecCache()
    let pageLimits = PageLimits()
    let localChanges = LocalChangeObserver()
    private let runner: StoreRunner<ObservedStore<Store>>
    let clients: StoreClients
    /// The number of write transactions of this context, which are among those of ``clients``.
    private let ownWrites = Atomic<UInt64>(0)
    /// The name of this client in the lease of its pushes. Nothing depends on its value.
    private let leaseHolder = String(UInt64.random(in: .min ... .max), radix: 16)
    private let shared: Mutex<Shared>

    private struct Shared {
        var delegate: (any SyncContextDelegate)?
        /// The locks by the bytes of the table's name. Names that are equal as text can belong to different tables.
        var tableLocks: [RowID: AsyncLock] = [:]
        var recordsOwner = true
        var policies: ConflictPolicies
        var hasCheckedPolicies = false
    }

    init(store: Store, connection: ServerConnection) throws {
        self.store = store
        observed = ObservedStore(store)
        clients = .sharing(observed.object)
        self.connection = connection
        options = connection.options
        family = connection.family
        try options.validate()
        shared = Mutex(Shared(policies: ConflictPolicies(options)))
        runner = StoreRunner(store: observed, executor: options.environment.storeExecutor ?? StoreExecutor())
        let tables = options.systemTables
        operations = OperationStore(tables: tables)
        errorStore = ErrorStore(tables: tables)
        decisionStore = DecisionStore(tables: tables, maximumCount: options.maximumDecisions)
        tokens = TokenStore(tables: tables, makeID: options.environment.makeID)
        definitions = DefinitionStore(tables: tables)
        owners = OwnerStore(
            tables: tables, server: connection.base.identity, user: options.userID, account: connection.account,
            hasAuthorization: options.authorization != nil)
        try definitions.defineSystemTables(in: store)
    }

    /// The delegate that takes part in pushes, or `nil` if there is none.
    public var delegate: (any SyncContextDelegate)? {
        get { shared.withLock { $0.delegate } }
        set { shared.withLock { $0.delegate = newValue } }
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
    ///   for a conflict policy that does not fit a table, two tables whose names are equal as text if one of them has a
    ///   policy or merge rules, a reference in a column that is missing or not of type string,
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
        for table in tables {
            try RowInput.checkName(table.name)
            try table.checkReferences()
            guard table.idType == .string, table.systemColumns.isSuperset(of: [.updatedAt, .version]),
                !table.systemColumns.contains(.deleted)
            else {
                throw SyncError(
                    .invalidArgument,
                    "a synchronized table needs string ids and the system columns updatedAt and version, "
                        + "but not deleted",
                    table: table.name)
            }
        }
        var tables = tables
        if family.replacesWholeRows {
            for index in tables.indices { tables[index].systemColumns.insert(.extra) }
        }
        let (definitions, given) = (definitions, tables)
        func add(to policies: inout ConflictPolicies) {
            for table in given { if let rules = mergeRules[table.name] { policies.add(rules, for: table) } }
        }
        var policies = policies
        add(to: &policies)
        try await performing { [policies] store in
            try definitions.define(given, in: store, evolving: evolve) { unions, names in
                try policies.checkNames(of: given, among: names)
                if policies.areUsed { try policies.check(unions) }
            }
        }
        shared.withLock { add(to: &$0.policies) }
    }

    // MARK: The queue

    /// The number of pending operations.
    public var pendingOperationsCount: Int {
        get async throws {
            let operations = operations
            return try await reading { try operations.count(in: $0) }
        }
    }

    /// Returns the pending operations, oldest first.
    public func pendingOperations() async throws -> [TableOperation] {
        let operations = operations
        return try await reading { reader in
            let query = TableQuery(operations.tables.operations).order(by: "id")
            return try operations.operations(matching: query, in: reader).map { operation in
                var operation = operation
                operation.item = try operations.item(of: operation, in: reader)
                return operation
            }
        }
    }

    /// Removes a pending operation and discards the local changes.
    ///
    /// If the server row is known, it becomes the local row. Otherwise the local row is removed until the next pull
    /// returns it.
    ///
    /// - Parameter operation: An operation returned by ``pendingOperations()``.
    /// - Throws: ``SyncError`` with code ``SyncError/Code/operationChanged`` if the row was edited or pushed in the
    ///   meantime; ``SyncError/Code/operationInFlight`` while another process has it in flight. Nothing is changed then.
    public nonisolated(nonsending) func cancelOperationAndDiscardItem(_ operation: TableOperation) async throws {
        try await resolve(TableOperationError(waiting: operation, resolver: self), by: .discard)
    }

    /// Removes a pending operation and stores `item` as the local row.
    ///
    /// - Parameter operation: An operation returned by ``pendingOperations()``.
    /// - Throws: As ``cancelOperationAndDiscardItem(_:)``; ``SyncError/Code/invalidArgument`` for an item that does not
    ///   fit the table or has a different identifier.
    public nonisolated(nonsending) func cancelOperation(_ operation: TableOperation, updating item: Row) async throws {
        try await resolve(TableOperationError(waiting: operation, resolver: self), by: .update(item))
    }

    /// Returns the errors of failed operations that are not resolved yet. They are stored and survive a restart.
    public func operationErrors() async throws -> [TableOperationError] {
        let errorStore = errorStore
        let records = try await reading { try errorStore.all(in: $0) }
        return records.map { TableOperationError($0, resolver: self) }
    }

    // MARK: Push

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
        guard !DelegateScope.isWithin(clients) else {
            throw SyncError(
                .invalidArgument, "a delegate cannot push while it performs an operation; push from pushCompleted(_:)")
        }
        try settings.check()
        return try await mapped {
            var (result, delegate) = try await clients.pushLock.withLock {
                try await connection.account.withCurrentUser {
                    try await confirmOwnerOfQueue()
                    try await checkPolicies()
                    let delegate = self.delegate
                    return (await PushRun(context: self, delegate: delegate, settings: settings).run(), delegate)
                }
            }
            // The push is over, so the delegate may push again after it has resolved the errors.
            await delegate?.pushCompleted(result)
            result.operationErrors.removeAll(where: \.isHandled)
            if var abort = result.error {
                abort.operationErrors = result.operationErrors
                throw abort
            }
            guard result.operationErrors.isEmpty else {
                throw SyncError(
                    .completedWithErrors,
                    "\(result.operationErrors.count) operations failed and stay in the queue",
                    operationErrors: result.operationErrors)
            }
            return result
        }
    }

    /// The policies for conflicts, with those of the records that were defined.
    var policies: ConflictPolicies { shared.withLock { $0.policies } }

    /// Makes the lease of a push, or returns `nil` if no other process can share the store.
    func makePushLease() -> PushLease? {
        guard store.capabilities.sharesFilesWithProcesses else { return nil }
        return PushLease(
            tables: options.systemTables, environment: options.environment, holder: leaseHolder,
            duration: options.pushLeaseDuration)
    }

    /// Throws if a policy names a table or column that is not defined.
    private func checkPolicies() async throws {
        let policies = policies
        guard policies.areUsed, !shared.withLock({ $0.hasCheckedPolicies }) else { return }
        try await performing { try policies.checkAll($0.tables().filter { !$0.isSystem }) }
        shared.withLock { $0.hasCheckedPolicies = true }
    }

    // MARK: Pull

    func pull(_ query: TableQuery, queryID: String?, settings: PullSettings) async throws -> PullResult {
        try PullArguments.check(query, queryID: queryID, settings: settings)
        return try await mapped {
            let run = try await makePull(query, queryID: queryID, settings: settings)
            let pushError =
                settings.pushesFirst ? try await pushBeforePull(of: [query.table], settings: settings) : nil
            do {
                let result = try await withPull(of: query.table) { try await run.run() }
                if pushError == nil { return result }
            } catch {
                var failure = syncError(error)
                failure.operationErrors += pushError?.operationErrors ?? []
                throw failure
            }
            let failed = pushError?.operationErrors ?? []
            throw SyncError(
                pushError?.code ?? .completedWithErrors,
                "the other rows were pulled, but \(failed.count) operations failed", table: query.table,
                operationErrors: failed, cause: pushError?.cause)
        }
    }

    /// Checks the arguments of a pull, and makes it.
    func makePull(_ query: TableQuery, queryID: String?, settings: PullSettings) async throws -> PullRun<Store> {
        try PullArguments.check(query, queryID: queryID, settings: settings)
        return try await mapped {
            let schema = try await reading { try $0.schema(of: query.table) }
            try PullArguments.checkColumns(of: query, schema: schema)
            let run = PullRun(context: self, query: query, queryID: queryID, settings: settings, schema: schema)
            try run.checkRequest()
            return run
        }
    }

    /// Pushes before a pull if one of the tables has pending operations.
    ///
    /// - Returns: The push error to throw after the pull, or `nil` if there is none.
    func pushBeforePull(of tables: [String], settings: PullSettings) async throws -> SyncError? {
        let operations = operations
        let isPending = try await reading { reader in
            try tables.contains { try operations.count(table: $0, in: reader) > 0 }
        }
        guard isPending else { return nil }
        do {
            try await push(settings: settings.push)
        } catch let error as SyncError
            where settings.whenPushFails == .pullOthers && [.completedWithErrors, .serverFailing].contains(error.code)
        {
            return error
        }
        return nil
    }

    /// Returns the token of an incremental pull, or `nil` if the pull has not begun or its token was reset.
    func pullToken(table: String, queryID: String) async throws -> PullToken? {
        let tokens = tokens
        return try await reading { try tokens.token(table: table, queryID: queryID, in: $0) }
    }

    /// Removes the token of an incremental pull, so that the next pull fetches all rows again.
    ///
    /// - Parameter queryID: The name of the pull, or `nil` for all pulls of the table.
    public func resetToken(table: String, queryID: String? = nil) async throws {
        let tokens = tokens
        try await writing { try tokens.remove(table: table, queryID: queryID, in: $0) }
    }

    // MARK: Store

    /// See ``SyncClient/transaction(_:)``.
    nonisolated(nonsending) func transaction<T: Sendable>(
        _ body: @escaping @Sendable (SyncTransaction) throws -> T
    ) async throws -> T {
        do {
            let result = try await runner.perform { [self] store in
                try store.write { writer in
                    noteWrite()
                    let transaction = SyncTransaction(ChangeScope(self, writer), mapping: syncError)
                    return try transaction.run(body)
                }
            }
            localChanges.notify()
            return result
        } catch let error as SyncTransaction.BodyError {
            throw error.error
        } catch {
            throw syncError(error)
        }
    }

    nonisolated(nonsending) func reading<T: Sendable>(
        _ body: @escaping @Sendable (Store.Reader) throws -> T
    ) async throws -> T {
        do {
            return try await runner.read(body)
        } catch {
            throw syncError(error)
        }
    }

    /// Runs a write transaction of the app, unless the task is cancelled before it begins.
    nonisolated(nonsending) func changing<T: Sendable>(
        _ body: @escaping @Sendable (Writer) throws -> T
    ) async throws -> T {
        do {
            let result = try await runner.perform { try $0.write(noting(body)) }
            localChanges.notify()
            return result
        } catch {
            throw syncError(error)
        }
    }

    /// Runs a write transaction, even if the task is cancelled.
    nonisolated(nonsending) func writing<T: Sendable>(
        _ body: @escaping @Sendable (Writer) throws -> T
    ) async throws -> T {
        do {
            return try await runner.writeEvenIfCancelled(noting(body))
        } catch {
            throw syncError(error)
        }
    }

    /// Returns a body that counts its transaction.
    private func noting<T: Sendable>(
        _ body: @escaping @Sendable (Writer) throws -> T
    ) -> @Sendable (Writer) throws -> T {
        { [self] writer in
            noteWrite()
            return try body(writer)
        }
    }

    private func noteWrite() {
        clients.noteWrite()
        ownWrites.add(1, ordering: .relaxed)
    }

    /// Returns a number that changes with each commit of others: of other processes, and of other clients of the store object.
    ///
    /// Another client is counted when its transaction begins; it has received by then all that it stores.
    func commitsOfOthers(_ external: UInt64?) -> UInt64 {
        (external ?? 0) &+ clients.writes &- ownWrites.load(ordering: .relaxed)
    }

    /// Runs another blocking call on the store, exclusive of this context's writes, unless the task is cancelled before
    /// it begins.
    nonisolated(nonsending) func performing<T: Sendable>(
        _ body: @escaping @Sendable (ObservedStore<Store>) throws -> T
    ) async throws -> T {
        try await mapped { try await runner.perform(body) }
    }

    nonisolated(nonsending) func mapped<T>(
        _ body: nonisolated(nonsending) () async throws -> T
    ) async throws -> T {
        do {
            return try await body()
        } catch {
            throw syncError(error)
        }
    }

    /// Returns the error as a ``SyncError``. An error of another type becomes its cause.
    func syncError(_ error: any Error) -> SyncError {
        switch error {
        case let error as SyncError: return error
        case let error as StoreError where error.code == .cancelled:
            return SyncError(.cancelled, "the task was cancelled", table: error.table, cause: error)
        case let error as StoreError:
            return SyncError(
                .store, error.reason, table: error.table, column: error.column, id: error.id, cause: error)
        case let error as WireError:
            return SyncError(
                .invalidArgument, error.message, table: error.table, column: error.column, id: error.id, cause: error)
        case is CancellationError: return SyncError(.cancelled, "the task was cancelled")
        default: return SyncError(.store, "cannot read the local state: \(error)", cause: error)
        }
    }

    /// Whether a push may still have to record the owner of the store. A push that has done so sets it to `false`, so that
    /// the transactions of later ones need not read the owner.
    var recordsOwner: Bool {
        get { shared.withLock { $0.recordsOwner } }
        set { shared.withLock { $0.recordsOwner = newValue } }
    }

    // MARK: In flight

    /// Runs `body` while no push of this store object and no pull or purge of these tables is running.
    nonisolated(nonsending) func withExclusiveAccess<T>(
        to tables: [String], _ body: nonisolated(nonsending) () async throws -> T
    ) async throws -> T {
        guard !DelegateScope.isWithin(clients) else {
            throw SyncError(
                .invalidArgument, "a delegate cannot do this while it performs an operation; wait until the push ends")
        }
        return try await mapped { try await clients.pushLock.withLock { try await withLocks(of: tables[...], body) } }
    }

    private nonisolated(nonsending) func withLocks<T>(
        of tables: ArraySlice<String>, _ body: nonisolated(nonsending) () async throws -> T
    ) async throws -> T {
        guard let first = tables.first else { return try await body() }
        return try await lock(of: first).withLock { try await withLocks(of: tables.dropFirst(), body) }
    }

    func lock(of table: String) -> AsyncLock {
        shared.withLock { shared in
            if let lock = shared.tableLocks[.string(table)] { return lock }
            let lock = AsyncLock()
            shared.tableLocks[.string(table)] = lock
            return lock
        }
    }
}
