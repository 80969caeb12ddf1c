internal import TidelineStore

/// Sends one operation and reads its response. It recognizes its own lost requests, so that there are no duplicates and
/// no false conflicts, and changes of others are not overwritten.
struct OperationSender: Sendable {
    let connection: ServerConnection
    let dialect: any ClientDialect
    let codec: RowCodec
    /// The operation, with the kind to send.
    let operation: TableOperation
    let parameters: [(name: String, value: String)]
    /// Whether the service has been found to answer in this push.
    let trust: ServiceTrust
    /// The journal of requests in flight.
    let journal: ClaimedOperation
    /// The policy for conflicts of the table.
    let policy: ConflictPolicy
    /// The values of the first request, if they were computed for the item when the operation was claimed.
    var first: RequestValues?

    /// The server's response to an operation.
    struct Result: Sendable {
        /// The server row, or `nil` for a delete and for an update without content.
        var row: Row?
        /// The row as the operation left it, if ``row`` was read later and may contain changes of others.
        var ancestor: Row?
        /// The tombstone in the response to a delete.
        var tombstone: Row?
        /// Whether there was nothing to send.
        var isUnsent = false
        /// The columns whose values the server stored differently.
        var warnings: [PushResult.Warning] = []
    }

    /// The size of a body in bytes, from which on it is not sent again before a look-up has found out whether the
    /// server has already applied it. A smaller body costs about as much as the look-up.
    static let largeRequest = 64 << 10

    /// The maximum number of rounds in which the operation builds on its own earlier request before it is in conflict.
    static let maximumRounds = 4

    var table: String { operation.table }
    var id: String { operation.itemID }

    /// Sends `item`.
    nonisolated(nonsending) func send(_ item: Row) async throws -> Result {
        if operation.kind == .delete { return try await delete(version: item.version) }
        let item = try first == nil ? checked(item) : item
        if operation.kind == .insert { return try await insert(item, mayUndelete: operation.restores) }
        return try await operation.restores ? restore(item) : update(item)
    }

    /// The first request, as far as it is known before it is sent.
    enum FirstRequest: Sendable {
        /// It writes these values; `nil` for a delete.
        case certain(RequestValues?)
        /// Another request may precede it, or there is none.
        case uncertain
    }

    /// Returns the first request that ``send(_:)`` makes for the item.
    func firstRequest(for item: Row) throws -> FirstRequest {
        switch operation.kind {
        case .delete: return needsLookUp(item.version, try lostRequests()) ? .uncertain : .certain(nil)
        case .insert: return hasLostLargeRequest ? .uncertain : .certain(try insertion(of: checked(item)))
        case .update:
            guard !operation.restores, !hasLostLargeRequest else { return .uncertain }
            let values = try changes(of: checked(item))
            return values.body.isEmpty || !isTarget(values.base, of: item.version) ? .uncertain : .certain(values)
        }
    }

    /// Returns the item with the operation's identifier. An item changed by a delegate is validated so that it can be
    /// compared with the server row.
    private func checked(_ item: Row) throws -> Row {
        guard item.id == nil || codec.schema.hasSameKey(item.idText, operation.itemKey) else {
            throw OperationFailure(
                .invalidItem, "the item has the id \(item.idText.debugDescription); keep the id \(id.debugDescription)")
        }
        var item = item
        item.id = .string(id)
        try RowInput.check(item, for: codec.schema)
        return item
    }

    // MARK: Insert

    /// - Parameter mayUndelete: Whether a deleted row with the identifier is restored. The app knows of that row.
    nonisolated(nonsending) func insert(_ item: Row, mayUndelete: Bool = false) async throws -> Result {
        let values = try first ?? insertion(of: item)
        let (body, base) = (values.body, values.base)
        if hasLostLargeRequest, let server = try await lookUp() {
            return try await continued(
                on: server, item: item, mayUndelete: mayUndelete, lost: lostRequests(base: base), answer: nil)
        }
        let attempt = try await journal.note(values.noted)
        let answer = try await ask(request(.insert, row: body))
        switch try kind(of: answer) {
        case .done:
            return try await result(answer, sent: body, ancestor: body)
        case .conflict:
            let server = try await conflictingRow(in: answer)
            let lost = try await unknown(attempt, after: answer, base: base, server: server)
            guard let server else { throw takenID(answer) }
            return try await continued(on: server, item: item, mayUndelete: mayUndelete, lost: lost, answer: answer)
        default:
            throw try await rejection(answer, to: attempt)
        }
    }

    /// Continues an insert on the row that the server already has.
    private nonisolated(nonsending) func continued(
        on server: Row, item: Row, mayUndelete: Bool, lost: LostRequests, answer: RowAnswer?
    ) async throws -> Result {
        if mayUndelete, server.isTombstone, !(lost.exactMatch(server)?.body.isRestored ?? false) {
            return try await undelete(item, server)
        }
        return try await build(on: server, item: item, lost: lost, answer: answer, round: 1)
    }

    /// Whether the response to an earlier, large request was lost.
    private var hasLostLargeRequest: Bool {
        journal.unknownBodies.contains { $0.utf8.count >= Self.largeRequest }
    }

    /// Returns the body of an insert, the base row, and the values that the insert writes relative to it.
    private func insertion(of item: Row) throws -> RequestValues {
        let body = codec.insertBody(of: item)
        guard let base = try operation.base.map(codec.row) else {
            return RequestValues(body: body, base: Row(), noted: body)
        }
        // A row that replaces a deleted one keeps none of its values.
        let cleared = codec.appColumns.filter { body[$0] == nil && !(base[$0] ?? .null).isNull }
        return RequestValues(body: body, base: base, noted: cleared.reduce(into: body) { $0[$1] = .null })
    }

    /// Returns the failure for an identifier that exists on the server in a row that the user cannot read, such as
    /// another user's. It is no conflict: there is no row to decide about, and a gateway may have given the response.
    private func takenID(_ answer: RowAnswer) -> OperationFailure {
        OperationFailure(
            .rejected,
            "the server responds that it has a row with this id but does not return it; if this repeats, insert the row with "
                + "another id: \(answer.answer.meaning.message)",
            status: answer.answer.status)
    }

    // MARK: Update

    private nonisolated(nonsending) func update(_ item: Row) async throws -> Result {
        let values = try first ?? changes(of: item)
        if values.body.isEmpty { return Result(row: try localBase() ?? values.base, isUnsent: true) }
        if hasLostLargeRequest, let version = item.version, let server = try await lookUp(), !server.isTombstone,
            server.version != version
        {
            return try await build(
                on: server, item: item, lost: lostRequests(base: values.base), answer: nil, round: 1)
        }
        return try await patch(
            values.body, of: item, version: item.version, known: Row(), base: values.base, round: 1)
    }

    /// Returns the values that an update sends: the changes since the base row. Columns that a lost request may have
    /// written are overwritten, too.
    private func changes(of item: Row) throws -> RequestValues {
        let base = try operation.base.map(codec.row)
        let changes = decided(item, over: codec.changes(of: item, since: try localBase() ?? base))
        let body = try journal.unknownBodies.reduce(changes) { body, json in
            let lost = try codec.row(json)
            let names = codec.appColumns.filter { lost[$0] != nil && body[$0] == nil }
            return names.reduce(into: body) { $0[$1] = item[$1] ?? .null }
        }
        return RequestValues(body: body, base: base, noted: Row().merging(body))
    }

    /// Returns the changes of an item since the base row, with the columns that a delegate has changed for another
    /// version than the base row's. That version may have other values in columns in which the item equals the base
    /// row.
    func decided(_ item: Row, over changes: Row) -> Row {
        guard let claimed = operation.item, item.version != operation.baseVersion else { return changes }
        return codec.appColumns.reduce(into: changes) { body, name in
            guard let value = item[name], body[name] == nil, value != claimed[name] ?? .null else { return }
            body[name] = value
        }
    }

    /// Returns the base row as a migration changed it, or `nil` if none did.
    private func localBase() throws -> Row? { try operation.localBase.map(codec.row) }

    /// Sends the changes of an item. If the response is a conflict with a lost request of this operation, builds on
    /// that request.
    ///
    /// - Parameters:
    ///   - known: The values that lost requests are known to have written.
    ///   - base: The base row.
    ///   - built: The row that the changes are based on, if the server row may also contain changes of others.
    ///   - server: The server row in this version, or `nil` for the base row.
    nonisolated(nonsending) func patch(
        _ changes: Row, of item: Row, version: String?, known: Row, base: Row?, built: Row? = nil,
        server: Row? = nil, round: Int
    ) async throws -> Result {
        let target: UpdateTarget
        switch try await self.target(of: version, server?.json ?? operation.base, server ?? base) {
        case .known(let found): target = found
        case .gone: throw conflict(nil, server: nil)
        case .changed(let server):
            return try await build(
                on: server, item: item, lost: lostRequests(base: base), answer: nil, round: round)
        }
        var body = changes
        body.id = .string(id)
        let attempt = try await journal.note(known.merging(changes))
        let answer = try await ask(update(body, target))
        switch try kind(of: answer) {
        case .done:
            return try await patched(answer, changes, body, target, base: base, built: built, server: server)
        case .gone:
            _ = try await confirmGone(answer)
            try await forgetRefused(attempt, after: answer)
            throw conflict(answer, server: nil)
        case .conflict:
            if version == nil, target.version != nil, round < Self.maximumRounds {
                // The update applies to any version, and the row has changed since it was read.
                try await forgetRefused(attempt, after: answer)
                return try await patch(
                    changes, of: item, version: nil, known: known, base: base, built: built, round: round + 1)
            }
            let server = try await conflictingRow(in: answer)
            try confirmConflict(answer, server)
            let lost = try await unknown(attempt, after: answer, base: base, server: server)
            guard let server else { throw conflict(answer, server: nil) }
            return try await build(on: server, item: item, lost: lost, answer: answer, round: round)
        default:
            throw try await rejection(answer, to: attempt)
        }
    }

    /// Returns the result of a patch that the server applied.
    private nonisolated(nonsending) func patched(
        _ answer: RowAnswer, _ changes: Row, _ body: Row, _ target: UpdateTarget, base: Row?, built: Row?, server: Row?
    ) async throws -> Result {
        let ancestor = built ?? base ?? Row()
        // Usually, the row that the request changed is the base row.
        let isBase = built == nil && server == nil && base != nil && target.version == base?.version
        let known = try isBase ? nil : server ?? replacedRow(target, base) ?? Row()
        var result = try await result(
            answer, sent: body, ancestor: ancestor.merging(changes), known: known?.merging(changes))
        if built != nil { result.ancestor = ancestor.merging(changes) }
        return result
    }

    /// Returns the row that an update changed, or `nil` if it is not known, as when a delegate sends it on another
    /// version.
    private func replacedRow(_ target: UpdateTarget, _ base: Row?) throws -> Row? {
        if let base, target.version == nil || target.version == base.version { return base }
        return try target.row.map(codec.row)
    }

    /// Builds on the server row if it is the operation's own work, and sends the remaining changes of the item.
    ///
    /// It is a conflict if others have changed one of the remaining columns, or if the row shows nothing of the
    /// operation.
    private func build(
        on server: Row, item: Row, lost: LostRequests, answer: RowAnswer?, round: Int
    ) async throws -> Result {
        // A row that replaces a deleted one replaces only that row.
        let found = operation.restores ? lost.exactMatch(server) : lost.match(server)
        guard !server.isTombstone, round < Self.maximumRounds, let match = found else {
            throw conflict(answer, server: server)
        }
        var changes = codec.changes(of: item, since: match.ancestor)
        if let base = try localBase() {
            // A column that only a migration changed differs from the server's row and is not sent.
            changes = changes.filteringColumns { match.body[$0] != nil || changes[$0] != base[$0] ?? .null }
        }
        let ancestor = match.ancestor
        // Nobody but the server has written what the body of an insert omits.
        let isFilledIn = lost.isAsInserted(server) == true
        guard isFilledIn || !codec.overlaps(changes, server, ancestor: ancestor, counts: policy.counts) else {
            throw conflict(answer, server: server)
        }
        let left = changes.filteringColumns { changes[$0] != server[$0] ?? .null }
        if left.isEmpty { return Result(row: server, ancestor: ancestor) }
        return try await patch(
            left, of: item, version: server.version, known: match.body, base: lost.base, built: ancestor,
            server: server, round: round + 1)
    }

    // MARK: Delete

    private nonisolated(nonsending) func delete(version: String?) async throws -> Result {
        var version = version
        let lost = try lostRequests()
        if needsLookUp(version, lost) {
            guard let server = try await lookUp(), !server.isTombstone else { return Result() }
            guard lost.exactMatch(server) != nil else { throw conflict(nil, server: server) }
            version = server.version
        }
        for _ in 1...Self.maximumRounds {
            _ = try await journal.note(nil)
            let answer = try await ask(request(.delete, version: version))
            switch try kind(of: answer) {
            case .done:
                return try await deletion(answer)
            case .gone:
                return Result(tombstone: try await confirmGone(answer))
            case .conflict:
                let server = try await conflictingRow(in: answer)
                try confirmConflict(answer, server)
                if let server, server.isTombstone { return Result(tombstone: server) }
                // The row shows only a lost update of this operation and no changes of others, so it is deleted.
                guard let server, lost.exactMatch(server) != nil, let newer = server.version, newer != version else {
                    throw conflict(answer, server: server)
                }
                version = newer
            default:
                throw rejection(answer)
            }
        }
        throw OperationFailure(.conflict, "the row changed repeatedly on the server during the delete; push again")
    }

    private func lostRequests() throws -> LostRequests { try lostRequests(base: operation.base.map(codec.row)) }

    private func lostRequests(base: Row?) throws -> LostRequests {
        LostRequests(operation, codec: codec, base: base, bodies: try journal.unknownBodies.map(codec.row))
    }

    /// Returns whether a delete replaced an insert that may have been applied, or a restore of a deleted row. Only the
    /// row of that insert or restore is deleted.
    private func needsLookUp(_ version: String?, _ lost: LostRequests) -> Bool {
        version == nil && lost.base?.isTombstone ?? !lost.bodies.isEmpty
    }
}
