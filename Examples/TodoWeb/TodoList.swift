#if Tool
internal import Logging
internal import Tideline
internal import TidelineAsyncHTTPClient
internal import TidelineSQLite

/// The to-do list of one client: its table, its network, and the sync that runs itself.
struct TodoList: Sendable {
    let client: SyncClient<SQLiteStore>
    let network: NetworkSwitch

    init(store: SQLiteStore, server: String, asksAboutConflicts: Bool) async throws {
        network = NetworkSwitch(AsyncHTTPClientTransport.shared)
        var options = SyncOptions()
        options.logger.logLevel = .error
        if !asksAboutConflicts {
            options.conflictPolicies[TodoItem.tableName] = .merge(["text": .text], others: .client)
        }
        client = try SyncClient(url: server, store: store, transport: network, options: options)
        try await client.define(TodoItem.self)
    }

    var items: RecordTable<TodoItem> { client.table(TodoItem.self) }

    /// Keeps the list in step with the server until the task is cancelled.
    func sync() async throws {
        try await client.run(
            [SyncSubscription(TodoItem.tableName, interval: .milliseconds(500))],
            settings: SyncSettings(pushDelay: .milliseconds(100), connectivity: network))
    }

    // MARK: Edits

    func add(_ text: String) async throws { try await items.insert(TodoItem(text: text)) }

    func edit(_ id: TodoItem.ID, text: String?, complete: Bool?) async throws {
        try await items.update(id) { item in
            if let text { item.text = text }
            if let complete { item.complete = complete }
        }
    }

    func delete(_ id: TodoItem.ID) async throws { try await items.delete(id) }

    /// Resolves the conflict of an item with this client's version or the server's.
    func resolve(_ id: String, keepsMine: Bool) async throws {
        guard let error = try await client.operationErrors().first(where: { $0.itemID == id }) else { return }
        if keepsMine {
            let mine = error.item ?? Row(id: .string(id))
            try await error.keepOperationAndUpdateItem(mine.filteringColumns { $0 != "version" })
        } else {
            try await error.cancelOperationAndDiscardItem()
        }
        client.syncNow()
    }

    /// Restores one side of a merge as a new edit.
    func restore(_ version: ConflictDecision.Version, of merge: Int64) async throws {
        guard let decision = try await client.decisions().first(where: { $0.id == merge }) else { return }
        try await client.restore(version, of: decision)
    }

    // MARK: The page

    /// Shows the list, the queue, and the status on the page until the task is cancelled.
    func show(on board: PageBoard) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                for try await update in items.observe(TodoItem.order { $0.created }) {
                    board.update { $0.items = update.rows.map { PageState.Item($0) } }
                }
            }
            group.addTask {
                for await status in client.statusUpdates {
                    board.update { $0.status = Self.text(of: status) }
                }
            }
            group.addTask {
                let queue = client.observedStore.observe(TableQuery(SystemTables().operations))
                for try await _ in queue { try await showQueue(on: board) }
            }
            try await group.waitForAll()
        }
    }

    private func showQueue(on board: PageBoard) async throws {
        let queue = try await client.context.pendingOperations().map(PageState.Change.init)
        let conflicts = try await client.operationErrors().map(PageState.Conflict.init)
        let merges = try await client.decisions().prefix(5).map(PageState.Merge.init)
        board.update { state in
            (state.queue, state.conflicts, state.merges) = (queue, conflicts, merges)
        }
    }

    private static func text(of status: SyncStatus) -> PageState.Status {
        switch status {
        case .stopped: PageState.Status("stopped", .waiting)
        case .idle: PageState.Status("in sync", .good)
        case .pushing(let done, let total): PageState.Status("sending \(done) of \(total)", .good)
        case .pulling: PageState.Status("fetching", .good)
        case .offline(let message, _): PageState.Status("offline: \(message)", .waiting)
        case .needsSignIn: PageState.Status("the server requires a sign-in", .bad)
        case .needsAttention(let count):
            PageState.Status(count == 1 ? "one change needs you" : "\(count) changes need you", .bad)
        case .failing(_, let message, _): PageState.Status("failing: \(message)", .bad)
        }
    }
}
#endif
