internal import Logging
// An app imports this module and that of its store, nothing else.
@_exported public import TidelineLive
@_exported public import TidelineStore

/// The entry point to Tideline: connects a server's address, a local store, and a transport.
///
/// ```swift
/// let client = try SyncClient(url: "https://example.org", store: store, transport: transport)  // any LocalStore
/// try await client.define([TableSchema("TodoItem", columns: [.string("text"), .bool("complete")])])
/// let items = client.table("TodoItem")
/// try await items.insert(["text": "Buy milk", "complete": false])
/// try await client.push()
/// try await client.pull(TableQuery("TodoItem"), queryID: "all")
/// ```
public final class SyncClient<Store: LocalStore>: Sendable {
    /// The sync context: the queue, push, and pull.
    public let context: SyncContext<Store>
    /// The sync that runs itself.
    let sync = SyncControl()

    /// Creates a client of the server at `url` with the given local store.
    ///
    /// Several clients of one store object push one at a time, and no older page of one replaces what another has
    /// pushed. Several processes, or several store objects over the same files, may each have a client if the store
    /// shares its files (`StoreCapabilities.sharesFilesWithProcesses`).
    ///
    /// Creates the system tables in the store, which blocks for a moment. The first stored response records the
    /// server's address. It, the first local change, or the first push of pending operations records the user
    /// (``SyncOptions/userID``, ``currentUser``). After that, a client with another server or user throws
    /// ``SyncError/Code/otherServer`` or ``SyncError/Code/otherUser``. Two addresses refer to the same server if
    /// scheme, host, port (by default that of the scheme), and path are equal. A trailing slash and the case of scheme
    /// and host are ignored.
    /// - Parameters:
    ///   - url: The address of the server, `http` or `https`, to which `/tables/…` is added.
    ///   - store: The local store. The caller closes it after the last call to this client has ended.
    ///   - transport: The transport that sends the requests.
    ///   - options: See ``SyncOptions``.
    /// - Throws: ``SyncError`` with code invalidArgument for an invalid address; `StoreError`, with code schemaMismatch
    ///   for a server's store.
    public init(url: String, store: Store, transport: any Transport, options: SyncOptions = SyncOptions()) throws {
        let dialect = options.dialect.client
        let connection = ServerConnection(
            base: try ServerAddress(url), transport: transport, options: options, format: dialect)
        context = try SyncContext(store: store, connection: connection, dialect)
    }

    deinit {
        guard sync.close() else { return }
        context.options.logger.notice("the sync has ended with its client, which was released; keep the client")
    }

    /// The local store. It can be read directly and synchronously.
    public var store: Store { context.store }

    /// The local store, through which live queries see each change.
    ///
    /// Write through it, rather than through ``store``, if the app writes rows itself
    /// (``SyncOptions/handlesSyncTableOperations``) and observes them. Closing it ends the live queries.
    public var observedStore: ObservedStore<Store> { context.database.observed }

    /// Reads and changes several tables in one transaction, which is committed when the closure returns.
    ///
    /// The rows and their entries in the queue are stored together or not at all, with one commit. If the closure
    /// throws, nothing is changed.
    ///
    /// ```swift
    /// try await client.transaction { transaction in
    ///     let list = try transaction.insert(["name": "Groceries"], into: "TodoList")
    ///     try transaction.update(id: itemID, in: "TodoItem") { $0["list"] = list["id"] }
    /// }
    /// ```
    ///
    /// The closure runs on the executor of the store's writes (``SyncEnvironment/storeExecutor``), while no other
    /// change of the store runs. It must not use the client or its store.
    /// - Parameter body: A closure that changes rows with the methods of its ``SyncTransaction``.
    /// - Returns: The result of the closure.
    /// - Throws: The error of the closure; ``SyncError/Code/cancelled`` if the task is cancelled before the transaction
    ///   begins; ``SyncError/Code/store`` if the store fails. After a failure of the store, the transaction cannot be
    ///   committed, even if the closure catches the error. A record that does not fit its row, or whose values the
    ///   columns cannot store, is not such a failure.
    @discardableResult
    public nonisolated(nonsending) func transaction<T: Sendable>(
        _ body: @escaping @Sendable (_ transaction: SyncTransaction) throws -> T
    ) async throws -> T {
        try await context.transaction(body)
    }

    /// Sends the pending operations of all tables; see ``SyncContext/push(settings:)``.
    @discardableResult
    public func push(settings: PushSettings = PushSettings()) async throws -> PushResult {
        try await context.push(settings: settings)
    }

    /// Fetches the server's rows that match a query into the local table; see ``SyncTable/pull(_:queryID:settings:)``.
    ///
    /// - Parameters:
    ///   - query: The table and the rows to pull.
    ///   - queryID: A name for an incremental pull of these rows, or `nil` to fetch all rows.
    ///   - settings: See ``PullSettings``.
    @discardableResult
    public func pull(
        _ query: TableQuery, queryID: String? = nil, settings: PullSettings = PullSettings()
    ) async throws -> PullResult {
        try await table(query.table).pull(query, queryID: queryID, settings: settings)
    }

    /// Compares the local rows that match a query with the server's; see ``SyncTable/verify(_:settings:)``.
    public func verify(_ query: TableQuery, settings: PullSettings = PullSettings()) async throws -> TableComparison {
        try await table(query.table).verify(query, settings: settings)
    }

    /// Fetches the rows that differ from the server's, and removes those that the server does not have; see
    /// ``SyncTable/repair(_:settings:)``.
    @discardableResult
    public func repair(_ query: TableQuery, settings: PullSettings = PullSettings()) async throws -> TableRepair {
        try await table(query.table).repair(query, settings: settings)
    }

    /// Pulls several tables side by side, in order of priority; see ``SyncTable/pull(_:queryID:settings:)``.
    ///
    /// Pushes once before if one of the tables has pending operations. At most ``PullSettings/maxInFlight`` pulls run
    /// at the same time.
    /// ```swift
    /// let (steps, progress) = AsyncStream.makeStream(of: PullProgress.self, bufferingPolicy: .bufferingNewest(1))
    /// async let results = client.pull(
    ///     [SyncSubscription("TodoList"), SyncSubscription("TodoItem")], progress: progress)
    /// for await step in steps { print("\(step.rowsPulled) rows") }
    /// print(try await results.map(\.rowsStored))
    /// ```
    /// - Parameters:
    ///   - subscriptions: The rows to pull. Intervals have no effect.
    ///   - settings: See ``PullSettings``.
    ///   - progress: Receives the progress of all pulls together after each transaction, and is finished at the end.
    /// - Returns: The results, in the order of the subscriptions.
    /// - Throws: ``SyncError``: the first error, after all pulls have ended. An error of one table leaves the others
    ///   unaffected. After a failure of the network, those that run continue, and further ones begin only if one of
    ///   them succeeds; after a failure of the sign-in, or with another server or user, the others are cancelled. Rows
    ///   that were already stored stay.
    @discardableResult
    public func pull(
        _ subscriptions: [SyncSubscription], settings: PullSettings = PullSettings(),
        progress: AsyncStream<PullProgress>.Continuation? = nil
    ) async throws -> [PullResult] {
        try await context.pull(subscriptions, settings: settings, progress: progress)
    }

    /// The number of pending operations.
    public var pendingOperationsCount: Int {
        get async throws { try await context.pendingOperationsCount }
    }

    /// Returns the errors of failed operations that are not resolved yet; see ``SyncContext/operationErrors()``.
    public func operationErrors() async throws -> [TableOperationError] { try await context.operationErrors() }

    /// Returns the conflicts that policies resolved, newest first, each with the rows of all sides, the result, and the
    /// rule.
    ///
    /// The newest decisions are kept, up to ``SyncOptions/maximumDecisions``. Each is recorded in the transaction that
    /// changes the row.
    /// - Parameters:
    ///   - table: The table, or `nil` for all tables.
    ///   - id: The identifier of the row, or `nil` for all rows.
    public func decisions(table: String? = nil, id: String? = nil) async throws -> [ConflictDecision] {
        try await context.resolver.decisions(table: table, id: id)
    }

    /// Restores a side of a resolved conflict as a new local edit, which the next push sends.
    ///
    /// A version that was deleted deletes the row. Columns that were dropped since are ignored, and columns that were
    /// added since keep their value.
    /// - Parameters:
    ///   - version: The side to restore.
    ///   - decision: A decision returned by ``decisions(table:id:)``.
    /// - Throws: ``SyncError`` as a local change; with code ``SyncError/Code/noSuchRow`` if the base is not known, and
    ///   if the decision is not recorded any more: after ``wipe()``, `forcePurge()`, ``switchServer(keepingPending:)``
    ///   with `false`, or ``SyncOptions/maximumDecisions`` later decisions.
    public nonisolated(nonsending) func restore(
        _ version: ConflictDecision.Version, of decision: ConflictDecision
    ) async throws {
        try await context.resolver.restore(version, of: decision)
    }

    /// Returns a local table that is synchronized with the server's table of the same name.
    public func table(_ name: String) -> SyncTable { SyncTable(name: name, context: context) }

    /// Returns a table on the server, used directly without the local store and the queue.
    public func remoteTable(_ name: String) -> RemoteTable { RemoteTable(name: name, context: context) }
}
