#if Tool
import HTTPTypes
import NIOCore
import NIOEmbedded
import NIOHTTPTypes
import Synchronization
import Testing
import TidelineSQLite
import TidelineServer
import TidelineStore

@testable import TidelineTool

/// Requests that reach the handler without a network, for a server with one thread. The test runs the work of the
/// thread.
@Suite("Request handler")
struct RequestHandlerTests {
    /// A client with a connection of its own.
    private struct Client {
        let channel: EmbeddedChannel

        init(of responder: TableResponder<SQLiteStore>, _ handlers: any ChannelHandler...) {
            channel = EmbeddedChannel(handlers: handlers + [RequestHandler(responder)])
        }

        /// Sends a request, without its end if it is not complete.
        func send(
            _ method: HTTPRequest.Method, _ path: String, body: String? = nil, isComplete: Bool = true
        ) throws {
            let request = RequestHandlerTests.request(method, path)
            try channel.writeInbound(HTTPRequestPart.head(request))
            if let body { try channel.writeInbound(HTTPRequestPart.body(ByteBuffer(string: body))) }
            if isComplete { try channel.writeInbound(HTTPRequestPart.end(nil)) }
        }

        /// Returns the head of the next response, or `nil` if there is none.
        func receive() throws -> HTTPResponse? {
            channel.embeddedEventLoop.run()
            while let part = try channel.readOutbound(as: HTTPResponsePart.self) {
                if case .head(let head) = part { return head }
            }
            return nil
        }
    }

    /// Keeps what is written, until it is written or fails.
    private final class HeldWrites: ChannelOutboundHandler {
        typealias OutboundIn = HTTPResponsePart

        private var promises: [EventLoopPromise<Void>] = []

        func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
            if let promise { promises.append(promise) }
        }

        func complete(_ result: Result<Void, any Error>) {
            for promise in promises { promise.completeWith(result) }
            promises = []
        }
    }

    private static func request(_ method: HTTPRequest.Method, _ path: String) -> HTTPRequest {
        HTTPRequest(
            method: method, scheme: "http", authority: "localhost", path: path,
            headerFields: [HTTPField.Name("ZUMO-API-VERSION")!: "2.0.0"])
    }

    /// The work that waits for the thread.
    private let work = SharedLog<@Sendable () -> Void>()

    private func makeResponder(
        _ limits: ServerLimits = ServerLimits(), _ options: TableServiceOptions = TableServiceOptions()
    ) throws -> TableResponder<SQLiteStore> {
        var server = makeServer(limits: limits)
        server.threadCount = 1
        let service = try TableService(store: SQLiteStore.inMemory(), options: options)
        return TableResponder(server, service: service) { [work] in work.append($0) }
    }

    // MARK: Reads

    @Test("A read that waits for a thread does not run if its client goes away", arguments: [true, false])
    func absentReader(isHalfClosed: Bool) throws {
        let responder = try makeResponder()
        let clients = (0..<3).map { _ in Client(of: responder) }
        for client in clients { try client.send(.get, "/tables/T") }
        #expect(work.count == 1)
        if isHalfClosed {
            clients[1].channel.pipeline.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
        } else {
            clients[1].channel.pipeline.fireErrorCaught(ChannelError.inputClosed)
        }
        // The client of a half-closed connection may be there.
        let refusal = try clients[1].receive()
        #expect(refusal?.status.code == (isHalfClosed ? 503 : nil))
        work.run()
        #expect(try clients[0].receive()?.status == .ok)
        #expect(work.count == 1)
        work.run()
        #expect(try clients[2].receive()?.status == .ok)
        #expect(work.count == 0)
        #expect(try clients[1].receive() == nil)
    }

    @Test("A read that runs when its client closes its output is answered")
    func runningRead() throws {
        let client = Client(of: try makeResponder())
        try client.send(.get, "/tables/T")
        client.channel.pipeline.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
        #expect(try client.receive() == nil)
        work.run()
        #expect(try client.receive()?.status == .ok)
    }

    @Test("Reads beyond those that may wait are answered with 503, and a write does not wait for those that do")
    func waitingReads() throws {
        let responder = try makeResponder(ServerLimits(maximumWaitingReads: 2))
        let readers = (0..<4).map { _ in Client(of: responder) }
        for reader in readers { try reader.send(.get, "/tables/T") }
        let refusal = try readers[3].receive()
        #expect(refusal?.status == .serviceUnavailable && refusal?.headerFields[.retryAfter] == "1")
        let (writer, probe) = (Client(of: responder), Client(of: responder))
        try writer.send(.post, "/tables/T", body: #"{"id":"a"}"#)
        try probe.send(.get, "/.ready")
        #expect(work.count == 2)
        #expect(try probe.receive()?.status == .serviceUnavailable)
        work.run()
        #expect(try readers[0].receive()?.status == .ok)
        #expect(try writer.receive()?.status == .created)
        for reader in readers[1...2] {
            #expect(try reader.receive() == nil)
            work.run()
            #expect(try reader.receive()?.status == .ok)
        }
        // There is room again.
        try readers[3].send(.get, "/tables/T")
        work.run()
        #expect(try readers[3].receive()?.status == .ok)
    }

    // MARK: Memory

    private static let responseLimit = 300_000

    /// Expects that no response takes memory.
    private func expectFree(_ responder: TableResponder<SQLiteStore>) {
        let isFree = responder.responses.reserve(Self.responseLimit)
        #expect(isFree)
        // Nothing was released twice.
        #expect(!responder.responses.reserve(1))
        if isFree { responder.responses.release(Self.responseLimit) }
    }

    /// Makes a responder with a large row and a small one.
    private func makeFilledResponder(
        _ options: TableServiceOptions = TableServiceOptions()
    ) throws -> TableResponder<SQLiteStore> {
        let limits = ServerLimits(maximumResponsesSize: Self.responseLimit, stallTimeout: .seconds(3_600))
        let responder = try makeResponder(limits, options)
        let writer = Client(of: responder)
        let text = String(repeating: "x", count: 200_000)
        for row in [#"{"id":"large","text":"\#(text)"}"#, #"{"id":"small","text":"a"}"#] {
            try writer.send(.post, "/tables/T", body: row)
            work.run()
            #expect(try writer.receive()?.status == .created)
            expectFree(responder)
        }
        return responder
    }

    @Test(
        "A large response takes memory until it is written or cannot be, and others are answered with 503",
        arguments: [true, false])
    func responseMemory(isWritten: Bool) throws {
        let responder = try makeFilledResponder()
        let held = HeldWrites()
        let unread = Client(of: responder, held)
        try unread.send(.get, "/tables/T/large")
        work.run()
        #expect(!responder.responses.reserve(100_000))
        let reader = Client(of: responder)
        for (id, status) in [("large", 503), ("small", 200)] {
            try reader.send(.get, "/tables/T/\(id)")
            work.run()
            let response = try reader.receive()
            #expect(response?.status.code == status)
            #expect(response?.headerFields[.retryAfter] == (status == 503 ? "1" : nil))
        }
        held.complete(isWritten ? .success(()) : .failure(ChannelError.ioOnClosedChannel))
        expectFree(responder)
    }

    @Test("A small response takes memory if it is not received at once, and one that nobody receives takes none")
    func memoryOfOtherResponses() throws {
        let responder = try makeFilledResponder()
        let held = HeldWrites()
        let unread = Client(of: responder, held)
        try unread.send(.get, "/tables/T/small")
        work.run()
        #expect(try unread.receive() == nil)
        #expect(!responder.responses.reserve(Self.responseLimit))
        held.complete(.success(()))
        expectFree(responder)
        let absent = Client(of: responder)
        try absent.send(.get, "/tables/T/large")
        absent.channel.pipeline.fireErrorCaught(ChannelError.inputClosed)
        work.run()
        expectFree(responder)
    }

    @Test("A small response that waits has memory if others use it up, and its connection is closed if that is used up")
    func smallResponseMemory() throws {
        let responder = try makeFilledResponder()
        #expect(responder.responses.reserve(Self.responseLimit))
        var closed: [Int] = []
        let waiting = try (0..<2).map { number in
            let held = HeldWrites()
            let client = Client(of: responder, held)
            client.channel.closeFuture.assumeIsolated().whenComplete { _ in closed.append(number) }
            try client.send(.get, "/tables/T/small")
            work.run()
            #expect(try client.receive() == nil)
            return held
        }
        #expect(closed == [1])
        for held in waiting { held.complete(.success(())) }
        #expect(responder.smallResponses.reserve(Self.responseLimit / 16))
        #expect(!responder.smallResponses.reserve(1))
        responder.responses.release(Self.responseLimit)
        expectFree(responder)
    }

    @Test(
        "The memory of a response is reserved when it is read, and a read is refused if its response had no room before"
    )
    func reservedReads() throws {
        let readCount = Atomic(0)
        var options = TableServiceOptions()
        options.onResponse = { if $0.request.method == .get { readCount.add(1, ordering: .relaxed) } }
        let responder = try makeFilledResponder(options)
        // The threads of the connections have no time for the responses.
        let responses = try [("", 200, 1), ("", 503, 1), ("?$top=1", 503, 2), ("?$top=1", 503, 2)].map { expected in
            let (query, status, count) = expected
            let promise = EmbeddedEventLoop().makePromise(of: ServerResponse.self)
            let request = ReceivedRequest(Self.request(.get, "/tables/T\(query)"), from: .server)
            _ = responder.respond(to: request, body: [], promise)
            work.run()
            let response = try promise.futureResult.wait()
            #expect(response.head.status.code == status)
            #expect(readCount.load(ordering: .relaxed) == count)
            return response
        }
        responder.responses.release(try #require(responses[0].memory))
        expectFree(responder)
    }

    @Test("A body that no response depends on takes no memory")
    func unusedBodies() throws {
        let responder = try makeResponder(ServerLimits(maximumBodiesSize: 1_000))
        let requests: [(HTTPRequest.Method, String)] = [
            (.post, "/.health"), (.post, "/.ready"), (.put, "/metrics"), (.post, "/.changes?tables=T"),
            (.get, "/tables/T"), (.post, "/tables/T"),
        ]
        for (method, path) in requests {
            let client = Client(of: responder)
            try client.send(method, path, body: String(repeating: " ", count: 600), isComplete: false)
            let isFree = responder.bodies.reserve(1_000)
            #expect(isFree == (path != "/tables/T" || method == .get), "\(method) \(path)")
            if isFree { responder.bodies.release(1_000) }
            client.channel.pipeline.fireErrorCaught(ChannelError.inputClosed)
        }
        let client = Client(of: responder)
        try client.send(.post, "/.health", body: "{}")
        #expect(try client.receive()?.status == .ok)
    }

    @Test("A body takes memory until its request was handled, also if the client goes away", arguments: [true, false])
    func bodyOfAbsentClient(isComplete: Bool) throws {
        let responder = try makeResponder(ServerLimits(maximumBodiesSize: 1_000))
        let client = Client(of: responder)
        try client.send(.post, "/tables/T", body: String(repeating: " ", count: 600), isComplete: isComplete)
        #expect(!responder.bodies.reserve(500))
        client.channel.pipeline.fireErrorCaught(ChannelError.inputClosed)
        _ = try client.channel.finish(acceptAlreadyClosed: true)
        #expect(responder.bodies.reserve(500) == !isComplete)
        work.run()
        client.channel.embeddedEventLoop.run()
        #expect(responder.bodies.reserve(isComplete ? 1_000 : 500))
    }

    // MARK: Rights

    @Test("A request that is refused before its body has the response of the service")
    func refusalsBeforeBodies() throws {
        let readOnly = TableRights(read: .anyone, insert: .nobody, update: .nobody, delete: .nobody)
        let options = TableServiceOptions(
            schemas: [TableSchema("Country", columns: [.string("name")])], rights: ["Country": readOnly],
            defaultRights: .signedIn, clock: { Timestamp(clampingTicks: 17_900_000_000_000_000) })
        let service = try TableService(store: SQLiteStore.inMemory(), options: options)
        let refused: [(HTTPRequest.Method, String, Caller, Int)] = [
            (.post, "/tables/Item", .anonymous, 401), (.patch, "/tables/Item/1", .anonymous, 401),
            (.delete, "/tables/Item/1", .anonymous, 401), (.post, "/tables/Country", .anonymous, 403),
            (.post, "/tables/Country", .user("alice"), 403), (.post, "/elsewhere", .anonymous, 404),
            (.put, "/tables/Item/1", .anonymous, 405),
        ]
        for (method, path, caller, status) in refused {
            let request = Self.request(method, path)
            let response = service.refusal(of: request, caller: caller)
            #expect(response?.response.status.code == status, "\(method) \(path)")
            #expect(response?.response.headerFields[.wwwAuthenticate] == (status == 401 ? "Bearer" : nil))
            #expect(response == service.handle(request, body: [], caller: caller))
        }
        #expect(service.refusal(of: Self.request(.post, "/tables/Item"), caller: .user("alice")) == nil)
        #expect(service.refusal(of: Self.request(.get, "/tables/Country"), caller: .anonymous) == nil)
    }
}
#endif
