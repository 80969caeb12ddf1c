internal import TidelineStore

/// Removes rows with what belongs to them: tokens, and, on request, pending operations.
struct StoreCleaner<Store: LocalStore>: Sendable {
    let queue: OperationQueue<Store>
    let definitions: DefinitionStore
    let owners: OwnerStore
    let tokens: TokenStore

    private var database: SyncDatabase<Store> { queue.database }
    private var operations: OperationStore { queue.operations }

    nonisolated(nonsending) func purge(_ query: TableQuery, resetsTokens: Bool) async throws -> Int {
        try RowInput.checkName(query.table)
        let (operations, tokens) = (operations, tokens)
        let count: Int = try await database.lock(of: query.table).withLock {
            try await database.changing { writer in
                let pending = try operations.count(table: query.table, in: writer)
                guard pending == 0 else {
                    throw SyncError(
                        .operationsPending,
                        "\(pending) operations are pending; push first, or use forcePurge()",
                        table: query.table)
                }
                let removed = try writer.delete(matching: query)
                if resetsTokens {
                    try tokens.remove(table: query.table, in: writer)
                } else if try writer.isEmpty(TableQuery(query.table)) {
                    try ConfigTable(operations.tables).noteEmpty(table: query.table, in: writer)
                }
                return removed
            }
        }
        if resetsTokens { database.clients.syncs.notify(of: .reset(table: query.table)) }
        return count
    }

    nonisolated(nonsending) func forcePurge(table: String) async throws -> ForcePurgeResult {
        try RowInput.checkName(table)
        let result: ForcePurgeResult = try await database.lock(of: table).withLock {
            try await database.changing { writer in
                let pending = try operations.operations(of: table, in: writer)
                try queue.requireNotInFlight(pending, table: table, in: writer)
                let system = operations.tables
                for name in [system.operations, system.errors, system.decisions] {
                    try writer.delete(matching: TableQuery(name).filter(.column("table") == .value(table)))
                }
                try tokens.remove(table: table, in: writer)
                return ForcePurgeResult(
                    rows: try writer.delete(matching: TableQuery(table)), operations: pending.count)
            }
        }
        database.clients.syncs.notify(of: .reset(table: table))
        return result
    }

    /// Removes the rows of all synchronized tables and the tokens, and assigns the store to an owner.
    ///
    /// - Parameter keepingPending: Whether pending operations and their rows are kept.
    func empty(
        keepingPending: Bool, owner: @escaping @Sendable () -> StoreOwner
    ) async throws -> ForcePurgeResult {
        while true {
            let tables = try await database.reading { [definitions] in try definitions.tableNames(in: $0) }
            let result = try await database.withExclusiveAccess(to: tables) {
                // The push of another process would send operations to the previous server, or as the previous user.
                try await database.writingBetweenPushes { writer in
                    try empty(tables, keepingPending: keepingPending, owner: owner(), in: writer)
                }
            }
            if let result { return result }
        }
    }

    /// See ``SyncClient/wipe()``.
    func wipe() async throws -> ForcePurgeResult { try await empty(keepingPending: false) { StoreOwner() } }

    /// Removes rows within a transaction, or returns `nil` if tables were defined that may be pulled at the same time.
    ///
    /// - Parameter known: The tables that are not pulled.
    private func empty(
        _ known: [String], keepingPending: Bool, owner: StoreOwner, in writer: some StoreWriter
    ) throws -> ForcePurgeResult? {
        guard database.clients.inFlight.isEmpty else {
            throw SyncError(.operationInFlight, "an operation is in flight; try again after the push ends")
        }
        // This process or another may have defined tables while this call waited.
        let tables = try definitions.tableNames(in: writer)
        guard Set(tables).isSubset(of: known) else { return nil }
        var result = ForcePurgeResult()
        for table in tables {
            result.rows += try removeRows(of: table, keepingPending: keepingPending, in: writer)
        }
        if !keepingPending {
            result.operations = try writer.delete(matching: TableQuery(operations.tables.operations))
            try writer.delete(matching: TableQuery(operations.tables.decisions))
        }
        try writer.delete(matching: TableQuery(operations.tables.errors))
        try tokens.remove(in: writer)
        try owners.save(owner, in: writer)
        return result
    }

    private func removeRows(of table: String, keepingPending: Bool, in writer: some StoreWriter) throws -> Int {
        let kept = try keepingPending ? operations.operations(of: table, in: writer) : []
        guard !kept.isEmpty else { return try writer.delete(matching: TableQuery(table)) }
        let schema = try writer.schema(of: table)
        let pending = Set(kept.map { RowID.string($0.itemKey) })
        var ids: [RowID] = []
        try writer.scan(TableQuery(table)) { view in
            if !pending.contains(.string(schema.itemKey(view.idText))) { ids.append(view.id) }
            return .next
        }
        return try writer.delete(ids: ids, from: table)
    }
}
