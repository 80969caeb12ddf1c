import HTTPTypes
import Synchronization
import Tideline
import TidelineServer
import TidelineStore

/// A transport to a table service in the same process, with faults before or after the service has a request.
final class FaultyTransport<ServerStore: LocalStore>: Transport {
    /// The fault of one request.
    enum Fault: Sendable {
        /// The request never reaches the server.
        case loseRequest
        /// The server executes the request, but its answer is lost.
        case loseAnswer
        /// The request never reaches the server; it fails with the given error.
        case fail(any Error)
        /// The client receives this answer, and the server receives nothing.
        case answer(TransportResponse)
        /// The server executes the request; its answer is changed in transit.
        case change(@Sendable (TransportResponse) -> TransportResponse)
        /// The server executes the request; the closure runs before its answer arrives.
        case delay(@Sendable () async throws -> Void)
        /// The server receives another request instead; its answer is changed in transit.
        case instead(HTTPRequest, @Sendable (TransportResponse) -> TransportResponse)
    }

    typealias Inspector = @Sendable (HTTPRequest, String) async -> Fault?

    private struct State {
        var requests: [String] = []
        var sent: [(request: HTTPRequest, body: String)] = []
        var signalRequests: [String] = []
        var signal: ChangeSignal<ServerStore>?
        var inspector: Inspector?
    }

    private let service: TableService<ServerStore>
    private let executor: (any TaskExecutor)?
    private let state = Mutex(State())

    /// - Parameter executor: The executor of the server, or `nil` for the default executor.
    init(service: TableService<ServerStore>, executor: (any TaskExecutor)? = nil) {
        self.service = service
        self.executor = executor
    }

    /// The method and path of every request for the change signal, in order. They are not among the others.
    var signalRequests: [String] { state.withLock { $0.signalRequests } }

    /// Lets the server answer requests for its change signal, or answer that it has none.
    func setSignal(_ signal: ChangeSignal<ServerStore>?) { state.withLock { $0.signal = signal } }

    /// The method and path of every request, in order.
    var requests: [String] { state.withLock { $0.requests } }

    /// Every request with its body, in order.
    var sent: [(request: HTTPRequest, body: String)] { state.withLock { $0.sent } }

    /// Removes the recorded requests.
    func clear() { state.withLock { ($0.requests, $0.sent, $0.signalRequests) = ([], [], []) } }

    /// Sets a closure that receives every request first and returns its fault. It can also act during an exchange.
    func inspect(_ inspector: Inspector?) { state.withLock { $0.inspector = inspector } }

    func send(_ request: HTTPRequest, body: [UInt8]?, timeout: Duration) async throws -> TransportResponse {
        if ChangeSignal<ServerStore>.handles(request) { return try await listen(request) }
        let text = String(decoding: body ?? [], as: UTF8.self)
        let inspector = state.withLock { state in
            state.requests.append("\(request.method) \(request.path ?? "")")
            state.sent.append((request, text))
            return state.inspector
        }
        let fault = await inspector?(request, text)
        if case .loseRequest? = fault { throw TransportError(.connection, "the request was lost") }
        if case .fail(let error)? = fault { throw error }
        if case .answer(let answer)? = fault { return answer }
        var arriving = request
        if case .instead(let other, _)? = fault { arriving = other }
        // The server does not know that the client's task was canceled.
        let answer = await Task.detached(executorPreference: executor) { [service, arriving] in
            service.handle(arriving, body: body ?? [])
        }.value
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

    /// Sends a request for the change signal, which ends if the client's task is canceled.
    private func listen(_ request: HTTPRequest) async throws -> TransportResponse {
        let (signal, inspector) = state.withLock { state in
            state.signalRequests.append("\(request.method) \(request.path ?? "")")
            return (state.signal, state.inspector)
        }
        guard let signal else { return .answer(404, "") }
        switch await inspector?(request, "") {
        case .loseRequest?: throw TransportError(.connection, "the request was lost")
        case .fail(let error)?: throw error
        case .answer(let answer)?: return answer
        case .delay(let meanwhile)?: try await meanwhile()
        default: break
        }
        guard case .answer(let answer) = await signal.respond(to: request) else { return .answer(500, "") }
        if Task.isCancelled { throw TransportError(.cancelled, "the request was cancelled") }
        return TransportResponse(response: answer.response, body: answer.body)
    }
}
