public import HTTPTypes
public import Tideline

#if canImport(FoundationNetworking)
internal import Foundation
public import FoundationNetworking
#else
public import Foundation
#endif

/// A transport that uses the URLSession of Foundation: for apps on Apple platforms, and wherever an app should resolve
/// no package for HTTP.
///
/// Connections are reused, at most ``Options/maximumConnectionsPerHost`` for each host. Nothing is cached, no cookies
/// are stored or sent, redirects are not followed, and responses in gzip or deflate are decompressed.
///
/// The transport counts the body of a response while it arrives. URLSession does not show it the other bytes on the
/// wire, such as headers: a response with an endless head ends with the timeout of the request. A connection has no
/// time limit of its own. Header fields with the same name are combined into one.
///
/// On Linux and Windows, URLSession is FoundationNetworking, and the transport keeps fewer promises. **A connection
/// that closes within the head of a response ends the process**, as do some malformed responses, among them some with
/// trailers or with an impossible `Location` or `Content-Length`: where that matters, use `TidelineAsyncHTTPClient`.
/// Responses are not compressed, the size of a redirect's body is not limited, a redirect without a `Location` has no
/// body, each request leaves about 200 bytes in memory, and most failures have the code `connection`.
///
/// - Throws: ``send(_:body:timeout:)`` throws a `TransportError` with one of the codes `connection`, `timeout`, `tls`,
///   `tooLarge`, `invalidResponse`, `cancelled`, and `invalidRequest`. Its cause is the error of URLSession.
public final class URLSessionTransport: Transport {
    /// A transport shared within the process, with default options.
    public static let shared = URLSessionTransport()

    /// Options for connections and responses.
    public struct Options: Sendable {
        /// The maximum size of a body, in bytes after decompression; 256 MiB.
        public var maximumBodySize: Int = 256 << 20
        /// The maximum number of concurrent connections to one host; 8. Requests that ask the server to wait
        /// (`Prefer: wait`), as for change signals, use others.
        public var maximumConnectionsPerHost: Int = 8

        /// Creates the default options.
        public init() {}
    }

    private let session: URLSession
    /// The session for requests that the server answers after a wait.
    private let waitingSession: URLSession
    private let exchanges: Exchanges
    private let waitingExchanges: Exchanges

    /// Creates a transport with its own connections.
    ///
    /// - Parameters:
    ///   - options: Options for connections and responses.
    ///   - configure: Sets other options of URLSession, such as a proxy or `waitsForConnectivity`. The transport
    ///     overrides the settings that it depends on: caches, cookies, time limits, and those in `options`.
    public init(options: Options = Options(), configure: (URLSessionConfiguration) -> Void = { _ in }) {
        let configuration = URLSessionConfiguration.ephemeral
        configure(configuration)
        configuration.urlCache = nil
        configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
        configuration.httpCookieStorage = nil
        configuration.httpShouldSetCookies = false
        configuration.urlCredentialStorage = nil
        configuration.httpMaximumConnectionsPerHost = options.maximumConnectionsPerHost
        // The time limit of a request is enforced by `send`.
        configuration.timeoutIntervalForRequest = Self.longestTimeout
        configuration.timeoutIntervalForResource = Self.longestTimeout
        exchanges = Exchanges(maximumBodySize: options.maximumBodySize)
        session = URLSession(configuration: configuration, delegate: exchanges, delegateQueue: nil)
        // The session has a copy of its configuration.
        configuration.httpMaximumConnectionsPerHost = Self.maximumWaitingRequests
        waitingExchanges = Exchanges(maximumBodySize: options.maximumBodySize)
        waitingSession = URLSession(configuration: configuration, delegate: waitingExchanges, delegateQueue: nil)
    }

    private static let maximumWaitingRequests = 1_000

    /// URLSession's time limit: a week, its own default for a whole exchange.
    static let longestTimeout: TimeInterval = 604_800

    deinit {
        for session in [session, waitingSession] { session.finishTasksAndInvalidate() }
    }

    public func send(_ request: HTTPRequest, body: [UInt8]?, timeout: Duration) async throws -> TransportResponse {
        do {
            let prepared = try URLRequest(request, body: body)
            let (session, exchanges) =
                request.asksToWait ? (waitingSession, waitingExchanges) : (session, exchanges)
            return try await withDeadline(timeout) { deadline in
                try await exchanges.response(of: session.dataTask(with: prepared), in: session, deadline)
            }
        } catch {
            throw TransportError(error, authority: request.authority ?? "")
        }
    }
}
