internal import HTTPTypes
internal import Synchronization
internal import TidelineStore
internal import TidelineWire

/// One run of one check: its requests and its rows, which have a random text in the column `mark` and as the beginning
/// of their ids, unless the server assigns ids. All lists are restricted to these rows.
final class ServerCheckContext: Sendable {
    let session: ServerSession
    /// The value of the column `mark` in the rows of this check.
    let mark: String
    private let state = Mutex(State())

    private struct State {
        var lastID = 0
        /// The ids of the rows to delete at the end.
        var ids: [String] = []
        var exchanges: [String] = []
        var omitted = 0
    }

    init(_ session: ServerSession) {
        self.session = session
        let letters = Array("abcdefghijklmnopqrstuvwxyz0123456789")
        mark = "srv" + String((0..<12).map { _ in letters[Int.random(in: 0..<letters.count)] })
    }

    var dialect: any Dialect { session.dialect }
    var isDatasync: Bool { session.dialectName == .datasync3 }
    var table: String { session.options.table }
    var path: String { "tables/\(PercentEncoding.encode(table))" }

    /// Returns an id that no other row has.
    func newID() -> String {
        state.withLock { state in
            state.lastID += 1
            return "\(mark)-\(state.lastID)"
        }
    }

    // MARK: Requests

    /// Sends a request, and notes it for the report of a failure.
    func send(_ wire: WireRequest) async throws -> ServerAnswer {
        do {
            let answer = try await session.send(wire)
            note(wire, "\(answer.status) \(String(decoding: answer.body.prefix(400), as: UTF8.self))")
            return answer
        } catch {
            note(wire, "\(error)")
            throw error
        }
    }

    /// Sends a request that no dialect makes, with the percent-encoded path and query after the table's, and JSON.
    func send(
        _ method: HTTPRequest.Method, _ target: String = "", body: String? = nil, headers: HTTPFields = [:]
    ) async throws -> ServerAnswer {
        var fields: HTTPFields = [.zumoAPIVersion: dialect.apiVersion, .accept: "application/json"]
        if body != nil { fields[.contentType] = "application/json" }
        for field in headers { fields[field.name] = field.value.isEmpty ? nil : field.value }
        return try await send(
            WireRequest(method: method, target: path + target, headers: fields, body: body.map { Array($0.utf8) }))
    }

    /// Inserts a row, without an id if it is `nil`, and returns the response.
    func tryInsert(_ columns: Row, id: String?) async throws -> ServerAnswer {
        var row = columns
        row.id = id.map { .string($0) }
        row["mark"] = .string(mark)
        // Also if the response is lost.
        if let id { willRemove(id) }
        let answer = try await send(try dialect.insert(row, into: table))
        if answer.isSuccess, let made = try? answer.row().id, made != id { willRemove(made) }
        return answer
    }

    /// Inserts a row with a new id.
    @discardableResult
    func insert(_ columns: Row = ["text": "a"]) async throws -> ServerRow {
        let answer = try await tryInsert(columns, id: newID())
        try expect(answer.isSuccess, "a new row is not inserted: \(answer.summary)")
        let row = try answer.row()
        try expect(!row.id.isEmpty, "the response to an insert has no id: \(answer.summary)")
        return row
    }

    /// Inserts rows with these texts, one after the other.
    @discardableResult
    func insert(texts: [String]) async throws -> [ServerRow] {
        try await insert(rows: texts.map { ["text": .string($0)] })
    }

    /// Inserts rows with these columns, one after the other.
    @discardableResult
    func insert(rows: [Row]) async throws -> [ServerRow] {
        var inserted: [ServerRow] = []
        for row in rows { inserted.append(try await insert(row)) }
        return inserted
    }

    /// Inserts rows that are numbered from 0, several at a time.
    func insertMany(_ count: Int) async throws -> [ServerRow] {
        try await concurrently(count, width: 16) { number in
            try await self.insert(["text": .string("row \(number)"), "number": .int(Int64(number))])
        }
    }

    /// Changes columns of a row, regardless of its version if `version`, the one for `If-Match`, is `nil`.
    func update(_ row: ServerRow, _ columns: Row, version: String? = nil) async throws -> ServerAnswer {
        var change = columns
        change.id = .string(row.id)
        return try await send(
            try dialect.update(
                change, in: table, replacing: String(decoding: row.json, as: UTF8.self), version: version))
    }

    func delete(_ id: String, version: String? = nil) async throws -> ServerAnswer {
        try await send(dialect.delete(id, from: table, version: version))
    }

    func undelete(_ row: ServerRow, version: String? = nil) async throws -> ServerAnswer {
        try await send(
            dialect.undelete(row.id, in: table, replacing: String(decoding: row.json, as: UTF8.self), version: version))
    }

    func lookup(_ id: String, deleted: Bool = false) async throws -> ServerAnswer {
        try await send(dialect.lookup(id, in: table, includeDeleted: deleted))
    }

    /// Returns a row as a lookup finds it.
    func found(_ id: String) async throws -> ServerRow {
        let answer = try await lookup(id)
        try expect(answer.status == 200, "the row is not found: \(answer.summary)")
        return try answer.row()
    }

    /// Returns a page of this check's rows.
    func list(
        _ predicate: RowPredicate? = nil, order: [OrderTerm] = [], skip: Int = 0, top: Int? = nil,
        select: [String]? = nil, count: Bool = false, deleted: Bool = false
    ) async throws -> ServerPage {
        let answer = try await tryList(
            predicate, order: order, skip: skip, top: top, select: select, count: count, deleted: deleted)
        try expect(answer.status == 200, "the list fails: \(answer.summary)")
        return try answer.page()
    }

    func tryList(
        _ predicate: RowPredicate? = nil, order: [OrderTerm] = [], skip: Int = 0, top: Int? = nil,
        select: [String]? = nil, count: Bool = false, deleted: Bool = false
    ) async throws -> ServerAnswer {
        var query = TableQuery(
            table, order: order, skip: skip, limit: top, selection: select, includesTotalCount: count)
        query.predicate = .and([.compare("mark", .equal, .string(mark))] + (predicate.map { [$0] } ?? []))
        return try await send(try dialect.read(query, schema: nil, options: ReadOptions(includeDeleted: deleted)))
    }

    /// Returns the response to a list of this check's rows, with a filter that is sent as it is.
    func tryList(filter: String, options: String = "") async throws -> ServerAnswer {
        let text = "(\(filter)) and mark eq '\(mark)'"
        return try await send(.get, "?$filter=\(PercentEncoding.encode(text))\(options)")
    }

    // MARK: The end

    /// Deletes a row when the check ends.
    func willRemove(_ id: String) { state.withLock { $0.ids.append(id) } }

    /// Deletes the rows of this check, also if it was cancelled. Errors are ignored, because the check has ended.
    func removeRows() async {
        let ids = state.withLock { state in
            defer { state.ids = [] }
            return state.ids
        }
        await Task {
            _ = try? await concurrently(ids.count, width: 16) { number in
                guard let wire = try? self.dialect.delete(ids[number], from: self.table, version: nil) else { return }
                self.session.noteRemoval(try? await self.session.send(wire, isCounted: false))
            }
        }.value
    }

    /// The last requests and responses.
    var log: String {
        state.withLock { state in
            let rest = state.omitted > 0 ? ["… \(state.omitted) earlier requests"] : []
            return (rest + state.exchanges).joined(separator: "\n")
        }
    }

    private func note(_ wire: WireRequest, _ outcome: String) {
        let condition = wire.headers[.ifMatch].map { " If-Match: \($0)" } ?? ""
        let body = wire.body.map { " \(String(decoding: $0.prefix(400), as: UTF8.self))" } ?? ""
        let line = "\(wire.method.rawValue) \(wire.target.prefix(600))\(condition)\(body)\n    \(outcome)"
        state.withLock { state in
            state.exchanges.append(line)
            guard state.exchanges.count > 30 else { return }
            state.exchanges.removeFirst()
            state.omitted += 1
        }
    }
}

/// Calls `body` with the numbers from 0, at most `width` at the same time, and returns the results in order.
func concurrently<T: Sendable>(
    _ count: Int, width: Int = .max, _ body: @escaping @Sendable (Int) async throws -> T
) async throws -> [T] {
    try await withThrowingTaskGroup(of: (Int, T).self) { group in
        var results: [Int: T] = [:]
        for number in 0..<count {
            if number >= width, let (index, result) = try await group.next() { results[index] = result }
            group.addTask { (number, try await body(number)) }
        }
        for try await (index, result) in group { results[index] = result }
        return (0..<count).compactMap { results[$0] }
    }
}

extension RowPredicate {
    /// A comparison of a column with a value.
    static func compare(_ column: String, _ comparison: Comparison, _ value: Value) -> RowPredicate {
        .comparison(comparison, .column(column), .literal(value))
    }
}
