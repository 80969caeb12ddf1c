public import TidelineStore

/// The failure of one operation that does not end the push.
///
/// ``PushOperation/execute()`` throws it. A delegate may catch it, change the item, and execute the operation again.
public struct OperationFailure: Error, Sendable {
    /// The kind of the failure.
    public var code: Code
    /// The HTTP status of the response, or `nil` if the failure did not come from the server.
    public var status: Int?
    /// A description of the failure.
    public var message: String
    /// The server row, if known.
    public var serverItem: Row?
    /// Whether the server no longer has the row, or has only its tombstone.
    public var isRowGone: Bool
    /// The underlying error, if any. It is not stored in the error record, whose message describes it.
    public var cause: (any Error)?
    /// Whether the operation must not be sent again.
    var isFinal = false

    /// Creates a failure.
    public init(
        _ code: Code, _ message: String, status: Int? = nil, serverItem: Row? = nil, isRowGone: Bool = false,
        cause: (any Error)? = nil
    ) {
        self.code = code
        self.message = message
        self.status = status
        self.serverItem = serverItem
        self.isRowGone = isRowGone || serverItem?.isTombstone == true
        self.cause = cause
    }

    /// Whether the server row differs from the base row.
    var isConflict: Bool { code == .conflict || code == .policy }

    /// A kind of failure. The set is open so that later versions can add kinds.
    public struct Code: RawRepresentable, Sendable, Hashable {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The server row differs from the base row: it was changed or deleted, or already exists.
        public static let conflict = Code(rawValue: "conflict")
        /// The server rejected the request. Correct the row, or cancel the operation.
        public static let rejected = Code(rawValue: "rejected")
        /// The server failed on the last attempt, or did not respond to this operation while it was there. Try again
        /// later.
        public static let serverFailed = Code(rawValue: "serverFailed")
        /// The server's response cannot be read. The next push determines whether the server applied the request.
        public static let invalidAnswer = Code(rawValue: "invalidAnswer")
        /// The local row no longer exists or cannot be sent.
        public static let invalidItem = Code(rawValue: "invalidItem")
        /// The operation has not failed; it is resolved while pending.
        static let waiting = Code(rawValue: "waiting")
        /// The operation is in conflict, and the conflict policy failed: a closure threw an error, or returned a row or
        /// value that does not fit the table. The next push tries again.
        public static let policy = Code(rawValue: "policy")
        /// The delegate threw a different error.
        public static let delegate = Code(rawValue: "delegate")
    }
}

extension OperationFailure: CustomStringConvertible {
    public var description: String {
        "\(message) [\(code.rawValue)\(status.map { ", HTTP \($0)" } ?? "")]"
    }
}
