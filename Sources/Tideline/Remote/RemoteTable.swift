internal import HTTPTypes
public import TidelineStore
internal import TidelineWire

/// The server's table, used directly: every call is a request, the local store and the queue take no part.
///
/// Where the local store defines the table, rows are typed by that definition, and columns of the server that it does
/// not name are left out. Without a definition rows hold every column of the server with the types that its JSON shows,
/// and ids may be integers, as in tables of old servers.
///
/// Every call throws ``SyncError``: ``SyncError/Code/invalidArgument`` before anything is sent, for a blank table name, an
/// id, row, query or parameter that cannot be sent; ``SyncError/Code/network``, ``SyncError/Code/authentication``,
/// ``SyncError/Code/serverFailed``, ``SyncError/Code/rejected`` with the server's message and ``SyncError/status``;
/// ``SyncError/Code/invalidAnswer`` for an answer that cannot be read or holds another row than the one asked for. A
/// write that meets another row on the server (409, 412) throws ``SyncError/Code/conflict`` with
/// ``SyncError/serverItem``.
public struct RemoteTable<Store: LocalStore>: Sendable {
    /// Parameters added to the address of a request; a name must not begin with `$` or `__`.
    public typealias Parameters = [(name: String, value: String)]

    /// The name of the table.
    public let name: String
    let context: SyncContext<Store>

    /// The row of that id; nil when the server has none, or has deleted it.
    public func lookup(id: String, includeDeleted: Bool = false, parameters: Parameters = []) async throws -> Row? {
        try await mapped {
            let reader = try await makeReader()
            let request = try context.dialect.lookup(
                id, in: name, includeDeleted: includeDeleted, parameters: pairs(parameters), features: [])
            do {
                return try reader.row(in: await context.answer(to: request, table: name, id: id), id: id)
            } catch let error as SyncError where error.status == 404 || error.status == 410 {
                return nil
            }
        }
    }

    /// Inserts a row.
    ///
    /// Where the local store defines the table, a row without an id gets a new UUID; otherwise the server makes the id,
    /// and the request is sent once only.
    /// - Returns: The server's row.
    public func insert(_ row: Row, parameters: Parameters = []) async throws -> Row {
        try await mapped {
            let reader = try await makeReader()
            var row = row
            if row["id"] == nil, reader.schema?.idType == .string { row.id = context.options.environment.makeID() }
            row = try reader.checked(row)
            let request = try context.dialect.insert(row, into: name, parameters: pairs(parameters))
            let id = row.key?.text
            return try reader.row(in: await send(request, id: id, reader), id: id)
        }
    }

    /// Changes the columns that `row` names. With a `version` in it the server refuses when its row has another.
    /// - Returns: The server's row.
    public func update(_ row: Row, parameters: Parameters = []) async throws -> Row {
        try await mapped {
            let reader = try await makeReader()
            let request = try context.dialect.update(
                reader.checked(row, isKnown: true), in: name, version: row.version, parameters: pairs(parameters))
            return try reader.row(in: await send(request, id: row.id, reader), id: row.id)
        }
    }

    /// Deletes the row of that id; with a `version` the server refuses when its row has another.
    public func delete(id: String, version: String? = nil, parameters: Parameters = []) async throws {
        try await mapped {
            let reader = try await makeReader()
            let request = try context.dialect.delete(id, from: name, version: version, parameters: pairs(parameters))
            _ = try await send(request, id: id, reader)
        }
    }

    /// Brings back a soft-deleted row.
    /// - Returns: The server's row.
    public func undelete(id: String, version: String? = nil, parameters: Parameters = []) async throws -> Row {
        try await mapped {
            let reader = try await makeReader()
            let request = try context.dialect.undelete(
                id, in: name, version: version, parameters: pairs(parameters), features: [])
            return try reader.row(in: await send(request, id: id, reader), id: id)
        }
    }

    // MARK: Requests

    /// Sends a write and returns the answer if it is one of success.
    private func send(_ request: WireRequest, id: String?, _ reader: RemoteRowReader) async throws -> TransportResponse
    {
        // Without an id, the second of two inserts could not be told from the first.
        let answer = try await context.connection.send(request, retries: id != nil)
        let status = answer.response.status.code
        guard !(200..<300).contains(status) else { return answer }
        var error = context.dialect.failure(answer, table: name, id: id)
        if status == 409 || status == 412 {
            error.code = .conflict
            error.message = "the server has another row: \(context.dialect.message(of: answer))"
            error.serverItem = await serverItem(in: answer, id: id, reader)
        }
        throw error
    }

    /// The server's row in a conflict. An answer without a version may hold the client's own row, so that only the list,
    /// which shows deleted rows too, can tell; nil when it cannot be had.
    private func serverItem(in answer: TransportResponse, id: String?, _ reader: RemoteRowReader) async -> Row? {
        if let row = try? reader.row(in: answer, id: id), row.version != nil { return row }
        guard let id else { return nil }
        let query = Query(name).filter(.column("id") == .value(id))
        return try? await read(query, includeDeleted: true).rows.first { reader.isSame($0.id, id) }
    }

    func pairs(_ parameters: Parameters) throws -> [(String, String)] {
        for (parameter, _) in parameters where parameter.hasPrefix("__") {
            throw SyncError(
                .invalidArgument,
                "the parameter \(parameter.debugDescription) begins with __, which is reserved", table: name)
        }
        return parameters.map { ($0.name, $0.value) }
    }

    func makeReader() async throws -> RemoteRowReader {
        let name = name
        guard name.contains(where: { !$0.isWhitespace }) else {
            throw SyncError(.invalidArgument, "the name of a table must not be blank", table: name)
        }
        let schema: TableSchema? = try await context.reading { reader in
            do {
                return try reader.schema(of: name)
            } catch let error as StoreError where error.code == .noSuchTable {
                return nil
            }
        }
        return RemoteRowReader(table: name, schema: schema)
    }

    func mapped<T>(_ body: () async throws -> T) async throws -> T {
        do {
            return try await body()
        } catch {
            var error = context.syncError(error)
            error.table = error.table ?? name
            throw error
        }
    }
}
