internal import HTTPTypes
internal import TidelineStore
internal import TidelineWire

/// Finds out whether a server answers in the dialect, and whether its table is the suite's and can be written.
struct Preparation: Sendable {
    let session: ServerSession

    private var table: String { session.options.table.debugDescription }

    /// - Throws: ``ServerConformanceError``.
    func facts() async throws -> ServerFacts {
        let context = ServerCheckContext(session)
        do {
            try await requireOwnTable()
            let facts = try await probe(context)
            await context.removeRows()
            return facts
        } catch let error as ServerConformanceError {
            await context.removeRows()
            throw error
        } catch {
            await context.removeRows()
            throw ServerConformanceError("\(session.address.text) cannot be checked: \(error)")
        }
    }

    private func requireOwnTable() async throws {
        let answer = try await session.send(
            try session.dialect.read(TableQuery(session.options.table, limit: 1), schema: nil, options: ReadOptions()))
        // A table that does not exist yet may be created with its first row.
        if answer.status == 404, (try? JSONRow.parse(answer.body)) != nil || answer.body.isEmpty { return }
        try requireService(answer)
        guard answer.isSuccess else {
            throw ServerConformanceError("the table \(table) cannot be read: \(answer.summary)")
        }
        let page: ServerPage
        do {
            page = try answer.page()
        } catch {
            throw ServerConformanceError(
                "\(session.address.text) does not answer in the protocol of a table service: \(error). Is the address "
                    + "that of the server's root, without /tables?")
        }
        guard page.rows.isEmpty || session.options.allowsRows else {
            throw ServerConformanceError(
                "the table \(table) contains rows. Choose an empty table (--table), or allow rows of others "
                    + "(--allow-rows), which the suite does not change")
        }
    }

    /// Throws if the response is not that of a table service.
    private func requireService(_ answer: ServerAnswer) throws {
        let type = answer.headers[.contentType] ?? ""
        guard !type.hasPrefix("text/html"), answer.body.first != UInt8(ascii: "<") else {
            throw ServerConformanceError(
                "\(session.address.text) answers with a web page, not with a table: \(answer.summary). Is the address "
                    + "that of the server's root, without /tables?")
        }
        guard ![401, 403].contains(answer.status) else {
            throw ServerConformanceError(
                "the server requires a signed-in user: \(answer.summary). Pass a token (--token-file or "
                    + "--token-variable)")
        }
    }

    private func probe(_ context: ServerCheckContext) async throws -> ServerFacts {
        let id = context.newID()
        let row: Row = ["text": "a", "number": 1, "price": 1.5, "done": true, "due": "2026-11-21T09:12:49.403Z"]
        let answer = try await context.tryInsert(row, id: id)
        try requireService(answer)
        guard answer.isSuccess else {
            throw ServerConformanceError(
                "the suite cannot insert a row into the table \(table): \(answer.summary). The table needs the columns "
                    + "\(ServerConformance.columns)")
        }
        let inserted = try answer.row()
        let keepsIDs = inserted.id == id
        let deleted = try await context.delete(inserted.id)
        guard deleted.isSuccess else {
            throw ServerConformanceError(
                "the suite cannot delete a row from the table \(table): \(deleted.summary). The row \(inserted.id) is "
                    + "left there")
        }
        let left = try await context.list(deleted: true)
        return ServerFacts(keepsIDs: keepsIDs, keepsTombstones: left.rows.contains { $0.id == inserted.id })
    }
}
