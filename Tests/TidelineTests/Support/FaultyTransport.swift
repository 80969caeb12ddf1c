import HTTPTypes
import Synchronization
import Tideline
import TidelineServer
import TidelineStore

/// A transport to a table service in the same process, which a test can cut, before or after the server has acted.
final class FaultyTransport<ServerStore: LocalStore>: Transport {
    /// What happens to one request.
    enum Fault: Sendable {
        /// It never reaches the server.
        case loseRequest
        /// The server acts, but its answer is lost.
        case loseAnswer
        /// It never reaches the server, for a reason of the test's own.
        case fail(any Error)
        /// Something else answers in the server's place.
        case answer(TransportResponse)
        /// The server acts; its answer is changed on the way.
        case change(@Sendable (TransportResponse) -> TransportResponse)
        /// The server acts; before its answer arrives, something else happens.
        case delay(@Sendable () async throws -> Void)
        /// The server gets another request in its place; its answer is changed on the way.
        case instead(HTTPRequest, @Sendable (TransportResponse) -> TransportResponse)
    }

    typealias Inspector = @Sendable (HTTPRequest, String) async -> Fault?

    private struct State {
        var requests: [String] = []
        var inspector: Inspector?
    }

    private let service: TableService<ServerStore>
    private let state = Mutex(State())

    init(service: TableService<ServerStore>) { self.service = service }

    /// Method and path of every request, in order.
    var requests: [String] { state.withLock { $0.requests } }

    /// Forgets the requests so far.
    func clear() { state.withLock { $0.requests = [] } }

    /// Looks at every request before it is passed on; also the place to act in the middle of an exchange.
    func inspect(_ inspector: Inspector?) { state.withLock { $0.inspector = inspector } }

    func send(_ request: HTTPRequest, body: [UInt8]?, timeout: Duration) async throws -> TransportResponse {
        let text = String(decoding: body ?? [], as: UTF8.self)
        let inspector = state.withLock { state in
            state.requests.append("\(request.method) \(request.path ?? "")")
            return state.inspector
        }
        let fault = await inspector?(request, text)
        if case .loseRequest? = fault { throw TransportError(.connection, "the request was lost") }
        if case .fail(let error)? = fault { throw error }
        if case .answer(let answer)? = fault { return answer }
        var arriving = request
        if case .instead(let other, _)? = fault { arriving = other }
        // A server does not know that the client's task was cancelled.
        let answer = await Task.detached { [service, arriving] in service.handle(arriving, body: body ?? []) }.value
        let response = TransportResponse(response: answer.response, body: answer.body)
        switch fault {
        case .loseAnswer?: throw TransportError(.timeout, "the answer was lost")
        case .change(let change)?, .instead(_, let change)?: return change(response)
        case .delay(let meanwhile)?:
            try await meanwhile()
            return response
        default: return response
        }
    }
}
