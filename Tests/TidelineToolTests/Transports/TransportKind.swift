#if AsyncHTTPClient
import Testing
import Tideline
import TidelineAsyncHTTPClient
import TidelineURLSession

/// The transports, which have the same tests.
enum TransportKind: String, CaseIterable, Sendable {
    case asyncHTTPClient = "AsyncHTTPClient"
    case urlSession = "URLSession"

    /// The transports that are tested against hostile servers. FoundationNetworking ends the process on some of their
    /// responses.
    static var facingHostileServers: [TransportKind] { allCases.filter { !$0.isLimited } }

    var shared: any Transport {
        switch self {
        case .asyncHTTPClient: AsyncHTTPClientTransport.shared
        case .urlSession: URLSessionTransport.shared
        }
    }

    /// Makes a transport with its own connections. The time limit of a connection applies to async-http-client only.
    func makeTransport(
        maximumBodySize: Int = 256 << 20, connectTimeout: Duration = .seconds(10), maximumConnections: Int = 8
    ) -> any Transport {
        switch self {
        case .asyncHTTPClient:
            var options = AsyncHTTPClientTransport.Options()
            options.maximumBodySize = maximumBodySize
            options.connectTimeout = connectTimeout
            options.maximumConnectionsPerHost = maximumConnections
            return AsyncHTTPClientTransport(options: options)
        case .urlSession:
            var options = URLSessionTransport.Options()
            options.maximumBodySize = maximumBodySize
            options.maximumConnectionsPerHost = maximumConnections
            return URLSessionTransport(options: options)
        }
    }

    /// Whether the transport keeps only the promises of FoundationNetworking.
    var isLimited: Bool {
        #if canImport(FoundationNetworking)
        self == .urlSession
        #else
        false
        #endif
    }

    /// Whether the transport survives a connection that closes after `start`. FoundationNetworking ends the process if
    /// the head of the response is incomplete.
    func survives(_ start: String) -> Bool { !isLimited || start.isEmpty || start.contains("\r\n\r\n") }

    /// Whether the transport may report a failure, which async-http-client reports with `expected`, with `code`.
    func reports(_ expected: TransportError.Code, as code: TransportError.Code) -> Bool {
        code == expected || isLimited && [.connection, .invalidResponse].contains(code)
    }
}
#endif
