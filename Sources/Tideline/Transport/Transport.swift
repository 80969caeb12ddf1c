public import HTTPTypes

/// Sends HTTP requests to the server and returns complete responses.
///
/// A conforming type guarantees:
/// - A response is complete and decompressed. A truncated body is an error, never a short body.
/// - A response of any final status, 200 to 999, is returned, not thrown as an error.
/// - Redirects are not followed.
/// - A request is aborted when its task is cancelled.
/// - Every failure is a ``TransportError``.
public protocol Transport: Sendable {
    /// Sends a request and waits for the complete response.
    ///
    /// - Parameters:
    ///   - request: The method, scheme, authority, path with query, and headers.
    ///   - body: The body, or `nil` if there is none.
    ///   - timeout: The time limit for the response, including connecting. Each further 64 KiB of its body should
    ///     restart the time: a page that arrives slowly is not lost.
    /// - Throws: ``TransportError``.
    func send(_ request: HTTPRequest, body: [UInt8]?, timeout: Duration) async throws -> TransportResponse
}

/// A response: status, headers, and complete body.
public struct TransportResponse: Sendable {
    /// The status and headers.
    public var response: HTTPResponse
    /// The decompressed body; empty if there is none.
    public var body: [UInt8]
    /// The number of times the request was sent to get this response, counted by the connection.
    var attempts = 1

    /// Creates a response.
    public init(response: HTTPResponse, body: [UInt8]) {
        self.response = response
        self.body = body
    }

    /// Replaces the request's credentials wherever the body repeats them, so that no message can show them.
    ///
    /// - Returns: Whether the body has changed.
    mutating func redact(_ secret: HTTPField) -> Bool {
        redact([secret.value] + secret.value.split(separator: " ").suffix(1).map(String.init))
    }

    /// Replaces each of the secrets in the body with an ellipsis.
    ///
    /// - Returns: Whether the body has changed.
    @discardableResult
    package mutating func redact(_ secrets: [String]) -> Bool {
        let received = body
        for secret in secrets where !secret.isEmpty { body.replace(Array(secret.utf8), with: Array("…".utf8)) }
        return body != received
    }
}

/// An error that left a request without a response.
///
/// It is unknown whether the server processed the request.
public struct TransportError: Error, Sendable, CustomStringConvertible {
    /// The kind of the failure.
    public var code: Code
    /// A description of the failure, with host and port.
    public var message: String
    /// The underlying error, if any.
    public var cause: (any Error)?

    /// Creates an error.
    public init(_ code: Code, _ message: String, cause: (any Error)? = nil) {
        self.code = code
        self.message = message
        self.cause = cause
    }

    public var description: String { "\(message) [\(code.rawValue)]" }

    /// A kind of failure. The set is open so that later versions can add kinds.
    public struct Code: RawRepresentable, Sendable, Hashable {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The host was not found, the connection was refused, or it broke.
        public static let connection = Code(rawValue: "connection")
        /// The time limit passed.
        public static let timeout = Code(rawValue: "timeout")
        /// The TLS connection could not be established.
        public static let tls = Code(rawValue: "tls")
        /// The response is larger than the transport accepts.
        public static let tooLarge = Code(rawValue: "tooLarge")
        /// The response is incomplete or not valid HTTP.
        public static let invalidResponse = Code(rawValue: "invalidResponse")
        /// The task was cancelled.
        public static let cancelled = Code(rawValue: "cancelled")
        /// The request cannot be sent because its URL or a header is invalid. Fix the request.
        public static let invalidRequest = Code(rawValue: "invalidRequest")
    }
}

// Shared by the transports of this package.
extension HTTPRequest {
    /// Whether the server is asked to wait before it answers (`Prefer: wait`, RFC 7240), as in a long poll.
    ///
    /// The transports send such a request over a connection of its own kind, so that it takes none from the others.
    package var asksToWait: Bool {
        headerFields[values: .prefer].contains { $0.lowercased().hasPrefix("wait=") }
    }
}

extension HTTPField.Name {
    // The name is a valid constant, so it is not nil.
    static let prefer = Self("Prefer")!
}

// Shared by the transports of this package.
extension TransportError {
    package static func timeout(after duration: Duration) -> TransportError {
        TransportError(.timeout, "no complete response, nor 64 KiB more of one, within \(duration)")
    }

    package static func tooLarge(limit: Int) -> TransportError {
        TransportError(.tooLarge, "the response is larger than the \(limit) bytes allowed")
    }
}

extension HTTPFields {
    /// The encodings that the transports accept and decode, whatever the caller accepts.
    package static let acceptedEncodings = "gzip, deflate"

    /// Removes the fields that describe the body on the wire, after its decompression.
    ///
    /// - Parameters:
    ///   - body: The body. An empty one may have any encoding: servers that compress name one for empty responses too.
    ///   - accepted: The value of the request's header `Accept-Encoding`.
    /// - Throws: ``TransportError`` for an encoding that was not requested.
    package mutating func removeContentEncoding(
        of body: [UInt8], accepted: String = acceptedEncodings
    ) throws(TransportError) {
        guard let encoding = self[.contentEncoding], !["", "identity"].contains(encoding) else { return }
        if accepted.split(separator: ", ").contains(where: { $0 == encoding }) {
            self[.contentLength] = nil
        } else if !body.isEmpty {
            throw TransportError(
                .invalidResponse, "the response has the encoding \(encoding.debugDescription), which was not requested")
        }
        self[.contentEncoding] = nil
    }
}
