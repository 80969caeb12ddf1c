internal import HTTPTypes
public import TidelineStore
internal import TidelineWire

/// One page of the server's rows.
public struct RemotePage: Sendable {
    /// The rows, in the order of the query.
    public let rows: [Row]
    /// How many rows match the query on the server, where it asked for that.
    public let totalCount: Int?
    /// The request of the next page; nil when the server names none, a failure when its link must not be followed.
    let next: Result<WireRequest, WireError>?
    /// Whether each row must have an id.
    let requiresID: Bool

    /// Whether the server names a next page; see ``RemoteTable/read(after:)``. The page may turn out to be empty.
    public var hasNext: Bool { next != nil }
}

extension RemoteTable {
    /// Reads the rows that match, one page: at most as many as the server gives at once.
    ///
    /// A limit of 0 brings no rows; where the query asks for the total count, it brings that.
    /// - Parameters:
    ///   - query: Which rows, all by default; the query's table is this one. A selection without `id` brings rows without
    ///     ids.
    ///   - includeDeleted: Whether to ask for soft-deleted rows too, which have the value true in the column `deleted`.
    ///   - parameters: See ``Parameters``.
    public func read(
        _ query: Query? = nil, includeDeleted: Bool = false, parameters: Parameters = []
    ) async throws -> RemotePage {
        try await mapped {
            let query = try checked(query)
            let reader = try await makeReader()
            let options = ReadOptions(includeDeleted: includeDeleted, parameters: try pairs(parameters))
            var sent = query
            // A limit of 0 means the default page to some servers, and one above the page's size is refused.
            sent.limit = query.limit.map { min(max($0, 1), context.dialect.maximumPageSize) }
            let request = try context.dialect.read(sent, schema: reader.schema, options: options)
            let requiresID = query.selection?.contains("id") ?? true
            if query.limit == 0, !query.includesTotalCount {
                return RemotePage(rows: [], totalCount: nil, next: nil, requiresID: requiresID)
            }
            let page = try await page(request, reader, requiresID: requiresID)
            guard let limit = query.limit, limit < page.rows.count || limit == 0 else { return page }
            return RemotePage(
                rows: Array(page.rows.prefix(limit)), totalCount: page.totalCount, next: nil, requiresID: requiresID)
        }
    }

    /// Reads the page after `page`, to which the server's link leads; nil when the server names none.
    ///
    /// - Throws: ``SyncError`` with code invalidAnswer for a link that leads to another server, which is never followed.
    public func read(after page: RemotePage) async throws -> RemotePage? {
        guard let next = page.next else { return nil }
        return try await mapped {
            let request: WireRequest
            do throws(WireError) {
                request = try next.get()
            } catch {
                throw SyncError(.invalidAnswer, "the next page cannot be read: \(error.message)", cause: error)
            }
            return try await self.page(request, makeReader(), requiresID: page.requiresID)
        }
    }

    /// The rows that match, all pages of them, read as they are asked for; parameters as for
    /// ``read(_:includeDeleted:parameters:)``.
    ///
    /// The pages are those that the server's links lead to, so that a row may come twice or be missed when others write
    /// meanwhile. A pull is the way to a copy that misses nothing.
    public func readAll(
        _ query: Query? = nil, includeDeleted: Bool = false, parameters: Parameters = []
    ) -> RemoteRows<Store> {
        RemoteRows(table: self, query: query, includeDeleted: includeDeleted, parameters: parameters)
    }

    private func page(_ request: WireRequest, _ reader: RemoteRowReader, requiresID: Bool) async throws -> RemotePage {
        let answer = try await context.answer(to: request, table: name)
        let (rows, totalCount) = try reader.rows(in: answer, requiresID: requiresID)
        return RemotePage(
            rows: rows, totalCount: totalCount.map { Int($0) }, next: next(after: answer, to: request),
            requiresID: requiresID)
    }

    private func next(after answer: TransportResponse, to request: WireRequest) -> Result<WireRequest, WireError>? {
        let base = context.connection.base
        do throws(WireError) {
            let target = try context.dialect.nextPage(
                after: answer.response, base: (base.scheme, base.authority, base.path))
            guard let target else { return nil }
            var next = request
            next.target = target
            return .success(next)
        } catch {
            return .failure(error)
        }
    }

    /// The query, if it is one of this table and names no reserved column: servers have their own columns of such names.
    private func checked(_ query: Query?) throws -> Query {
        let query = query ?? Query(name)
        guard query.table == name else {
            throw SyncError(.invalidArgument, "the query is of table \(query.table.debugDescription), not of this one")
        }
        let predicate = query.predicate.map(Self.columns) ?? []
        for column in predicate + query.order.map(\.column) + (query.selection ?? []) where column.hasPrefix("__") {
            throw SyncError(
                .invalidArgument,
                "the query cannot use the column \(column.debugDescription): names that begin with "
                    + "__ are reserved", column: column)
        }
        return query
    }

    private static func columns(of predicate: Predicate) -> [String] {
        if case .column(let name) = predicate { return [name] }
        return predicate.children.flatMap(columns)
    }
}
