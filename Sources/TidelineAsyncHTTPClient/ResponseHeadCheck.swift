#if AsyncHTTPClient
internal import AsyncHTTPClient
internal import NIOCore
internal import NIOHTTP1
internal import NIOHTTP2
internal import NIOHTTPCompression
internal import Tideline

extension HTTPClient.Configuration {
    /// Adds the checks of responses to each connection, after the initializers that the configuration has.
    ///
    /// The initializers for debugging are the only way to add handlers to the connections of async-http-client.
    mutating func checkResponses(maximumBodySize: Int) {
        let (initialize, initializeStream) = (http1_1ConnectionDebugInitializer, http2StreamChannelDebugInitializer)
        http1_1ConnectionDebugInitializer = { channel in
            let own = initialize?(channel) ?? channel.eventLoop.makeSucceededVoidFuture()
            return own.flatMapThrowing {
                let limit = AnswerSizeLimit(maximumBodySize: maximumBodySize)
                try channel.pipeline.syncOperations.addHandler(limit, position: .first)
                try channel.addHeadCheck()
            }
        }
        http2StreamChannelDebugInitializer = { stream in
            let own = initializeStream?(stream) ?? stream.eventLoop.makeSucceededVoidFuture()
            return own.flatMapThrowing {
                try stream.pipeline.syncOperations.addHandler(HTTP2StatusCheck(), position: .first)
                try stream.addHeadCheck()
            }
        }
    }
}

extension Channel {
    fileprivate func addHeadCheck() throws {
        let pipeline = pipeline.syncOperations
        let decompressor = try pipeline.handler(type: NIOHTTPResponseDecompressor.self)
        try pipeline.addHandler(ResponseHeadCheck(), position: .before(decompressor))
    }
}

extension TransportError {
    fileprivate static func invalid(status: some CustomStringConvertible) -> TransportError {
        TransportError(.invalidResponse, "the response has the invalid status \"\(status)\"")
    }
}

/// Ends an exchange whose response has more bytes on the wire than any acceptable response.
///
/// The body is counted where it is read. This handler counts everything else: NIO's decoder accepts a status line of
/// any length, and any number of informational responses.
private final class AnswerSizeLimit: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let maximumBodySize: Int
    /// The maximum length on the wire: the body size twice, because chunk framing can double it, plus up to 2 MiB for
    /// the head.
    private let limit: Int
    /// The number of bytes received since the last request was written.
    private var received = 0

    init(maximumBodySize: Int) {
        self.maximumBodySize = maximumBodySize
        limit = min(maximumBodySize, .max / 4) * 2 + (2 << 20)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        received = 0
        context.write(data, promise: promise)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        received += unwrapInboundIn(data).readableBytes
        guard received > limit else { return context.fireChannelRead(data) }
        context.fireErrorCaught(TransportError.tooLarge(limit: maximumBodySize))
        context.close(promise: nil)
    }
}

/// Passes on the final head of each response, as the handlers behind it need it.
///
/// - A status for which there is no final response is an error. After one below 100, async-http-client ends the
///   process, and after 101 with HTTP/2 too.
/// - Informational heads are dropped. The decompressor would take their encoding for that of the response.
/// - A response without a body has no encoding. Servers that compress may name one, and the decompressor would report
///   the body as truncated.
private final class ResponseHeadCheck: ChannelDuplexHandler {
    typealias InboundIn = HTTPClientResponsePart
    typealias InboundOut = HTTPClientResponsePart
    typealias OutboundIn = HTTPClientRequestPart
    typealias OutboundOut = HTTPClientRequestPart

    /// The method of the last request.
    private var method = HTTPMethod.GET

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        if case .head(let head) = unwrapOutboundIn(data) { method = head.method }
        context.write(data, promise: promise)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard case .head(var head) = unwrapInboundIn(data) else { return context.fireChannelRead(data) }
        switch head.status.code {
        case 100, 102..<200: return
        case 200..<1000: break
        // async-http-client closes the connection or stream.
        default: return context.fireErrorCaught(TransportError.invalid(status: head.status.code))
        }
        if method == .HEAD || [204, 304].contains(head.status.code) || head.headers["content-length"] == ["0"] {
            head.headers.remove(name: "content-encoding")
        }
        context.fireChannelRead(wrapInboundOut(.head(head)))
    }
}

/// Refuses a response of HTTP/2 whose status does not consist of three digits.
///
/// NIO ends the process when it converts a negative or an empty one, and takes all that begin with 1 as informational.
private final class HTTP2StatusCheck: ChannelInboundHandler {
    typealias InboundIn = HTTP2Frame.FramePayload
    typealias InboundOut = HTTP2Frame.FramePayload

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        // Trailers have no status.
        if case .headers(let block) = unwrapInboundIn(data), let status = block.headers.first(name: ":status"),
            status.utf8.count != 3 || !status.utf8.allSatisfy({ (0x30...0x39).contains($0) })
        {
            return context.fireErrorCaught(TransportError.invalid(status: status))
        }
        context.fireChannelRead(data)
    }
}
#endif
