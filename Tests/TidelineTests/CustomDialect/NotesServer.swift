import Foundation
import HTTPTypes
import Synchronization
import Testing
import Tideline

/// A ``NotesService`` at `/db`, in the process, with the faults of a test and a log of the requests.
final class NotesServer: Transport {
    /// The fault of one request.
    enum Fault: Sendable {
        case loseRequest, loseAnswer
        case answer(TransportResponse)
        /// The closure runs before the answer arrives.
        case delay(@Sendable () async throws -> Void)
    }

    typealias Inspector = @Sendable (_ request: String, _ body: String) async -> Fault?

    private struct State {
        var service = NotesService()
        var requests: [String] = []
        var headers: [HTTPFields] = []
        var bodies: [[UInt8]] = []
        var inspector: Inspector?
    }

    private let state = Mutex(State())

    var requests: [String] { state.withLock { $0.requests } }
    var headers: [HTTPFields] { state.withLock { $0.headers } }
    var bodies: [[UInt8]] { state.withLock { $0.bodies } }
    func clear() { state.withLock { ($0.requests, $0.headers, $0.bodies) = ([], [], []) } }
    func inspect(_ inspector: Inspector?) { state.withLock { $0.inspector = inspector } }
    /// Runs an action once, between the answer to a request for changes and its arrival, or before the answer is made.
    func onNextList(isEarly: Bool = false, _ body: @escaping @Sendable () async throws -> Void) {
        let once = Once()
        inspect { request, _ in
            guard request.contains("/changes"), once.first() else { return nil }
            guard isEarly else { return .delay(body) }
            await #expect(throws: Never.self) { try await body() }
            return nil
        }
    }
    /// Removes a row without a trace in the list of changes.
    func forget(_ id: String) { state.withLock { $0.service.tables["Note"]?[id] = nil } }
    /// Forgets the list of changes so far, so that cursors before the last change are no longer known.
    func compact() { state.withLock { $0.service.horizon = $0.service.last } }
    /// Starts over, without rows and changes.
    func empty() { state.withLock { $0.service = NotesService() } }

    /// The fields of a row, or `nil` if there is none.
    func fields(_ id: String) -> Row? { state.withLock { $0.service.tables["Note"]?[id]?.fields } }
    /// The number of the last change of a row.
    func change(_ id: String) -> Int? { state.withLock { $0.service.tables["Note"]?[id]?.change } }
    /// Changes a row as another client would.
    func write(_ id: String, _ fields: Row?) { state.withLock { _ = $0.service.store(fields, id, in: "Note") } }

    func send(_ request: HTTPRequest, body: [UInt8]?, timeout: Duration) async throws -> TransportResponse {
        let target = request.path ?? ""
        let text = "\(request.method.rawValue) \(target)"
        let inspector = state.withLock { state in
            state.requests.append(text)
            state.headers.append(request.headerFields)
            state.bodies.append(body ?? [])
            return state.inspector
        }
        let fault = await inspector?(text, String(decoding: body ?? [], as: UTF8.self))
        switch fault {
        case .loseRequest?: throw TransportError(.connection, "the request was lost")
        case .answer(let answer)?: return answer
        default: break
        }
        let answer = try target == "/db/batch" ? respond(toBatch: body ?? []) : respond(to: request, body ?? [])
        switch fault {
        case .loseAnswer?: throw TransportError(.timeout, "the answer was lost")
        case .delay(let body)?: try await body()
        default: break
        }
        return answer
    }

    private func respond(to request: HTTPRequest, _ body: [UInt8]) throws -> TransportResponse {
        let path = (request.path ?? "").prefix { $0 != "?" }.split(separator: "/").dropFirst()
            .map { String($0).removingPercentEncoding ?? "" }
        return try state.withLock { try $0.service.respond(to: request, path, body) }
    }

    /// Responds to the requests in an array; see ``NotesDialect/Part``.
    private func respond(toBatch body: [UInt8]) throws -> TransportResponse {
        let answers = try JSONDecoder().decode([NotesDialect.Part].self, from: Data(body)).map { part in
            var request = HTTPRequest(
                method: .init(rawValue: part.method) ?? .get, scheme: nil, authority: nil, path: "/db/\(part.path)")
            for (name, value) in part.headers { HTTPField.Name(name).map { request.headerFields[$0] = value } }
            let answer = try respond(to: request, Array((part.body ?? "").utf8))
            return NotesDialect.Answer(
                status: answer.response.status.code, body: String(decoding: answer.body, as: UTF8.self))
        }
        return try .json(200, answers)
    }
}

extension TransportResponse {
    /// Makes a failure of the service.
    static func problem(_ status: Int, _ error: String) -> TransportResponse {
        unmarked(status, #"{"error":"\#(error)"}"#)
    }

    static func json(_ status: Int, _ value: some Encodable, _ tag: String? = nil) throws -> TransportResponse {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        var response = HTTPResponse(status: .init(code: status))
        response.headerFields[.eTag] = tag
        return TransportResponse(response: response, body: Array(try encoder.encode(value)))
    }
}

/// The dialect of the notes with parts that a test replaces.
struct NotesVariant: CustomDialect {
    var name: String
    var replacesWholeRows = false
    var maxInFlight = Int.max
    var maxBatchCount = 1
    var validate: @Sendable (String) throws -> Void = { _ in }
    var pageRequest: @Sendable (PageRequest, Int?) throws -> ServerRequest = {
        try NotesDialect().request(for: $0, after: $1)
    }
    var page: @Sendable (TransportResponse, PageRequest, Int?) throws -> ServerPage<Int> = {
        try NotesDialect().page(in: $0, to: $1, after: $2)
    }
    var pageMeaning: @Sendable (TransportResponse, PageRequest, Int?) throws -> AnswerMeaning = {
        try NotesDialect().meaning(of: $0, to: $1, after: $2)
    }
    var rowRequest: @Sendable (RowRequest) throws -> ServerRequest = { try NotesDialect().request(for: $0) }
    var rowMeaning: @Sendable (TransportResponse, RowRequest) throws -> AnswerMeaning = {
        try NotesDialect().meaning(of: $0, to: $1)
    }
    var mark: @Sendable (TransportResponse) -> Bool? = { NotesDialect().isFromService($0) }
    var signals: @Sendable () -> ChangeSignals? = { nil }

    func validateNewID(_ id: String) throws { try validate(id) }
    func request(for page: PageRequest, after cursor: Int?) throws -> ServerRequest { try pageRequest(page, cursor) }
    func page(in response: TransportResponse, to page: PageRequest, after cursor: Int?) throws -> ServerPage<Int> {
        try self.page(response, page, cursor)
    }
    func meaning(of response: TransportResponse, to page: PageRequest, after cursor: Int?) throws -> AnswerMeaning {
        try pageMeaning(response, page, cursor)
    }
    func request(for row: RowRequest) throws -> ServerRequest { try rowRequest(row) }
    func meaning(of response: TransportResponse, to row: RowRequest) throws -> AnswerMeaning {
        try rowMeaning(response, row)
    }
    func request(forBatch requests: [ServerRequest]) throws -> ServerRequest {
        try NotesDialect().request(forBatch: requests)
    }
    func responses(in response: TransportResponse, toBatch requests: [ServerRequest]) throws -> [TransportResponse] {
        try NotesDialect().responses(in: response, toBatch: requests)
    }
    func isFromService(_ response: TransportResponse) -> Bool? { mark(response) }
    func changeSignals(over connection: DialectConnection) -> ChangeSignals? { signals() }
}
