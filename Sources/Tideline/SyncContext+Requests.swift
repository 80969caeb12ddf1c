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
    /// - Throws: ``SyncError``: authentication for 401; network for answers that say try again later; rejected for all
    ///   others, with the server's message.
    func answer(to request: WireRequest, table: String, id: String? = nil) async throws -> TransportResponse {
        let answer = try await connection.send(request)
        let status = answer.response.status.code
        if (200..<300).contains(status) { return answer }
        let said = dialect.errorMessage(answer.body)
        let message = said.isEmpty ? "it answered with HTTP \(answer.response.status)" : said
        switch status {
        case 401:
            throw SyncError(
                .authentication, "the server asks to sign in: \(message)", table: table, id: id, status: status)
        case _ where ServerConnection.isTransient(status):
            throw SyncError(.network, "the server is not available: \(message)", table: table, id: id, status: status)
        default:
            throw SyncError(
                .rejected, "the server refused the request: \(message)", table: table, id: id, status: status)
        }
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
