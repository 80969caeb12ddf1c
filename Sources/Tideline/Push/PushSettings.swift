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

    /// Settings for a push.
    public init(parameters: [(name: String, value: String)] = []) { self.parameters = parameters }
}
