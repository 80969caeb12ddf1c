#if Serve
internal import NIOCore
internal import NIOHTTP2

/// Closes an HTTP/2 connection that is idle, or when the server stops, after the streams that are open.
///
/// It follows the protocol handler in the pipeline of the connection. Each stream has a ``ConnectionGuard`` of its own.
final class StreamsGuard: ChannelInboundHandler {
    typealias InboundIn = HTTP2Frame
    typealias OutboundOut = HTTP2Frame

    /// Informs the guard of the streams.
    struct Delegate: NIOHTTP2StreamDelegate {
        fileprivate let connection: NIOLoopBound<StreamsGuard>

        func streamCreated(_ id: HTTP2StreamID, channel: any Channel) { connection.value.opened(id) }
        func streamClosed(_ id: HTTP2StreamID, channel: any Channel) { connection.value.closed() }
    }

    private let limits: ServerLimits
    private let eventLoop: any EventLoop
    private var context: ChannelHandlerContext?
    private var streamCount = 0
    private var latest = HTTP2StreamID.rootStream
    /// Ends the connection if it is idle until then or, after ``stop()``, when requests that were sent before the
    /// client knew have arrived.
    private var timer: Scheduled<Void>?
    private var isStopping = false
    /// Whether the client may open no further stream.
    private var isLast = false

    /// How long a client may open streams after it was asked not to: the request may be on its way.
    private static let lingering = Duration.seconds(1)

    init(limits: ServerLimits, eventLoop: any EventLoop) {
        self.limits = limits
        self.eventLoop = eventLoop
    }

    var delegate: Delegate { Delegate(connection: NIOLoopBound(self, eventLoop: eventLoop)) }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        setTimer(limits.idleTimeout) { self.stop() }
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        timer?.cancel()
        self.context = nil
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event {
        // The guards of the streams receive it, too.
        case is ChannelShouldQuiesceEvent: stop()
        case ChannelEvent.inputClosed: context.close(promise: nil)
        default: context.fireUserInboundEventTriggered(event)
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        // An error of one stream does not concern the others, and reaches the handlers of that stream.
        if !(error is NIOHTTP2Errors.StreamError) { context.close(promise: nil) }
    }

    // MARK: Streams

    private func opened(_ id: HTTP2StreamID) {
        streamCount += 1
        latest = max(latest, id)
        if !isStopping { timer?.cancel() }
    }

    private func closed() {
        streamCount -= 1
        guard streamCount == 0 else { return }
        if !isStopping { return setTimer(limits.idleTimeout) { self.stop() } }
        // The end of the last response is not flushed yet.
        if isLast { eventLoop.assumeIsolated().execute { self.context?.close(promise: nil) } }
    }

    /// Asks the client to open no further streams, and closes the connection when no stream is open.
    private func stop() {
        guard !isStopping else { return }
        isStopping = true
        goAway(after: .maxID)
        setTimer(Self.lingering) {
            self.isLast = true
            self.goAway(after: self.latest)
            if self.streamCount == 0 { self.context?.close(promise: nil) }
        }
    }

    private func goAway(after stream: HTTP2StreamID) {
        guard let context else { return }
        let payload = HTTP2Frame.FramePayload.goAway(lastStreamID: stream, errorCode: .noError, opaqueData: nil)
        context.writeAndFlush(wrapOutboundOut(HTTP2Frame(streamID: .rootStream, payload: payload)), promise: nil)
    }

    private func setTimer(_ duration: Duration, _ body: @escaping () -> Void) {
        timer?.cancel()
        timer = eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(duration), body)
    }
}
#endif
