internal import HTTPTypes
internal import TidelineStore
internal import TidelineWire

extension SyncContext {
    /// Requests a page and returns a successful response; throws for any other.
    func readAnswer(_ query: Query, schema: TableSchema?, options: ReadOptions) async throws -> TransportResponse {
        try await answer(to: dialect.read(query, schema: schema, options: options), table: query.table)
    }

    /// Sends a request and returns a successful response.
    ///
    /// - Throws: ``SyncError`` as `Dialect.failure(_:table:id:)` returns it, for any other response.
    func answer(to request: WireRequest, table: String, id: String? = nil) async throws -> TransportResponse {
        let answer: TransportResponse
        do {
            answer = try await connection.send(request)
        } catch var error as SyncError {
            (error.table, error.id) = (table, id)
            throw error
        }
        guard dialect.isDone(answer) else {
            throw dialect.failure(answer, table: table, id: id)
        }
        return answer
    }

    /// Returns whether a response links to a next page.
    ///
    /// A pull computes its own requests and never follows a link, so the target of the link does not matter. Behind a
    /// proxy that terminates TLS, servers use a different scheme in their links.
    func namesNextPage(_ response: HTTPResponse) -> Bool {
        let base = connection.base
        do {
            return try dialect.nextPage(after: response, base: (base.scheme, base.authority, base.path)) != nil
        } catch {
            return true
        }
    }
}
