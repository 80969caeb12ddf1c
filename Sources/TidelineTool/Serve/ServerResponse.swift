#if Serve
internal import Foundation
internal import HTTPTypes
internal import NIOCore
internal import TidelineServer
internal import TidelineStore
internal import TidelineWire

/// A response to a request.
struct ServerResponse: Sendable {
    enum Body: Sendable {
        case bytes(ByteBuffer)
        /// A large body, of which pieces are written as the client receives them.
        case pieces([UInt8])
        /// Events that are sent as they occur.
        case events(ChangeEvents)
    }

    var head: HTTPResponse
    var body: Body
    /// The memory that is reserved for it, unless it is small.
    var memory: SharedBudget.Part?
    /// The place of a client that receives events.
    private(set) var place: WaitingPlace?

    /// The size of the pieces of a large body, so that progress shows whether the client receives it.
    static let pieceSize = 64 << 10

    private init(head: HTTPResponse, body: Body) {
        self.head = head
        self.body = body
    }

    init(_ answer: TableResponse) {
        head = answer.response
        head.headerFields[.contentLength] = String(answer.body.count)
        body = answer.body.count > Self.pieceSize ? .pieces(answer.body) : .bytes(ByteBuffer(bytes: answer.body))
    }

    init(_ response: ChangeResponse, to place: WaitingPlace) {
        switch response {
        case .answer(let answer): self.init(answer)
        case .events(let events):
            self.init(head: events.response, body: .events(events))
            self.place = place
        }
    }

    /// The size of the body in bytes.
    var size: Int {
        switch body {
        case .bytes(let bytes): bytes.readableBytes
        case .pieces(let bytes): bytes.count
        case .events: 0
        }
    }

    /// Creates a response with a page for operators.
    init(page text: String, type: String = "text/plain; charset=utf-8") {
        self.init(.ok, type: type, Array(text.utf8))
        head.headerFields[.cacheControl] = "no-store"
    }

    /// Creates a response with the body `{"error": "…"}`.
    init(_ status: HTTPResponse.Status, _ message: String) { self.init(status, object: ["error": message]) }

    init(_ status: HTTPResponse.Status, object: [String: String]) {
        // Encoding a dictionary of strings never fails.
        self.init(status, type: "application/json", (try? JSONEncoder().encode(object)).map { Array($0) } ?? [])
        if status == .serviceUnavailable || status == .tooManyRequests { head.headerFields[.retryAfter] = "1" }
    }

    private init(_ status: HTTPResponse.Status, type: String, _ bytes: [UInt8]) {
        let answer = TableResponse(
            response: HTTPResponse(status: status, headerFields: [.contentType: type, .date: HTTPDate.text(of: .now)]),
            body: bytes)
        self.init(answer)
    }

    /// Returns the response to a request that the server can accept later.
    static func unavailable(_ reason: String) -> ServerResponse { ServerResponse(.serviceUnavailable, reason) }

    /// Returns the response to a request whose sender must sign in.
    static func signInFailed(_ reason: String) -> ServerResponse {
        var response = ServerResponse(.unauthorized, reason)
        response.head.headerFields[.wwwAuthenticate] = "Bearer"
        return response
    }
}
#endif
