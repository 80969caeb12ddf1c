internal import HTTPTypes
internal import Synchronization
public import TidelineStore
internal import TidelineWire

/// The queue of pending operations of one local store, and the pushes and pulls over it.
public final class SyncContext<Store: LocalStore>: Sendable {
    /// The local store.
    public let store: Store
    /// How the context was set up.
    public let options: SyncOptions

    let connection: ServerConnection
    let dialect: any Dialect = ZUMODialect()
    let operations: OperationStore
    let errorStore: ErrorStore
    let tokens: TokenStore
    let definitions: DefinitionStore
    let owners: OwnerStore
    let settled = SettledRows()
    let pageLimits = PageLimits()
    private let runner: StoreRunner<Store>
    private let pushLock = AsyncLock()
    private let shared = Mutex(Shared())

    private struct Shared {
        var inFlight: Set<Int64> = []
        var delegate: (any SyncContextDelegate)?
        var tableLocks: [String: AsyncLock] = [:]
        var recordsOwner = true
    }

    init(store: Store, connection: ServerConnection) throws {
        self.store = store
        self.connection = connection
        options = connection.options
        runner = StoreRunner(store: store)
        let tables = options.systemTables
        operations = OperationStore(tables: tables)
        errorStore = ErrorStore(tables: tables)
        tokens = TokenStore(tables: tables, makeID: options.environment.makeID)
        definitions = DefinitionStore(tables: tables)
        owners = OwnerStore(
            tables: tables, own: StoreOwner(server: connection.base.identity, user: options.userID))
        try definitions.defineSystemTables(in: store)
    }

    /// What takes part in pushes; nil for none.
    public var delegate: (any SyncContextDelegate)? {
        get { shared.withLock { $0.delegate } }
        set { shared.withLock { $0.delegate = newValue } }
    }

    /// Creates local tables, or adds to those that exist what the definitions have beyond them.
    ///
    /// Definitions only grow: a column that any client over the store has defined stays, with its index, whether or not
    /// these definitions name it, and is pushed and pulled like the others. An older version of an app, or its
    /// extension, therefore hides nothing from a newer one. ``drop(columns:from:)`` removes a column. A column that is
    /// added reads null until the next pull of each query id, which brings all rows again. Make it optional, or clients
    /// with an older definition cannot insert rows.
    /// - Throws: ``SyncError`` with code invalidArgument for a table that cannot be synchronized: one without textual
    ///   ids, without the columns `updatedAt` and `version`, or with references, which are not supported yet; with code
    ///   store for what the store refuses, such as a column of another type than in an earlier definition.
    public func define(_ tables: [TableSchema]) async throws {
        for table in tables {
            try RowInput.checkName(table.name)
            guard table.references.isEmpty else {
                throw SyncError(
                    .invalidArgument, "references are not supported yet; leave them out of the definition",
                    table: table.name, column: table.references.first?.column)
            }
            guard table.idType == .string, table.systemColumns.isSuperset(of: [.updatedAt, .version]),
                !table.systemColumns.contains(.deleted)
            else {
                throw SyncError(
                    .invalidArgument,
                    "a synchronized table needs textual ids and the system columns updatedAt and version, not deleted",
                    table: table.name)
            }
        }
        let definitions = definitions
        try await performing { try definitions.define(tables, in: $0) }
    }

    // MARK: The queue

    /// How many operations wait to be pushed.
    public var pendingOperationsCount: Int {
        get async throws {
            let operations = operations
            return try await reading { try operations.count(in: $0) }
        }
    }

    /// The operations that wait to be pushed, the oldest first.
    public func pendingOperations() async throws -> [TableOperation] {
        let operations = operations
        return try await reading { reader in
            let query = Query(operations.tables.operations).order(by: "id")
            return try operations.operations(matching: query, in: reader).map { operation in
                var operation = operation
                operation.item = try operations.item(of: operation, in: reader)
                return operation
            }
        }
    }

    /// Drops an operation that waits in the queue, and the local content with it: where the server's row is known, the
    /// local row shows it, else it is removed until a pull brings it.
    ///
    /// - Parameter operation: As ``pendingOperations()`` returned it.
    /// - Throws: ``SyncError`` with code ``SyncError/Code/operationChanged`` if the row was edited or pushed since; nothing
    ///   is changed then.
    public func cancelOperationAndDiscardItem(_ operation: TableOperation) async throws {
        try await resolve(TableOperationError(waiting: operation, resolver: self), by: .discard)
    }

    /// Drops an operation that waits in the queue, and stores `item` as the local row.
    ///
    /// - Parameter operation: As ``pendingOperations()`` returned it.
    /// - Throws: As ``cancelOperationAndDiscardItem(_:)``; ``SyncError/Code/invalidArgument`` for an item that does not fit
    ///   the table or is of another row.
    public func cancelOperation(_ operation: TableOperation, updating item: Row) async throws {
        try await resolve(TableOperationError(waiting: operation, resolver: self), by: .update(item))
    }

    /// The errors of operations that failed in the last pushes and are not settled yet; they survive a restart.
    public func operationErrors() async throws -> [TableOperationError] {
        let errorStore = errorStore
        let records = try await reading { try errorStore.all(in: $0) }
        return records.map { TableOperationError($0, resolver: self) }
    }

    // MARK: Push

    /// Sends every pending operation of all tables, in the order in which they were made.
    ///
    /// One push runs at a time; a second call waits for its turn and then finds less to do. From within
    /// ``SyncContextDelegate/perform(_:)``, where it would wait for itself, it is refused; from
    /// ``SyncContextDelegate/pushCompleted(_:)`` it is welcome.
    ///
    /// An operation in conflict is reported, but not sent again until its row is edited, the conflict is settled, or
    /// ``PushSettings/retriesConflicts`` asks for it. Operations that ended in a server failure before are sent last.
    /// - Returns: What the push did.
    /// - Throws: ``SyncError``. Aborted with code network, authentication, serverFailing, store or cancelled, it carries
    ///   the errors of operations that failed before; with code completedWithErrors every operation was tried. What was
    ///   not carried out stays in the queue. With code invalidArgument it was called from within a push.
    @discardableResult
    public func push(settings: PushSettings = PushSettings()) async throws -> PushResult {
        guard !DelegateScope.isWithin(self) else {
            throw SyncError(.invalidArgument, "a delegate cannot push while it performs an operation of a push")
        }
        return try await mapped {
            var (result, delegate) = try await pushLock.withLock {
                try await confirmOwner()
                let delegate = self.delegate
                return (await PushRun(context: self, delegate: delegate, settings: settings).run(), delegate)
            }
            // No longer within the push: the delegate may push again, once it has settled the errors.
            await delegate?.pushCompleted(result)
            result.operationErrors.removeAll(where: \.isHandled)
            if var abort = result.error {
                abort.operationErrors = result.operationErrors
                throw abort
            }
            guard result.operationErrors.isEmpty else {
                throw SyncError(
                    .completedWithErrors,
                    "\(result.operationErrors.count) of the operations failed and stay in the queue",
                    operationErrors: result.operationErrors)
            }
            return result
        }
    }

    // MARK: Pull

    func pull(_ query: Query, queryID: String?, settings: PullSettings) async throws -> PullResult {
        try PullArguments.check(query, queryID: queryID, settings: settings)
        return try await mapped {
            try await confirmOwner()
            let schema = try await reading { try $0.schema(of: query.table) }
            try PullArguments.checkColumns(of: query, schema: schema)
            let run = PullRun(context: self, query: query, queryID: queryID, settings: settings, schema: schema)
            try run.checkRequest()
            let pushError = try await pushBeforePull(of: query.table, settings: settings)
            do {
                let result = try await lock(of: query.table).withLock {
                    settled.beginPull(of: query.table)
                    defer { settled.endPull(of: query.table) }
                    return try await run.run()
                }
                if pushError == nil { return result }
            } catch {
                var failure = syncError(error)
                failure.operationErrors += pushError?.operationErrors ?? []
                throw failure
            }
            let failed = pushError?.operationErrors ?? []
            throw SyncError(
                pushError?.code ?? .completedWithErrors,
                "the other rows were pulled, but \(failed.count) of the operations failed", table: query.table,
                operationErrors: failed, cause: pushError?.cause)
        }
    }

    /// - Returns: The failure of the push that is to be thrown after the pull.
    private func pushBeforePull(of table: String, settings: PullSettings) async throws -> SyncError? {
        let operations = operations
        guard try await reading({ try operations.count(table: table, in: $0) }) > 0 else { return nil }
        do {
            try await push(settings: settings.push)
        } catch let error as SyncError
            where settings.whenPushFails == .pullOthers && [.completedWithErrors, .serverFailing].contains(error.code)
        {
            return error
        }
        return nil
    }

    /// How far an incremental pull has come; nil when it has not begun or its token was reset.
    func pullToken(table: String, queryID: String) async throws -> PullToken? {
        let tokens = tokens
        return try await reading { try tokens.token(table: table, queryID: queryID, in: $0) }
    }

    /// Drops the token of an incremental pull, so that the next one brings all rows again.
    ///
    /// - Parameter queryID: The name of the pull; nil for all pulls of the table.
    public func resetToken(table: String, queryID: String? = nil) async throws {
        let tokens = tokens
        try await writing { try tokens.remove(table: table, queryID: queryID, in: $0) }
    }

    // MARK: Purge

    func purge(_ query: Query, resetsTokens: Bool) async throws -> Int {
        let (operations, tokens) = (operations, tokens)
        return try await mapped {
            try await lock(of: query.table).withLock {
                try await writing { writer in
                    let pending = try operations.count(table: query.table, in: writer)
                    guard pending == 0 else {
                        throw SyncError(
                            .operationsPending,
                            "\(pending) operations wait to be pushed; push first, or force the purge",
                            table: query.table)
                    }
                    let removed = try writer.delete(matching: query)
                    if resetsTokens { try tokens.remove(table: query.table, in: writer) }
                    return removed
                }
            }
        }
    }

    func forcePurge(table: String) async throws -> ForcePurgeResult {
        let (operations, errorStore, tokens) = (operations, errorStore, tokens)
        return try await mapped {
            try await lock(of: table).withLock {
                try await writing { [self] writer in
                    let ofTable = Query(operations.tables.operations).filter(.column("table") == .value(table))
                    let pending = try operations.operations(matching: ofTable, in: writer)
                    guard inFlight.isDisjoint(with: pending.map(\.id)) else {
                        throw SyncError(.operationInFlight, "an operation is on its way to the server", table: table)
                    }
                    try writer.delete(matching: ofTable)
                    try writer.delete(
                        matching: Query(errorStore.tables.errors).filter(.column("table") == .value(table)))
                    try tokens.remove(table: table, in: writer)
                    return ForcePurgeResult(
                        rows: try writer.delete(matching: Query(table)), operations: pending.count)
                }
            }
        }
    }

    // MARK: Store

    /// Changes a table in one transaction, unless the task is cancelled before it begins.
    nonisolated(nonsending) func change<T: Sendable>(
        table: String, _ body: @escaping @Sendable (LocalChanges, Store.Writer) throws -> T
    ) async throws -> T {
        do {
            return try await runner.writeUnlessCancelled { [self] writer in
                try RowInput.checkName(table)
                try owners.confirmUser(in: writer)
                let changes = LocalChanges(
                    operations: operations, schema: try writer.schema(of: table),
                    writesRows: options.handlesSyncTableOperations, isStrict: options.isStrict, inFlight: inFlight)
                return try body(changes, writer)
            }
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

    nonisolated(nonsending) func writing<T: Sendable>(
        _ body: @escaping @Sendable (Store.Writer) throws -> T
    ) async throws -> T {
        do {
            return try await runner.write(body)
        } catch {
            throw syncError(error)
        }
    }

    /// Runs another blocking call on the store, alone among this context's writes.
    func performing<T: Sendable>(_ body: @escaping @Sendable (Store) throws -> T) async throws -> T {
        try await mapped { try await runner.perform(body) }
    }

    private func mapped<T>(_ body: () async throws -> T) async throws -> T {
        do {
            return try await body()
        } catch {
            throw syncError(error)
        }
    }

    /// The error as the core's callers see it; those that are none of the core's become its cause.
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
        default: return SyncError(.store, "the local state cannot be read: \(error)", cause: error)
        }
    }

    /// Whether the store may not have its owner on record yet: looked up at the beginning of each push and pull, so that
    /// their transactions need not.
    var recordsOwner: Bool {
        get { shared.withLock { $0.recordsOwner } }
        set { shared.withLock { $0.recordsOwner = newValue } }
    }

    // MARK: In flight

    /// The operations that a push has in hand. Read and changed inside write transactions only, which exclude each
    /// other, so that a local edit and a push never disagree about it.
    var inFlight: Set<Int64> { shared.withLock { $0.inFlight } }
    func markInFlight(_ id: Int64) { _ = shared.withLock { $0.inFlight.insert(id) } }
    func unmarkInFlight(_ id: Int64) { _ = shared.withLock { $0.inFlight.remove(id) } }

    /// Runs `body` while no push of this context and no pull or purge of these tables runs.
    func withExclusiveAccess<T>(to tables: [String], _ body: () async throws -> T) async throws -> T {
        guard !DelegateScope.isWithin(self) else {
            throw SyncError(.invalidArgument, "a delegate cannot do this while it performs an operation of a push")
        }
        return try await mapped { try await pushLock.withLock { try await withLocks(of: tables[...], body) } }
    }

    private func withLocks<T>(of tables: ArraySlice<String>, _ body: () async throws -> T) async throws -> T {
        guard let first = tables.first else { return try await body() }
        return try await lock(of: first).withLock { try await withLocks(of: tables.dropFirst(), body) }
    }

    func lock(of table: String) -> AsyncLock {
        shared.withLock { shared in
            if let lock = shared.tableLocks[table] { return lock }
            let lock = AsyncLock()
            shared.tableLocks[table] = lock
            return lock
        }
    }
}

extension SyncContext: OperationResolver {
    func resolve(_ error: TableOperationError, by resolution: OperationResolution) async throws {
        try await writing { [self] writer in
            guard let schema = try writer.schemaIfDefined(of: error.table) else {
                return try discardUndefined(error, by: resolution, in: writer)
            }
            let resolution = try RowInput.checked(resolution, of: error.itemID, for: schema)
            try ConflictResolution(operations: operations, schema: schema, inFlight: inFlight)
                .apply(resolution, to: error, in: writer)
            settled.note(
                table: error.table, itemKey: schema.itemKey(error.itemID), base: error.serverItem?.stamp)
        }
    }

    /// Drops an operation of a table that is not defined any more: there is no row to show.
    private func discardUndefined(
        _ error: TableOperationError, by resolution: OperationResolution, in writer: Store.Writer
    ) throws {
        guard case .discard = resolution else {
            throw SyncError(
                .invalidArgument, "the table is not defined; define it, or discard the operation", table: error.table,
                id: error.itemID)
        }
        guard let operation = try operations.operation(error.operationID, in: writer),
            operation.revision == error.revision
        else {
            throw SyncError(
                .operationChanged, "the operation has changed since; nothing was changed", table: error.table,
                id: error.itemID)
        }
        try operations.remove(operation, in: writer)
    }
}
