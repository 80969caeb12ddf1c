internal import TidelineStore

extension SyncContext {
    /// Sends a request and returns a successful response.
    ///
    /// - Throws: ``SyncError`` as `ServerAnswer.failure(table:id:)` returns it, for any other response.
    func answer(to call: ServerCall, table: String, id: String? = nil) async throws -> ServerAnswer {
        let answer: ServerAnswer
        do {
            answer = try await connection.send(call)
        } catch var error as SyncError {
            (error.table, error.id) = (table, id)
            throw error
        }
        guard answer.kind == .done else { throw answer.failure(table: table, id: id) }
        return answer
    }
}

extension TableContext {
    /// The table service, for direct requests.
    ///
    /// - Throws: ``SyncError`` with code invalidArgument if the server speaks a custom dialect.
    var tableService: TableServiceFamily {
        get throws(SyncError) {
            if let service = family.tableService { return service }
            throw SyncError(
                .invalidArgument,
                "the dialect \(family.name) has no remote tables, custom APIs, or sign-ins; send such requests without "
                    + "the client, or use local tables")
        }
    }
}
