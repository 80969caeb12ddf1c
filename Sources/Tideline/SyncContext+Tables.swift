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
        try await change(table: table) { changes, writer in
            try changes.insert(RowInput.checked(row, for: changes.schema), in: writer)
        }
    }

    nonisolated(nonsending) func update(_ row: Row, in table: String, overwriting: Bool) async throws {
        try await change(table: table) { changes, writer in
            let checked = try RowInput.checked(
                row, for: changes.schema, isKnown: RowInput.isStored(row.idText, of: changes.schema, in: writer))
            try changes.update(checked, given: overwriting ? nil : row, in: writer)
        }
    }

    nonisolated(nonsending) func update(
        id: String, in table: String, _ change: @escaping @Sendable (inout Row) throws -> Void
    ) async throws -> Row {
        try await self.change(table: table) { changes, writer in
            try RowInput.checkID(
                id, of: changes.schema, isKnown: RowInput.isStored(id, of: changes.schema, in: writer))
            return try changes.update(id: id, in: writer, change)
        }.get()
    }

    nonisolated(nonsending) func delete(_ row: Row, from table: String) async throws {
        try await change(table: table) { changes, writer in
            try RowInput.checkID(
                of: row, for: changes.schema, isKnown: RowInput.isStored(row.idText, of: changes.schema, in: writer))
            try changes.delete(id: row.idText, given: row, in: writer)
        }
    }

    nonisolated(nonsending) func row(id: String, in table: String) async throws -> Row? {
        try await reading { reader in
            try RowInput.checkName(table)
            let schema = try reader.schema(of: table)
            try RowInput.checkID(id, of: schema, isKnown: RowInput.isStored(id, of: schema, in: reader))
            return try reader.row(in: table, id: id)
        }
    }

    nonisolated(nonsending) func rows(matching query: Query) async throws -> QueryResult {
        try await reading { try $0.rows(matching: query) }
    }

    func schemaIfDefined(of table: String) async throws -> TableSchema? {
        try await reading { try $0.schemaIfDefined(of: table) }
    }
}
