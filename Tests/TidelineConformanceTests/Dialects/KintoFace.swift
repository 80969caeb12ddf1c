import Foundation
import HTTPTypes
import Synchronization
import Tideline
import TidelineStore
import TidelineWire

/// A server in the process that speaks the protocol of Kinto, for records of one collection, with faults of Kinto's own.
final class KintoFace: Transport {
    private struct Entry {
        /// `nil` for a tombstone.
        var fields: Row?
        var stamp: Int64
        var isHidden = false
    }

    private struct State {
        var entries: [String: Entry] = [:]
        var last: Int64 = 0
        var writes = 0
        /// Whether the next change is hidden from lists.
        var hidesNext = false
        /// How far the clock went back when the server was emptied, in milliseconds.
        var lag: Int64 = 0
        /// The time of the server.
        var now: Timestamp { Timestamp.now.advanced(byTicks: -lag * Timestamp.ticksPerMillisecond) }
    }

    /// The number of a write, of which each is refused with 409 and the errno 122; 0 for none.
    let collidesEvery: Int
    /// The server's limit of a page.
    let maximumPage: Int
    private let state = Mutex(State())

    init(collidesEvery: Int = 0, maximumPage: Int = 10_000) {
        (self.collidesEvery, self.maximumPage) = (collidesEvery, maximumPage)
    }

    /// Removes everything. The stamps of later records are lower, as after a restore from a backup.
    func empty() {
        state.withLock { state in
            state.entries = [:]
            (state.last, state.lag) = (0, state.lag + 3_600_000)
        }
    }

    /// Hides the next change from lists until the closure is called.
    func holdNextChange() -> @Sendable () -> Void {
        state.withLock { $0.hidesNext = true }
        return { [self] in
            state.withLock { state in
                state.hidesNext = false
                for id in state.entries.keys { state.entries[id]?.isHidden = false }
            }
        }
    }

    func send(_ request: HTTPRequest, body: [UInt8]?, timeout: Duration) async throws -> TransportResponse {
        let components = URLComponents(string: "http://kinto.test\(request.path ?? "")")
        let path = (components?.percentEncodedPath ?? "").split(separator: "/", omittingEmptySubsequences: false)
            .map { $0.removingPercentEncoding ?? "" }
        let query = Dictionary((components?.queryItems ?? []).map { ($0.name, $0.value ?? "") }) { $1 }
        // ["", "v1", "buckets", B, "collections", C, "records", ID]
        var response: TransportResponse
        if path.count < 7 || path[1] != "v1" || path[6] != "records" {
            response = Self.failure(404, 111)
        } else if path[5] != "Todo" {
            response = Self.failure(404, 111)
        } else if path.count == 7 {
            response = try list(request, query)
        } else if request.method != .get, path[7].wholeMatch(of: /[A-Za-z0-9][A-Za-z0-9_-]*/) == nil {
            response = Self.failure(400, 107)
        } else {
            response = try record(request, path[7], body ?? [])
        }
        response.response.headerFields[.date] = HTTPDate.text(of: state.withLock { $0.now })
        return response
    }

    private func list(_ request: HTTPRequest, _ query: [String: String]) throws -> TransportResponse {
        try state.withLock { state in
            let since = query["_since"].flatMap { Int64($0) }
            let visible = state.entries.filter { !$0.value.isHidden }.sorted { $0.value.stamp < $1.value.stamp }
            let found = visible.filter { $0.value.stamp > since ?? -1 && (since != nil || $0.value.fields != nil) }
            let page = found.prefix(min(query["_limit"].flatMap { Int($0) } ?? .max, maximumPage))
            let records = try page.map { try Self.json($0.key, $0.value) }.joined(separator: ",")
            var response = Self.answer(200, "{\"data\":[\(records)]}")
            response.response.headerFields[.eTag] = "\"\(visible.last?.value.stamp ?? 0)\""
            if page.count < found.count {
                response.response.headerFields[HTTPField.Name("Next-Page")!] =
                    "https://kinto.test/v1/buckets/b/collections/Todo/records?_token=\(page.count)"
            }
            return response
        }
    }

    private func record(_ request: HTTPRequest, _ id: String, _ body: [UInt8]) throws -> TransportResponse {
        struct Change: Decodable {
            var data: JSONFields
        }
        return try state.withLock { state in
            let known = state.entries[id].flatMap { $0.fields == nil ? nil : $0 }
            if request.method == .get {
                return try known.map { Self.answer(200, "{\"data\":\(try Self.json(id, $0))}") }
                    ?? Self.failure(404, 110)
            }
            state.writes += 1
            if collidesEvery > 0, state.writes.isMultiple(of: collidesEvery) {
                return Self.failure(409, 122, retryAfter: 3)
            }
            let match = request.headerFields[.ifMatch]
            if request.headerFields[.ifNoneMatch] != nil, let known { return try Self.conflict(id, known) }
            if request.method != .put, known == nil { return Self.failure(404, 110) }
            if let match, match != known.map({ "\"\($0.stamp)\"" }) { return try Self.conflict(id, known) }
            var fields: Row?
            if request.method != .delete {
                let change = try JSONDecoder().decode(Change.self, from: Data(body)).data.row
                fields = request.method == .patch ? (known?.fields ?? Row()).merging(change) : change
            }
            state.last = max(state.now.ticks / Timestamp.ticksPerMillisecond, state.last + 1)
            let entry = Entry(fields: fields, stamp: state.last, isHidden: state.hidesNext)
            state.hidesNext = false
            state.entries[id] = entry
            return Self.answer(known == nil ? 201 : 200, "{\"data\":\(try Self.json(id, entry))}")
        }
    }

    private static func json(_ id: String, _ entry: Entry) throws -> String {
        let head = "{\"id\":\"\(id)\",\"last_modified\":\(entry.stamp)"
        guard let fields = entry.fields else { return head + ",\"deleted\":true}" }
        let members = String(decoding: try JSONEncoder().encode(JSONFields(fields)), as: UTF8.self).dropFirst()
        return head + (members == "}" ? "" : ",") + members
    }

    private static func conflict(_ id: String, _ known: Entry?) throws -> TransportResponse {
        let details = try known.map { ",\"details\":{\"existing\":\(try json(id, $0))}" } ?? ""
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
