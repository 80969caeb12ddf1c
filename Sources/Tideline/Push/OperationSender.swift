internal import TidelineStore
internal import TidelineWire

/// Sends one operation and reads its answer, recognizing its own lost requests: no duplicate, no false conflict, and no
/// change of others overwritten.
struct OperationSender: Sendable {
    let connection: ServerConnection
    let dialect: any Dialect
    let codec: RowCodec
    /// The operation, of the kind that is to be sent.
    let operation: TableOperation
    let parameters: [(String, String)]
    /// What is stored while requests are on their way.
    let journal: any AttemptJournal

    /// The server's answer to an operation.
    struct Result: Sendable {
        /// The server's row; nil for a delete, and for an update without any content.
        var row: Row?
        /// The row as the operation alone left it, where ``row`` was met later and may hold changes of others.
        var ancestor: Row?
        /// The tombstone in the answer to a delete.
        var tombstone: Row?
        /// Whether there was nothing to send.
        var isUnsent = false
        /// The columns whose value the server stored differently from what was sent.
        var warnings: [PushWarning] = []
    }

    /// How often an own request is recognized and built upon before the operation counts as in conflict.
    static let maximumRounds = 4

    var table: String { operation.table }
    var id: String { operation.itemID }

    /// Sends `item`.
    func send(_ item: Row) async throws -> Result {
        if operation.kind == .delete { return try await delete(version: item.version) }
        let item = try checked(item)
        if operation.kind == .insert { return try await insert(item, mayUndelete: operation.restores) }
        return try await operation.restores ? restore(item) : update(item)
    }

    /// The item under the operation's identifier. What a delegate made of it must be readable when it is compared with the
    /// server's row.
    private func checked(_ item: Row) throws -> Row {
        guard item.key == nil || codec.schema.itemKey(item.id).isSameBytes(as: operation.itemKey) else {
            throw OperationFailure(
                .invalidItem, "the item has the id \(item.id.debugDescription); it must keep \(id.debugDescription)")
        }
        var item = item
        item.id = id
        _ = try RowInput.checked(item, for: codec.schema, isKnown: true)
        return item
    }

    // MARK: Insert

    /// - Parameter mayUndelete: Whether a deleted row of the identifier is brought back: the app knows of it.
    func insert(_ item: Row, mayUndelete: Bool = false) async throws -> Result {
        let body = codec.insertBody(of: item)
        let base = try operation.base.map(codec.row) ?? Row()
        // A row that replaces a deleted one has none of its values; bodies are kept relative to that.
        let cleared = codec.appColumns.filter { body[$0] == nil && !(base[$0] ?? .null).isNull }
        let attempt = try await journal.note(cleared.reduce(into: body) { $0[$1] = .null })
        let answer = try await connection.send(
            dialect.insert(body, into: table, parameters: parameters, features: .offline))
        switch try meaning(of: answer) {
        case .done:
            return try await result(answer, sent: body, ancestor: body)
        case .conflict:
            let lost = try await unknown(attempt, after: answer, base: base)
            // The body may be the client's own row sent back: only a look-up tells.
            guard let server = try await lookUp(after: answer) else { throw takenID(answer) }
            if mayUndelete, server.isTombstone { return try await undelete(item, server) }
            return try await build(on: server, item: item, lost: lost, answer: answer, round: 1)
        default:
            throw try await rejection(answer, to: attempt)
        }
    }

    /// An identifier that exists on the server in a row that cannot be seen, such as another user's.
    private func takenID(_ answer: TransportResponse) -> OperationFailure {
        OperationFailure(
            .conflict, "the server has a row with this id and does not show it; insert the row under another id",
            status: answer.response.status.code)
    }

    // MARK: Update

    private func update(_ item: Row) async throws -> Result {
        let base = try operation.base.map(codec.row)
        let changes = codec.changes(of: item, since: base)
        // What a lost request may have written is overwritten, too.
        let body = try journal.unknownBodies.reduce(changes) { body, json in
            let lost = try codec.row(json).columnNames.filter { body[$0] == nil }
            return lost.reduce(into: body) { $0[$1] = item[$1] ?? .null }
        }
        if body.isEmpty { return Result(row: base, isUnsent: true) }
        return try await patch(body, of: item, version: item.version, known: Row(), base: base, round: 1)
    }

    /// Sends the changes of an item; where the answer is a conflict with a lost request of the operation's own, goes on
    /// from there.
    ///
    /// - Parameters:
    ///   - known: What lost requests are known to have written by now.
    ///   - base: The row that the operation was made on.
    ///   - built: The row that the changes are based on, where the server's may hold changes of others beside it.
    func patch(
        _ changes: Row, of item: Row, version: String?, known: Row, base: Row?, built: Row? = nil, round: Int
    ) async throws -> Result {
        var body = changes
        body.id = id
        let attempt = try await journal.note(known.merging(changes))
        let answer = try await connection.send(
            dialect.update(body, in: table, version: version, parameters: parameters, features: .offline))
        switch try meaning(of: answer) {
        case .done:
            let ancestor = (built ?? base ?? Row()).merging(changes)
            var result = try await result(answer, sent: body, ancestor: ancestor)
            if built != nil { result.ancestor = ancestor }
            return result
        case .gone:
            _ = try await unknown(attempt, after: answer, base: base)
            throw conflict(answer, server: nil)
        case .conflict:
            let lost = try await unknown(attempt, after: answer, base: base)
            guard let server = try await conflictingRow(in: answer) else { throw conflict(answer, server: nil) }
            return try await build(on: server, item: item, lost: lost, answer: answer, round: round)
        default:
            throw try await rejection(answer, to: attempt)
        }
    }

    /// Goes on from the server's row where that is the operation's own work: sends what is left of the item.
    ///
    /// Where others have changed a column that is left to send, or the row shows nothing of the operation's, it is a
    /// conflict.
    private func build(
        on server: Row, item: Row, lost: LostRequests, answer: TransportResponse, round: Int
    ) async throws -> Result {
        // What replaces a deleted row replaces that alone.
        let found = operation.restores ? lost.exactMatch(server) : lost.match(server)
        guard !server.isTombstone, round < Self.maximumRounds, let match = found else {
            throw conflict(answer, server: server)
        }
        let left = codec.changes(of: item, since: match.ancestor)
        guard !codec.overlaps(left, server, ancestor: match.ancestor) else { throw conflict(answer, server: server) }
        if left.isEmpty { return Result(row: server, ancestor: match.ancestor) }
        return try await patch(
            left, of: item, version: server.version, known: match.body, base: lost.base, built: match.ancestor,
            round: round + 1)
    }

    // MARK: Delete

    private func delete(version: String?) async throws -> Result {
        var version = version
        let lost = LostRequests(
            codec: codec, base: try operation.base.map(codec.row), bodies: try journal.unknownBodies.map(codec.row))
        if version == nil, lost.base == nil, !lost.bodies.isEmpty {
            // It took the place of an insert that may have been carried out: only what that insert made is deleted.
            guard let server = try await lookUp(), !server.isTombstone else { return Result() }
            guard lost.exactMatch(server) != nil else { throw conflict(nil, server: server) }
            version = server.version
        }
        for _ in 1...Self.maximumRounds {
            _ = try await journal.note(nil)
            let answer = try await connection.send(
                dialect.delete(id, from: table, version: version, parameters: parameters, features: .offline))
            switch try meaning(of: answer) {
            case .done:
                let row = try? codec.row(body: answer.body)
                return Result(tombstone: row?.isTombstone == true ? row : nil)
            case .gone:
                return Result()
            case .conflict:
                let server = try await conflictingRow(in: answer)
                if let server, server.isTombstone { return Result(tombstone: server) }
                // A lost update of the operation's own, and nothing of others: what it made is deleted.
                guard let server, lost.exactMatch(server) != nil, let newer = server.version, newer != version else {
                    throw conflict(answer, server: server)
                }
                version = newer
            default:
                throw rejection(answer)
            }
        }
        throw OperationFailure(.conflict, "the row changes on the server faster than it can be deleted; push again")
    }
}

/// Stores what a sender must remember before a request leaves, and what an answer settles.
protocol AttemptJournal: Sendable {
    /// The bodies whose answers were lost, as JSON, the oldest first.
    var unknownBodies: [String] { get }
    /// Stores that a request is about to leave. Throws ``OperationRemoved`` when the operation is gone.
    ///
    /// - Parameter body: What the request and those known before it write relative to the operation's base; nil for a
    ///   request without a body.
    func note(_ body: Row?) async throws -> Attempt
    /// Stores that a body is known not to have been carried out.
    func forget(_ body: String) async throws
    /// Stores that the row was found deleted, as this tombstone, and is about to be brought back.
    func note(tombstone: Row) async throws
}

/// A request about to leave.
struct Attempt: Sendable {
    /// All bodies whose fate is not known, this one included, as JSON, the oldest first.
    var bodies: [String]
    /// This request's body, if no earlier request had it.
    var added: String?
}

/// The operation was dropped, by another process over the same store, before its request left.
struct OperationRemoved: Error {}
