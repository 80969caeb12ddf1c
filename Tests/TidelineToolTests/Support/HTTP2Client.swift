#if Tool
import HTTPTypes
import NIOCore
import NIOHTTP2
import NIOHTTPTypes
import NIOHTTPTypesHTTP2
import NIOPosix
import NIOSSL
import Testing

/// A connection of HTTP/2 to a local server, for clients that an HTTP library cannot imitate.
final class HTTP2Client: Sendable {
    struct Answer: Sendable {
        let head: HTTPResponse
        let body: String

        var status: Int { head.status.code }
    }

    /// The stream closed before the response was complete.
    struct Reset: Error {}

    struct Stream: Sendable {
        let channel: any Channel
        let answer: EventLoopFuture<Answer>

        func send(_ parts: HTTPRequestPart...) {
            for part in parts { channel.write(part, promise: nil) }
            channel.flush()
        }

        /// Ends the stream at once, with a frame RST_STREAM.
        func reset() async {
            // It always fails: the error is the reset.
            try? await channel.close()
        }
    }

    private let authority: String
    let channel: any Channel
    private let streams: NIOHTTP2Handler.StreamMultiplexer

    /// - Parameters:
    ///   - authority: `127.0.0.1:PORT`.
    ///   - window: The number of bytes that the server may send on a stream before the client has read them, or `nil`
    ///     for the default of HTTP/2.
    init(_ authority: String, window: Int? = nil) async throws {
        self.authority = authority
        let port = try #require(authority.split(separator: ":").last.flatMap { Int($0) })
        var configuration = TLSConfiguration.makeClientConfiguration()
        configuration.certificateVerification = .none
        configuration.applicationProtocols = ["h2"]
        let context = try NIOSSLContext(configuration: configuration)
        var connection = NIOHTTP2Handler.ConnectionConfiguration()
        if let window {
            connection.initialSettings = [HTTP2Setting(parameter: .initialWindowSize, value: window)]
        }
        let bootstrap = ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
        (channel, streams) = try await bootstrap.connect(host: "127.0.0.1", port: port) { [connection] channel in
            channel.eventLoop.makeCompletedFuture {
                let pipeline = channel.pipeline.syncOperations
                try pipeline.addHandler(NIOSSLClientHandler(context: context, serverHostname: nil))
                let streams = try pipeline.configureHTTP2Pipeline(
                    mode: .client, connectionConfiguration: connection, streamConfiguration: .init()
                ) { $0.close() }
                return (channel, streams)
            }
        }
    }

    deinit { channel.close(promise: nil) }

    /// Begins a request, whose body and end follow.
    func begin(
        _ method: HTTPRequest.Method, _ path: String, _ fields: HTTPFields = [:], receives: Bool = true
    ) async throws -> Stream {
        let answer = channel.eventLoop.makePromise(of: Answer.self)
        let opened = channel.eventLoop.makePromise(of: (any Channel).self)
        streams.createStreamChannel(promise: opened) { stream in
            stream.setOption(.autoRead, value: receives).flatMapThrowing {
                try stream.pipeline.syncOperations.addHandlers(
                    HTTP2FramePayloadToHTTPClientCodec(), AnswerReader(answer))
            }
        }
        let stream: any Channel
        do {
            stream = try await opened.futureResult.get()
        } catch {
            answer.fail(error)
            throw error
        }
        var request = HTTPRequest(
            method: method, scheme: "https", authority: authority, path: path, headerFields: fields)
        request.headerFields[HTTPField.Name("ZUMO-API-VERSION")!] = "2.0.0"
        stream.writeAndFlush(HTTPRequestPart.head(request), promise: nil)
        return Stream(channel: stream, answer: answer.futureResult)
    }

    /// Sends a request without a body, and returns its stream.
    func get(_ path: String, _ fields: HTTPFields = [:], receives: Bool = true) async throws -> Stream {
        let stream = try await begin(.get, path, fields, receives: receives)
        stream.send(.end(nil))
        return stream
    }

    /// Sends a request, and returns its response.
    func send(
        _ method: HTTPRequest.Method, _ path: String, _ fields: HTTPFields = [:], body: String? = nil
    ) async throws -> Answer {
        let stream = try await begin(method, path, fields)
        if let body { stream.send(.body(ByteBuffer(string: body))) }
        stream.send(.end(nil))
        return try await stream.answer.get()
    }
}

/// Collects the response of a stream.
private final class AnswerReader: ChannelInboundHandler {
    typealias InboundIn = HTTPResponsePart

    private let answer: EventLoopPromise<HTTP2Client.Answer>
    private var head = HTTPResponse(status: .ok)
    private var body = ""

    init(_ answer: EventLoopPromise<HTTP2Client.Answer>) { self.answer = answer }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head): self.head = head
        case .body(let bytes): body += String(buffer: bytes)
        case .end: answer.succeed(HTTP2Client.Answer(head: head, body: body))
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { answer.fail(error) }

    func channelInactive(context: ChannelHandlerContext) { answer.fail(HTTP2Client.Reset()) }
}
#endif
