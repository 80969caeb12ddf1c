public import TidelineStore

/// The meaning of a response, as a dialect understands it. It determines what the client does next.
public struct AnswerMeaning: Sendable {
    /// The kinds of meanings. The set is closed, because the client acts on each of them.
    public enum Kind: Sendable, Hashable, CaseIterable {
        /// The request was carried out. If the response has no row, the client looks it up where it needs it.
        case done
        /// The row does not exist, or was deleted. A delete is then complete, and an update is in conflict.
        case gone
        /// The row has another version than the request, or exists already. It was not changed.
        case conflict
        /// The server does not accept the request. The operation fails, and stays in the queue.
        case refused
        /// The server failed. The request is retried; then the operation fails, and the push continues with others.
        case serverFailed
        /// The server cannot answer now. The request is retried; then the push or pull ends, to be tried again later.
        /// An operation that is always answered so while others succeed fails alone.
        case unavailable
        /// The user must sign in. The token is refreshed once; then the push or pull ends.
        case signInNeeded
        /// Something else than the service gave the response, such as the sign-in page of a network or a gateway. It
        /// says nothing about the request. The push or pull ends, to be tried again later. An operation that is always
        /// answered so while the service is there fails alone.
        case notFromService
    }

    /// The kind of the meaning.
    public var kind: Kind
    /// The server row: as the request left it, or the row in conflict. `nil` if the response has none.
    public var row: Row?
    /// The server's description of a failure, for error messages. If empty, the HTTP status is shown.
    public var message: String
    /// The delay that the server asks for before another request, or `nil`.
    ///
    /// After any kind that is not retried, also ``Kind/done``, the client's next request waits for it, at most
    /// ``RetryPolicy/maximumDelay``.
    public var retryAfter: Duration?
    /// Whether a request that was refused may have been carried out nevertheless, such as one that a proxy answered;
    /// `false` by default.
    ///
    /// The client then looks for its effect before it sends another change of the row.
    public var mayHaveBeenApplied: Bool

    /// Creates a meaning.
    public init(
        _ kind: Kind, row: Row? = nil, message: String = "", retryAfter: Duration? = nil,
        mayHaveBeenApplied: Bool = false
    ) {
        self.kind = kind
        self.row = row
        self.message = message
        self.retryAfter = retryAfter
        self.mayHaveBeenApplied = mayHaveBeenApplied
    }

    /// The request was carried out.
    public static var done: AnswerMeaning { AnswerMeaning(.done) }
    /// The request was carried out, and left this row.
    public static func done(_ row: Row?) -> AnswerMeaning { AnswerMeaning(.done, row: row) }
    /// The row does not exist, or was deleted.
    public static var gone: AnswerMeaning { AnswerMeaning(.gone) }
    /// The row has another version, or exists already: this row, or one that the response does not show.
    public static func conflict(_ row: Row?) -> AnswerMeaning { AnswerMeaning(.conflict, row: row) }
    /// The server does not accept the request, for this reason.
    public static func refused(_ message: String) -> AnswerMeaning { AnswerMeaning(.refused, message: message) }

    /// Something else than the service gave the response, as this message describes.
    static func notFromService(_ message: String) -> AnswerMeaning {
        AnswerMeaning(.notFromService, message: message, mayHaveBeenApplied: true)
    }

    /// Whether the request may succeed if it is sent again after a delay.
    var isTransient: Bool { kind == .unavailable || kind == .serverFailed }
}
