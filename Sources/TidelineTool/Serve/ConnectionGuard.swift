#if Serve
internal import Foundation
internal import HTTPTypes
internal import NIOCore
internal import NIOHTTP1
internal import NIOHTTP2
internal import NIOHTTPTypes

/// Closes a connection whose client is idle or too slow, or when the server stops, and answers invalid requests with
/// the reason.
///
/// A stream of HTTP/2 is guarded as a connection with one request.
///
/// The handler is between the parser and ``RequestHandler``, which does not wait and receives only valid requests.
final class ConnectionGuard: ChannelDuplexHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    private let limits: ServerLimits
    private let isStream: Bool
    private var state: ConnectionState
    private var timer: (at: NIODeadline, task: Scheduled<Void>)?
    private var isOver = false

    /// The error that the next handler receives for a request that the guard refused.
    struct RequestRefused: Error {}

    init(limits: ServerLimits, isStream: Bool = false) {
        self.limits = limits
        self.isStream = isStream
        state = ConnectionState(limits: limits, now: .now())
    }

    func handlerAdded(context: ChannelHandlerContext) { setTimer(context) }

    func handlerRemoved(context: ChannelHandlerContext) { end() }

    func channelInactive(context: ChannelHandlerContext) {
        end()
        context.fireChannelInactive()
    }

    // MARK: Requests

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !state.ignoresRequests else { return }
        switch unwrapInboundIn(data) {
        case .head(let head):
            // The parser stops permanently at a request to change the protocol, so no other request can follow.
            let endsConnection =
                isStream || head.method == .connect || head.headerFields[.upgrade] != nil
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
        case ChannelEvent.inputClosed:
            context.fireUserInboundEventTriggered(event)
            stop(context)
        case is ChannelShouldQuiesceEvent:
            if state.isWithinRequest, state.canRefuse {
                refuse(.unavailable("the server stopped before the request was complete; send it again"), context)
            }
            stop(context)
        default: context.fireUserInboundEventTriggered(event)
        }
    }

    /// Closes the connection after the responses that are due.
    private func stop(_ context: ChannelHandlerContext) {
        state.stop()
        if !state.isResponseDue { context.close(promise: nil) }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        switch error {
        case HTTPParserError.headerOverflow:
            refuse(
                .requestHeaderFieldsTooLarge,
                "the headers are larger than \(ServerLimits.maximumHeaderSize) bytes", context)
        case HTTPParserError.invalidMethod:
            refuse(.badRequest, "the request method is unknown", context)
        case let error as HTTPParserError:
            refuse(.badRequest, "this is not a valid HTTP/1.1 request: \(error.debugDescription)", context)
        case is IOError, is ChannelError, is NIOHTTP2Errors.StreamClosed: context.fireErrorCaught(error)
        default: refuse(.badRequest, "this is not a valid HTTP/\(isStream ? "2" : "1.1") request: \(error)", context)
        }
    }

    // MARK: Responses

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        guard !state.isClosing else {
            promise?.fail(ChannelError.ioOnClosedChannel)
            return
        }
        switch unwrapOutboundIn(data) {
        case .head(let head) where head.status.kind == .informational: context.write(data, promise: promise)
        case .head(var head):
            state.answerBegan(endsConnection: head.headerFields[.connection] == "close")
            if state.endsWithAnswer, !isStream { head.headerFields[.connection] = "close" }
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

    private func refuse(_ status: HTTPResponse.Status, _ message: String, _ context: ChannelHandlerContext) {
        refuse(ServerResponse(status, message), context)
    }

    /// Responds to a request that the next handler does not receive in full, and closes the connection.
    private func refuse(_ response: ServerResponse, _ context: ChannelHandlerContext) {
        guard !state.isClosing else { return }
        guard state.canRefuse else { return stop(context) }
        var head = response.head
        if !isStream { head.headerFields[.connection] = "close" }
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        if case .bytes(let bytes) = response.body { context.write(wrapOutboundOut(.body(bytes)), promise: nil) }
        context.write(wrapOutboundOut(.end(nil)), promise: nil)
        close(context)
        context.fireErrorCaught(RequestRefused())
    }

    /// Closes the output, and continues to read for a short time. Closing a connection with unread bytes would reset
    /// it, and the client would lose the response.
    private func close(_ context: ChannelHandlerContext) {
        state.closing(.now())
        context.flush()
        // A stream closes when both sides have ended it.
        if !isStream {
            context.close(mode: .output, promise: nil)
            context.triggerUserOutboundEvent(ByteGate.Event.discard, promise: nil)
        }
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
        guard let wait = state.wait, wait.until <= .now() else { return setTimer(context) }
        switch wait.then {
        case .close: context.close(promise: nil)
        case .refuse(let reason): refuse(.requestTimeout, reason, context)
        }
    }
}

/// Marks the last request of an HTTP/1 connection with the header `Connection: close`, for ``ConnectionGuard``: also
/// one that lists `close` among others, and each request of HTTP/1.0, which knows no interim responses either.
///
/// Reports a request of HTTP/1.1 whose host is not certain as invalid: one without the header Host, or with several.
final class LastRequestMarker: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart

    private struct UncertainHost: Error, CustomStringConvertible {
        let count: Int
        var description: String { "it has \(count == 0 ? "no header" : "\(count) headers") Host instead of one" }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard case .head(var head) = unwrapInboundIn(data) else { return context.fireChannelRead(data) }
        let hosts = head.headers["Host"].count
        guard hosts == 1 || hosts == 0 && head.version == .http1_0 else {
            return context.fireErrorCaught(UncertainHost(count: hosts))
        }
        guard !head.isKeepAlive else { return context.fireChannelRead(data) }
        head.headers.replaceOrAdd(name: "Connection", value: "close")
        if head.version == .http1_0 { head.headers.remove(name: "Expect") }
        context.fireChannelRead(wrapInboundOut(.head(head)))
    }
}

/// Reports when bytes arrive, and discards them once a connection is closing. Precedes the parser in the pipeline.
final class ByteGate: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    enum Event: Sendable {
        /// Sent to the guard: the client has sent bytes.
        case bytesArrived
        /// Sent by the guard: discard all further bytes from the client.
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
        guard case Event.discard = event else { return context.triggerUserOutboundEvent(event, promise: promise) }
        isDiscarding = true
        context.read()
        promise?.succeed()
    }
}
#endif
