internal import HTTPTypes
internal import TidelineStore
internal import TidelineWire

/// The table services of Azure Mobile Apps and its successor, in the dialects of TidelineWire.
struct TableServiceDialect: ClientDialect {
    let name: String
    let wire: any Dialect

    init(name: DialectName, wire: (any Dialect)? = nil) {
        self.name = name.rawValue
        self.wire = wire ?? name.dialect
    }

    var isTableService: Bool { true }
    var replacesWholeRows: Bool { wire.replacesWholeRows }
    var maxInFlight: Int { .max }
    var maximumPageSize: Int { wire.maximumPageSize }

    func validateNewID(_ id: String, of table: String) throws(SyncError) {
        do {
            try wire.validateNewID(id)
        } catch {
            throw SyncError(.invalidArgument, error.message, table: table, column: "id", id: id, cause: error)
        }
    }

    func headers(installationID: String?) -> HTTPFields {
        wire.headers(version: TidelineVersion.current, installationID: installationID)
    }

    func authentication(token: String) -> HTTPField { wire.authentication(token: token) }

    func changeSignals(over connection: DialectConnection) -> ChangeSignals? {
        ChangeSignals { try await TableServiceSignals(connection: connection).read($0) }
    }

    // MARK: Rows

    func call(for request: RowRequest) throws -> ServerCall {
        var call = try unmarkedCall(for: request)
        let mark = call.mark
        call.mark = { mark($0) ?? (isRowOfConflict($0, request) ? true : nil) }
        return call
    }

    private func unmarkedCall(for request: RowRequest) throws -> ServerCall {
        let (table, id, parameters) = (request.table, request.id, request.parameters.map { ($0.name, $0.value) })
        switch request.action {
        case .insert:
            return call(
                try wire.insert(request.row, into: table, parameters: parameters, features: .offline), isInsert: true)
        case .update:
            return call(
                try wire.update(
                    request.row, in: table, replacing: request.currentJSON, version: request.version,
                    parameters: parameters, features: .offline))
        case .delete:
            return call(
                try wire.delete(
                    id, from: table, version: request.version, parameters: parameters, features: .offline))
        case .undelete:
            return call(
                try wire.undelete(
                    id, in: table, replacing: request.currentJSON, version: request.version, parameters: parameters,
                    features: .offline))
        case .lookUp:
            return try lookUp(id, in: request.schema)
        }
    }

    /// Returns whether a response has the row of a conflict, with its version, or the row that an insert sent, as the
    /// Node server responds.
    private func isRowOfConflict(_ response: TransportResponse, _ request: RowRequest) -> Bool {
        guard [409, 412].contains(response.response.status.code),
            let row = try? RowCodec.looseRow(String(decoding: response.body, as: UTF8.self)),
            row.version != nil || request.action == .insert
        else { return false }
        return request.schema.hasSameKey(row.idText, request.id)
    }

    func confirmation(for request: RowRequest) throws -> ServerCall { try lookUp(request.id, in: request.schema) }

    func isConfirmation(_ answer: ServerAnswer, for request: RowRequest) -> Bool { isLookUp(answer) }
    func isLookUp(_ answer: ServerAnswer) -> Bool { wire.isList(answer.rowBody) }

    /// Requests a row or tombstone with a list query, because on some servers the lookup of a single row hides
    /// tombstones.
    private func lookUp(_ id: String, in schema: TableSchema) throws -> ServerCall {
        let query = TableQuery(schema.name).filter(.column("id") == .value(id))
        var call = call(
            try wire.read(query, schema: schema, options: ReadOptions(includeDeleted: true, isSyncTable: true)))
        let meaning = call.meaning
        call.meaning = { response in
            var meaning = try meaning(response)
            // The table is missing, not the row.
            if meaning.kind == .gone { meaning.kind = .refused }
            return meaning
        }
        return call
    }

    func row(in answer: ServerAnswer, to request: RowRequest, _ codec: RowCodec) throws -> Row? {
        let body = answer.rowBody
        switch (request.action, answer.kind) {
        case (.lookUp, _):
            let key = codec.schema.itemKey(request.id)
            return try codec.rows(page: body).first { codec.schema.hasSameKey($0.idText, key) }
        case (.insert, .conflict) where !wire.answersInsertsWithServerRow:
            // The body is that of the request.
            return nil
        case (_, .conflict), (.delete, _):
            return try? codec.row(body: body)
        default:
            guard var row = try? codec.row(body: body) else { return nil }
            // A proxy that compresses the body may have changed the entity tag.
            if row.version == nil, let version = wire.version(of: answer.response.response) {
                row["version"] = .string(version)
            }
            return row
        }
    }

    // MARK: Responses

    /// Returns a request with the meanings of its responses.
    ///
    /// - Parameter isInsert: Whether the request inserts a row, so that none can be gone.
    func call(_ request: WireRequest, isInsert: Bool = false) -> ServerCall {
        ServerCall(
            request: request, meaning: { meaning(of: $0, isInsert: isInsert) },
            mark: { wire.mark(of: $0.response, $0.body) })
    }

    func meaning(of response: TransportResponse, isInsert: Bool) -> AnswerMeaning {
        guard response.response.status.kind != .successful else { return .done }
        var meaning = AnswerMeaning(byStatusOf: response)
        // Table services send 409 for rows in conflict alone, also with a delay.
        if response.response.status.code == 409 { meaning.kind = .conflict }
        // The table is missing, not the row.
        if isInsert, meaning.kind == .gone { meaning.kind = .refused }
        return meaning
    }

    // MARK: Pull

    func mayRefusePageSize(_ refusal: SyncError) -> Bool {
        refusal.status.map { wire.mayRefusePageSize(status: $0) } ?? false
    }

    func canContinue(from token: PullToken) -> Bool { token.dialect == nil }

    func makeFeed(_ plan: PullPlan, from start: FeedStart) throws -> any PullFeed {
        WatermarkFeed(self, plan, from: start)
    }
}

extension ClientDialect {
    /// The dialect as that of a table service, which ``RemoteTable``, custom APIs, and sign-ins use; `nil` for others.
    var tableService: TableServiceDialect? { self as? TableServiceDialect }
}
