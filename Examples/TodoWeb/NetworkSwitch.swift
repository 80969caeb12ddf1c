#if Tool
internal import HTTPTypes
internal import Synchronization
internal import Tideline

/// A network that can be switched off, as a transport and as the monitor that reports when it is back.
///
/// A response that arrives after the network was switched off is lost, as it is in a tunnel.
final class NetworkSwitch: Transport, ConnectivityMonitor {
    private let network: any Transport
    private let state = Mutex((isOn: true, listeners: [AsyncStream<Bool>.Continuation]()))

    init(_ network: any Transport) { self.network = network }

    var isOn: Bool {
        get { state.withLock { $0.isOn } }
        set {
            state.withLock { state in
                state.isOn = newValue
                for listener in state.listeners { listener.yield(newValue) }
            }
        }
    }

    func reports() -> AsyncStream<Bool> {
        let (reports, listener) = AsyncStream.makeStream(of: Bool.self, bufferingPolicy: .bufferingNewest(1))
        state.withLock { $0.listeners.append(listener) }
        return reports
    }

    func send(_ request: HTTPRequest, body: [UInt8]?, timeout: Duration) async throws -> TransportResponse {
        try requireNetwork()
        let response = try await network.send(request, body: body, timeout: timeout)
        try requireNetwork()
        return response
    }

    private func requireNetwork() throws {
        guard isOn else { throw TransportError(.connection, "the network of this client is switched off") }
    }
}
#endif
