internal import HTTPTypes
internal import TidelineStore
internal import TidelineWire

extension SyncContext {
    /// Asks for a page and returns the answer if it is one of success.
    func readAnswer(_ query: Query, schema: TableSchema?, options: ReadOptions) async throws -> TransportResponse {
        try await answer(to: dialect.read(query, schema: schema, options: options), table: query.table)
    }

    /// Sends a request and returns the answer if it is one of success.
    ///
    /// - Throws: ``SyncError`` as `Dialect.failure(_:table:id:)` says.
    func answer(to request: WireRequest, table: String, id: String? = nil) async throws -> TransportResponse {
        let answer: TransportResponse
        do {
            answer = try await connection.send(request)
        } catch var error as SyncError {
            (error.table, error.id) = (table, id)
            throw error
        }
        guard (200..<300).contains(answer.response.status.code) else {
            throw dialect.failure(answer, table: table, id: id)
        }
        return answer
    }

    /// Whether an answer says that there is a next page.
    ///
    /// A pull asks for its pages itself and never follows a link, so where it leads does not matter: behind a proxy
    /// that ends TLS, servers name themselves by another scheme.
    func namesNextPage(_ response: HTTPResponse) -> Bool {
        let base = connection.base
        do {
            return try dialect.nextPage(after: response, base: (base.scheme, base.authority, base.path)) != nil
        } catch {
            return true
        }
    }
}
