internal import NIOCore
internal import Tideline

/// Ends an exchange whose answer has more bytes on the wire than any answer that is accepted.
///
/// The body is counted where it is read. What surrounds it is counted here: NIO's decoder takes in a status line of any
/// length, and an informational answer after another.
final class AnswerSizeLimit: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let maximumBodySize: Int
    /// The length on the wire that is accepted: chunks may frame a body with as many bytes again, and a head has up to
    /// 2 MiB.
    private let limit: Int
    /// Bytes that came since the last request was written.
    private var received = 0

    init(maximumBodySize: Int) {
        self.maximumBodySize = maximumBodySize
        limit = min(maximumBodySize, 1 << 60) * 2 + (2 << 20)
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
