internal import HTTPTypes
internal import Synchronization
internal import TidelineWire

/// Sends the requests of several operations in one HTTP request, for a dialect with batches.
///
/// A batch is sent when it is full, or when no operation of the push can add to it: each one waits for a response, has
/// ended, or pauses. One of the operations that wait sends it. Each response is then treated as that of a request
/// alone.
final class RequestBatches: Sendable {
    private struct Entry: Sendable {
        let call: ServerCall
        let continuation: CheckedContinuation<Turn, Never>
    }

    /// The end of the wait of an operation.
    private enum Turn: Sendable {
        case response(Result<TransportResponse, any Error>)
        /// The operation, whose request is the first, sends the batch.
        case lead([Entry])
    }

    private struct State {
        /// The number of operations that may add a request before they wait.
        var active = 0
        var waiting: [Entry] = []
        /// The greatest number of requests in a batch.
        var maximum: Int
        var idle: CheckedContinuation<Void, Never>?
    }

    private let state: Mutex<State>
    private let make: @Sendable ([WireRequest]) throws -> WireRequest
    private let divide: @Sendable (TransportResponse, [WireRequest]) throws -> [TransportResponse]

    /// - Parameters:
    ///   - maximum: The greatest number of requests in a batch.
    ///   - make: Returns one request for several.
    ///   - divide: Returns one response for each request, from that to a batch.
    init(
        maximum: Int, make: @escaping @Sendable ([WireRequest]) throws -> WireRequest,
        divide: @escaping @Sendable (TransportResponse, [WireRequest]) throws -> [TransportResponse]
    ) {
        state = Mutex(State(maximum: maximum))
        (self.make, self.divide) = (make, divide)
    }

    /// Notes operations that may add requests.
    func enter(_ count: Int = 1) { state.withLock { $0.active += count } }

    /// Notes that an operation has ended, pauses, or waits for something else.
    func leave() { advance { $0.active -= 1 } }

    /// Waits until all operations have ended or pause.
    func waitUntilIdle() async {
        await withCheckedContinuation { continuation in advance { $0.idle = continuation } }
    }

    /// Sends a request with others, and returns its response. The caller must have entered.
    ///
    /// - Parameter transmit: Sends a request.
    func send(
        _ call: ServerCall, by transmit: (WireRequest) async throws -> TransportResponse
    ) async throws -> TransportResponse {
        let turn = await withCheckedContinuation { continuation in
            advance { state in
                state.active -= 1
                state.waiting.append(Entry(call: call, continuation: continuation))
            }
        }
        switch turn {
        case .response(let response): return try response.get()
        case .lead(let batch):
            let responses = await responses(to: batch.map(\.call), by: transmit)
            enter(batch.count - 1)
            for (entry, response) in zip(batch, responses).dropFirst() {
                entry.continuation.resume(returning: .response(response))
            }
            return try responses[0].get()
        }
    }

    /// Changes the state, and lets an operation send a batch if it is time, or ends the wait for all to end.
    private func advance(_ change: (inout State) -> Void) {
        let (batch, idle) = state.withLock { state -> ([Entry], CheckedContinuation<Void, Never>?) in
            change(&state)
            guard state.active == 0 || state.waiting.count >= state.maximum else { return ([], nil) }
            guard !state.waiting.isEmpty else { return ([], state.idle.take()) }
            let batch = Array(state.waiting.prefix(state.maximum))
            state.waiting.removeFirst(batch.count)
            state.active += 1
            return (batch, nil)
        }
        batch.first?.continuation.resume(returning: .lead(batch))
        idle?.resume()
    }

    /// Returns one response for each request. A failure of the whole batch, such as that of a gateway, is the response
    /// to each. If the server refuses the batch, because it takes smaller ones or none, each request is sent alone, and
    /// so are later ones.
    private func responses(
        to calls: [ServerCall], by transmit: (WireRequest) async throws -> TransportResponse
    ) async -> [Result<TransportResponse, any Error>] {
        let requests = calls.map(\.request)
        let whole = await Self.result { try await transmit(requests.count == 1 ? requests[0] : make(requests)) }
        guard requests.count > 1, case .success(let response) = whole else { return requests.map { _ in whole } }
        // A web page is recognized as such in the response to each.
        if response.response.status.kind == .successful, !ErrorBody.isPage(response.body) {
            return divided(response, among: calls)
        }
        // 401 is about the user. After the others, the server asks for the same request again.
        guard response.response.status.kind == .clientError,
            ![401, 407, 408, 425, 429].contains(response.response.status.code)
        else { return requests.map { _ in whole } }
        state.withLock { $0.maximum = 1 }
        var responses: [Result<TransportResponse, any Error>] = []
        for request in requests { responses.append(await Self.result { try await transmit(request) }) }
        return responses
    }

    /// Returns one response for each request from the success of a batch. If it cannot be divided, a failure that the
    /// service reports in it, such as an expired sign-in, is the response to each; anything else says nothing about any
    /// of them.
    private func divided(
        _ response: TransportResponse, among calls: [ServerCall]
    ) -> [Result<TransportResponse, any Error>] {
        let parts = Result { try divide(response, calls.map(\.request)) }
        if let all = try? parts.get(), all.count == calls.count { return all.map { .success($0) } }
        var error = SyncError(
            .network, "the response to a batch of changes cannot be divided", status: response.response.status.code)
        error.isFromOther = true
        if case .failure(let cause) = parts { error.cause = cause }
        return calls.map { call -> Result<TransportResponse, any Error> in
            guard call.mark(response) == true, (try? call.meaning(response))?.kind != .done else {
                return .failure(error)
            }
            return .success(response)
        }
    }

    private static func result(
        _ transmit: () async throws -> TransportResponse
    ) async -> Result<TransportResponse, any Error> {
        do { return .success(try await transmit()) } catch { return .failure(error) }
    }
}
