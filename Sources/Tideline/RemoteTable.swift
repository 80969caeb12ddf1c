public import TidelineStore
internal import TidelineWire

/// The server's table, used directly: every call is a request, the local store and the queue take no part.
///
/// Rows are typed by the local definition of the table; a server's column that it does not name is left out.
public struct RemoteTable<Store: LocalStore>: Sendable {
    /// The name of the table.
    public let name: String
    let context: SyncContext<Store>

    /// The rows that match, one page: at most as many as the server gives at once.
    ///
    /// - Parameter includeDeleted: Whether to ask for soft-deleted rows too.
    /// - Throws: ``SyncError``.
    public func read(_ query: Query? = nil, includeDeleted: Bool = false) async throws -> QueryResult {
        let query = query ?? Query(name)
        guard query.table == name else {
            throw SyncError(
                .invalidArgument, "the query is of table \(query.table.debugDescription), not of this one", table: name)
        }
        let schema = try await schema()
        return try await mapped {
            let answer = try await context.readAnswer(
                query, schema: schema, options: ReadOptions(includeDeleted: includeDeleted))
            let page = try PulledPage(
                body: answer.body, codec: RowCodec(schema: schema), parser: PageParser(schema: schema))
            return QueryResult(
                rows: (0..<page.rows.count).map(page.row), totalCount: page.summary.totalCount.map { Int($0) })
        }
    }

    /// The row of that id; nil when the server has none, or has deleted it.
    public func lookup(id: String, includeDeleted: Bool = false) async throws -> Row? {
        let schema = try await schema()
        do {
            return try await row(
                of: context.dialect.lookup(id, in: name, includeDeleted: includeDeleted), id: id, schema: schema)
        } catch let error as SyncError where error.status == 404 || error.status == 410 {
            return nil
        }
    }

    /// Inserts a row; without an id it gets a new UUID.
    /// - Returns: The server's row.
    public func insert(_ row: Row) async throws -> Row {
        let schema = try await schema()
        var row = row
        if row.id.isEmpty { row.id = context.options.environment.makeID() }
        let body = try RowInput.checked(row, for: schema)
        return try await self.row(of: context.dialect.insert(body, into: name), id: body.id, schema: schema)
    }

    /// Changes the columns that `row` names. With a `version` in it the server refuses when its row has another.
    /// - Returns: The server's row.
    public func update(_ row: Row) async throws -> Row {
        let schema = try await schema()
        let body = try RowInput.checked(row, for: schema)
        return try await self.row(
            of: context.dialect.update(body, in: name, version: row.version), id: row.id, schema: schema)
    }

    /// Deletes the row of that id; with a `version` the server refuses when its row has another.
    public func delete(id: String, version: String? = nil) async throws {
        _ = try await mapped {
            let request = try context.dialect.delete(id, from: name, version: version)
            return try await context.answer(to: request, table: name, id: id)
        }
    }

    /// Brings back a soft-deleted row.
    /// - Returns: The server's row.
    public func undelete(id: String, version: String? = nil) async throws -> Row {
        let schema = try await schema()
        return try await row(
            of: context.dialect.undelete(id, in: name, version: version), id: id, schema: schema)
    }

    private func schema() async throws -> TableSchema {
        let name = name
        return try await context.reading { try $0.schema(of: name) }
    }

    private func row(of request: @autoclosure () throws -> WireRequest, id: String, schema: TableSchema) async throws
        -> Row
    {
        try await mapped {
            let answer = try await context.answer(to: request(), table: name, id: id)
            do {
                return try RowCodec(schema: schema).row(body: answer.body)
            } catch {
                throw SyncError(
                    .invalidAnswer, "the server's answer cannot be used: \(error)", table: name, id: id, cause: error)
            }
        }
    }

    private func mapped<T>(_ body: () async throws -> T) async throws -> T {
        do {
            return try await body()
        } catch {
            throw context.syncError(error)
        }
    }
}
