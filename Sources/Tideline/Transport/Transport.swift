public import HTTPTypes

/// Carries one HTTP request to the server and brings the whole answer back.
///
/// What an implementer guarantees: the answer is complete (a body cut short is an error, never a short body),
/// decompressed, and its status, whatever it is, is an answer and not an error. Redirects are not followed. When the
/// task is cancelled the request is given up. Every failure is a ``TransportError``.
public protocol Transport: Sendable {
    /// Sends a request and waits for the whole answer.
    ///
    /// - Parameters:
    ///   - request: Method, scheme, authority, path with query, and headers.
    ///   - body: The body, nil for none.
    ///   - timeout: How long the whole exchange may take, connecting included.
    /// - Throws: ``TransportError``.
    func send(_ request: HTTPRequest, body: [UInt8]?, timeout: Duration) async throws -> TransportResponse
}

/// An answer: status, headers and the whole body.
public struct TransportResponse: Sendable {
    /// Status and headers.
    public var response: HTTPResponse
    /// The body, decompressed; empty when there is none.
    public var body: [UInt8]
    /// How often the request was sent until this answer came, counted by the connection.
    var attempts = 1

    /// An answer.
    public init(response: HTTPResponse, body: [UInt8]) {
        self.response = response
        self.body = body
    }

    /// Replaces what signed the request in wherever the body repeats it, so that no message can show it.
    mutating func redact(_ secret: HTTPField) {
        redact([secret.value] + secret.value.split(separator: " ").suffix(1).map(String.init))
    }

    /// Replaces each of the secrets in the body by an ellipsis.
    mutating func redact(_ secrets: [String]) {
        for secret in secrets where !secret.isEmpty { body.replace(Array(secret.utf8), with: Array("…".utf8)) }
    }
}

/// Why no answer came.
///
/// Nothing is known then about whether the server acted on the request.
public struct TransportError: Error, Sendable, CustomStringConvertible {
    /// What kind of failure this is.
    public var code: Code
    /// What happened, with host and port.
    public var message: String
    /// The error below, if there is one.
    public var cause: (any Error)?

    /// A failure.
    public init(_ code: Code, _ message: String, cause: (any Error)? = nil) {
        self.code = code
        self.message = message
        self.cause = cause
    }

    public var description: String { "\(message) [\(code.rawValue)]" }

    /// The kinds of failure; open, so that a later version can add one.
    public struct Code: RawRepresentable, Sendable, Hashable {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The host was not found, refused, or the connection broke.
        public static let connection = Code(rawValue: "connection")
        /// The time allowed passed.
        public static let timeout = Code(rawValue: "timeout")
        /// The secure channel could not be made.
        public static let tls = Code(rawValue: "tls")
        /// The answer is larger than the transport accepts.
        public static let tooLarge = Code(rawValue: "tooLarge")
        /// What came is not a whole HTTP answer.
        public static let invalidResponse = Code(rawValue: "invalidResponse")
        /// The task was cancelled.
        public static let cancelled = Code(rawValue: "cancelled")
    }
}
