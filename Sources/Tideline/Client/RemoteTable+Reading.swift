internal import HTTPTypes
public import TidelineStore
internal import TidelineWire

extension RemoteTable {
    /// One page of the server's rows.
    public struct Page: Sendable {
        /// The rows, in the order of the query.
        public let rows: [Row]
        /// The number of rows that match the query on the server, if the query includes the total count.
        public let totalCount: Int?
        /// The request for the next page: `nil` if the server gives no link, a failure if the link must not be
        /// followed.
        let next: Result<WireRequest, WireError>?
        /// The columns of the rows, or `nil` for all.
        let selection: [String]?

        /// Whether the server links to a next page, which may be empty; see ``read(after:)``.
        public var hasNext: Bool { next != nil }
    }

    /// Reads one page of matching rows, at most as many as the server returns at once.
    ///
    /// A limit of 0 returns no rows, only the total count if the query includes it.
    /// - Parameters:
    ///   - query: The rows to read, by default all. It must be a query of this table. With a selection that omits `id`,
    ///     rows have no identifiers.
    ///   - includeDeleted: Whether to include tombstones, which have the value true in the column `deleted`.
    ///   - parameters: See ``Parameters``.
    public func read(
        _ query: TableQuery? = nil, includeDeleted: Bool = false, parameters: Parameters = []
    ) async throws -> Page {
        try await mapped {
            let query = try checked(query)
            let reader = try await makeReader()
            let options = ReadOptions(includeDeleted: includeDeleted, parameters: try pairs(parameters))
            var sent = query
            // Some servers reject a limit above their maximum.
            let service = try context.tableService
            sent.limit = query.limit.map { min($0, service.maximumPageSize) }
            let request = try service.wire.read(sent, schema: reader.schema, options: options)
            let page = try await page(request, reader, selection: query.selection)
            // Some servers take a limit of 0 for the default page size.
            guard let limit = query.limit, limit < page.rows.count || limit == 0 else { return page }
            return Page(
                rows: Array(page.rows.prefix(limit)), totalCount: page.totalCount, next: nil,
                selection: query.selection)
        }
    }

    /// Reads the page after `page` by following the server's link. Returns `nil` if the server gave no link.
    ///
    /// A link to another port or path of the server, as from one that does not know its public address, repeats the
    /// request with the link's `$skip` and `$top`.
    /// - Throws: ``SyncError`` with code invalidAnswer for a link to another server, which is never followed.
    public func read(after page: Page) async throws -> Page? {
        guard let next = page.next else { return nil }
        return try await mapped {
            let request: WireRequest
            do throws(WireError) {
                request = try next.get()
            } catch {
                throw SyncError(
                    .invalidAnswer, "the link to the next page cannot be followed: \(error.message)", cause: error)
            }
            return try await self.page(request, makeReader(), selection: page.selection)
        }
    }

    /// Returns all matching rows as a sequence that reads page by page. For the parameters, see
    /// ``read(_:includeDeleted:parameters:)``.
    ///
    /// The pages follow the server's links, so a row may be repeated or missed if others write at the same time. Use a
    /// pull for a complete copy.
    public func readAll(
        _ query: TableQuery? = nil, includeDeleted: Bool = false, parameters: Parameters = []
    ) -> Rows {
        Rows(table: self, query: query, includeDeleted: includeDeleted, parameters: parameters)
    }

    private func page(_ request: WireRequest, _ reader: RemoteRowReader, selection: [String]?) async throws -> Page {
        let answer = try await answer(to: request)
        let (rows, totalCount, link) = try reader.rows(in: answer, selection: selection)
        return Page(
            rows: rows, totalCount: totalCount.map { Int(clamping: $0) },
            next: try next(after: answer, link: link, to: request), selection: selection)
    }

    /// - Parameter link: The link in the body of the response.
    private func next(
        after answer: ServerAnswer, link: String?, to request: WireRequest
    ) throws -> Result<WireRequest, WireError>? {
        let (base, service) = (context.connection.base, try context.tableService)
        do throws(WireError) {
            let target = try service.wire.nextPage(
                after: answer.response.response, link: link, target: request.target,
                base: (base.scheme, base.authority, base.path))
            guard let target else { return nil }
            var next = request
            next.target = target
            return .success(next)
        } catch {
            return .failure(error)
        }
    }

    /// Returns the query after checking that it is for this table and names no reserved column. Servers have columns of
    /// their own with reserved names.
    private func checked(_ query: TableQuery?) throws -> TableQuery {
        let query = query ?? TableQuery(name)
        guard query.table == name else {
            throw SyncError(
                .invalidArgument, "the query is for the table \(query.table.debugDescription), not for this table")
        }
        let predicate = query.predicate?.columnNames ?? []
        for column in predicate + query.order.map(\.column) + (query.selection ?? []) where column.isReserved {
            throw SyncError(
                .invalidArgument,
                "the query cannot use the column \(column.debugDescription): names that begin with "
                    + "__ are reserved", column: column)
        }
        return query
    }
}
