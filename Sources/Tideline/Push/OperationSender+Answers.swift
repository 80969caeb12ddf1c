internal import TidelineStore

/// A response to a request for the row of an operation.
struct RowAnswer: Sendable {
    let request: RowRequest
    var answer: ServerAnswer

    /// Whether the request was refused. A row that an insert would create cannot be gone.
    var isRefused: Bool { answer.kind == .refused || (answer.kind == .gone && request.action == .insert) }
    /// Whether the service responded that the table of the request does not exist.
    var isTableMissing: Bool { isRefused && answer.status == 404 && !answer.isDoubtful }
}

/// Sends an operation's requests, and interprets their responses.
extension OperationSender {
    /// Returns a request for the row.
    func request(
        _ action: RowRequest.Action, row: Row = Row(), version: String? = nil, current: String? = nil
    ) -> RowRequest {
        RowRequest(
            action, id: id, schema: codec.schema, row: row, version: version, currentJSON: current,
            parameters: parameters)
    }

    /// Sends a request, with retries. A refusal that others give in the same form is the service's if the service is
    /// there: a list of the table shows it, once in a push, and after each web page, because a portal may have appeared
    /// since.
    ///
    /// - Throws: ``SyncError`` with code network if something else answers in place of the service.
    nonisolated(nonsending) func ask(_ request: RowRequest) async throws -> RowAnswer {
        var call = try dialect.call(for: request)
        // An operation that has failed alone or with others must not make others fail.
        if operation.attempts > 0 { call.isOfRow = false }
        var answer = RowAnswer(request: request, answer: try await connection.send(call))
        if answer.isRefused, answer.answer.isDoubtful, request.action != .lookUp {
            if answer.answer.isPage {
                try await confirmService()
            } else {
                try await trust.confirm { _ = try await list() }
            }
            answer.answer.isDoubtful = false
        }
        return answer
    }

    /// Checks that the service is there now, by a list of the table.
    ///
    /// - Throws: ``SyncError`` with code network if it is not.
    func confirmService() async throws { try await trust.confirming { _ = try await list() } }

    /// Checks that the service has the table, by its list, once for each table in a push, and after each web page.
    ///
    /// - Throws: ``SyncError`` with code network if something else answers in its place; ``OperationFailure`` if the
    ///   service does not list the table.
    private func confirmTable(after answer: RowAnswer) async throws {
        if answer.answer.isPage { return try await trust.confirming { try await requireTable() } }
        try await trust.confirm(table: table) { try await requireTable() }
    }

    private func requireTable() async throws {
        let list = try await list()
        guard list.kind == .done else { throw missingTable(list) }
    }

    /// Requests a list of the table. Throws if the service did not give the response.
    ///
    /// The list is for an identifier that no row has: a network that cuts off the requests for a row may also cut off
    /// each response that contains it.
    private func list() async throws -> ServerAnswer {
        let request = RowRequest(.lookUp, id: connection.options.environment.makeID(), schema: codec.schema)
        let list = try await connection.send(dialect.confirmation(for: request))
        switch list.kind {
        case .signInNeeded, .unavailable, .serverFailed, .notFromService: throw list.unreachable()
        case .done: if dialect.isConfirmation(list, for: request) { return list }
        case .gone, .refused, .conflict: if !list.isDoubtful { return list }
        }
        throw connection.foreign(list)
    }

    /// The table may be there again with the next version of the service.
    private func missingTable(_ answer: ServerAnswer) -> OperationFailure {
        OperationFailure(
            .serverFailed, "the server has no table \(table.debugDescription): \(answer.meaning.message)",
            status: answer.status)
    }

    /// Confirms that a row does not exist, by the list of the table, because gateways and a service without the table
    /// report the same.
    ///
    /// - Returns: The tombstone, or `nil` if there is none.
    /// - Throws: ``SyncError`` with code network if something else answers in place of the service;
    ///   ``OperationFailure`` if the list has the row.
    func confirmGone(_ answer: RowAnswer) async throws -> Row? {
        if dialect.tableService == nil { try await confirmTable(after: answer) }
        let server = try await lookUpAfterDoubt()
        guard let server, !server.isTombstone else { return server }
        throw OperationFailure(
            .rejected, "the server responds that the row does not exist, but returns it in a list",
            status: answer.answer.status)
    }

    /// Returns the kind of a response. Throws for a response that ends the push, and for server errors.
    func kind(of answer: RowAnswer) throws -> AnswerMeaning.Kind {
        switch answer.answer.kind {
        case .signInNeeded, .unavailable, .notFromService:
            throw answer.answer.failure()
        case .serverFailed:
            throw OperationFailure(.serverFailed, answer.answer.meaning.message, status: answer.answer.status)
        case .gone where answer.isTableMissing, .refused where answer.isTableMissing:
            throw missingTable(answer.answer)
        case let kind:
            return kind
        }
    }

    func rejection(_ answer: RowAnswer) -> OperationFailure {
        OperationFailure(.rejected, answer.answer.meaning.message, status: answer.answer.status)
    }

    /// Returns the rejection of a request with a body, and removes the body if it was certainly not applied.
    func rejection(_ answer: RowAnswer, to attempt: Attempt) async throws -> OperationFailure {
        try await forgetRefused(attempt, after: answer)
        return rejection(answer)
    }

    /// Returns the bodies that the server may have applied before it reported a conflict with this request.
    ///
    /// If the server row shows the body of this request, the body is one of them: the network has delivered the request
    /// twice, or another device has written the same values. Neither is a conflict.
    func unknown(_ attempt: Attempt, after answer: RowAnswer, base: Row?, server: Row?) async throws -> LostRequests {
        var bodies = attempt.bodies
        if try !isApplied(attempt, base: base, server: server), try await forgetRefused(attempt, after: answer) {
            bodies.removeAll { $0 == attempt.added }
        }
        return LostRequests(operation, codec: codec, base: base, bodies: try bodies.map(codec.row))
    }

    /// Returns whether the server row shows the body of a request that was refused.
    ///
    /// A changed counter does not, because equal changes of two devices add up. The counter of an insert does, because
    /// a row with the same identifier and values is more likely to be its own.
    private func isApplied(_ attempt: Attempt, base: Row?, server: Row?) throws -> Bool {
        guard let json = attempt.added, let server, !server.isTombstone else { return false }
        let body = try codec.row(json)
        let lost = LostRequests(operation, codec: codec, base: base, bodies: [body])
        guard operation.restores ? lost.exactMatch(server) != nil : codec.shows(server, body) else { return false }
        if lost.isInsert { return codec.hasAppColumns(body) || lost.exactMatch(server) != nil }
        guard let base else { return true }
        return !body.columnNames.contains { policy.counts($0) && !codec.isSame(base, body, in: $0) }
    }

    /// Removes the body of a request that was refused on its only attempt and therefore not applied. No later server
    /// row can result from it.
    @discardableResult
    func forgetRefused(_ attempt: Attempt, after answer: RowAnswer) async throws -> Bool {
        guard attempt.added != nil, answer.answer.isCertainlyRefused else { return false }
        return try await journal.forget(attempt)
    }

    /// - Parameter answer: The response that reported the conflict, or `nil` if a lookup found it.
    func conflict(_ answer: RowAnswer?, server: Row?) -> OperationFailure {
        let status = answer?.answer.status
        guard let server else {
            // Neither the response nor a lookup returned a row, so the row no longer exists.
            return OperationFailure(.conflict, "the row is not on the server", status: status, isRowGone: true)
        }
        let message = server.isTombstone ? "the row was deleted on the server" : "the row was changed on the server"
        return OperationFailure(.conflict, message, status: status, serverItem: server)
    }

    // MARK: Rows

    /// Returns the server row in a response, or `nil` if it has none that can be read.
    func serverRow(in answer: RowAnswer) throws -> Row? {
        try dialect.row(in: answer.answer, to: answer.request, codec)
    }

    /// Returns the result of a request that was applied.
    ///
    /// - Parameters:
    ///   - sent: The body of the request.
    ///   - ancestor: The row as the request left it, without changes of others. Used if the response has no row and the
    ///     row must be requested.
    ///   - known: The row as the request left it, with changes of others, or `nil` for `ancestor`. Columns that the
    ///     response omits have its values.
    nonisolated(nonsending) func result(
        _ answer: RowAnswer, sent: Row, ancestor: @autoclosure () -> Row, known: @autoclosure () -> Row? = nil
    ) async throws -> Result {
        let (row, isAnswered) = try await row(in: answer, from: known() ?? ancestor())
        var result = Result(row: row, ancestor: isAnswered ? nil : ancestor())
        // A row that was read later may contain changes of others.
        if isAnswered { result.warnings = warnings(sent: sent, stored: row) }
        return result
    }

    /// Returns warnings for the values that the server stored differently, such as a number that it rounded, a time
    /// that it cut, or a default value for null.
    private func warnings(sent: Row, stored: Row) -> [PushResult.Warning] {
        sent.values.compactMap { name, value in
            // A body has no other system column than the identifier.
            guard name != "id", let answered = stored[name], !RowCodec.isExactlySame(value, answered) else {
                return nil
            }
            return PushResult.Warning(table: table, itemID: id, column: name, sent: value, stored: answered)
        }
    }

    /// Returns the row in the response to an insert, update, or undelete. If the response has no readable row, or omits
    /// its new version, requests the row.
    ///
    /// - Parameter known: The row as the request left it. Columns that the response omits have its values.
    nonisolated(nonsending) func row(
        in answer: RowAnswer, from known: @autoclosure () -> Row
    ) async throws -> (row: Row, isAnswered: Bool) {
        let request = answer.request
        var expected = request.row
        var isOfRow = false
        if let row = try serverRow(in: answer) {
            if codec.schema.hasSameKey(row.idText, operation.itemKey) {
                // With the version before it, the next change would be in conflict with this one.
                if row.version != nil || request.version == nil { return (completed(row, from: known()), true) }
                expected = expected.merging(row.filteringColumns { request.row[$0] != nil })
                isOfRow = true
            } else if request.action == .insert,
                row.version != nil || row.updatedAt != nil || dialect.tableService == nil
            {
                throw OperationFailure.foreignID(row.idText, for: id, in: table, answer.answer.status)
            }
        }
        // The response of something else may mean that nothing was carried out.
        guard let row = try await lookUpAfterDoubt(), try isResult(row, of: answer, expected, isOfRow) else {
            throw connection.foreign(answer.answer)
        }
        return (row, false)
    }

    /// Returns whether a row that was requested after a success shows that the change was carried out. If not, the row
    /// may be that of before, or of others, and the next request finds it out.
    ///
    /// - Parameters:
    ///   - expected: The values that the server has stored.
    ///   - isOfRow: Whether the response had the row, without its version.
    private func isResult(_ row: Row, of answer: RowAnswer, _ expected: Row, _ isOfRow: Bool) throws -> Bool {
        if codec.shows(row, expected), !row.isTombstone { return true }
        // The service itself may respond without the row, and store other values than were sent.
        let request = answer.request
        if dialect.tableService != nil { return isOfRow && row.version != request.version }
        if answer.answer.isMarked || request.action == .insert { return true }
        if let version = request.version { return row.version != version }
        guard let base = try operation.base.map(codec.row) else { return true }
        return !codec.shows(row, base.filteringColumns { request.row[$0] != nil })
    }

    /// Returns the row of a response with the known values of the app's columns that it omits. If it omits values, its
    /// further columns may not be all either.
    private func completed(_ row: Row, from known: @autoclosure () -> Row) -> Row {
        var completed = codec.completed(row, from: known())
        if case .json? = row.extra, lacks(row, valuesOf: known()) { completed.extra = .null }
        return completed
    }

    /// Returns whether a response omits an app column that has a value in the known row.
    private func lacks(_ row: Row, valuesOf known: Row) -> Bool {
        codec.appColumns.enumerated().contains { index, name in
            row.value(of: name, guess: index) == nil && !(known.value(of: name, guess: index) ?? .null).isNull
        }
    }

    /// Returns the result of a delete that was accepted.
    ///
    /// A table service responds with 204, or with the row. Any other response may come from elsewhere, such as the
    /// sign-in page of a network. The row is then requested.
    func deletion(_ answer: RowAnswer) async throws -> Result {
        let row = try? serverRow(in: answer)
        let isOfRow = row.map { codec.schema.hasSameKey($0.idText, operation.itemKey) } ?? false
        if isOfRow || dialect.tableService == nil || isDeleteAnswer(answer.answer) {
            return Result(tombstone: row?.isTombstone == true ? row : nil)
        }
        guard let row = try await lookUpAfterDoubt() else { return Result() }
        guard row.isTombstone else { throw connection.foreign(answer.answer) }
        return Result(tombstone: row)
    }

    /// Returns whether a response is that of a table service to a delete. The row need not fit the table.
    private func isDeleteAnswer(_ answer: ServerAnswer) -> Bool {
        if answer.status == 204 { return true }
        guard let row = try? RowCodec.looseRow(String(decoding: answer.rowBody, as: UTF8.self)) else { return false }
        return codec.schema.hasSameKey(row.idText, operation.itemKey)
    }

    /// Returns the server row in the response to a conflict. If the body has no row, or omits columns, requests it.
    func conflictingRow(in answer: RowAnswer) async throws -> Row? {
        if let row = try? serverRow(in: answer), row.version != nil,
            codec.schema.hasSameKey(row.idText, operation.itemKey),
            codec.appColumns.allSatisfy({ row[$0] != nil })
        {
            return row
        }
        return try await lookUp(after: answer)
    }

    /// Checks that the row of a conflict has another version than the request. A gateway may have given the response,
    /// or a dialect may take any refusal for a conflict, by which a policy would drop the change.
    ///
    /// - Throws: ``OperationFailure`` if the row has the same version: with code rejected for a table service, as after
    ///   each refusal that its look-up confirms, and else with code serverFailed.
    func confirmConflict(_ answer: RowAnswer, _ server: Row?) throws {
        guard let version = answer.request.version, let server, !server.isTombstone, server.version == version else {
            return
        }
        throw OperationFailure(
            dialect.tableService == nil ? .serverFailed : .rejected,
            "the server reported a conflict, but the row has not changed: \(answer.answer.meaning.message)",
            status: answer.answer.status)
    }

    /// Requests the server row after a conflict. If it cannot be read, throws a conflict without a server row.
    ///
    /// - Throws: The failure of the look-up if only its result would show whether the service reported the conflict.
    func lookUp(after conflict: RowAnswer?) async throws -> Row? {
        guard let conflict else { return try await lookUpAfterDoubt() }
        do {
            return try await lookUpAfterDoubt()
        } catch let failure as OperationFailure
            where failure.code != .serverFailed || !conflict.answer.isDoubtful
        {
            throw OperationFailure(
                .conflict, "the row was changed on the server, and the server row cannot be read: \(failure.message)",
                status: conflict.answer.status)
        }
    }

    /// Requests the server row after a response that others give as well. A lookup of a table service is a list, and
    /// the first one of a push finds out whether the service answers.
    private func lookUpAfterDoubt() async throws -> Row? {
        dialect.tableService == nil ? try await lookUp() : try await trust.confirming { try await lookUp() }
    }

    /// Requests the server row or tombstone.
    func lookUp() async throws -> Row? {
        let answer = try await ask(RowRequest(.lookUp, id: id, schema: codec.schema))
        switch try kind(of: answer) {
        case .done: break
        case .gone:
            try await confirmTable(after: answer)
            return nil
        default:
            throw answer.answer.isDoubtful ? connection.foreign(answer.answer) : rejection(answer)
        }
        guard dialect.isLookUp(answer.answer) else { throw connection.foreign(answer.answer) }
        do {
            return try serverRow(in: answer)
        } catch {
            throw OperationFailure(
                .invalidAnswer, "the server row was requested, but the response cannot be read: \(error)",
                status: answer.answer.status)
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
        let columns = appColumns.enumerated().compactMap { index, name in
            item.value(of: name, guess: index).flatMap { $0.isNull ? nil : (name: name, value: $0) }
        }
        return Row(id: item.id, distinctColumns: columns)
    }
}
