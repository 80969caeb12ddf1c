internal import Foundation
internal import HTTPTypes
internal import NIOCore
internal import NIOHTTP1
internal import NIOHTTPTypes

/// Ends a connection whose client is idle or too slow, and answers what is no request with the reason.
///
/// It stands between the parser and the framework, so that neither a request that never ends nor one that cannot be
/// parsed reaches the framework, which would wait for the first and answer the second without a word.
final class ConnectionGuard: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    private let limits: ServerLimits
    private var state: ConnectionState
    private var timer: (at: NIODeadline, task: Scheduled<Void>)?
    private var isOver = false

    /// What the framework's task gets to see of a request that was refused here.
    struct RequestRefused: Error {}

    init(limits: ServerLimits) {
        self.limits = limits
        state = ConnectionState(limits: limits, now: .now())
    }

    func handlerAdded(context: ChannelHandlerContext) { setTimer(context) }

    func handlerRemoved(context: ChannelHandlerContext) { end() }

    func channelInactive(context: ChannelHandlerContext) {
        end()
        // To the framework, the end of a connection is that of the body: a request cut short would be carried out.
        if state.isWithinRequest { context.fireErrorCaught(RequestRefused()) }
        context.fireChannelInactive()
    }

    // MARK: Requests

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !state.isClosing else { return }
        switch unwrapInboundIn(data) {
        case .head(let head):
            // The parser stops for good at a request to change the protocol; no other could follow.
            let endsConnection =
                head.method == .connect || head.headerFields[.upgrade] != nil
                || head.headerFields[.connection]?.lowercased() == "close"
            state.headArrived(.now(), endsConnection: endsConnection)
        case .body: break
        case .end: state.requestEnded(.now())
        }
        setTimer(context)
        context.fireChannelRead(data)
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event {
        case ByteGate.Event.bytesArrived:
            state.bytesArrived(.now())
            setTimer(context)
        case ChannelEvent.inputClosed where state.isClosing: context.close(promise: nil)
        default: context.fireUserInboundEventTriggered(event)
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        switch error {
        case HTTPParserError.headerOverflow:
            refuse(
                .requestHeaderFieldsTooLarge,
                "the headers are larger than \(ServerLimits.maximumHeaderSize) bytes", context)
        case HTTPParserError.invalidMethod:
            refuse(.badRequest, "the method of the request is unknown", context)
        case let error as HTTPParserError:
            refuse(.badRequest, "this is not a request of HTTP/1.1: \(error.debugDescription)", context)
        case is IOError, is ChannelError: context.fireErrorCaught(error)
        default: refuse(.badRequest, "this is not a request of HTTP/1.1: \(error)", context)
        }
    }

    // MARK: Answers

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        guard !state.isClosing else {
            promise?.fail(ChannelError.ioOnClosedChannel)
            return
        }
        switch unwrapOutboundIn(data) {
        case .head(var head):
            state.answerBegan(endsConnection: head.headerFields[.connection] == "close")
            if state.endsWithAnswer { head.headerFields[.connection] = "close" }
            writePart(.head(head), promise, context)
        case .body(let bytes): writePart(.body(bytes), promise, context)
        case .end(let trailers):
            writePart(.end(trailers), promise, context)
            let isLast = state.endsWithAnswer
            state.answerEnded(.now())
            if isLast { close(context) }
        }
        setTimer(context)
    }

    private func writePart(
        _ part: HTTPResponsePart, _ promise: EventLoopPromise<Void>?, _ context: ChannelHandlerContext
    ) {
        let written = promise ?? context.eventLoop.makePromise(of: Void.self)
        state.partWritten(.now())
        written.futureResult.assumeIsolated().whenComplete { _ in
            self.state.partTaken(.now())
            self.setTimer(context)
        }
        context.write(wrapOutboundOut(part), promise: written)
    }

    /// The framework closes a connection whose request was refused at once; here it ends when its answer is read.
    func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
        guard state.isClosing else {
            context.close(mode: mode, promise: promise)
            return
        }
        if mode == .all { context.channel.closeFuture.cascade(to: promise) } else { promise?.succeed() }
    }

    /// Answers in place of the framework, and ends the connection.
    private func refuse(_ status: HTTPResponse.Status, _ message: String, _ context: ChannelHandlerContext) {
        guard !state.isClosing else { return }
        guard state.canRefuse else {
            context.close(promise: nil)
            return
        }
        var answer = ErrorAnswer(status, message)
        answer.head.headerFields[.connection] = "close"
        context.write(wrapOutboundOut(.head(answer.head)), promise: nil)
        context.write(wrapOutboundOut(.body(answer.body)), promise: nil)
        context.write(wrapOutboundOut(.end(nil)), promise: nil)
        close(context)
        context.fireErrorCaught(RequestRefused())
    }

    /// Says that nothing more comes, and goes on reading for a moment: a connection closed over bytes that were not
    /// read is reset, and the answer lost.
    private func close(_ context: ChannelHandlerContext) {
        state.closing(.now())
        context.flush()
        context.close(mode: .output, promise: nil)
        context.triggerUserOutboundEvent(ByteGate.Event.discard, promise: nil)
        setTimer(context)
    }

    // MARK: Time

    private func setTimer(_ context: ChannelHandlerContext) {
        guard !isOver, let wait = state.wait, timer.map({ wait.until < $0.at }) ?? true else { return }
        timer?.task.cancel()
        let task = context.eventLoop.assumeIsolated().scheduleTask(deadline: wait.until) {
            self.timer = nil
            self.timePassed(context)
        }
        timer = (wait.until, task)
    }

    private func end() {
        isOver = true
        timer?.task.cancel()
        timer = nil
    }

    private func timePassed(_ context: ChannelHandlerContext) {
        guard let wait = state.wait, wait.until <= .now() else {
            setTimer(context)
            return
        }
        switch wait.then {
        case .close: context.close(promise: nil)
        case .refuse(let reason): refuse(.requestTimeout, reason, context)
        }
    }
}

/// Stands before the parser: says when bytes arrive, and drops them once a connection is closing.
final class ByteGate: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    enum Event: Sendable {
        /// To the guard: the client has sent something.
        case bytesArrived
        /// From the guard: what the client sends is of no interest any more.
        case discard
    }

    private var isDiscarding = false

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isDiscarding else { return }
        context.fireUserInboundEventTriggered(Event.bytesArrived)
        context.fireChannelRead(data)
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        if isDiscarding { context.read() }
        context.fireChannelReadComplete()
    }

    func triggerUserOutboundEvent(context: ChannelHandlerContext, event: Any, promise: EventLoopPromise<Void>?) {
        guard case Event.discard = event else {
            context.triggerUserOutboundEvent(event, promise: promise)
            return
        }
        isDiscarding = true
        context.read()
        promise?.succeed()
    }
}
