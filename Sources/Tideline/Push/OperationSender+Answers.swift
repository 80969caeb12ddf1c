internal import TidelineStore
internal import TidelineWire

/// What the answers to an operation's requests say.
extension OperationSender {
    /// The meaning of the status; those that end the push or that repeat for the server's own reasons are thrown.
    func meaning(of answer: TransportResponse) throws -> PushAnswer {
        let status = answer.response.status.code
        switch PushAnswer(status: status, to: operation.kind) {
        case .authentication:
            throw SyncError(.authentication, "the server asks to sign in: \(reason(answer))", status: status)
        case .unavailable:
            throw SyncError(.network, "the server is not available: \(reason(answer))", status: status)
        case .serverFailure:
            throw OperationFailure(.serverFailed, reason(answer), status: status)
        case let meaning:
            return meaning
        }
    }

    private func reason(_ answer: TransportResponse) -> String { dialect.message(of: answer) }

    func rejection(_ answer: TransportResponse) -> OperationFailure {
        OperationFailure(.rejected, reason(answer), status: answer.response.status.code)
    }

    /// The rejection of a request with a body, which is forgotten if it was certainly not carried out.
    func rejection(_ answer: TransportResponse, to attempt: Attempt) async throws -> OperationFailure {
        try await forgetRefused(attempt, after: answer)
        return rejection(answer)
    }

    /// The bodies that the server may have carried out before it refused this request.
    func unknown(_ attempt: Attempt, after answer: TransportResponse, base: Row?) async throws -> LostRequests {
        let isForgotten = try await forgetRefused(attempt, after: answer)
        let bodies = isForgotten ? attempt.bodies.filter { $0 != attempt.added } : attempt.bodies
        return LostRequests(codec: codec, base: base, bodies: try bodies.map(codec.row))
    }

    /// A refusal (4xx) of the only try tells that it was not carried out, and nothing that the server has later can come
    /// from it.
    @discardableResult
    private func forgetRefused(_ attempt: Attempt, after answer: TransportResponse) async throws -> Bool {
        guard let body = attempt.added, answer.attempts == 1, (400..<500).contains(answer.response.status.code) else {
            return false
        }
        try await journal.forget(body)
        return true
    }

    /// - Parameter answer: The answer that tells of the conflict; nil where a look-up found it.
    func conflict(_ answer: TransportResponse?, server: Row?) -> OperationFailure {
        let status = answer?.response.status.code
        guard let server else {
            // Without a row in the answer, or by a look-up after it, the row is gone: that is what 404 says.
            return OperationFailure(.conflict, "the row is not on the server", status: status == 410 ? 410 : 404)
        }
        let message = server.isTombstone ? "the row was deleted on the server" : "the row was changed on the server"
        return OperationFailure(.conflict, message, status: status ?? 409, serverItem: server)
    }

    // MARK: Rows

    /// The result of a request that was carried out.
    ///
    /// - Parameters:
    ///   - sent: The body of the request.
    ///   - ancestor: The row as the request left it, in case the answer carries none and the row must be asked for.
    func result(_ answer: TransportResponse, sent: Row, ancestor: Row) async throws -> Result {
        let (row, isAnswered) = try await row(in: answer)
        var result = Result(row: row, ancestor: isAnswered ? nil : ancestor)
        result.warnings = codec.roundedNumbers(sent: sent, stored: row).map {
            PushWarning(table: table, itemID: id, column: $0.column, sent: $0.sent, stored: $0.stored)
        }
        return result
    }

    /// The row that an answer to an insert or update carries; asked for where it carries none that can be read.
    func row(in answer: TransportResponse) async throws -> (row: Row, isAnswered: Bool) {
        if var row = try? codec.row(body: answer.body) {
            guard codec.schema.itemKey(row.id).isSameBytes(as: operation.itemKey) else {
                throw OperationFailure.foreignID(row.id, for: id, in: table, answer.response.status.code)
            }
            if let version = dialect.version(of: answer.response) { row["version"] = .string(version) }
            return (codec.completed(row), true)
        }
        guard let row = try await lookUp() else {
            throw OperationFailure(
                .invalidAnswer, "the server accepted the row, but its answer cannot be read",
                status: answer.response.status.code)
        }
        return (row, false)
    }

    /// The server's row in a conflict's answer; asked for where the body has none.
    func conflictingRow(in answer: TransportResponse) async throws -> Row? {
        if let row = try? codec.row(body: answer.body), row.version != nil,
            codec.schema.itemKey(row.id).isSameBytes(as: operation.itemKey)
        {
            return codec.completed(row)
        }
        return try await lookUp(after: answer)
    }

    /// The server's row, asked for after a conflict. Where it cannot be had this is a conflict all the same, with a
    /// row that nobody has seen.
    func lookUp(after conflict: TransportResponse?) async throws -> Row? {
        guard let conflict else { return try await lookUp() }
        do {
            return try await lookUp()
        } catch let failure as OperationFailure {
            throw OperationFailure(
                .conflict, "the row was changed on the server, where it cannot be read: \(failure.message)",
                status: conflict.response.status.code)
        }
    }

    /// The server's row, deleted or not, by the list: the look-up of a single row hides deleted ones on some servers.
    func lookUp() async throws -> Row? {
        let query = Query(table).filter(.column("id") == .value(id))
        let answer = try await connection.send(
            dialect.read(query, schema: codec.schema, options: ReadOptions(includeDeleted: true, isSyncTable: true)))
        guard try meaning(of: answer) == .done else { throw rejection(answer) }
        do {
            return try codec.rows(page: answer.body).first {
                codec.schema.itemKey($0.id).isSameBytes(as: operation.itemKey)
            }
        } catch {
            throw OperationFailure(
                .invalidAnswer, "the row was asked for, but the answer cannot be read: \(error)",
                status: answer.response.status.code)
        }
    }
}

extension OperationFailure {
    /// The server stored an insert under another identifier.
    fileprivate static func foreignID(_ stored: String, for id: String, in table: String, _ status: Int) -> Self {
        var failure = OperationFailure(
            .rejected,
            "the server stored the row \(id.debugDescription) under the id \(stored.debugDescription) of its own; a "
                + "table whose server makes the ids cannot be synchronized: use its remote table", status: status)
        failure.isFinal = true
        return failure
    }
}

extension RowCodec {
    /// What an insert sends: the app's columns that are not null. Servers answer columns they do not know with an
    /// error, also when there is nothing in them.
    func insertBody(of item: Row) -> Row {
        var body = Row(id: item.key)
        for name in appColumns {
            if let value = item[name], !value.isNull { body[name] = value }
        }
        return body
    }

    /// The integers that the server stored differently, as one does that computes with doubles.
    fileprivate func roundedNumbers(
        sent: Row, stored: Row
    ) -> [(column: String, sent: Value, stored: Value)] {
        sent.values.compactMap { name, value in
            guard case .int = value, let answered = stored[name], answered != value else { return nil }
            return (name, value, answered)
        }
    }
}
