internal import TidelineStore
internal import TidelineWire

/// Sends one operation and reads its answer, recognising its own earlier writes: no duplicate, no false conflict.
struct OperationSender: Sendable {
    let connection: ServerConnection
    let dialect: any Dialect
    let codec: RowCodec
    let operation: TableOperation
    let parameters: [(String, String)]
    /// Stores that a request with this body is about to leave. Throws ``OperationGone`` when there is nothing to send
    /// any more.
    let noteAttempt: @Sendable (Row) async throws -> Attempt
    /// Forgets a body that was sent: it is known that it was not carried out.
    let forgetAttempt: @Sendable (String) async throws -> Void

    /// A request about to leave.
    struct Attempt: Sendable {
        /// All bodies whose fate is not known, as JSON.
        var sent: [String]
        /// The body of this request, if it was never sent before.
        var added: String?
    }

    private var table: String { operation.table }
    private var id: String { operation.itemID }

    /// How often an own earlier write is recognised and built upon before the operation counts as in conflict.
    private static let maximumRounds = 4

    /// Sends `item` and returns the server's row; nil for a delete, and for an update without any content.
    func send(_ item: Row) async throws -> Row? {
        if operation.kind == .delete { return try await delete(version: item.version, round: 1) }
        var checked = item
        checked.id = id
        // What a delegate made of the item must be readable when it is compared with the server's row.
        _ = try RowInput.checked(checked, for: codec.schema)
        guard operation.kind == .update else { return try await insert(item, mayRestore: operation.restores) }
        return try await update(item, base: operation.base.map(codec.row), isWhole: operation.restores, round: 1)
    }

    // MARK: Insert

    private func insert(_ item: Row, mayRestore: Bool) async throws -> Row? {
        let body = codec.insertBody(of: item, id: id)
        let attempt = try await noteAttempt(body)
        let sent = attempt.sent
        let answer = try await connection.send(
            dialect.insert(body, into: table, parameters: parameters, features: .offline))
        switch try meaning(of: answer) {
        case .done:
            return try await row(in: answer)
        case .conflict:
            // The body may be the client's own row sent back: only a look-up tells.
            let server = try await lookUp(after: answer)
            if server?["deleted"]?.bool == true, mayRestore { return try await restore(item, body: body) }
            guard let server, server["deleted"]?.bool != true,
                // An insert without any content has no body to compare.
                try isOwn(server, sent) || (body.isEmpty && codec.differingColumns(server, item).isEmpty)
            else { throw conflict(answer, server: server) }
            return try await build(on: server, item: item, body: body, sent: sent, round: 2)
        default:
            throw try await rejection(answer, to: attempt)
        }
    }

    // MARK: Update

    private func update(_ item: Row, base: Row?, isWhole: Bool, round: Int) async throws -> Row? {
        let body = try codec.updateBody(of: item, base: base, isWhole: isWhole, earlier: operation.sent, id: id)
        if body.isEmpty { return operation.restores ? try await restore(item, body: body) : base }
        let attempt = try await noteAttempt(body)
        let sent = attempt.sent
        let answer = try await connection.send(
            dialect.update(
                body, in: table, version: item.version, parameters: parameters, features: .offline))
        switch try meaning(of: answer) {
        case .done:
            return try await row(in: answer)
        case .gone where operation.restores:
            return try await restore(item, body: body)
        case .gone:
            throw conflict(answer, server: nil)
        case .conflict:
            let server = try await conflictingRow(in: answer)
            guard let server, round < Self.maximumRounds, try isOwn(server, sent) || isUndeleted(server) else {
                throw conflict(answer, server: server)
            }
            return try await build(on: server, item: item, body: body, sent: sent, round: round + 1)
        default:
            throw try await rejection(answer, to: attempt)
        }
    }

    /// The server's row is an earlier write of this operation: what it lacks of the item goes into an update of it.
    ///
    /// Only columns that were ever sent are compared and changed: others are the server's, or those of clients that
    /// have built upon the same write.
    private func build(on server: Row, item: Row, body: Row, sent: [String], round: Int) async throws -> Row? {
        var wanted = body
        for json in sent {
            for name in try codec.row(json).columnNames where wanted[name] == nil { wanted[name] = item[name] ?? .null }
        }
        if codec.shows(server, wanted) { return server }
        return try await update(server.merging(wanted), base: server, isWhole: false, round: round)
    }

    /// Brings a deleted row back and gives it its content; where the server has none at all, inserts it.
    private func restore(_ item: Row, body: Row) async throws -> Row? {
        let answer = try await connection.send(dialect.undelete(id, in: table, version: nil, features: .offline))
        switch try meaning(of: answer) {
        case .done:
            let restored = try await row(in: answer)
            if body.isEmpty { return restored }
            let update = try await connection.send(
                dialect.update(
                    body, in: table, version: restored?.version, parameters: parameters, features: .offline))
            switch try meaning(of: update) {
            case .done: return try await row(in: update)
            case .gone, .conflict: throw try await conflict(update, server: conflictingRow(in: update))
            default: throw rejection(update)
            }
        case .gone:
            return try await insert(item, mayRestore: false)
        case .conflict:
            throw try await conflict(answer, server: conflictingRow(in: answer))
        default:
            throw rejection(answer)
        }
    }

    // MARK: Delete

    private func delete(version: String?, round: Int) async throws -> Row? {
        let sent = try await noteAttempt(Row()).sent
        let answer = try await connection.send(
            dialect.delete(id, from: table, version: version, parameters: parameters, features: .offline))
        switch try meaning(of: answer) {
        case .done:
            return try? codec.row(body: answer.body)
        case .gone:
            return nil
        case .conflict:
            let server = try await conflictingRow(in: answer)
            if let server, server["deleted"]?.bool == true { return server }
            // An update of ours that was carried out though its answer was lost: delete what it made.
            guard let server, try isOwnAlone(server, sent), round < Self.maximumRounds, let version = server.version
            else { throw conflict(answer, server: server) }
            return try await delete(version: version, round: round + 1)
        default:
            throw rejection(answer)
        }
    }

    // MARK: Answers

    /// The meaning of the status, the ones that end the push thrown.
    private func meaning(of answer: TransportResponse) throws -> PushAnswer {
        let status = answer.response.status.code
        switch PushAnswer(status: status, to: operation.kind) {
        case .authentication:
            throw SyncError(
                .authentication, "the server asks to sign in: \(dialect.errorMessage(answer.body))", status: status)
        case .unavailable:
            throw SyncError(
                .network, "the server is not available: \(dialect.errorMessage(answer.body))", status: status)
        case .serverFailure:
            throw OperationFailure(.serverFailed, dialect.errorMessage(answer.body), status: status)
        case let meaning:
            return meaning
        }
    }

    private func rejection(_ answer: TransportResponse) -> OperationFailure {
        let status = answer.response.status.code
        return OperationFailure(.rejected, dialect.errorMessage(answer.body), status: status)
    }

    /// The rejection of a request with a body. A refusal (4xx) to its only try tells that it was not carried out, and
    /// nothing that the server has later can come from it.
    private func rejection(_ answer: TransportResponse, to attempt: Attempt) async throws -> OperationFailure {
        if let body = attempt.added, answer.attempts == 1, (400..<500).contains(answer.response.status.code) {
            try await forgetAttempt(body)
        }
        return rejection(answer)
    }

    private func conflict(_ answer: TransportResponse, server: Row?) -> OperationFailure {
        let message =
            if let server {
                server["deleted"]?.bool == true
                    ? "the row was deleted on the server" : "the row was changed on the server"
            } else { "the row is not on the server" }
        let status = answer.response.status.code
        // Without a row in the answer, or by a look-up after it, the row is gone: that is what 404 says.
        return OperationFailure(
            .conflict, message, status: server == nil && status != 410 ? 404 : status, serverItem: server)
    }

    /// The row that an answer to an insert or update carries; asked for where it carries none that can be read.
    private func row(in answer: TransportResponse) async throws -> Row? {
        if var row = try? codec.row(body: answer.body) {
            if let version = dialect.version(of: answer.response) { row["version"] = .string(version) }
            return row
        }
        guard let row = try await lookUp() else {
            throw OperationFailure(
                .invalidAnswer, "the server accepted the row, but its answer cannot be read",
                status: answer.response.status.code)
        }
        return row
    }

    /// The server's row in a conflict's answer; asked for where the body has none.
    private func conflictingRow(in answer: TransportResponse) async throws -> Row? {
        if let row = try? codec.row(body: answer.body), row.version != nil { return row }
        return try await lookUp(after: answer)
    }

    /// The server's row, asked for after a conflict. Where it cannot be had this is a conflict all the same, with a
    /// row that nobody has seen.
    private func lookUp(after conflict: TransportResponse) async throws -> Row? {
        do {
            return try await lookUp()
        } catch let failure as OperationFailure where failure.code != .serverFailed {
            throw OperationFailure(
                .conflict, "the row was changed on the server, where it cannot be read: \(failure.message)",
                status: conflict.response.status.code)
        }
    }

    private func lookUp() async throws -> Row? {
        let answer = try await connection.send(dialect.lookup(id, in: table, includeDeleted: true, features: .offline))
        let meaning = try meaning(of: answer)
        // Only these say that there is no row; taken for one that is gone, a row would be removed here.
        if [404, 410].contains(answer.response.status.code) { return nil }
        guard meaning == .done else { throw rejection(answer) }
        guard let row = try? codec.row(body: answer.body) else {
            throw OperationFailure(
                .invalidAnswer, "the row was asked for, but the answer cannot be read",
                status: answer.response.status.code)
        }
        return row
    }

    private func isOwn(_ server: Row, _ sent: [String]) throws -> Bool {
        try sent.contains { json in
            let body = try codec.row(json)
            return !body.isEmpty && codec.shows(server, body)
        }
    }

    /// Whether the server's row is an earlier write of this operation and has no change by others upon it.
    private func isOwnAlone(_ server: Row, _ sent: [String]) throws -> Bool {
        let base = try operation.base.map(codec.row) ?? Row()
        return try isOwn(server, sent)
            && sent.contains { codec.shows(server, base.merging(try codec.row($0))) }
    }

    /// Whether the server's row is the one that was deleted here, brought back by an earlier try of this operation whose
    /// answer was lost: it has the content that the delete was made on.
    private func isUndeleted(_ server: Row) throws -> Bool {
        guard operation.restores, server["deleted"]?.bool != true, let base = operation.base else { return false }
        return codec.shows(server, try codec.row(base))
    }
}

extension RowCodec {
    /// What an insert sends: the app's columns that are not null. Servers answer columns they do not know with an
    /// error, also when there is nothing in them.
    func insertBody(of item: Row, id: String) -> Row {
        var body = Row(id: .string(id))
        for name in appColumns {
            if let value = item[name], !value.isNull { body[name] = value }
        }
        return body
    }

    /// What an update sends: the app's columns that differ from the base, and those of earlier bodies whose fate is
    /// not known; the whole row where there is no base.
    ///
    /// - Parameter isWhole: Whether to send all columns but those that are null in the base too, as for a row that was
    ///   deleted and is to come back.
    func updateBody(of item: Row, base: Row?, isWhole: Bool, earlier: [String], id: String) throws -> Row {
        var names = appColumns.filter { name in
            guard let base else { return item[name] != nil }
            let (now, before) = (item[name] ?? .null, base[name] ?? .null)
            return isWhole ? !(now.isNull && before.isNull) : now != before
        }
        for json in earlier {
            names += try row(json).columnNames.filter { appColumns.contains($0) && !names.contains($0) }
        }
        var body = Row(id: .string(id))
        for name in names { body[name] = item[name] ?? .null }
        return body
    }
}
