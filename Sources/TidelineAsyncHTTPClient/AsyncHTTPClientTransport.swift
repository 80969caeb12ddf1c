#if AsyncHTTPClient
public import AsyncHTTPClient
public import HTTPTypes
internal import NIOCore
internal import NIOHTTP1
internal import NIOHTTPCompression
public import Tideline

/// A transport that uses async-http-client: for Linux, and for servers and tools on any platform.
///
/// Connections are reused, at most ``Options/maximumConnectionsPerHost`` for each host, or one with HTTP/2, which a
/// server can offer over TLS. An instance closes its connections when it is deallocated; ``shared`` never is. Redirects
/// are not followed, and responses in gzip or deflate are decompressed. A request for which the server has closed the
/// connection is sent once more, within the same time limit, if it was not written or is a GET or HEAD.
///
/// The environment variables for proxies, such as `https_proxy` and `NO_PROXY`, are not read. Set a proxy in the
/// closure `configure` of ``init(options:configure:)``.
///
/// - Throws: ``send(_:body:timeout:)`` throws a `TransportError` with one of the codes `connection`, `timeout`, `tls`,
///   `tooLarge`, `invalidResponse`, `cancelled`, and `invalidRequest`. Its cause is the
///   error of async-http-client.
public final class AsyncHTTPClientTransport: Transport {
    /// A transport shared within the process, with default options.
    public static let shared = AsyncHTTPClientTransport()

    /// Options for connections and responses.
    public struct Options: Sendable {
        /// The timeout for establishing a connection, including host lookup and TLS handshake; 10 seconds.
        public var connectTimeout: Duration = .seconds(10)
        /// The maximum size of a body, in bytes after decompression; 256 MiB.
        public var maximumBodySize: Int = 256 << 20
        /// The maximum number of concurrent connections to one host; 8. Requests that ask the server to wait
        /// (`Prefer: wait`), as for change signals, use others.
        public var maximumConnectionsPerHost: Int = 8

        /// Creates the default options.
        public init() {}
    }

    private let client: HTTPClient
    /// The client for requests that the server answers after a wait.
    private let waitingClient: HTTPClient
    private let options: Options

    /// Creates a transport with its own connections.
    ///
    /// - Parameters:
    ///   - options: Options for connections and responses.
    ///   - configure: Sets other options of async-http-client, such as trust roots or a proxy. The transport overrides
    ///     the settings that it depends on: redirects, decompression, and those in `options`.
    public init(options: Options = Options(), configure: (inout HTTPClient.Configuration) -> Void = { _ in }) {
        var configuration = HTTPClient.Configuration()
        configure(&configuration)
        configuration.redirectConfiguration = .disallow
        configuration.decompression = .enabled(limit: .size(options.maximumBodySize))
        configuration.timeout.connect = TimeAmount(options.connectTimeout)
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = options.maximumConnectionsPerHost
        // A refused connection is reported at once: the caller decides on retries, and a built-in retry would hide it
        // for 10 seconds.
        configuration.connectionPool.retryConnectionEstablishment = false
        configuration.checkResponses(maximumBodySize: options.maximumBodySize)
        self.options = options
        client = HTTPClient(eventLoopGroup: HTTPClient.defaultEventLoopGroup, configuration: configuration)
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = Self.maximumWaitingRequests
        waitingClient = HTTPClient(eventLoopGroup: HTTPClient.defaultEventLoopGroup, configuration: configuration)
    }

    private static let maximumWaitingRequests = 1_000

    deinit {
        // Connections without requests need not be waited for, and a failure to close them is harmless.
        for client in [client, waitingClient] { client.shutdown { _ in } }
    }

    public func send(_ request: HTTPRequest, body: [UInt8]?, timeout: Duration) async throws -> TransportResponse {
        do {
            return try await withDeadline(timeout) { deadline in
                let answer = try await self.answer(to: request, body: body, timeout: timeout)
                let bytes = try await self.wholeBody(of: answer, deadline)
                return TransportResponse(response: try HTTPResponse(answer, body: bytes), body: bytes)
            }
        } catch {
            throw TransportError(error, authority: request.authority ?? "")
        }
    }

    /// Sends one request and receives the head of the response. If the server closed the connection, which may have
    /// been kept open since an earlier request, the request is sent once more (RFC 9112, section 9.3.1).
    private func answer(to request: HTTPRequest, body: [UInt8]?, timeout: Duration) async throws -> HTTPClientResponse {
        let prepared = try HTTPClientRequest(request, body: body)
        let client = request.asksToWait ? waitingClient : client
        let deadline = NIODeadline.now() + TimeAmount(timeout)
        do {
            return try await client.execute(prepared, deadline: deadline)
        } catch let error where !Task.isCancelled && request.canBeRepeated(after: error) {
            return try await client.execute(prepared, deadline: deadline)
        }
    }

    private func wholeBody(of answer: HTTPClientResponse, _ deadline: Deadline) async throws -> [UInt8] {
        let limit = options.maximumBodySize
        let announced = answer.headers.first(name: "content-length").flatMap { Int($0) } ?? 0
        guard announced <= limit else { throw TransportError.tooLarge(limit: limit) }
        var bytes: [UInt8] = []
        // Content-Length is not trusted: reserve no more than a common body size.
        bytes.reserveCapacity(min(announced, 4 << 20))
        for try await chunk in answer.body {
            guard bytes.count + chunk.readableBytes <= limit else { throw TransportError.tooLarge(limit: limit) }
            deadline.bodyHasGrown(from: bytes.count, to: bytes.count + chunk.readableBytes)
            bytes.append(contentsOf: chunk.readableBytesView)
        }
        // The body stream of a cancelled request ends early without an error.
        try Task.checkCancellation()
        return bytes
    }
}
#endif
