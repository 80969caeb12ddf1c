#if Serve
internal import HTTPTypes
internal import NIOCore
internal import NIOHTTPTypes
internal import TidelineServer
internal import TidelineStore

/// Receives the requests of a connection, one after the other, and writes their responses.
///
/// It is the last handler of a connection, after ``ConnectionGuard``, which ends requests and connections that take too
/// long. A request takes no task, unless its sender is verified or it waits for changes.
final class RequestHandler<Store: LocalStore>: ChannelDuplexHandler {
    typealias InboundIn = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    private enum Phase {
        /// Waits for a request.
        case idle
        /// Waits for the decision whether the body of a request is received. The body waits meanwhile.
        case admitting
        case receiving(ReceivedRequest)
        /// Waits for the end of a request without a body, so that the connection stays open.
        case refused(ReceivedRequest, ServerResponse)
        /// The response is being made or sent. The next request waits meanwhile.
        case responding
        /// The connection closes.
        case over
    }

    private let responder: TableResponder<Store>
    private var phase = Phase.idle
    private var body: [UInt8] = []
    /// The sender of requests without a sign-in, from the first one on.
    private var client: Sharer?
    /// The sender of the request whose body is received.
    private var sharer = Sharer.server
    /// The parts that wait: no more than one read returns.
    private var parts = CircularBuffer<HTTPRequestPart>(initialCapacity: 1)
    private var isReadHeld = false
    private var isProcessing = false
    /// The rest of a response, which is written when the client has received what is before it.
    private var unwritten: SharedBudget.Part?
    private var isWriting = false
    /// Ends the wait of a request, for changes or for a thread, when its client goes away.
    private var cancel: (() -> Void)?

    init(_ responder: TableResponder<Store>) { self.responder = responder }

    // MARK: Events

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        parts.append(unwrapInboundIn(data))
        process(context)
    }

    /// Does not read while parts wait, which bounds their memory.
    func read(context: ChannelHandlerContext) {
        isReadHeld = !parts.isEmpty
        if !isReadHeld { context.read() }
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        writePieces(context)
        process(context)
        context.fireChannelWritabilityChanged()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        // The connection of a client that went away is half-closed until something is written.
        if case ChannelEvent.inputClosed = event { cancel?() }
        context.fireUserInboundEventTriggered(event)
    }

    func channelInactive(context: ChannelHandlerContext) {
        end()
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        end()
        // The guard answers the requests that it refuses, and closes their connections later.
        if !(error is ConnectionGuard.RequestRefused) { context.close(promise: nil) }
    }

    private func end() {
        switch phase {
        case .over: return
        // The body takes memory until its request was handled, also if nobody receives the response.
        case .responding: break
        case .idle, .admitting, .receiving, .refused: releaseBody()
        }
        phase = .over
        parts.removeAll()
        if let memory = unwritten { responder.responses.release(memory) }
        unwritten = nil
        // It can complete the request at once, whose response is not written now.
        cancel?()
    }

    private func releaseBody() {
        responder.bodies.release(body.count, for: sharer)
        body = []
    }

    // MARK: Requests

    private func process(_ context: ChannelHandlerContext) {
        guard !isProcessing else { return }
        isProcessing = true
        while let part = nextPart(context) {
            switch (phase, part) {
            case (.idle, .head(let head)):
                let client = client ?? Sharer(of: context.channel.remoteAddress)
                self.client = client
                sharer = client
                admit(ReceivedRequest(head, from: client), context)
            case (.receiving(let request), .body(let bytes)): receive(bytes, of: request, context)
            case (.receiving(let request), .end): respond(to: request, context)
            case (.refused(let request, let response), .end): respond(response, to: request, context)
            // The rest of a request whose response did not wait for it.
            default: break
            }
        }
        isProcessing = false
        guard isReadHeld, parts.isEmpty else { return }
        isReadHeld = false
        context.read()
    }

    /// Returns the next part unless it has to wait.
    private func nextPart(_ context: ChannelHandlerContext) -> HTTPRequestPart? {
        switch (phase, parts.first) {
        case (.admitting, _), (.responding, .head): nil
        // The responses of a client that sends requests without receiving would take any amount of memory.
        case (.idle, .head) where !context.channel.isWritable: nil
        default: parts.popFirst()
        }
    }

    private func admit(_ request: ReceivedRequest, _ context: ChannelHandlerContext) {
        phase = .admitting
        responder.admission(of: request, on: context.eventLoop).assumeIsolated().whenSuccess { admission in
            guard case .admitting = self.phase else { return }
            switch admission {
            case .refused(let response) where request.hasBody: self.respond(response, to: request, context)
            case .refused(let response): self.phase = .refused(request, response)
            case .admitted(let caller):
                var request = request
                request.caller = caller
                self.sharer = request.sharer
                if request.expectsContinue {
                    context.writeAndFlush(self.wrapOutboundOut(.head(HTTPResponse(status: .continue))), promise: nil)
                }
                self.phase = .receiving(request)
            }
            self.process(context)
        }
    }

    private func receive(_ bytes: ByteBuffer, of request: ReceivedRequest, _ context: ChannelHandlerContext) {
        guard responder.usesBody(of: request) else { return }
        if let refusal = responder.refusal(of: bytes.readableBytes, after: body.count, from: sharer) {
            releaseBody()
            respond(refusal, to: request, context)
        } else {
            body.append(contentsOf: bytes.readableBytesView)
        }
    }

    // MARK: Responses

    private func respond(to request: ReceivedRequest, _ context: ChannelHandlerContext) {
        phase = .responding
        let response = context.eventLoop.makePromise(of: ServerResponse.self)
        cancel = responder.respond(to: request, body: body, response)
        response.futureResult.assumeIsolated().whenSuccess { response in
            self.releaseBody()
            guard case .responding = self.phase else {
                if let memory = response.memory { self.responder.responses.release(memory) }
                return
            }
            self.respond(response, to: request, context)
            self.process(context)
        }
    }

    private func respond(_ response: ServerResponse, to request: ReceivedRequest, _ context: ChannelHandlerContext) {
        phase = .responding
        context.write(wrapOutboundOut(.head(responder.completed(response, of: request))), promise: nil)
        // A response to HEAD has the length of the body, but no body.
        let isHead = request.head.method == .head
        switch response.body {
        case .events(let events): send(events, to: response.place, context)
        case .pieces(let bytes) where !isHead:
            let memory = response.memory ?? .init(of: sharer)
            hold(bytes, in: memory, context)
            unwritten = memory
            writePieces(context)
        case .bytes(let bytes) where !isHead && bytes.readableBytes > 0:
            context.write(wrapOutboundOut(.body(bytes)), promise: nil)
            finish(context, releasing: response.memory)
        case .bytes, .pieces: finish(context, releasing: response.memory)
        }
    }

    private func hold(_ bytes: [UInt8], in memory: SharedBudget.Part, _ context: ChannelHandlerContext) {
        memory.hold(bytes) { [channel = context.channel] in channel.close(promise: nil) }
    }

    /// Writes pieces of the response as long as the client receives them. The others are neither encrypted nor framed.
    private func writePieces(_ context: ChannelHandlerContext) {
        guard !isWriting else { return }
        isWriting = true
        defer { isWriting = false }
        while context.channel.isWritable, let memory = unwritten {
            // It was taken away, and the connection closes.
            guard let (bytes, isLast) = memory.next(ServerResponse.pieceSize) else {
                unwritten = nil
                return
            }
            let written = context.eventLoop.makePromise(of: Void.self)
            written.futureResult.whenSuccess { memory.advance() }
            context.write(wrapOutboundOut(.body(bytes)), promise: written)
            if isLast {
                unwritten = nil
                finish(context, releasing: memory)
            } else {
                // TLS holds what is not flushed without an effect on the channel.
                context.flush()
            }
        }
    }

    private func send(_ events: ChangeEvents, to place: WaitingPlace?, _ context: ChannelHandlerContext) {
        context.flush()
        let sent = context.eventLoop.makePromise(of: Void.self)
        let task = sent.completeWithTask { [channel = context.channel] in
            defer { withExtendedLifetime(place) {} }
            try await CurrentSharer.$value.withValue(place?.sharer ?? .server) {
                for try await bytes in events {
                    try await channel.writeAndFlush(HTTPResponsePart.body(ByteBuffer(bytes: bytes)))
                }
            }
        }
        cancel = { task.cancel() }
        sent.futureResult.assumeIsolated().whenComplete { result in
            guard case .responding = self.phase else { return }
            switch result {
            case .success:
                self.finish(context)
                self.process(context)
            // The client notices that the response is incomplete.
            case .failure: context.close(promise: nil)
            }
        }
    }

    /// Ends a response.
    ///
    /// - Parameter memory: The memory that was reserved for it. It is released when it was written, or when that
    ///   failed, as it does if the channel closes. A small response has none, unless its client does not receive it at
    ///   once.
    private func finish(_ context: ChannelHandlerContext, releasing memory: SharedBudget.Part? = nil) {
        cancel = nil
        phase = .idle
        var memory = memory.map { (part: $0, budget: responder.responses) }
        var isWritten = false
        let written = context.eventLoop.makePromise(of: Void.self)
        written.futureResult.assumeIsolated().whenComplete { _ in
            isWritten = true
            if let memory { memory.budget.release(memory.part) }
        }
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: written)
        guard !isWritten else { return }
        if let memory { return hold([], in: memory.part, context) }
        // A stream of HTTP/2 is flushed at the end of reading.
        context.eventLoop.assumeIsolated().execute { [sharer, responder] in
            guard !isWritten else { return }
            let size = ServerLimits.minimumCountedSize + ServerLimits.responseOverhead
            let part = SharedBudget.Part(of: sharer)
            // A large response on the same connection can use up its part of the memory, and the HTTP/2 window.
            let budgets = [responder.responses, responder.smallResponses]
            guard let budget = budgets.first(where: { $0.reserve(size, for: part) }) else {
                return context.close(promise: nil)
            }
            self.hold([], in: part, context)
            memory = (part, budget)
        }
    }
}

/// A request of which the headers have arrived.
struct ReceivedRequest: Sendable {
    var head: HTTPRequest
    let id: String
    let began = ContinuousClock.now
    var caller = Caller.anonymous { didSet { sharer = sharer.signedIn(as: caller) } }
    /// The user or address, and the connection, for which the request uses threads and memory.
    private(set) var sharer: Sharer

    /// - Parameter client: The sender without a sign-in.
    init(_ head: HTTPRequest, from client: Sharer) {
        self.head = head
        sharer = client
        id = RequestID.of(head.headerFields)
    }

    var path: String { head.path ?? "" }
    /// The address of the client, or that of a proxy before the server.
    var address: SocketAddress? { sharer.connection }
    /// Whether the client sends the body only after it was told to continue, as curl does with a large one.
    var expectsContinue: Bool { hasBody && head.headerFields[.expect]?.lowercased() == "100-continue" }
    var hasBody: Bool {
        head.headerFields[.transferEncoding] != nil || head.headerFields[.contentLength].map { $0 != "0" } ?? false
    }
}
#endif
