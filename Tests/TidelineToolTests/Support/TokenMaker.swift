#if Tool
import CryptoExtras
import Foundation
import HTTPTypes
import JWTKit
import Logging
import NIOCore
import NIOHTTP1
import NIOPosix
import Synchronization
import Testing

@testable import TidelineTool

/// Keys and tokens that are signed with them.
struct TokenMaker: Sendable {
    static let secret = "0123456789abcdef0123456789abcdef0123456789"

    let rsa: JWTKit.Insecure.RSA.PrivateKey
    let ec = ES256PrivateKey()

    init() throws { rsa = try JWTKit.Insecure.RSA.PrivateKey(backing: _RSA.Signing.PrivateKey(keySize: .bits2048)) }

    /// Returns claims of a token that is valid for an hour.
    static func claims(_ changes: [String: TokenClaims.Claim?] = [:]) -> TokenClaims {
        var values: [String: TokenClaims.Claim] = [
            "sub": .text("alice"), "exp": .number(Date().timeIntervalSince1970 + 3_600),
        ]
        for (name, value) in changes { values[name] = value }
        return TokenClaims(values)
    }

    static func hs256(_ claims: TokenClaims = claims(), secret: String = secret) async throws -> String {
        try await JWTKeyCollection().add(hmac: HMACKey(from: secret), digestAlgorithm: .sha256).sign(claims)
    }

    func rs256(_ claims: TokenClaims = claims(), kid: String? = nil) async throws -> String {
        try await JWTKeyCollection().add(rsa: rsa, digestAlgorithm: .sha256)
            .sign(claims, header: kid.map { ["kid": .string($0)] } ?? [:])
    }

    func es256(_ claims: TokenClaims = claims(), kid: String? = nil) async throws -> String {
        try await JWTKeyCollection().add(ecdsa: ec).sign(claims, header: kid.map { ["kid": .string($0)] } ?? [:])
    }

    /// Returns a token with the given parts and an empty signature.
    static func token(header: String, claims: String) -> String {
        [Array(header.utf8), Array(claims.utf8), []].map(base64URL).joined(separator: ".")
    }

    static func base64URL(_ bytes: [UInt8]) -> String { inURL(Data(bytes).base64EncodedString()) }

    private static func inURL(_ base64: String) -> String {
        base64.replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }

    /// Returns the public keys as members of a key set.
    func rsaJWK(kid: String?, more: [String: String] = [:]) throws -> [String: String] {
        let (modulus, exponent) = try rsa.publicKey.getKeyPrimitives()
        var key = ["kty": "RSA", "n": Self.base64URL(Array(modulus)), "e": Self.base64URL(Array(exponent))]
        key["kid"] = kid
        return key.merging(more) { $1 }
    }

    func ecJWK(kid: String?, more: [String: String] = [:]) throws -> [String: String] {
        let (x, y) = try #require(ec.publicKey.parameters)
        var key = ["kty": "EC", "crv": "P-256", "x": Self.inURL(x), "y": Self.inURL(y)]
        key["kid"] = kid
        return key.merging(more) { $1 }
    }

    static func keySet(_ keys: [[String: String]]) throws -> [UInt8] {
        Array(try JSONSerialization.data(withJSONObject: ["keys": keys]))
    }
}

/// A local HTTP server with one document, which counts its requests.
final class DocumentServer: Sendable {
    private struct State {
        var body: [UInt8]
        var status = HTTPResponseStatus.ok
        var requests = 0
    }

    private let state: Mutex<State>
    private let channel = Mutex<(any Channel)?>(nil)

    init(_ body: [UInt8]) async throws {
        state = Mutex(State(body: body))
        let server = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { [self] channel in
                channel.pipeline.configureHTTPServerPipeline().flatMapThrowing {
                    try channel.pipeline.syncOperations.addHandler(Handler(server: self))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        channel.withLock { $0 = server }
    }

    var url: String { "http://127.0.0.1:\(channel.withLock { $0?.localAddress?.port } ?? 0)/keys.json?v=1" }
    var requests: Int { state.withLock { $0.requests } }

    func serve(_ body: [UInt8], status: HTTPResponseStatus = .ok) {
        state.withLock { ($0.body, $0.status) = (body, status) }
    }

    func stop() async throws { try await channel.withLock { $0 }?.close() }

    private final class Handler: ChannelInboundHandler {
        typealias InboundIn = HTTPServerRequestPart
        typealias OutboundOut = HTTPServerResponsePart

        let server: DocumentServer

        init(server: DocumentServer) { self.server = server }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            guard case .end = unwrapInboundIn(data) else { return }
            let (body, status) = server.state.withLock { state in
                state.requests += 1
                return (state.body, state.status)
            }
            let headers: HTTPHeaders = ["content-length": "\(body.count)"]
            context.write(
                wrapOutboundOut(.head(HTTPResponseHead(version: .http1_1, status: status, headers: headers))),
                promise: nil)
            context.write(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(bytes: body)))), promise: nil)
            context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
        }
    }
}
#endif
