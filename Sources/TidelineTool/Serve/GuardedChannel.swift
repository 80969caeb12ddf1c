internal import Foundation
internal import HTTPTypes
internal import HummingbirdCore
internal import Logging
internal import NIOCore

/// An HTTP/1.1 connection with a ``ConnectionGuard``.
struct GuardedChannel: ServerChildChannel {
    typealias Value = HTTP1Channel.Value

    private let http: HTTP1Channel

    init(limits: ServerLimits, responder: @escaping HTTPChannelHandler.Responder) {
        var configuration = HTTP1Channel.Configuration(additionalChannelHandlers: [ConnectionGuard(limits: limits)])
        configuration.httpDecoder.maxHeaderFieldSize = ServerLimits.maximumHeaderSize
        configuration.httpDecoder.maxHeaderListSize = ServerLimits.maximumHeaderSize
        http = HTTP1Channel(responder: responder, configuration: configuration)
    }

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Value> {
        channel.eventLoop
            .makeCompletedFuture { try channel.pipeline.syncOperations.addHandler(ByteGate()) }
            .flatMap { http.setup(channel: channel, logger: logger) }
    }

    func handle(value: Value, logger: Logger) async { await http.handle(value: value, logger: logger) }
}

/// The response to a request that does not reach the table service: `{"error": "…"}`.
struct ErrorAnswer {
    var head: HTTPResponse
    let body: ByteBuffer

    init(_ status: HTTPResponse.Status, _ message: String) {
        // Encoding a dictionary of strings never fails.
        let json = (try? JSONEncoder().encode(["error": message])) ?? Data()
        body = ByteBuffer(bytes: json)
        head = HTTPResponse(
            status: status, headerFields: [.contentType: "application/json", .contentLength: "\(json.count)"])
        if status == .serviceUnavailable { head.headerFields[.retryAfter] = "1" }
    }
}
