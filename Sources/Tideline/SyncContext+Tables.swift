internal import TidelineStore
internal import TidelineWire

/// The context of tables, without the type of its store.
///
/// One call crosses this boundary for each transaction or request. Inside it, the core is generic over the store.
protocol TableContext: AnyObject, Sendable {
    var options: SyncOptions { get }
    var connection: ServerConnection { get }
    var dialect: any Dialect { get }

    nonisolated(nonsending) func insert(_ row: Row, into table: String) async throws -> Row
    nonisolated(nonsending) func update(_ row: Row, in table: String, overwriting: Bool) async throws
    nonisolated(nonsending) func update(
        id: String, in table: String, _ change: @escaping @Sendable (inout Row) throws -> Void
    ) async throws -> Row
    nonisolated(nonsending) func delete(_ row: Row, from table: String) async throws
    nonisolated(nonsending) func row(id: String, in table: String) async throws -> Row?
    nonisolated(nonsending) func rows(matching query: Query) async throws -> QueryResult

    func pull(_ query: Query, queryID: String?, settings: PullSettings) async throws -> PullResult
    func pullToken(table: String, queryID: String) async throws -> PullToken?
    func resetToken(table: String, queryID: String?) async throws
    nonisolated(nonsending) func purge(_ query: Query, resetsTokens: Bool) async throws -> Int
    nonisolated(nonsending) func forcePurge(table: String) async throws -> ForcePurgeResult

    /// Returns the definition of a table in the local store, or `nil` if it does not define the table.
    func schemaIfDefined(of table: String) async throws -> TableSchema?
    func answer(to request: WireRequest, table: String, id: String?) async throws -> TransportResponse
    func syncError(_ error: any Error) -> SyncError
}

extension SyncContext: TableContext {
    nonisolated(nonsending) func insert(_ row: Row, into table: String) async throws -> Row {
        try await changing { [self] in try insert(row, changes(of: table, in: $0), in: $0) }
    }

    nonisolated(nonsending) func update(_ row: Row, in table: String, overwriting: Bool) async throws {
        try await changing { [self] in
            try changes(of: table, in: $0).update(row, overwriting: overwriting, in: $0)
        }
    }

    nonisolated(nonsending) func update(
        id: String, in table: String, _ change: @escaping @Sendable (inout Row) throws -> Void
    ) async throws -> Row {
        try await changing { [self] in try changes(of: table, in: $0).update(id: id, in: $0, change) }.get()
    }

    nonisolated(nonsending) func delete(_ row: Row, from table: String) async throws {
        try await changing { [self] in try changes(of: table, in: $0).delete(row, in: $0) }
    }

    nonisolated(nonsending) func row(id: String, in table: String) async throws -> Row? {
        try await reading { try $0.checkedRow(id: id, in: table) }
    }

    nonisolated(nonsending) func rows(matching query: Query) async throws -> QueryResult {
        try await reading { try $0.rows(matching: query) }
    }

    func schemaIfDefined(of table: String) async throws -> TableSchema? {
        try await reading { try $0.schemaIfDefined(of: table) }
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
