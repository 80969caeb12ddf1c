#if Tool
import HTTPTypes
import NIOCore
import NIOHTTP2
import NIOPosix
import NIOSSL
import Testing
import Tideline
import TidelineAsyncHTTPClient

/// Responses of HTTP/2 as their blocks of header fields, valid or not.
@Suite("Transports: responses of HTTP/2", .timeLimit(.minutes(15)))
struct HTTP2ResponseTests {
    typealias Block = [(String, String)]

    private let tool: Tool

    init() throws {
        tool = try Tool()
        try tool.makeCertificate(named: "server")
    }

    /// Sends a request to a server that responds with the given blocks, and returns the response.
    private func response(of blocks: [Block]) async throws -> TransportResponse {
        let certificate = tool.path("cert.pem")
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: try NIOSSLCertificate.fromPEMFile(certificate).map { .certificate($0) },
            privateKey: .privateKey(try NIOSSLPrivateKey(file: tool.path("key.pem"), format: .pem)))
        configuration.applicationProtocols = ["h2"]
        let context = try NIOSSLContext(configuration: configuration)
        let listener = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let pipeline = channel.pipeline.syncOperations
                    try pipeline.addHandler(NIOSSLServerHandler(context: context))
                    _ = try pipeline.configureHTTP2Pipeline(
                        mode: .server, connectionConfiguration: .init(), streamConfiguration: .init()
                    ) { stream in
                        stream.eventLoop.makeCompletedFuture {
                            try stream.pipeline.syncOperations.addHandler(Responder(blocks))
                        }
                    }
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        defer { listener.close(promise: nil) }
        let transport = AsyncHTTPClientTransport {
            $0.tlsConfiguration = .makeClientConfiguration()
            $0.tlsConfiguration?.trustRoots = .file(certificate)
        }
        let port = try #require(listener.localAddress?.port)
        let request = HTTPRequest(method: .get, scheme: "https", authority: "127.0.0.1:\(port)", path: "/")
        return try await transport.send(request, body: nil, timeout: .seconds(300))
    }

    @Test(
        "A status that no response has is an invalid response",
        arguments: [
            ["99"], ["000"], ["099"], ["99999"], ["-5"], ["-50"], ["+20"], ["2x0"], [""], ["1000", "200"],
            ["10", "200"], ["101", "200"], ["103", "-5"],
        ])
    func impossibleStatus(statuses: [String]) async throws {
        let error = await #expect(throws: TransportError.self) {
            try await response(of: statuses.map { [(":status", $0)] })
        }
        #expect(error?.code == .invalidResponse, "\(String(describing: error))")
    }

    @Test(
        "A response without a body may name any encoding, also after informational ones", arguments: [200, 201, 204])
    func encodedNothing(status: Int) async throws {
        for encoding in ["gzip", "deflate", "br"] {
            let answer = try await response(of: [
                [(":status", "103"), ("content-encoding", "gzip")],
                [(":status", "\(status)"), ("content-encoding", encoding)],
            ])
            #expect(answer.response.status.code == status && answer.body.isEmpty)
            #expect(answer.response.headerFields[.contentEncoding] == nil)
        }
    }
}

/// Responds to a request without a body with blocks of header fields, of which the last ends the stream.
private final class Responder: ChannelInboundHandler {
    typealias InboundIn = HTTP2Frame.FramePayload
    typealias OutboundOut = HTTP2Frame.FramePayload

    private let blocks: [HTTP2ResponseTests.Block]

    init(_ blocks: [HTTP2ResponseTests.Block]) { self.blocks = blocks }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard case .headers = unwrapInboundIn(data) else { return }
        for (number, block) in blocks.enumerated() {
            let headers = HTTP2Frame.FramePayload.Headers(
                headers: .init(block), endStream: number == blocks.count - 1)
            context.write(wrapOutboundOut(.headers(headers)), promise: nil)
        }
        context.flush()
    }
}
#endif
