internal import HTTPTypes
internal import Tideline

/// The network between one process and the server.
struct SimulatedTransport: Transport {
    let device: Int
    let generation: Generation
    let run: WorldRun

    func send(_ request: HTTPRequest, body: [UInt8]?, timeout: Duration) async throws -> TransportResponse {
        try generation.pass()
        let response = try await run.exchange(request, body ?? [], from: device, timeout: timeout)
        try generation.pass()
        return response
    }
}
