internal import AsyncHTTPClient
internal import Foundation
internal import NIOCore
internal import NIOHTTP1
internal import NIOHTTPCompression
internal import NIOPosix
internal import NIOSSL
public import Tideline

extension TransportError.Code {
    /// The request cannot be sent: its URL or a header is not valid. Fix the request.
    public static let invalidRequest = TransportError.Code(rawValue: "invalidRequest")
}

extension TransportError {
    /// The failure in the framework's terms, from any error that a request ends with.
    init(_ error: any Error, authority: String) {
        switch error {
        case let error as TransportError:
            self = TransportError(error.code, "\(authority): \(error.message)", cause: error.cause)
        case is CancellationError:
            self.init(.cancelled, "the request to \(authority) was cancelled", cause: error)
        case let error as HTTPClientError:
            self.init(error, authority: authority)
        case let error as NIOConnectionError:
            self.init(.connection, error.message, cause: error)
        case let error as IOError:
            self.init(.connection, "the connection to \(authority) failed: \(error.reason)", cause: error)
        case HTTPParserError.invalidEOFState:
            self.init(.connection, "\(authority) closed the connection before the answer was whole", cause: error)
        case is HTTPParserError, is NIOHTTPDecompression.ExtraDecompressionError:
            self.init(.invalidResponse, "\(authority) did not answer in HTTP: \(error)", cause: error)
        case let error as NIOHTTPDecompression.DecompressionError:
            self.init(error, authority: authority)
        case is NIOSSLError, is BoringSSLError, is NIOSSLExtraError:
            self.init(.tls, "no secure connection to \(authority): \(tlsReason(error))", cause: error)
        default:
            self.init(platformError: error, authority: authority)
        }
    }

    static func timeout(after duration: Duration) -> TransportError {
        TransportError(.timeout, "no whole answer within \(duration)")
    }

    static func tooLarge(limit: Int) -> TransportError {
        TransportError(.tooLarge, "the answer is larger than the \(limit) bytes allowed")
    }

    private init(_ error: HTTPClientError, authority: String) {
        switch error {
        case .cancelled, .requestStreamCancelled:
            self.init(.cancelled, "the request to \(authority) was cancelled", cause: error)
        case .deadlineExceeded, .connectTimeout, .readTimeout, .writeTimeout, .getConnectionFromPoolTimeout,
            .tlsHandshakeTimeout, .socksHandshakeTimeout, .httpProxyHandshakeTimeout:
            self.init(.timeout, "no answer from \(authority) in time (\(error.shortDescription))", cause: error)
        case .remoteConnectionClosed, .uncleanShutdown:
            self.init(.connection, "\(authority) closed the connection before the answer was whole", cause: error)
        case .invalidURL, .emptyHost, .emptyScheme, .missingSocketPath, .traceRequestWithBody:
            self.init(.invalidRequest, "no request can be made for \(authority): \(error)", cause: error)
        default:
            let code: Code = error.isAboutTheRequest ? .invalidRequest : .connection
            self.init(code, "the request to \(authority) failed: \(error)", cause: error)
        }
    }

    private init(_ error: NIOHTTPDecompression.DecompressionError, authority: String) {
        switch error {
        case .limit:
            self.init(.tooLarge, "\(authority): the answer, decompressed, is larger than allowed", cause: error)
        default:
            self.init(.invalidResponse, "\(authority): the answer cannot be decompressed: \(error)", cause: error)
        }
    }

    /// Errors of the operating system, and those of Apple's network stack where it is the one below.
    private init(platformError error: any Error, authority: String) {
        if case ChannelError.connectTimeout = error {
            self.init(.timeout, "no connection to \(authority) in time", cause: error)
            return
        }
        #if canImport(Network)
            if error is HTTPClient.NWTLSError {
                self.init(.tls, "no secure connection to \(authority): \(error)", cause: error)
                return
            }
        #endif
        self.init(.connection, "the connection to \(authority) broke: \(error)", cause: error)
    }
}

extension HTTPClientError {
    /// Whether it is one of the kinds that carry names, which cannot be matched as values.
    fileprivate var isAboutTheRequest: Bool {
        ["Unsupported scheme", "Invalid header field names", "Invalid header field values"].contains(shortDescription)
    }
}

extension NIOConnectionError {
    /// What kept the connection from being made, with host and port.
    fileprivate var message: String {
        if dnsAError != nil || dnsAAAAError != nil, connectionErrors.isEmpty {
            return "the host \(host) was not found"
        }
        let reasons = connectionErrors.map { failure in
            (failure.error as? IOError)?.reason ?? String(describing: failure.error)
        }
        return "no connection to \(host):\(port): \(reasons.joined(separator: "; "))"
    }
}

/// What BoringSSL says went wrong, in words: its errors are text only, each with the number of the error and
/// the line of BoringSSL's source around it.
private func tlsReason(_ error: any Error) -> String {
    let text = String(describing: error)
    let reasons = text.components(separatedBy: "OPENSSL_internal:").dropFirst().map { part in
        part.prefix { $0 == "_" || $0.isASCII && ($0.isLetter || $0.isNumber) }
            .lowercased().replacingOccurrences(of: "_", with: " ")
    }
    if reasons.contains("wrong version number") { return "it does not answer in TLS" }
    return reasons.isEmpty ? text : reasons.joined(separator: "; ")
}

extension IOError {
    /// What the operating system says, such as `Connection refused`, without the name of the call that failed.
    fileprivate var reason: String { String(cString: strerror(errnoCode)) }
}
