internal import HTTPTypes
internal import TidelineStore
internal import TidelineWire

/// Interprets the responses to an operation's requests.
extension OperationSender {
    /// Returns the meaning of the status. Throws for a status that ends the push, and for server errors.
    func meaning(of answer: TransportResponse) throws -> AnswerMeaning {
        switch dialect.meaning(of: answer.response, to: operation.kind == .insert ? .insert : .existingRow) {
        case .authentication, .unavailable:
            throw dialect.failure(answer)
        case .serverFailure:
            throw OperationFailure(.serverFailed, reason(answer), status: answer.response.status.code)
        case let meaning:
            return meaning
        }
    }

    private func reason(_ answer: TransportResponse) -> String { dialect.message(of: answer) }

    func rejection(_ answer: TransportResponse) -> OperationFailure {
        OperationFailure(.rejected, reason(answer), status: answer.response.status.code)
    }

    /// Returns the rejection of a request with a body, and removes the body if it was certainly not applied.
    func rejection(_ answer: TransportResponse, to attempt: Attempt) async throws -> OperationFailure {
        try await forgetRefused(attempt, after: answer)
        return rejection(answer)
    }

    /// Returns the bodies that the server may have applied before it rejected this request.
    func unknown(_ attempt: Attempt, after answer: TransportResponse, base: Row?) async throws -> LostRequests {
        let isForgotten = try await forgetRefused(attempt, after: answer)
        let bodies = isForgotten ? attempt.bodies.filter { $0 != attempt.added } : attempt.bodies
        return LostRequests(codec: codec, base: base, bodies: try bodies.map(codec.row))
    }

    /// Removes the body of a request that was refused on its only attempt and therefore not applied. No later server row
    /// can result from it.
    @discardableResult
    private func forgetRefused(_ attempt: Attempt, after answer: TransportResponse) async throws -> Bool {
        guard attempt.added != nil, answer.attempts == 1, dialect.isRefusal(answer.response) else { return false }
        return try await journal.forget(attempt)
    }

    /// - Parameter answer: The response that reported the conflict, or `nil` if a look-up found it.
    func conflict(_ answer: TransportResponse?, server: Row?) -> OperationFailure {
        let status = answer?.response.status.code
        guard let server else {
            // Neither the response nor a look-up returned a row, so the row no longer exists: status 404.
            return OperationFailure(.conflict, "the row is not on the server", status: status == 410 ? 410 : 404)
        }
        let message = server.isTombstone ? "the row was deleted on the server" : "the row was changed on the server"
        return OperationFailure(.conflict, message, status: status ?? 409, serverItem: server)
    }

    // MARK: Rows

    /// Returns the result of a request that was applied.
    ///
    /// - Parameters:
    ///   - sent: The body of the request.
    ///   - ancestor: The row as the request left it, used if the response has no row and the row must be requested.
    func result(_ answer: TransportResponse, sent: Row, ancestor: Row) async throws -> Result {
        let (row, isAnswered) = try await row(in: answer)
        var result = Result(row: row, ancestor: isAnswered ? nil : ancestor)
        result.warnings = codec.roundedNumbers(sent: sent, stored: row).map {
            PushWarning(table: table, itemID: id, column: $0.column, sent: $0.sent, stored: $0.stored)
        }
        return result
    }

    /// Returns the row in the response to an insert or update. If the response has no readable row, requests it.
    func row(in answer: TransportResponse) async throws -> (row: Row, isAnswered: Bool) {
        if var row = try? codec.row(body: answer.body) {
            guard codec.schema.itemKey(row.idText).isSameBytes(as: operation.itemKey) else {
                throw OperationFailure.foreignID(row.idText, for: id, in: table, answer.response.status.code)
            }
            if let version = dialect.version(of: answer.response) { row["version"] = .string(version) }
            return (codec.completed(row), true)
        }
        guard let row = try await lookUp() else {
            throw OperationFailure(
                .invalidAnswer, "the server accepted the row, but its response cannot be read",
                status: answer.response.status.code)
        }
        return (row, false)
    }

    /// Returns the server row in the response to a conflict. If the body has no row, requests it.
    func conflictingRow(in answer: TransportResponse) async throws -> Row? {
        if let row = try? codec.row(body: answer.body), row.version != nil,
            codec.schema.itemKey(row.idText).isSameBytes(as: operation.itemKey)
        {
            return codec.completed(row)
        }
        return try await lookUp(after: answer)
    }

    /// Requests the server row after a conflict. If it cannot be read, throws a conflict without a server row.
    func lookUp(after conflict: TransportResponse?) async throws -> Row? {
        guard let conflict else { return try await lookUp() }
        do {
            return try await lookUp()
        } catch let failure as OperationFailure {
            throw OperationFailure(
                .conflict, "the row was changed on the server, and the server row cannot be read: \(failure.message)",
                status: conflict.response.status.code)
        }
    }

    /// Requests the server row or tombstone with a list query, because on some servers the look-up of a single row
    /// hides tombstones.
    func lookUp() async throws -> Row? {
        let query = Query(table).filter(.column("id") == .value(id))
        let answer = try await connection.send(
            dialect.read(query, schema: codec.schema, options: ReadOptions(includeDeleted: true, isSyncTable: true)))
        guard try meaning(of: answer) == .done else { throw rejection(answer) }
        do {
            return try codec.rows(page: answer.body).first {
                codec.schema.itemKey($0.idText).isSameBytes(as: operation.itemKey)
            }
        } catch {
            throw OperationFailure(
                .invalidAnswer, "the server row was requested, but the response cannot be read: \(error)",
                status: answer.response.status.code)
        }
    }
}

extension OperationFailure {
    /// Returns the failure for an insert that the server stored with a different identifier.
    fileprivate static func foreignID(_ stored: String, for id: String, in table: String, _ status: Int) -> Self {
        var failure = OperationFailure(
            .rejected,
            "the server stored the row \(id.debugDescription) with its own id \(stored.debugDescription); a table "
                + "whose ids the server assigns cannot be synchronized; use RemoteTable", status: status)
        failure.isFinal = true
        return failure
    }
}

extension RowCodec {
    /// Returns the body of an insert: the app's columns that are not null. Servers respond to unknown columns with an
    /// error, even if the values are null.
    func insertBody(of item: Row) -> Row {
        var body = Row(id: item.id)
        for name in appColumns {
            if let value = item[name], !value.isNull { body[name] = value }
        }
        return body
    }

    /// Returns the integers that the server stored differently, such as a server that computes with doubles.
    fileprivate func roundedNumbers(
        sent: Row, stored: Row
    ) -> [(column: String, sent: Value, stored: Value)] {
        sent.values.compactMap { name, value in
            guard case .int = value, let answered = stored[name], answered != value else { return nil }
            return (name, value, answered)
        }
    }
}
