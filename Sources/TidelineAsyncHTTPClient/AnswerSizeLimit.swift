#if AsyncHTTPClient
internal import NIOCore
internal import Tideline

/// Ends an exchange whose response has more bytes on the wire than any acceptable response.
///
/// The body is counted where it is read. This handler counts everything else: NIO's decoder accepts a status line of
/// any length, and any number of informational responses.
final class AnswerSizeLimit: ChannelDuplexHandler {
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
#endif
