import Foundation
import HTTPTypes
import Synchronization
import TidelineStore

@testable import Tideline

/// The server of ``NotesDialect``, in the process: documents with integer revisions, a list of changes by sequence number,
/// and statuses with a meaning of their own. Each document that was deleted keeps its place in the list.
final class NotesServer: Transport {
    typealias Document = NotesDialect.Document

    /// The fault of one request.
    enum Fault: Sendable {
        case loseRequest, loseAnswer
        case answer(TransportResponse)
        /// The closure runs before the answer arrives.
        case delay(@Sendable () async throws -> Void)
    }

    typealias Inspector = @Sendable (_ request: String, _ body: String) async -> Fault?

    fileprivate struct State {
        var documents: [String: (document: Document, sequence: Int)] = [:]
        var sequence = 0
        /// The sequence number before which the server no longer knows its changes.
        var horizon = 0
        var requests: [String] = []
        var headers: [HTTPFields] = []
        var inspector: Inspector?
        var maximumPage = Int.max
    }

    private let state = Mutex(State())

    // MARK: What tests do to it

    var requests: [String] { state.withLock { $0.requests } }
    var headers: [HTTPFields] { state.withLock { $0.headers } }
    func clear() { state.withLock { ($0.requests, $0.headers) = ([], []) } }
    func inspect(_ inspector: Inspector?) { state.withLock { $0.inspector = inspector } }
    func limitPages(to count: Int) { state.withLock { $0.maximumPage = count } }
    /// Removes a document without a trace in the list of changes.
    func forget(_ key: String) { state.withLock { $0.documents["Note/\(key)"] = nil } }
    /// Forgets the list of changes so far, so that cursors up to now are no longer known.
    func compact() { state.withLock { $0.horizon = $0.sequence + 1 } }

    /// The columns of a document, or `nil` if there is none.
    func fields(_ key: String, in table: String = "Note") -> Row? {
        state.withLock { $0.documents["\(table)/\(key)"]?.document.fields?.row }
    }

    func revision(_ key: String) -> Int? { state.withLock { $0.documents["Note/\(key)"]?.document.revision } }

    /// Changes a document as another client would.
    func write(_ key: String, _ fields: Row?, in table: String = "Note") {
        _ = state.withLock { $0.store(key, fields, in: table) }
    }

    // MARK: Transport

    func send(_ request: HTTPRequest, body: [UInt8]?, timeout: Duration) async throws -> TransportResponse {
        let text = "\(request.method.rawValue) \(request.path ?? "")"
        let inspector = state.withLock { state in
            state.requests.append(text)
            state.headers.append(request.headerFields)
            return state.inspector
        }
        let fault = await inspector?(text, String(decoding: body ?? [], as: UTF8.self))
        switch fault {
        case .loseRequest?: throw TransportError(.connection, "the request was lost")
        case .answer(let answer)?: return answer
        default: break
        }
        let answer = try answer(to: request, body ?? [])
        switch fault {
        case .loseAnswer?: throw TransportError(.timeout, "the answer was lost")
        case .delay(let body)?: try await body()
        default: break
        }
        return answer
    }

    private func answer(to request: HTTPRequest, _ body: [UInt8]) throws -> TransportResponse {
        let components = URLComponents(string: "http://server\(request.path ?? "")")
        let path = (components?.percentEncodedPath ?? "").split(separator: "/").map {
            String($0).removingPercentEncoding ?? ""
        }
        let query = Dictionary(
            (components?.queryItems ?? []).map { ($0.name, $0.value ?? "") }, uniquingKeysWith: { $1 })
        guard path.count == 3, path[0] == "db" else { return .answer(404, "no such path") }
        let (table, key) = (path[1], path[2])
        return try state.withLock { state in
            switch (request.method, key) {
            case (.get, "_changes"):
                return try state.changes(
                    of: table, since: Int(query["since"] ?? "") ?? 0, limit: Int(query["limit"] ?? "") ?? 0)
            case (.get, _):
                let known = state.documents["\(table)/\(key)"]?.document
                return try .problem(known?.fields == nil ? "missing" : nil, known)
            case (.put, _):
                let change = try JSONDecoder().decode(NotesDialect.Change.self, from: Data(body))
                return try state.put(change, key, in: table)
            case (.delete, _):
                return try state.delete(key, Int(query["revision"] ?? "") ?? 0, in: table)
            default: return .answer(405)
            }
        }
    }
}

extension NotesServer.State {
    @discardableResult
    mutating func store(_ key: String, _ fields: Row?, in table: String) -> NotesDialect.Document {
        sequence += 1
        let revision = (documents["\(table)/\(key)"]?.document.revision ?? 0) + 1
        let document = NotesDialect.Document(key: key, revision: revision, fields: fields.map { JSONFields($0) })
        documents["\(table)/\(key)"] = (document, sequence)
        return document
    }

    func changes(of table: String, since: Int, limit: Int) throws -> TransportResponse {
        guard since == 0 || since >= horizon else { return .answer(410, "compacted") }
        let found = documents.filter { $0.key.hasPrefix("\(table)/") && $0.value.sequence > since }
            .sorted { $0.value.sequence < $1.value.sequence }
        let page = found.prefix(min(limit, maximumPage))
        return try .json(
            NotesDialect.Changes(
                documents: page.map(\.value.document), last: page.last?.value.sequence ?? since,
                remaining: found.count - page.count))
    }

    mutating func put(_ change: NotesDialect.Change, _ key: String, in table: String) throws -> TransportResponse {
        let known = documents["\(table)/\(key)"]?.document
        let exists = known?.fields != nil
        if change.revision == 0 {
            guard !exists else { return try .problem("stale", known) }
        } else {
            guard let known, exists else { return try .problem("missing", nil) }
            guard change.revision == known.revision || change.revision == -1 else {
                return try .problem("stale", known)
            }
        }
        guard change.fields.row["text"]?.string != "forbidden" else {
            return try .problem("the text is forbidden", nil)
        }
        let fields = (exists ? known?.fields?.row ?? Row() : Row()).merging(change.fields.row)
        return try .problem(nil, store(key, fields, in: table))
    }

    mutating func delete(_ key: String, _ revision: Int, in table: String) throws -> TransportResponse {
        guard let known = documents["\(table)/\(key)"]?.document, known.fields != nil else {
            return try .problem("missing", nil)
        }
        guard revision == known.revision || revision == -1 else { return try .problem("stale", known) }
        store(key, nil, in: table)
        return try .problem(nil, nil)
    }
}

extension TransportResponse {
    fileprivate static func json(_ value: some Encodable) throws -> TransportResponse {
        TransportResponse(response: HTTPResponse(status: .ok), body: Array(try JSONEncoder().encode(value)))
    }

    /// An answer whose status is 200 in any case.
    fileprivate static func problem(
        _ problem: String?, _ document: NotesDialect.Document?
    ) throws -> TransportResponse {
        try json(NotesDialect.Answer(document: document, problem: problem))
    }
}

extension NotesDialect {
    func isFromService(_ response: TransportResponse) -> Bool? {
        response.response.headerFields[.serviceMark] == nil ? nil : true
    }
}
