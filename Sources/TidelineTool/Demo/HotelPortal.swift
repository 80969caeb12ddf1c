#if Serve
internal import NIOCore
internal import NIOHTTP1
internal import NIOPosix
internal import Synchronization

/// A server that answers every request in place of the service, as the sign-in page of a hotel's network does.
final class HotelPortal: Sendable {
    /// An answer to a request, by its status. All but a redirect have the page.
    enum Answer: Int, CaseIterable {
        case page = 200
        case redirect = 302
        case notFound = 404
        case gone = 410
        case signInRequired = 511
    }

    static let title = "Hotel Wi-Fi: sign in"
    /// The address that a redirect leads to. A message has it without the path.
    static let address = "http://portal.hotel.example"
    static let page =
        "<!DOCTYPE html><html><head><title>\(title)</title></head><body>Enter your room number.</body></html>"

    let port: Int
    private let listener: any Channel
    private let count: Counter

    /// The number of requests answered so far.
    var requests: Int { count.value.load(ordering: .relaxed) }

    /// Starts a server on a port of this machine, or on a free one for 0. It gives the answers in turn.
    init(port: Int = 0, answers: [Answer] = Answer.allCases) async throws {
        let count = Counter()
        self.count = count
        listener = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.configureHTTPServerPipeline()
                    try channel.pipeline.syncOperations.addHandler(PortalHandler(answers: answers, count: count))
                }
            }
            .bind(host: "127.0.0.1", port: port).get()
        self.port = listener.localAddress?.port ?? port
    }

    /// Ends the server. Another one can use its port afterward.
    func end() async throws { try await listener.close() }

    /// Counts the requests of all connections.
    fileprivate final class Counter: Sendable {
        let value = Atomic(0)
    }
}

/// Answers a request, and closes the connection, so that the next request meets the server that then has the port.
private final class PortalHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private let answers: [HotelPortal.Answer]
    private let count: HotelPortal.Counter

    init(answers: [HotelPortal.Answer], count: HotelPortal.Counter) {
        (self.answers, self.count) = (answers, count)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard case .end = unwrapInboundIn(data) else { return }
        let answer = answers[count.value.add(1, ordering: .relaxed).oldValue % answers.count]
        let body = ByteBuffer(string: answer == .redirect ? "" : HotelPortal.page)
        var headers: HTTPHeaders = [
            "content-type": "text/html; charset=utf-8", "content-length": "\(body.readableBytes)",
            "connection": "close",
        ]
        if answer == .redirect { headers.add(name: "location", value: "\(HotelPortal.address)/sign-in") }
        let status = HTTPResponseStatus(statusCode: answer.rawValue)
        let head = HTTPResponseHead(version: .http1_1, status: status, headers: headers)
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        context.write(wrapOutboundOut(.body(.byteBuffer(body))), promise: nil)
        let loopBound = NIOLoopBound(context, eventLoop: context.eventLoop)
        context.writeAndFlush(wrapOutboundOut(.end(nil))).whenComplete { _ in loopBound.value.close(promise: nil) }
    }
}
#endif
