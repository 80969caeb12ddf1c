import Foundation
import HTTPTypes
import Synchronization
import Tideline
import TidelineStore
import TidelineWire

/// A server that speaks the protocol of Kinto for the rows of a store, with faults of Kinto's own. A table is a
/// collection, and the version of a row its stamp.
final class KintoFace: Transport {
    /// A fault of one request.
    enum Fault {
        /// Two writers in one millisecond.
        case collision
        /// The storage fails.
        case storage
        /// The server asks its clients for less.
        case backoff
        /// A change gets a stamp that is lower than those of changes that lists have shown.
        case lateStamp
        /// The collection is missing, because someone puts a backup in its place.
        case missing
        /// A page has fewer records than requested.
        case cutPage
        /// A cache answers that the list is the same, although the client has none.
        case notModified
    }

    private struct State {
        /// The identifiers that are hidden from lists.
        var hidden: Set<String> = []
        /// Whether the next change is hidden.
        var hidesNext = false
        /// The records whose last change collided. The next one does not.
        var collided: Set<String> = []
        /// How far the clock went back when the server was emptied, in milliseconds.
        var lag: Int64 = 0
    }

    private let store: AnyStore
    private let tables: [TableSchema]
    private let clock: @Sendable () -> Timestamp
    private let happens: @Sendable (Fault) -> Bool
    private let state = Mutex(State())

    /// Creates a server for the tables of a store, which have all system columns.
    init(
        _ store: AnyStore, _ tables: [TableSchema], now: @escaping @Sendable () -> Timestamp = { .now },
        happens: @escaping @Sendable (Fault) -> Bool
    ) {
        (self.store, self.tables, clock, self.happens) = (store, tables, now, happens)
    }

    private var now: Timestamp {
        clock().advanced(byTicks: -state.withLock { $0.lag } * Timestamp.ticksPerMillisecond)
    }

    /// Removes everything. The stamps of later records are lower, as after a restore from a backup.
    func empty() throws {
        try store.write { writer in for table in tables { try writer.delete(matching: TableQuery(table.name)) } }
        state.withLock { $0.lag += 3_600_000 }
    }

    /// Hides the next change from lists until the closure is called.
    func holdNextChange() -> @Sendable () -> Void {
        state.withLock { $0.hidesNext = true }
        return { [self] in state.withLock { ($0.hidesNext, $0.hidden) = (false, []) } }
    }

    func send(_ request: HTTPRequest, body: [UInt8]?, timeout: Duration) async throws -> TransportResponse {
        try handle(request, body ?? [])
    }

    /// Answers a request.
    ///
    /// - Throws: The errors of the store.
    func handle(_ request: HTTPRequest, _ body: [UInt8]) throws -> TransportResponse {
        let components = URLComponents(string: "http://kinto.test\(request.path ?? "")")
        let path = Self.path(components?.percentEncodedPath ?? "")
        let query = Dictionary((components?.queryItems ?? []).map { ($0.name, $0.value ?? "") }) { $1 }
        var response: TransportResponse
        if path.last == "batch" {
            response = try batch(body)
        } else if path.count == 5, let table = table(path) {
            response = try list(table, query, link: "https://kinto.test\(request.path ?? "")")
        } else {
            response = try store.write { try respond(to: request, path, body, in: $0) }
        }
        response.response.headerFields[.date] = HTTPDate.text(of: now)
        if happens(.backoff) { response.response.headerFields[HTTPField.Name("Backoff")!] = "2" }
        return response
    }

    /// Returns the parts of a path from `buckets` on: `["buckets", B, "collections", C, "records", ID]`, or
    /// `["batch"]`.
    private static func path(_ text: some StringProtocol) -> [String] {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
            .map { $0.removingPercentEncoding ?? "" }
        return Array(parts.last == "batch" ? ["batch"] : parts.drop { $0 != "buckets" })
    }

    /// Returns the collection of a path, unless it is missing.
    private func table(_ path: [String]) -> TableSchema? {
        guard path.count > 4, path[4] == "records", let table = tables.first(where: { $0.name == path[3] }) else {
            return nil
        }
        return happens(.missing) ? nil : table
    }

    /// Responds to a request for a record.
    private func respond(
        to request: HTTPRequest, _ path: [String], _ body: [UInt8], in writer: AnyStore.Writer
    ) throws -> TransportResponse {
        guard path.count > 5, let table = table(path) else { return Self.failure(404, 111) }
        guard request.method == .get || path[5].wholeMatch(of: /[A-Za-z0-9][A-Za-z0-9_-]*/) != nil else {
            return Self.failure(400, 107)
        }
        return try record(request, path[5], in: table, body, writer)
    }

    private func list(_ table: TableSchema, _ query: [String: String], link: String) throws -> TransportResponse {
        if happens(.notModified) { return Self.answer(304, "") }
        let since = query["_since"].flatMap { Int64($0) }
        let hidden = state.withLock { $0.hidden }
        let visible = try store.read { try $0.rows(matching: TableQuery(table.name)).rows }
            .filter { !hidden.contains($0.idText) }.sorted { $0.stamp < $1.stamp }
        let found = visible.filter { $0.stamp > since ?? -1 && (since != nil || $0["deleted"] != true) }
        let limit = query["_limit"].flatMap { Int($0) } ?? .max
        let page = found.prefix(happens(.cutPage) ? min(3, max(1, limit / 2)) : limit)
        let records = try page.map { try Self.json($0, table) }.joined(separator: ",")
        var response = Self.answer(200, "{\"data\":[\(records)]}")
        response.response.headerFields[.eTag] = "\"\(visible.last?.stamp ?? 0)\""
        if page.count < found.count {
            response.response.headerFields[HTTPField.Name("Next-Page")!] = "\(link)&_token=\(page.count)"
        }
        return response
    }

    /// A request in a batch, and the response to it.
    private struct Part: Codable {
        var method: String?
        var status: Int?
        var path: String
        var headers: [String: String]
        var body: JSONFields?
    }

    /// Carries out a batch in a transaction. A collision undoes the changes before it, whose responses stay; a failure
    /// of the storage is that of the batch.
    private func batch(_ body: [UInt8]) throws -> TransportResponse {
        let parts = try JSONDecoder().decode([String: [Part]].self, from: Data(body))["requests"] ?? []
        guard parts.count <= 25 else { return Self.failure(400, 107) }
        struct Undone: Error {}
        var answers: [Part] = []
        while answers.count < parts.count {
            do {
                try store.write { writer in
                    for part in parts[answers.count...] {
                        var request = HTTPRequest(
                            method: .init(part.method ?? "") ?? .get, scheme: nil, authority: nil, path: nil)
                        for (name, value) in part.headers {
                            HTTPField.Name(name).map { request.headerFields[$0] = value }
                        }
                        let fields = try part.body.map { Array(try JSONEncoder().encode($0)) } ?? []
                        let answer = try respond(to: request, Self.path(part.path), fields, in: writer)
                        let status = answer.response.status.code
                        let content = try JSONDecoder().decode(JSONFields.self, from: Data(answer.body))
                        answers.append(Part(status: status, path: part.path, headers: [:], body: content))
                        if status == 409 || status == 503 { throw Undone() }
                    }
                }
            } catch is Undone {
                if answers.last?.status == 503 { return Self.failure(503, 201, retryAfter: 3) }
            }
        }
        return Self.answer(200, String(decoding: try JSONEncoder().encode(["responses": answers]), as: UTF8.self))
    }

    private func record(
        _ request: HTTPRequest, _ id: String, in table: TableSchema, _ body: [UInt8], _ writer: AnyStore.Writer
    ) throws -> TransportResponse {
        let stored = try writer.row(in: table.name, id: id)
        let known = stored?["deleted"] == true ? nil : stored
        if request.method == .get {
            guard let known else { return Self.failure(404, 110) }
            return Self.answer(200, "{\"data\":\(try Self.json(known, table))}")
        }
        if happens(.collision), state.withLock({ $0.collided.insert(id).inserted }) {
            return Self.failure(409, 122, retryAfter: 3)
        }
        state.withLock { _ = $0.collided.remove(id) }
        if happens(.storage) { return Self.failure(503, 201, retryAfter: 3) }
        let match = request.headerFields[.ifMatch]
        if request.headerFields[.ifNoneMatch] != nil, let known { return try Self.conflict(known, table) }
        if request.method != .put, known == nil { return Self.failure(404, 110) }
        if let match, match != known.map({ "\"\($0.stamp)\"" }) { return try Self.conflict(known, table) }
        var row = try Self.fields(request.method == .delete ? Array("{\"data\":{}}".utf8) : body, table)
        if request.method != .patch {
            for column in table.columns where row[column.name] == nil { row[column.name] = .null }
        }
        let stamp = nextStamp(after: stored, try writer.rows(matching: TableQuery(table.name)).rows)
        row.id = .string(id)
        row["deleted"] = .bool(request.method == .delete)
        row["version"] = .string("\(stamp)")
        row["updatedAt"] = Timestamp(milliseconds: stamp).map { .timestamp($0) }
        try writer.upsert(row, into: table.name)
        state.withLock { state in
            if state.hidesNext { state.hidden.insert(id) }
            state.hidesNext = false
        }
        let whole = (known ?? Row(id: row.id)).merging(row)
        return Self.answer(known == nil ? 201 : 200, "{\"data\":\(try Self.json(whole, table))}")
    }

    /// Returns the stamp of the next change, which no other row has.
    private func nextStamp(after row: Row?, _ rows: [Row]) -> Int64 {
        let stamps = Set(rows.map(\.stamp))
        var stamp = max(now.ticks / Timestamp.ticksPerMillisecond, (stamps.max() ?? 0) + 1)
        if happens(.lateStamp) { stamp = max(stamp - 1500, (row?.stamp ?? 0) + 1) }
        while stamps.contains(stamp) { stamp += 1 }
        return stamp
    }

    /// Returns the columns in the body of a change.
    private static func fields(_ body: [UInt8], _ table: TableSchema) throws -> Row {
        struct Change: Decodable {
            var data: JSONFields
        }
        let fields = try JSONDecoder().decode(Change.self, from: Data(body)).data.row
        return table.columns.reduce(into: Row()) { row, column in
            row[column.name] =
                switch (column.type, fields[column.name]) {
                case (.double, .int(let number)?): .double(Double(number))
                case (.timestamp, .string(let text)?): Timestamp(text).map { .timestamp($0) }
                case (.bytes, .string(let text)?): Data(base64Encoded: text).map { .bytes(Array($0)) }
                case (_, let value): value
                }
        }
    }

    private static func json(_ row: Row, _ table: TableSchema) throws -> String {
        let head = "{\"id\":\"\(row.idText)\",\"last_modified\":\(row.stamp)"
        if row["deleted"] == true { return head + ",\"deleted\":true}" }
        let fields = JSONFields(JSONFields(row).row(in: table))
        let members = String(decoding: try JSONEncoder().encode(fields), as: UTF8.self).dropFirst()
        return head + (members == "}" ? "" : ",") + members
    }

    private static func conflict(_ known: Row?, _ table: TableSchema) throws -> TransportResponse {
        let details = try known.map { ",\"details\":{\"existing\":\(try json($0, table))}" } ?? ""
        return answer(412, "{\"code\":412,\"errno\":114,\"error\":\"Precondition Failed\"\(details)}")
    }

    private static func failure(_ status: Int, _ errno: Int, retryAfter: Int? = nil) -> TransportResponse {
        var response = answer(status, "{\"code\":\(status),\"errno\":\(errno),\"error\":\"failed\"}")
        response.response.headerFields[.retryAfter] = retryAfter.map(String.init)
        return response
    }

    private static func answer(_ status: Int, _ text: String) -> TransportResponse {
        let response = HTTPResponse(status: .init(code: status), headerFields: [.contentType: "application/json"])
        return TransportResponse(response: response, body: Array(text.utf8))
    }
}

extension Row {
    /// The stamp of a record, in milliseconds.
    fileprivate var stamp: Int64 { self["version"]?.string.flatMap { Int64($0) } ?? 0 }
}
