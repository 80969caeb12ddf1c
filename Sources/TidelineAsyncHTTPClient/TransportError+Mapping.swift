#if AsyncHTTPClient
internal import AsyncHTTPClient
internal import Foundation
internal import HTTPTypes
internal import NIOCore
internal import NIOHTTP1
internal import NIOHTTPCompression
internal import NIOPosix
internal import NIOSSL
internal import Tideline

extension TransportError {
    /// Creates a transport error from any error with which a request ends.
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
            self.init(.connection, "\(authority) closed the connection before the response was complete", cause: error)
        case is HTTPParserError, is NIOHTTPDecompression.ExtraDecompressionError:
            self.init(.invalidResponse, "\(authority) did not send a valid HTTP response: \(error)", cause: error)
        case NIOHTTPDecompression.DecompressionError.limit:
            self.init(.tooLarge, "\(authority): the decompressed response is larger than allowed", cause: error)
        case is NIOHTTPDecompression.DecompressionError:
            self.init(.invalidResponse, "\(authority): the response cannot be decompressed: \(error)", cause: error)
        case is NIOSSLError, is BoringSSLError, is NIOSSLExtraError:
            self.init(.tls, "no secure connection to \(authority): \(tlsReason(error))", cause: error)
        case ChannelError.connectTimeout:
            self.init(.timeout, "the connection to \(authority) timed out", cause: error)
        #if canImport(Network)
        // Of Apple's Network framework where it is used.
        case is HTTPClient.NWTLSError:
            self.init(.tls, "no secure connection to \(authority): \(error)", cause: error)
        #endif
        default:
            self.init(.connection, "the connection to \(authority) failed: \(error)", cause: error)
        }
    }

    private init(_ error: HTTPClientError, authority: String) {
        switch error {
        // A request whose connection was closed has the same error, and its task is not cancelled.
        case .cancelled where Task.isCancelled, .requestStreamCancelled where Task.isCancelled:
            self.init(.cancelled, "the request to \(authority) was cancelled", cause: error)
        case .deadlineExceeded, .connectTimeout, .readTimeout, .writeTimeout, .getConnectionFromPoolTimeout,
            .tlsHandshakeTimeout, .socksHandshakeTimeout, .httpProxyHandshakeTimeout:
            self.init(.timeout, "no response from \(authority) in time (\(error.shortDescription))", cause: error)
        case .remoteConnectionClosed, .uncleanShutdown:
            self.init(.connection, "\(authority) closed the connection before the response was complete", cause: error)
        case .invalidURL, .emptyHost, .emptyScheme, .missingSocketPath, .traceRequestWithBody:
            self.init(.invalidRequest, "the request to \(authority) is invalid: \(error)", cause: error)
        default:
            let code: Code = error.isAboutTheRequest ? .invalidRequest : .connection
            self.init(code, "the request to \(authority) failed: \(error)", cause: error)
        }
    }
}

extension HTTPRequest {
    /// Whether the request can be sent once more after an error that occurred before its response began.
    func canBeRepeated(after error: any Error) -> Bool {
        // async-http-client found the connection closed, and did not write the request.
        if case ChannelError.ioOnClosedChannel = error { return true }
        let isClosed =
            switch error {
            // With HTTP/2, a request for a connection that was just closed is "cancelled".
            case let error as HTTPClientError: [.remoteConnectionClosed, .cancelled].contains(error)
            case let error as IOError: error.errnoCode == ECONNRESET
            default: false
            }
        // The server may have processed the request.
        return isClosed && [.get, .head].contains(method)
    }
}

extension HTTPClientError {
    /// Whether the error concerns the request. These kinds have associated names and cannot be matched as values.
    fileprivate var isAboutTheRequest: Bool {
        ["Unsupported scheme", "Invalid header field names", "Invalid header field values"].contains(shortDescription)
    }
}

extension NIOConnectionError {
    /// The reason that no connection was made, with host and port.
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

/// Returns BoringSSL's reasons for an error, in words. Its errors are only text, in which each reason is surrounded by
/// the error number and a line of BoringSSL's source.
private func tlsReason(_ error: any Error) -> String {
    let text = String(describing: error)
    let reasons = text.components(separatedBy: "OPENSSL_internal:").dropFirst().map { part in
        part.prefix { $0 == "_" || $0.isASCII && ($0.isLetter || $0.isNumber) }
            .lowercased().replacingOccurrences(of: "_", with: " ")
    }
    if reasons.contains("wrong version number") { return "the server does not use TLS" }
    return reasons.isEmpty ? text : reasons.joined(separator: "; ")
}

extension IOError {
    /// The operating system's description, such as `Connection refused`, without the name of the failed call.
    fileprivate var reason: String { String(cString: strerror(errnoCode)) }
}
#endif
