public import AsyncHTTPClient
public import HTTPTypes
internal import NIOCore
public import Tideline

/// The transport over async-http-client: for Linux, and for servers and tools anywhere.
///
/// Connections are kept and used again, at most ``Options/maximumConnectionsPerHost`` to a host. An instance closes its
/// connections when it is released; ``shared`` never is. Redirects are not followed, and answers in gzip or deflate
/// are decompressed.
///
/// - Throws: From ``send(_:body:timeout:)`` a `TransportError`: its codes `connection`, `timeout`, `tls`, `tooLarge`,
///   `invalidResponse`, `cancelled`, and ``Tideline/TransportError/Code/invalidRequest``. Its cause is the error
///   of async-http-client.
public final class AsyncHTTPClientTransport: Transport {
    /// The transport of the process, with default options.
    public static let shared = AsyncHTTPClientTransport()

    /// How the transport connects, and what it accepts.
    public struct Options: Sendable {
        /// How long making a connection may take, looking up the host and securing it included; 10 seconds.
        public var connectTimeout: Duration = .seconds(10)
        /// The largest body accepted, in bytes after decompression; 256 MiB.
        public var maximumBodySize: Int = 256 << 20
        /// How many connections to one host there are at a time; 8.
        public var maximumConnectionsPerHost: Int = 8

        /// The defaults.
        public init() {}
    }

    private let client: HTTPClient
    private let options: Options

    /// A transport with connections of its own.
    ///
    /// - Parameters:
    ///   - options: How to connect, and what to accept.
    ///   - configure: Sets what else async-http-client offers, such as trust roots or a proxy. What the transport
    ///     promises (redirects, decompression, the options) is set after it and wins.
    public init(options: Options = Options(), configure: (inout HTTPClient.Configuration) -> Void = { _ in }) {
        var configuration = HTTPClient.Configuration()
        configure(&configuration)
        configuration.redirectConfiguration = .disallow
        configuration.decompression = .enabled(limit: .size(options.maximumBodySize))
        configuration.timeout.connect = TimeAmount(options.connectTimeout)
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = options.maximumConnectionsPerHost
        // A refused connection is news for the caller, who decides on retries; it is not to be hidden for 10 seconds.
        configuration.connectionPool.retryConnectionEstablishment = false
        let (initialize, limit) = (configuration.http1_1ConnectionDebugInitializer, options.maximumBodySize)
        configuration.http1_1ConnectionDebugInitializer = { channel in
            let own = initialize?(channel) ?? channel.eventLoop.makeSucceededVoidFuture()
            return own.flatMapThrowing {
                try channel.pipeline.syncOperations.addHandler(
                    AnswerSizeLimit(maximumBodySize: limit), position: .first)
            }
        }
        self.options = options
        client = HTTPClient(eventLoopGroup: HTTPClient.defaultEventLoopGroup, configuration: configuration)
    }

    deinit {
        // Nobody waits for connections that no request uses any more, and failing to close them harms nobody.
        client.shutdown { _ in }
    }

    public func send(_ request: HTTPRequest, body: [UInt8]?, timeout: Duration) async throws -> TransportResponse {
        do {
            return try await withDeadline(timeout) { try await self.exchange(request, body: body, timeout: timeout) }
        } catch {
            throw TransportError(error, authority: request.authority ?? "")
        }
    }

    /// One request and its whole answer.
    private func exchange(_ request: HTTPRequest, body: [UInt8]?, timeout: Duration) async throws -> TransportResponse {
        let prepared = try HTTPClientRequest(request, body: body)
        let answer = try await client.execute(prepared, timeout: TimeAmount(timeout))
        let bytes = try await wholeBody(of: answer)
        return TransportResponse(response: try HTTPResponse(answer), body: bytes)
    }

    private func wholeBody(of answer: HTTPClientResponse) async throws -> [UInt8] {
        let limit = options.maximumBodySize
        let announced = answer.headers.first(name: "content-length").flatMap { Int($0) } ?? 0
        guard announced <= limit else { throw TransportError.tooLarge(limit: limit) }
        var bytes: [UInt8] = []
        // A header is not trusted with memory beyond what is common.
        bytes.reserveCapacity(min(announced, 4 << 20))
        for try await chunk in answer.body {
            guard bytes.count + chunk.readableBytes <= limit else { throw TransportError.tooLarge(limit: limit) }
            bytes.append(contentsOf: chunk.readableBytesView)
        }
        // A body that is given up ends early without an error.
        try Task.checkCancellation()
        return bytes
    }
}
