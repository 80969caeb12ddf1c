internal import HTTPTypes
internal import TidelineStore
internal import TidelineWire

/// Adapts the dialect of an app. It checks what the dialect returns, so that the core can rely on it.
struct AdaptedDialect<D: CustomDialect>: ClientDialect {
    let base: D

    var name: String { base.name }
    var isTableService: Bool { false }
    var replacesWholeRows: Bool { base.replacesWholeRows }
    var maxInFlight: Int { base.maxInFlight }
    var maximumPageSize: Int { .max }

    func validateNewID(_ id: String, of table: String) throws(SyncError) {
        do {
            try base.validateNewID(id)
        } catch {
            throw SyncError(
                .invalidArgument, "the dialect \(name) does not accept the id: \(error)", table: table, column: "id",
                id: id, cause: error)
        }
    }

    func headers(installationID: String?) -> HTTPFields { base.headers }
    func authentication(token: String) -> HTTPField { base.authentication(token: token) }
    func changeSignals(over connection: DialectConnection) -> ChangeSignals? {
        base.changeSignals(over: connection)
    }

    // MARK: Rows

    func call(for request: RowRequest) throws -> ServerCall {
        try call(
            table: request.table, id: request.id, isOfRow: true, { try base.request(for: request) },
            { try base.meaning(of: $0, to: request) })
    }

    func makeBatches() -> RequestBatches? {
        guard base.maxBatchCount > 1 else { return nil }
        return RequestBatches(maximum: base.maxBatchCount) { [base, name] requests in
            do {
                return try base.request(forBatch: requests.map { ServerRequest($0) }).wire
            } catch {
                throw SyncError(.invalidArgument, "the dialect \(name) cannot make the batch: \(error)", cause: error)
            }
        } divide: { [base] response, requests in
            try base.responses(in: response, toBatch: requests.map { ServerRequest($0) })
        }
    }

    /// Returns a request with the meanings of its responses. Errors of the dialect become those of the client.
    func call(
        table: String, id: String? = nil, isOfRow: Bool = false, _ makeRequest: () throws -> ServerRequest,
        _ meaning: @escaping @Sendable (TransportResponse) throws -> AnswerMeaning
    ) throws -> ServerCall {
        let request: ServerRequest
        do {
            request = try makeRequest()
        } catch {
            throw SyncError(
                .invalidArgument, "the dialect \(name) cannot make the request: \(error)", table: table, id: id,
                cause: error)
        }
        let read: @Sendable (TransportResponse) throws -> AnswerMeaning = { [name] response in
            do {
                var answer = try meaning(response)
                if answer.kind != .done, answer.message.isEmpty { answer.message = HTTPMessage.text(of: response) }
                return answer
            } catch {
                throw SyncError(
                    .invalidAnswer, "the dialect \(name) cannot read the response: \(error)", table: table, id: id,
                    status: response.response.status.code, cause: error)
            }
        }
        var call = ServerCall(request, mark: base.isFromService, meaning: read)
        call.isOfRow = isOfRow && !request.isLink
        return call
    }

    func confirmation(for request: RowRequest) throws -> ServerCall {
        let page = PageRequest(of: request.schema, pageSize: 1)
        return try call(
            table: request.table, { try base.request(for: page, after: nil) },
            { try base.meaning(of: $0, to: page, after: nil) })
    }

    func isConfirmation(_ answer: ServerAnswer, for request: RowRequest) -> Bool {
        let page = PageRequest(of: request.schema, pageSize: 1)
        return (try? base.page(in: answer.response, to: page, after: nil)) != nil
    }

    func isLookUp(_ answer: ServerAnswer) -> Bool { true }

    func row(in answer: ServerAnswer, to request: RowRequest, _ codec: RowCodec) throws -> Row? {
        func failure(_ message: String, cause: (any Error)? = nil) -> OperationFailure {
            OperationFailure(.invalidAnswer, message, status: answer.status, cause: cause)
        }
        let isLookUp = request.action == .lookUp
        guard var row = answer.meaning.row else {
            guard isLookUp else { return nil }
            throw failure("the dialect \(name) returned no row for a lookup; a row that does not exist is gone")
        }
        if row.id == nil { row.id = .string(request.id) }
        guard !isLookUp || codec.schema.hasSameKey(row.idText, request.id) else {
            throw failure("the dialect \(name) returned the row \(row.idText.debugDescription) instead")
        }
        do {
            try checkNames(of: [row], codec)
            return try checked(row, codec)
        } catch {
            throw failure(error.description, cause: error)
        }
    }

    /// Checks the names of columns, before those that the rows omit become null.
    ///
    /// - Throws: ``SyncError`` with code invalidAnswer if no app column occurs, but a name that differs from one only
    ///   in case.
    private func checkNames(of rows: [Row], _ codec: RowCodec) throws(SyncError) {
        var misspelled: (name: String, column: String)?
        for row in rows where !row.isTombstone {
            for name in row.columnNames {
                guard let column = codec.schema.columnName(like: name) else { continue }
                if column == name { return }
                if misspelled == nil { misspelled = (name, column) }
            }
        }
        guard let (found, column) = misspelled else { return }
        throw SyncError(
            .invalidAnswer,
            "the dialect \(name) returned no column of the table, but \(found.debugDescription), which differs from "
                + "the column \(column.debugDescription) only in case; use the names of the table",
            table: codec.schema.name, column: column)
    }

    /// Returns a server row with the columns and types of the table. The app's columns that it omits are null.
    ///
    /// - Throws: ``SyncError`` with code invalidAnswer and the column at fault.
    private func checked(_ row: Row, _ codec: RowCodec) throws(SyncError) -> Row {
        let shape = codec.answerParser.shape
        func unfit(_ message: String, _ column: String) -> SyncError {
            SyncError(
                .invalidAnswer, "the dialect \(name) returned a row that does not fit the table: \(message)",
                table: codec.schema.name, column: column, id: row.id?.text)
        }
        guard case .string(let id)? = row.id else { throw unfit("it has no id, which must be text", "id") }
        do {
            try ItemID.validateExisting(id)
        } catch {
            throw unfit(error.message, "id")
        }
        var checked = Row(id: row.id)
        for (column, value) in row.values {
            let isDeleted = column == "deleted"
            let known = shape.index(of: column).map { shape.columns[$0].type }
            guard let type = isDeleted ? ColumnType.bool : known else { continue }
            guard let converted = value.converted(to: type) else {
                throw unfit("\(value) is not of type \(type.rawValue)", column)
            }
            if case .json(let text) = converted, !JSONRow.isArrayOrObject(text) {
                throw unfit("the text is not a JSON array or object: \(text.prefix(100).debugDescription)", column)
            }
            checked[column] = converted
        }
        // A row that had a time before has none now.
        if checked["updatedAt"] == nil { checked["updatedAt"] = .null }
        // A row without further columns has none, so that it need not be read before an update.
        if codec.schema.systemColumns.contains(.extra), checked.extra == nil { checked.extra = .json("{}") }
        return codec.completed(checked)
    }

    // MARK: Pull

    func mayRefusePageSize(_ refusal: SyncError) -> Bool { false }

    func canContinue(from token: PullToken) -> Bool {
        guard token.dialect == name, let cursor = token.cursor else { return false }
        return (try? RecordJSON.decode(D.Cursor.self, from: cursor)) != nil
    }

    func makeFeed(_ plan: PullPlan, from start: FeedStart) throws -> any PullFeed {
        let query = plan.query
        guard query.order.isEmpty, query.skip == 0, query.limit == nil else {
            throw SyncError(
                .invalidArgument,
                "the dialect \(name) pulls rows in the order of its server; remove order, skip, and limit from the query",
                table: query.table)
        }
        return CursorFeed(self, plan, from: start)
    }

    /// Checks a page of the dialect, and packs its rows.
    ///
    /// - Throws: ``SyncError`` with code invalidAnswer for a row that does not fit, unless such rows are skipped, and
    ///   for identifiers that contradict each other, and names that differ from those of the table only in case.
    func pack(
        _ page: ServerPage<D.Cursor>, for plan: PullPlan, limit: Int, requestedAt: UInt64
    ) throws -> PulledPage {
        let codec = plan.codec
        if page.deletedIDs.isEmpty, let list = page.list, let rows = list.takeRows() {
            let count = rows.count + page.skipped.count
            let total = page.remaining.map { Int64(max($0, rows.count)) }
            return PulledPage(
                rows, codec, summary: PageSummary(count: count, totalCount: total, requested: limit),
                deleted: list.deleted, skipped: page.skipped, requestedAt: requestedAt,
                cursor: try RecordJSON.encode(page.cursor),
                nextPull: try page.nextPull.map { try RecordJSON.encode($0) }, isLast: page.isLast)
        }
        let latest = try latestRows(of: page, codec)
        var rows = PackedRows(shape: codec.answerParser.shape)
        // A row that the dialect has given itself is not skipped.
        let deletedIDs = Set(page.deletedIDs)
        let unread = page.skipped.filter { latest[.string($0.id)] == nil && !deletedIDs.contains($0.id) }
        var (deleted, skipped): ([Int], [SkippedRow]) = ([], unread)
        for (index, row) in page.rows.enumerated() where row.id.flatMap({ latest[$0] }) ?? index == index {
            guard let fault = add(row, to: &rows, &deleted, codec) else { continue }
            guard plan.skipsRejectedRows, row.id != nil else { throw fault }
            skipped.append(
                SkippedRow(table: codec.schema.name, id: row.idText, column: fault.column, message: fault.message))
        }
        for id in page.deletedIDs {
            let tombstone: Row = ["id": id, "deleted": true]
            if let fault = add(tombstone, to: &rows, &deleted, codec) { throw fault }
        }
        let total = page.remaining.map { Int64(max($0, rows.count)) }
        let summary = PageSummary(count: rows.count + skipped.count, totalCount: total, requested: limit)
        return PulledPage(
            rows, codec, summary: summary, deleted: deleted, skipped: skipped, requestedAt: requestedAt,
            cursor: try RecordJSON.encode(page.cursor), nextPull: try page.nextPull.map { try RecordJSON.encode($0) },
            isLast: page.isLast)
    }

    /// Adds a row to a page. Of a deleted row, only its state is kept.
    ///
    /// - Returns: The error if the row does not fit the table.
    private func add(
        _ row: Row, to rows: inout PackedRows, _ deleted: inout [Int], _ codec: RowCodec
    ) -> SyncError? {
        do {
            let row = try checked(row, codec)
            let isDeleted = row.isTombstone
            let kept = row.filteringColumns { isDeleted ? ["version", "updatedAt"].contains($0) : $0 != "deleted" }
            try rows.append(kept)
            if isDeleted { deleted.append(rows.count - 1) }
            return nil
        } catch let error as StoreError {
            return SyncError(
                .invalidAnswer, "a row from the server cannot be stored: \(error.message)", table: codec.schema.name,
                column: error.column, id: error.id, cause: error)
        } catch {
            return error as? SyncError ?? SyncError(.invalidAnswer, "\(error)", table: codec.schema.name, cause: error)
        }
    }

    /// Returns the position of the last row of each identifier.
    ///
    /// - Throws: ``SyncError`` for a row that is also deleted, and for identifiers that differ only in case in a table
    ///   that ignores case, unless their rows are all deleted; and for names of columns in another case.
    private func latestRows(of page: ServerPage<D.Cursor>, _ codec: RowCodec) throws(SyncError) -> [RowID: Int] {
        func contradiction(_ message: String, _ id: String) -> SyncError {
            SyncError(
                .invalidAnswer, "the dialect \(name) returned a page that contradicts itself: \(message)",
                table: codec.schema.name, column: "id", id: id)
        }
        var latest: [RowID: Int] = [:]
        var deletions = IDTable<Bool>(matching: codec.schema.idMatching)
        func note(_ id: String, isDeleted: Bool) throws(SyncError) {
            let (other, isOtherDeleted) = id.withUTF8Bytes { (deletions.spelling(of: $0), deletions[$0] == true) }
            if let other, !other.elementsEqual(id.utf8), !(isDeleted && isOtherDeleted) {
                let other = String(decoding: other, as: UTF8.self).debugDescription
                throw contradiction("it has the ids \(other) and \(id.debugDescription), which differ only in case", id)
            }
            id.withUTF8Bytes { deletions.insert(isDeleted, for: $0) }
        }
        let rows = page.rows
        try checkNames(of: rows, codec)
        for (index, row) in rows.enumerated() {
            guard case .string(let text)? = row.id else { continue }
            latest[.string(text)] = index
        }
        for (index, row) in rows.enumerated() where row.id.flatMap({ latest[$0] }) == index {
            try note(row.idText, isDeleted: row.isTombstone)
        }
        var deleted: Set<RowID> = []
        for id in page.deletedIDs {
            guard latest[.string(id)] == nil else { throw contradiction("a row is both present and deleted", id) }
            guard deleted.insert(.string(id)).inserted else { throw contradiction("a row is deleted twice", id) }
            try note(id, isDeleted: true)
        }
        return latest
    }
}

/// The feed of a server with positions of its own. The token is the cursor of the last page.
struct CursorFeed<D: CustomDialect>: PullFeed {
    private let dialect: AdaptedDialect<D>
    private let plan: PullPlan
    private let start: FeedStart
    /// The cursor of the latest page, as JSON.
    private var cursor: String?
    /// See ``PullToken/nextPull``.
    private var nextPull: String?
    private var loops = LoopDetector()

    init(_ dialect: AdaptedDialect<D>, _ plan: PullPlan, from start: FeedStart) {
        self.dialect = dialect
        self.plan = plan
        self.start = start
        cursor = start.token?.cursor
        nextPull = start.token?.nextPull
    }

    var first: (any PageStep)? { CursorStep(dialect: dialect, plan: plan, cursor: cursor) }

    mutating func begin(with page: PulledPage) -> (any PageStep)? { nil }

    mutating func receive(_ page: PulledPage) throws(SyncError) -> PendingPage {
        nextPull = nextPull ?? page.nextPull
        var token: PullToken?
        if plan.queryID != nil {
            token = PullToken(updatedAt: nil, serverDate: nil, filter: start.filter, columns: plan.columns)
            token?.dialect = dialect.name
            token?.cursor = page.isLast ? nextPull ?? page.cursor : page.cursor
            if !page.isLast {
                token?.nextPull = nextPull
                token?.isRefreshing = start.isRefreshing ? true : nil
                token?.fillsColumns = start.fillsColumns ? true : nil
            }
        }
        guard !page.isLast else { return PendingPage(page: page, token: token) }
        guard page.cursor != cursor, loops.note(page.cursor) == 0 else {
            throw SyncError(
                .noProgress,
                "the pull cannot continue: the dialect \(dialect.name) returned the same cursor again, in a page that is "
                    + "not the last")
        }
        cursor = page.cursor
        return PendingPage(
            page: page, token: token, next: CursorStep(dialect: dialect, plan: plan, cursor: page.cursor))
    }

    func token(of page: PendingPage, replacing stored: PullToken) -> PullToken { page.token ?? stored }

    func limited(_ token: PullToken, to skipped: Timestamp, before: PullToken?) -> PullToken? { before }
}

/// A page after a cursor.
struct CursorStep<D: CustomDialect>: PageStep {
    let dialect: AdaptedDialect<D>
    let plan: PullPlan
    /// The cursor as JSON, or `nil` for the first page.
    let cursor: String?

    var limit: Int { plan.settings.pageSize }
    var hasCursor: Bool { cursor != nil }

    private func decoded() throws -> D.Cursor? { try cursor.map { try RecordJSON.decode(from: $0) } }

    private func page(limit: Int) -> PageRequest {
        var page = PageRequest(
            of: plan.schema, predicate: plan.query.predicate, pageSize: limit, parameters: plan.settings.parameters,
            lookback: plan.settings.lookback)
        page.skipsRejectedRows = plan.skipsRejectedRows
        return page
    }

    func call(limit: Int) throws -> ServerCall {
        let (page, cursor) = (page(limit: limit), try decoded())
        return try dialect.call(
            table: page.table, { try dialect.base.request(for: page, after: cursor) },
            { [dialect] in try dialect.base.meaning(of: $0, to: page, after: cursor) })
    }

    func page(in answer: ServerAnswer, limit: Int, requestedAt: UInt64) throws -> PulledPage {
        let page: ServerPage<D.Cursor>
        do {
            page = try dialect.base.page(in: answer.response, to: self.page(limit: limit), after: decoded())
        } catch let error as SyncError where error.id != nil {
            throw error  // A row that does not fit.
        } catch {
            throw SyncError(
                .invalidAnswer, "the dialect \(dialect.name) cannot read the page: \(error)", table: plan.schema.name,
                cause: error)
        }
        return try dialect.pack(page, for: plan, limit: limit, requestedAt: requestedAt)
    }
}
