internal import HTTPTypes
public import TidelineStore
internal import TidelineWire

/// A table on the server, used directly. Every call sends a request and bypasses the local store and the queue.
///
/// If the local store defines the table, rows have the types of that definition, and other columns of the server are
/// omitted, or in the column `__extra` if the table has it, as with ``ServerDialect/datasync3``. Without a definition,
/// rows have all columns of the server with types that follow from the JSON, and identifiers may be integers, as in
/// tables of old servers.
///
/// Every call throws ``SyncError``:
/// - ``SyncError/Code/invalidArgument``, before anything is sent, for a blank table name and for an identifier, row,
///   query, or parameter that cannot be sent.
/// - ``SyncError/Code/network``, ``SyncError/Code/authentication``, ``SyncError/Code/serverFailed``, or
///   ``SyncError/Code/rejected``, with the server's message and ``SyncError/status``.
/// - ``SyncError/Code/invalidAnswer`` for a response that cannot be read or contains a different row than requested.
/// - ``SyncError/Code/conflict``, with ``SyncError/serverItem``, for a write that conflicts with the server row (409,
///   412).
public struct RemoteTable: Sendable {
    /// Query parameters for the URL of a request. A name must not begin with `$` or `__`.
    public typealias Parameters = [(name: String, value: String)]

    /// The name of the table.
    public let name: String
    let context: any TableContext

    /// Returns the row with the given identifier, or `nil` if the server has no such row or has deleted it.
    ///
    /// - Parameters:
    ///   - id: The identifier of the row.
    ///   - includeDeleted: Whether to return a tombstone, too. The row is then read with a list query, because servers
    ///     hide tombstones in the lookup of a single row.
    ///   - parameters: See ``Parameters``.
    public func lookup(id: String, includeDeleted: Bool = false, parameters: Parameters = []) async throws -> Row? {
        try await mapped {
            let reader = try await makeReader()
            let service = try context.tableService
            if includeDeleted {
                // An invalid identifier is refused before anything is sent.
                _ = try service.wire.lookup(id, in: name)
                if let row = try await listedRow(id, reader, parameters: parameters) { return row }
                // The identifiers of tables without a definition may be numbers, which a list query by text does not
                // find.
                guard reader.schema == nil else { return nil }
            }
            let request = try service.wire.lookup(
                id, in: name, includeDeleted: includeDeleted, parameters: pairs(parameters))
            let answer = try await context.connection.send(service.call(request))
            switch answer.kind {
            case .done: return try reader.row(in: answer, id: id)
            case .gone: return nil
            default: throw answer.failure(table: name, id: id)
            }
        }
    }

    /// Inserts a row.
    ///
    /// If the local store defines the table, a row without an identifier gets a new UUID. Otherwise the server assigns
    /// the identifier, and the request is not retried.
    /// - Returns: The server row. If `row` has no identifier, it has that of the server, which may be another
    ///   than the UUID.
    public func insert(_ row: Row, parameters: Parameters = []) async throws -> Row {
        try await mapped {
            let reader = try await makeReader()
            var row = row
            let givenID = row.id?.text
            if row["id"] == nil, reader.schema?.idType == .string {
                row.id = .string(context.options.environment.makeID())
            }
            row = try reader.checked(row)
            let request = try context.tableService.wire.insert(row, into: name, parameters: pairs(parameters))
            let id = row.id?.text
            return try reader.row(in: await send(request, id: id, reader, isInsert: true), id: givenID)
        }
    }

    /// Updates the columns that `row` names. If `row` includes a `version`, the server rejects the update if its row
    /// has a different version.
    /// - Returns: The server row.
    public func update(_ row: Row, parameters: Parameters = []) async throws -> Row {
        try await mapped {
            let reader = try await makeReader()
            let (change, id) = (try reader.checked(row, isKnown: true), row.idText)
            return try await write(id, version: row.version, reader, deleted: false) { current, version in
                try context.tableService.wire.update(
                    change, in: name, replacing: current, version: version, parameters: pairs(parameters))
            }
        }
    }

    /// Deletes the row with the given identifier. If `version` is set, the server rejects the delete if its row has a
    /// different version.
    public func delete(id: String, version: String? = nil, parameters: Parameters = []) async throws {
        try await mapped {
            let reader = try await makeReader()
            let request = try context.tableService.wire.delete(
                id, from: name, version: version, parameters: pairs(parameters))
            let answer = try await send(request, id: id, reader)
            // Something else may have answered without the row. A row that does not fit the definition is deleted, too.
            if answer.status != 204 { _ = try RemoteRowReader(table: name, schema: nil).row(in: answer, id: id) }
        }
    }

    /// Restores a soft-deleted row.
    /// - Returns: The server row.
    public func undelete(id: String, version: String? = nil, parameters: Parameters = []) async throws -> Row {
        try await mapped {
            let reader = try await makeReader()
            return try await write(id, version: version, reader, deleted: true) { current, version in
                try context.tableService.wire.undelete(
                    id, in: name, replacing: current, version: version, parameters: pairs(parameters), features: [])
            }
        }
    }

    // MARK: Requests

    /// The maximum number of times that a write of any version is repeated because others change the row.
    private static var maximumRounds: Int { 4 }

    /// Sends a request that changes a row, and returns the server row.
    ///
    /// If the server replaces whole rows, reads the row first. A request for any version is repeated if the row changes
    /// in the meantime.
    /// - Parameters:
    ///   - deleted: Whether the row may be soft-deleted.
    ///   - makeRequest: Creates the request for the row to replace, as JSON, and the version it is conditional on.
    private func write(
        _ id: String, version: String?, _ reader: RemoteRowReader, deleted: Bool,
        _ makeRequest: (_ current: String?, _ version: String?) throws -> WireRequest
    ) async throws -> Row {
        guard context.dialect.replacesWholeRows else {
            return try reader.row(in: await send(makeRequest(nil, version), id: id, reader), id: id)
        }
        // An invalid row is refused before anything is sent.
        _ = try makeRequest("{}", version)
        var round = 1
        while true {
            let current = try await wholeRow(id, reader, deleted: deleted)
            do {
                let request = try makeRequest(current.json, version ?? current.version)
                return try reader.row(in: await send(request, id: id, reader), id: id)
            } catch let error as SyncError
                where error.code == .conflict && version == nil && round < Self.maximumRounds
            {
                round += 1
            }
        }
    }

    /// Requests a row with all its columns.
    private func wholeRow(_ id: String, _ reader: RemoteRowReader, deleted: Bool) async throws -> Row {
        if deleted {
            // On some servers the lookup of a single row hides tombstones.
            let query = TableQuery(name).filter(.column("id") == .value(id))
            let request = try context.tableService.wire.read(
                query, schema: nil, options: ReadOptions(includeDeleted: true))
            let answer = try await answer(to: request, id: id)
            if let row = try reader.wholeRows(in: answer).first(where: { reader.isSame($0.idText, id) }) { return row }
        }
        let request = try context.tableService.wire.lookup(id, in: name, includeDeleted: deleted)
        return try reader.wholeRow(in: await answer(to: request, id: id), id: id)
    }

    /// Sends a request that changes nothing, and returns a successful response; throws for any other.
    func answer(to request: WireRequest, id: String? = nil) async throws -> ServerAnswer {
        let answer: ServerAnswer
        do {
            answer = try await context.connection.send(context.tableService.call(request))
        } catch var error as SyncError {
            (error.table, error.id) = (name, id)
            throw error
        }
        guard answer.kind == .done else { throw answer.failure(table: name, id: id) }
        return answer
    }

    /// Sends a write and returns a successful response; throws for any other.
    private func send(
        _ request: WireRequest, id: String?, _ reader: RemoteRowReader, isInsert: Bool = false
    ) async throws -> ServerAnswer {
        // Without an identifier, a repeated insert would create a second row.
        let service = try context.tableService
        let call = service.call(request)
        let answer = try await context.connection.send(call, retries: id != nil)
        guard answer.kind != .done else { return answer }
        var error = answer.failure(table: name, id: id)
        if answer.kind == .conflict {
            error.code = .conflict
            // A row in the response is not a message, and may be the client's own.
            let isRow = (try? reader.row(in: answer, id: nil)) != nil
            let reason = isRow ? answer.response.response.statusText : answer.meaning.message
            error.message = "the request conflicts with the row on the server: \(reason)"
            let mayBeOwn = isInsert && !service.wire.answersInsertsWithServerRow
            error.serverItem = await serverItem(in: answer, id: id, reader, mayBeOwn: mayBeOwn)
        }
        throw error
    }

    /// Returns the server row in a conflict, or `nil` if it cannot be read.
    ///
    /// A response without a version may contain the client's own row. The row is then read with a list query, which
    /// also returns tombstones.
    /// - Parameter mayBeOwn: Whether the dialect's servers may answer with the client's own row in any case.
    private func serverItem(
        in answer: ServerAnswer, id: String?, _ reader: RemoteRowReader, mayBeOwn: Bool
    ) async -> Row? {
        if !mayBeOwn, let row = try? reader.row(in: answer, id: id), row.version != nil { return row }
        guard let id else { return nil }
        return try? await listedRow(id, reader)
    }

    /// Reads a row or tombstone with a list query.
    private func listedRow(_ id: String, _ reader: RemoteRowReader, parameters: Parameters = []) async throws -> Row? {
        let query = TableQuery(name).filter(.column("id") == .value(id))
        return try await read(query, includeDeleted: true, parameters: parameters).rows.first {
            reader.isSame($0.idText, id)
        }
    }

    func pairs(_ parameters: Parameters) throws -> [(String, String)] {
        for (parameter, _) in parameters where parameter.isReserved {
            throw SyncError(
                .invalidArgument,
                "the parameter \(parameter.debugDescription) is reserved; use a name that does not begin with __",
                table: name)
        }
        return parameters.map { ($0.name, $0.value) }
    }

    func makeReader() async throws -> RemoteRowReader {
        guard name.contains(where: { !$0.isWhitespace }) else {
            throw SyncError(.invalidArgument, "the table name must not be blank", table: name)
        }
        let schema = try await context.withReader { [name] in try $0.schemaIfDefined(of: name) }
        return RemoteRowReader(table: name, schema: schema)
    }

    func mapped<T>(_ body: () async throws -> T) async throws -> T {
        do {
            return try await body()
        } catch {
            var error = SyncError.wrapping(error)
            error.table = error.table ?? name
            throw error
        }
    }
}
