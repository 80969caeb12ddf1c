internal import Foundation
internal import HTTPTypes
internal import HummingbirdCore
internal import Logging
internal import NIOCore
internal import NIOSSL
internal import Synchronization

/// An HTTP/1.1 connection with a ``ConnectionGuard``.
struct GuardedChannel: ServerChildChannel {
    typealias Value = AcceptedConnection

    private let http: HTTP1Channel
    private let connections: ConnectionCounts
    private let tls: ServerIdentity?

    /// - Parameters:
    ///   - tls: The certificate of a server that speaks TLS, or `nil`.
    ///   - onShutdown: Called for each connection when a graceful shutdown begins.
    init(
        limits: ServerLimits, connections: ConnectionCounts, tls: ServerIdentity? = nil,
        responder: @escaping HTTPChannelHandler.Responder, onShutdown: @escaping @Sendable () -> Void = {}
    ) {
        self.connections = connections
        self.tls = tls
        var configuration = HTTP1Channel.Configuration(
            additionalChannelHandlers: [ConnectionGuard(limits: limits, onShutdown: onShutdown)])
        configuration.httpDecoder.maxHeaderFieldSize = ServerLimits.maximumHeaderSize
        configuration.httpDecoder.maxHeaderListSize = ServerLimits.maximumHeaderSize
        http = HTTP1Channel(responder: responder, configuration: configuration)
    }

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Value> {
        guard connections.admit(channel) else {
            channel.close(promise: nil)
            return channel.eventLoop.makeFailedFuture(ConnectionRefused())
        }
        return channel.eventLoop
            .makeCompletedFuture {
                if let tls { try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: tls.context)) }
                try channel.pipeline.syncOperations.addHandler(ByteGate())
            }
            .flatMap { http.setup(channel: channel, logger: logger) }
            .map(AcceptedConnection.init)
    }

    /// The connection exceeds a limit and is closed.
    private struct ConnectionRefused: Error {}

    func handle(value: Value, logger: Logger) async {
        if let connection = value.take() { await http.handle(value: connection, logger: logger) }
    }
}

/// A connection that is closed if the server stops before it handles the connection.
///
/// NIO ends the process when an asynchronous channel is discarded that was never executed.
final class AcceptedConnection: ServerChildChannelValue {
    let channel: any Channel
    private let connection: Mutex<HTTP1Channel.Value?>

    init(_ connection: HTTP1Channel.Value) {
        channel = connection.channel
        self.connection = Mutex(connection)
    }

    /// Returns the connection, which the caller then closes. Returns `nil` after the first call.
    func take() -> HTTP1Channel.Value? { connection.withLock { $0.take() } }

    deinit {
        guard let connection = take() else { return }
        Task { try await connection.executeThenClose { _, _ in } }
    }
}

/// The response to a request that does not reach the table service, by default `{"error": "…"}`.
struct ErrorAnswer {
    var head: HTTPResponse
    let body: ByteBuffer

    init(_ status: HTTPResponse.Status, _ message: String) { self.init(status, object: ["error": message]) }

    init(_ status: HTTPResponse.Status, object: [String: String]) {
        // Encoding a dictionary of strings never fails.
        let json = (try? JSONEncoder().encode(object)) ?? Data()
        body = ByteBuffer(bytes: json)
        head = HTTPResponse(
            status: status, headerFields: [.contentType: "application/json", .contentLength: "\(json.count)"])
        if status == .serviceUnavailable || status == .tooManyRequests { head.headerFields[.retryAfter] = "1" }
    }

    /// The reason for refusing a request that the server received in part when it stopped.
    static let stoppedMessage = "the server stopped before the request was complete; send it again"

    /// Returns the response to a request whose sender must sign in.
    static func signInFailed(_ reason: String) -> ErrorAnswer {
        var answer = ErrorAnswer(.unauthorized, reason)
        answer.head.headerFields[.wwwAuthenticate] = "Bearer"
        return answer
    }
}
