#if Serve
internal import NIOCore
internal import NIOHTTP1
internal import NIOHTTP2
internal import NIOHTTPTypesHTTP1
internal import NIOHTTPTypesHTTP2
internal import NIOSSL
internal import NIOTLS
internal import TidelineStore

/// The handlers of a connection, which depend on its protocol. The last two, ``ConnectionGuard`` and
/// ``RequestHandler``, are the same for a connection of HTTP/1.1 and a stream of HTTP/2.
extension TableServer {
    /// The connection exceeds a limit and is closed.
    private struct ConnectionRefused: Error {}

    /// Adds the handlers of a connection. With TLS, the client selects the protocol.
    func setUp(_ channel: any Channel, _ responder: TableResponder<some LocalStore>) -> EventLoopFuture<Void> {
        channel.eventLoop.makeCompletedFuture {
            guard connections.admit(channel) else { throw ConnectionRefused() }
            guard let identity else { return try speakHTTP1(channel, responder) }
            let tooLate = channel.eventLoop.scheduleTask(in: TimeAmount(limits.headerTimeout)) {
                channel.close(promise: nil)
            }
            channel.closeFuture.whenComplete { _ in tooLate.cancel() }
            let negotiation = ApplicationProtocolNegotiationHandler { result, channel in
                tooLate.cancel()
                return channel.eventLoop.makeCompletedFuture {
                    // A server that has stopped informs the connections that were open, but not those that had no
                    // protocol yet.
                    guard !connections.isStopped else { return channel.close(promise: nil) }
                    switch result {
                    case .negotiated(ServerIdentity.http2): try speakHTTP2(channel, responder)
                    case .negotiated, .fallback: try speakHTTP1(channel, responder)
                    }
                }
            }
            try channel.pipeline.syncOperations.addHandlers(
                NIOSSLServerHandler(context: identity.context), negotiation)
        }
    }

    private func speakHTTP1(_ channel: any Channel, _ responder: TableResponder<some LocalStore>) throws {
        var decoder = NIOHTTPDecoderLimitConfiguration()
        decoder.maxHeaderFieldSize = ServerLimits.maximumHeaderSize
        decoder.maxHeaderListSize = ServerLimits.maximumHeaderSize
        let pipeline = channel.pipeline.syncOperations
        try pipeline.addHandler(ByteGate())
        // The handlers after it order the requests, respond to invalid ones, and have valid headers.
        try pipeline.configureHTTPServerPipeline(
            withPipeliningAssistance: false, withErrorHandling: false, withOutboundHeaderValidation: false,
            withEncoderConfiguration: .init(), withDecoderLimitConfiguration: decoder)
        try pipeline.addHandler(LastRequestMarker())
        try pipeline.addHandler(HTTP1ToHTTPServerCodec(secure: false))
        try pipeline.addHandler(ConnectionGuard(limits: limits))
        try pipeline.addHandler(RequestHandler(responder))
    }

    private func speakHTTP2(_ channel: any Channel, _ responder: TableResponder<some LocalStore>) throws {
        var configuration = NIOHTTP2Handler.ConnectionConfiguration()
        configuration.initialSettings = [
            HTTP2Setting(parameter: .maxConcurrentStreams, value: ServerLimits.maximumStreams),
            HTTP2Setting(parameter: .maxHeaderListSize, value: ServerLimits.maximumHeaderSize),
        ]
        let connection = StreamsGuard(limits: limits, eventLoop: channel.eventLoop)
        let http2 = NIOHTTP2Handler(
            mode: .server, eventLoop: channel.eventLoop, connectionConfiguration: configuration,
            streamConfiguration: .init(), streamDelegate: connection.delegate
        ) { [limits] stream in
            stream.eventLoop.makeCompletedFuture {
                try stream.pipeline.syncOperations.addHandlers(
                    HTTP2FramePayloadToHTTPServerCodec(), ConnectionGuard(limits: limits, isStream: true),
                    RequestHandler(responder))
            }
        }
        try channel.pipeline.syncOperations.addHandlers(http2, connection)
    }
}
#endif
