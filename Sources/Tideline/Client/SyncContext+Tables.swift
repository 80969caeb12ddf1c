internal import TidelineLive
internal import TidelineStore

/// The context of tables, without the type of its store.
///
/// One call crosses this boundary for each transaction or request. Inside it, the core is generic over the store.
protocol TableContext: AnyObject, Sendable {
    var options: SyncOptions { get }
    var connection: ServerConnection { get }
    var dialect: any ClientDialect { get }

    nonisolated(nonsending) func transaction<T: Sendable>(
        _ body: @escaping @Sendable (SyncTransaction) throws -> T
    ) async throws -> T
    /// Runs a closure on one snapshot of the store.
    nonisolated(nonsending) func withReader<T: Sendable>(
        _ body: @escaping @Sendable (any StoreReader) throws -> T
    ) async throws -> T

    nonisolated(nonsending) func insert(_ row: Row, into table: String) async throws -> Row
    nonisolated(nonsending) func update(_ row: Row, in table: String, overwriting: Bool) async throws
    nonisolated(nonsending) func update(
        id: String, in table: String, _ change: @escaping @Sendable (inout Row) throws -> Void
    ) async throws -> Row
    nonisolated(nonsending) func delete(_ row: Row, from table: String) async throws
    nonisolated(nonsending) func row(id: String, in table: String) async throws -> Row?
    nonisolated(nonsending) func rows(matching query: TableQuery) async throws -> QueryResult

    func observe(_ query: TableQuery) -> LiveQuery<Row>
    /// Observes a value of the number of rows that match a query's predicate.
    func observeValue<T: Sendable & Equatable>(_ query: TableQuery, _ value: @escaping @Sendable (Int) -> T)
        -> LiveValue<T>

    func pull(_ query: TableQuery, queryID: String?, settings: PullSettings) async throws -> PullResult
    func verify(_ query: TableQuery, settings: PullSettings) async throws -> TableComparison
    func repair(_ query: TableQuery, settings: PullSettings) async throws -> TableRepair
    func pullToken(table: String, queryID: String) async throws -> PullToken?
    func resetToken(table: String, queryID: String?) async throws
    nonisolated(nonsending) func purge(_ query: TableQuery, resetsTokens: Bool) async throws -> Int
    nonisolated(nonsending) func forcePurge(table: String) async throws -> ForcePurgeResult
}

extension SyncContext: TableContext {
    /// See ``SyncClient/transaction(_:)``.
    nonisolated(nonsending) func transaction<T: Sendable>(
        _ body: @escaping @Sendable (SyncTransaction) throws -> T
    ) async throws -> T {
        do {
            return try await database.changing { [self] writer in
                try SyncTransaction(ChangeScope(self, writer)).run(body)
            }
        } catch let error as SyncError {
            // The app's own error.
            throw (error.cause as? SyncTransaction.BodyError)?.error ?? error
        }
    }

    nonisolated(nonsending) func withReader<T: Sendable>(
        _ body: @escaping @Sendable (any StoreReader) throws -> T
    ) async throws -> T {
        try await database.reading { try body($0) }
    }

    nonisolated(nonsending) func insert(_ row: Row, into table: String) async throws -> Row {
        try await database.changing { [self] in try insert(row, editor.changes(of: table, in: $0), in: $0) }
    }

    /// Inserts a row within a transaction, after its identifier is found to be valid, also on the server.
    func insert(_ row: Row, _ changes: LocalChanges, in writer: some StoreWriter) throws -> Row {
        try RowInput.checkID(of: row, for: changes.schema)
        try dialect.validateNewID(row.idText, of: changes.schema.name)
        return try changes.insert(row, in: writer)
    }

    nonisolated(nonsending) func update(_ row: Row, in table: String, overwriting: Bool) async throws {
        try await database.changing { [self] in
            try editor.changes(of: table, in: $0).update(row, overwriting: overwriting, in: $0)
        }
    }

    nonisolated(nonsending) func update(
        id: String, in table: String, _ change: @escaping @Sendable (inout Row) throws -> Void
    ) async throws -> Row {
        try await database.changing { [self] in
            try editor.changes(of: table, in: $0).update(id: id, in: $0, change)
        }.get()
    }

    nonisolated(nonsending) func delete(_ row: Row, from table: String) async throws {
        try await database.changing { [self] in try editor.changes(of: table, in: $0).delete(row, in: $0) }
    }

    nonisolated(nonsending) func row(id: String, in table: String) async throws -> Row? {
        try await database.reading { try $0.checkedRow(id: id, in: table) }
    }

    nonisolated(nonsending) func rows(matching query: TableQuery) async throws -> QueryResult {
        try await database.reading { try $0.rows(matching: query) }
    }

    nonisolated(nonsending) func purge(_ query: TableQuery, resetsTokens: Bool) async throws -> Int {
        try await cleaner.purge(query, resetsTokens: resetsTokens)
    }

    nonisolated(nonsending) func forcePurge(table: String) async throws -> ForcePurgeResult {
        try await cleaner.forcePurge(table: table)
    }

    // MARK: Live queries

    func observe(_ query: TableQuery) -> LiveQuery<Row> {
        database.observed.observe(
            query, opening: { [self] in try await open($0) }, mapError: liveQueryError(query.table))
    }

    func observeValue<T: Sendable & Equatable>(_ query: TableQuery, _ value: @escaping @Sendable (Int) -> T)
        -> LiveValue<T>
    {
        database.observed.observeValue(
            query, value, opening: { [self] in try await open($0) }, mapError: liveQueryError(query.table))
    }

    /// Starts a live query on the executor of the writes.
    private func open(_ registration: LiveRegistration) async throws -> LiveHandle {
        while try await !database.performing({ try $0.startUnlessBusy(registration) }) {
            try await database.environment.sleep(LiveRegistration.busyPause)
        }
        return database.observed.handle(of: registration)
    }

    private func liveQueryError(_ table: String) -> @Sendable (any Error) -> any Error {
        { SyncError.wrapping($0).asArgumentError(table: table) }
    }
}

extension TableContext {
    /// The table service, for direct requests.
    ///
    /// - Throws: ``SyncError`` with code invalidArgument if the server speaks a custom dialect.
    var tableService: TableServiceDialect {
        get throws(SyncError) {
            if let service = dialect.tableService { return service }
            throw SyncError(
                .invalidArgument,
                "the dialect \(dialect.name) has no remote tables, custom APIs, or sign-ins; send such requests without "
                    + "the client, or use local tables")
        }
    }
}

extension StoreReader {
    /// Returns a row, or `nil` if there is none.
    ///
    /// - Throws: ``SyncError`` with code invalidArgument for an identifier that no row can have.
    func checkedRow(id: String, in table: String) throws -> Row? {
        try RowInput.checkName(table)
        let schema = try schema(of: table)
        try RowInput.checkID(id, of: schema, isKnown: RowInput.isStored(id, of: schema, in: self))
        return try row(in: table, id: id)
    }
}
