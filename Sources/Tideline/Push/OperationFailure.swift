public import TidelineStore

/// Why sending one operation failed, while the push may go on with others.
///
/// ``PushOperation/execute()`` throws it; a delegate may catch it, change the item and execute again.
public struct OperationFailure: Error, Sendable {
    /// What kind of failure this is.
    public var code: Code
    /// The HTTP status of the answer, nil when the failure is not the server's.
    public var status: Int?
    /// What happened, for a person.
    public var message: String
    /// The row as the server has it, if that is known.
    public var serverItem: Row?
    /// The error below, if there is one. It is not kept with the error record, whose message describes it.
    public var cause: (any Error)?
    /// Whether sending the operation again can only do harm.
    var isFinal = false

    /// A failure.
    public init(
        _ code: Code, _ message: String, status: Int? = nil, serverItem: Row? = nil, cause: (any Error)? = nil
    ) {
        self.code = code
        self.message = message
        self.status = status
        self.serverItem = serverItem
        self.cause = cause
    }

    /// Whether a push leaves the operation alone until it changes, is settled, or is retried on purpose.
    var holdsOperation: Bool { code == .conflict || isFinal }

    /// The kinds of failure; open, so that a later version can add one.
    public struct Code: RawRepresentable, Sendable, Hashable {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The server's row is not the one the change was made on: changed, deleted, or there already.
        public static let conflict = Code(rawValue: "conflict")
        /// The server refused the request (403, 400, another 4xx). Mend the row, or drop the operation.
        public static let rejected = Code(rawValue: "rejected")
        /// The server failed (500, 502, 504) to the last try. Try again later.
        public static let serverFailed = Code(rawValue: "serverFailed")
        /// The server's answer cannot be read; whether it acted is settled by the next push.
        public static let invalidAnswer = Code(rawValue: "invalidAnswer")
        /// The local row is gone or cannot be sent.
        public static let invalidItem = Code(rawValue: "invalidItem")
        /// The operation has not failed: it is settled while it waits.
        static let waiting = Code(rawValue: "waiting")
        /// The delegate threw an error of its own.
        public static let delegate = Code(rawValue: "delegate")
    }
}

extension OperationFailure: CustomStringConvertible {
    public var description: String {
        "\(message) [\(code.rawValue)\(status.map { ", HTTP \($0)" } ?? "")]"
    }
}
