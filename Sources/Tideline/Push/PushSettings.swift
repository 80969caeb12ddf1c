public import TidelineStore

/// How requests that the server could not answer are tried again.
///
/// Tried again are 408, 429, 500, 502, 503 and 504. A server that is not reached at all is not: that ends the call.
public struct RetryPolicy: Sendable, Hashable {
    /// How often a request is sent at most; 1 for no retry.
    public var maximumAttempts: Int
    /// The pause before the second attempt; each further pause is twice as long, and varied by up to a half.
    public var initialDelay: Duration
    /// The longest pause, also where the server's `Retry-After` asks for a longer one.
    public var maximumDelay: Duration

    /// A policy; by default four attempts, pauses of 0.5 s, 1 s and 2 s, at most 30 s where the server asks.
    public init(
        maximumAttempts: Int = 4, initialDelay: Duration = .milliseconds(500), maximumDelay: Duration = .seconds(30)
    ) {
        self.maximumAttempts = maximumAttempts
        self.initialDelay = initialDelay
        self.maximumDelay = maximumDelay
    }

    /// The pause after an attempt that got a transient answer, nil when there is to be no further attempt.
    ///
    /// - Parameters:
    ///   - attempt: The number of the attempt that failed, from 1.
    ///   - retryAfter: What the server asked for.
    ///   - random: A number from 0 to 1.
    func delay(afterAttempt attempt: Int, retryAfter: Duration?, random: Double) -> Duration? {
        guard attempt < maximumAttempts else { return nil }
        if let retryAfter { return min(max(retryAfter, .zero), maximumDelay) }
        // Held to the longest first, so that no number of attempts overflows.
        let doubled = min(initialDelay, maximumDelay) * (1 << min(attempt - 1, 20))
        return min(doubled, maximumDelay) * (0.5 + random / 2)
    }
}

/// How a push is done.
public struct PushSettings: Sendable {
    /// Parameters added to the address of every request; a name must not begin with `$` or `__`.
    public var parameters: [(name: String, value: String)]
    /// Whether operations in conflict are sent again although nothing has changed since; false by default.
    ///
    /// An operation in conflict stays in the queue and is reported by each push. It is sent again once its row is edited
    /// or the conflict is settled.
    public var retriesConflicts: Bool
    /// Called after each operation that the push has dealt with, on an arbitrary thread.
    public var onProgress: (@Sendable (PushProgress) -> Void)?

    /// Creates settings for a push.
    public init(
        parameters: [(name: String, value: String)] = [], retriesConflicts: Bool = false,
        onProgress: (@Sendable (PushProgress) -> Void)? = nil
    ) {
        self.parameters = parameters
        self.retriesConflicts = retriesConflicts
        self.onProgress = onProgress
    }
}

/// How far a push has come.
public struct PushProgress: Sendable, Hashable {
    /// Operations that the server has carried out.
    public internal(set) var sent = 0
    /// Operations that failed.
    public internal(set) var failed = 0
    /// Operations that the push found in the queue when it began, those in conflict that it leaves alone not counted.
    public internal(set) var total = 0
}

/// What a push did.
public struct PushResult: Sendable {
    /// How far it came.
    public internal(set) var progress = PushProgress()
    /// Values that the server stored differently from what was sent.
    public internal(set) var warnings: [PushWarning] = []
    /// The errors of single operations, those of earlier pushes that are not settled included.
    public internal(set) var operationErrors: [TableOperationError] = []
    /// Why the push ended before it had tried every operation; nil when it did not.
    public internal(set) var error: SyncError?
}

/// A value that the server stored differently from what was sent, such as an integer beyond 2^53 on a server that computes
/// with doubles.
public struct PushWarning: Sendable, Hashable, CustomStringConvertible {
    /// The table of the row.
    public let table: String
    /// The identifier of the row.
    public let itemID: String
    /// The column.
    public let column: String
    /// What was sent.
    public let sent: Value
    /// What the server has, which the local row now shows.
    public let stored: Value

    public var description: String {
        "the server stored \(stored) for the column \(column.debugDescription) of \(itemID.debugDescription) in table "
            + "\(table.debugDescription), not \(sent)"
    }
}
