internal import Foundation
internal import Tideline

#if canImport(FoundationNetworking)
internal import FoundationNetworking
#endif

extension TransportError {
    /// Creates a transport error from any error with which a request ends.
    init(_ error: any Error, authority: String) {
        switch error {
        case let error as TransportError:
            self = TransportError(error.code, "\(authority): \(error.message)", cause: error.cause)
        case is CancellationError:
            self.init(.cancelled, "the request to \(authority) was cancelled", cause: error)
        case let error as URLError:
            self.init(Code(error), "the request to \(authority) failed: \(error.localizedDescription)", cause: error)
        default:
            self.init(.connection, "the request to \(authority) failed: \(error.localizedDescription)", cause: error)
        }
    }
}

extension TransportError.Code {
    fileprivate init(_ error: URLError) {
        switch error.code {
        case .cancelled: self = .cancelled
        case .timedOut: self = .timeout
        case .badURL, .dataLengthExceedsMaximum: self = .invalidRequest
        // The scheme of the URL is supported; FoundationNetworking reports responses of other protocols so.
        case .unsupportedURL, .badServerResponse, .cannotParseResponse, .cannotDecodeRawData, .cannotDecodeContentData,
            .zeroByteResource:
            self = .invalidResponse
        case .secureConnectionFailed, .serverCertificateHasBadDate, .serverCertificateUntrusted,
            .serverCertificateHasUnknownRoot, .serverCertificateNotYetValid, .clientCertificateRejected,
            .clientCertificateRequired, .appTransportSecurityRequiresSecureConnection:
            self = .tls
        default: self = .connection
        }
    }
}
