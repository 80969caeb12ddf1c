public import TidelineStore

/// The policy for retrying requests after transient responses.
///
/// Requests are retried if the server fails or cannot answer now: in the built-in dialects after 408, 429, 500, 502,
/// 503, and 504. If the server cannot be reached, or asks for a delay longer than ``maximumDelay``, the request is not
/// retried and the call ends.
public struct RetryPolicy: Sendable, Hashable {
    /// The maximum number of attempts; 1 for no retry.
    public var maximumAttempts: Int
    /// The delay before the second attempt. Each further delay is twice as long. Delays are randomly reduced by up to
    /// half.
    public var initialDelay: Duration
    /// The maximum delay. If the server asks for a longer one, the call ends at once, with ``SyncError/Code/network``.
    public var maximumDelay: Duration

    /// Creates a policy. The defaults are four attempts with delays of 0.5 s, 1 s, and 2 s, or those that the server
    /// asks for, up to 30 s.
    public init(
        maximumAttempts: Int = 4, initialDelay: Duration = .milliseconds(500), maximumDelay: Duration = .seconds(30)
    ) {
        self.maximumAttempts = maximumAttempts
        self.initialDelay = initialDelay
        self.maximumDelay = maximumDelay
    }

    /// Returns the delay after an attempt with a transient response, or `nil` if there is no further attempt.
    ///
    /// - Parameters:
    ///   - attempt: The number of the failed attempt, starting at 1.
    ///   - retryAfter: The delay that the server asked for.
    ///   - random: A number from 0 to 1.
    func delay(afterAttempt attempt: Int, retryAfter: Duration?, random: Double) -> Duration? {
        guard attempt < maximumAttempts else { return nil }
        if let retryAfter { return min(max(retryAfter, .zero), maximumDelay) }
        // The delay is limited first, so that no number of attempts overflows.
        let doubled = min(initialDelay, maximumDelay) * (1 << min(attempt - 1, 20))
        return min(doubled, maximumDelay) * (0.5 + random / 2)
    }
}

/// The settings of a push.
public struct PushSettings: Sendable {
    /// Query parameters for the URL of each insert, update, and delete, but not of the lookup of a row or an undelete.
    /// A name must not begin with `$` or `__`.
    public var parameters: [(name: String, value: String)]
    /// Whether operations in conflict are sent again although nothing has changed; `false` by default.
    ///
    /// An operation in conflict stays in the queue and is reported by each push. It is sent again after its row is
    /// edited or the conflict is resolved, or if its table has a ``ConflictPolicy`` that did not leave it
    /// to the app.
    public var retriesConflicts: Bool
    /// The maximum number of operations in flight at the same time; 8 by default, and at least 1.
    ///
    /// Operations of one row never overlap. With 1, each operation is sent after the one before it has ended, in the
    /// order in which they were made, and calls of the delegate never overlap.
    public var maxInFlight: Int
    /// The action if another process is pushing operations of the same store, such as an extension of the app.
    public var whenOtherProcessPushes: OtherProcessPush
    /// A closure that is called after each operation of the push, on an arbitrary thread.
    public var onProgress: (@Sendable (PushProgress) -> Void)?
    /// The operations that failed in an earlier push and are sent again.
    var failureRetry = FailureRetry.all

    /// The action if another process is pushing operations of the same store.
    ///
    /// One process pushes at a time. A process that ends or is suspended while it pushes is replaced after 15 seconds.
    public enum OtherProcessPush: Sendable, Hashable {
        /// Wait until the other push has ended, and push what is then pending. Within
        /// ``SyncContextDelegate/perform(_:)``, a push does not wait.
        case wait
        /// Throw ``SyncError/Code/otherProcess`` without sending anything.
        case fail
    }

    /// Creates settings for a push.
    public init(
        parameters: [(name: String, value: String)] = [], retriesConflicts: Bool = false, maxInFlight: Int = 8,
        whenOtherProcessPushes: OtherProcessPush = .wait, onProgress: (@Sendable (PushProgress) -> Void)? = nil
    ) {
        self.whenOtherProcessPushes = whenOtherProcessPushes
        self.parameters = parameters
        self.retriesConflicts = retriesConflicts
        self.maxInFlight = maxInFlight
        self.onProgress = onProgress
    }
}

extension PushSettings {
    /// Throws if the settings cannot be used.
    func check() throws(SyncError) {
        guard maxInFlight >= 1 else {
            throw SyncError(.invalidArgument, "the setting maxInFlight of a push must be 1 or more, not \(maxInFlight)")
        }
        for (name, _) in parameters where name.isEmpty || name.utf8.first == UInt8(ascii: "$") || name.isReserved {
            throw SyncError(
                .invalidArgument,
                "the setting parameters of a push names \(name.debugDescription), which cannot be sent: names that are "
                    + "empty or begin with $ or __ are reserved")
        }
    }
}

/// The progress of a push.
public struct PushProgress: Sendable, Hashable {
    /// The number of operations that the server has applied.
    public internal(set) var sent = 0
    /// The number of operations that a conflict policy ended with the server row.
    public internal(set) var resolved = 0
    /// The number of operations that failed.
    public internal(set) var failed = 0
    /// The number of operations that were held back: they were not sent, because an operation that they depend on by a
    /// declared reference failed or was not sent. They have no error of their own, and the next push considers them
    /// again.
    public internal(set) var heldBack = 0
    /// The number of pending operations at the start of the push, without operations in conflict that are not sent.
    public internal(set) var total = 0
}

/// The result of a push.
public struct PushResult: Sendable {
    /// The progress of the push.
    public internal(set) var progress = PushProgress()
    /// The values that the server stored differently.
    public internal(set) var warnings: [Warning] = []
    /// The errors of individual operations, including unresolved errors of earlier pushes.
    public internal(set) var operationErrors: [TableOperationError] = []
    /// The error that ended the push before it had attempted every operation, or `nil` if there was none.
    public internal(set) var error: SyncError?
    /// Whether the service responded to an operation, or to the list of a table.
    var isServiceThere = false

    /// A value that the server stored differently, such as an integer beyond 2^53 on a server that computes with
    /// doubles, a timestamp without its last digits, a number of a column with fewer decimals, or a default value for
    /// null.
    public struct Warning: Sendable, Hashable, CustomStringConvertible {
        /// The table of the row.
        public let table: String
        /// The identifier of the row.
        public let itemID: String
        /// The column.
        public let column: String
        /// The value that was sent.
        public let sent: Value
        /// The value that the server stored, which is now also in the local row.
        public let stored: Value

        public var description: String {
            "the server stored \(stored) for the column \(column.debugDescription) of \(itemID.debugDescription) in table "
                + "\(table.debugDescription) instead of \(sent)"
        }
    }
}

/// Which operations that failed in an earlier push are sent again, if they have not changed.
enum FailureRetry: Sendable, Hashable {
    /// All except conflicts that are not resolved. The others are reported again.
    case all
    /// Those that failed on the server, or whose conflict a policy may resolve, except these operations. The others are
    /// not reported again.
    case failedOnServer(except: Set<Int64>)
    /// None, and none is reported again.
    case none
}
