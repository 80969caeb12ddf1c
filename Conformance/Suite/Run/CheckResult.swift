/// How one check went on one store.
public struct CheckResult: Sendable, Hashable, Codable {
    /// The check's ``Check/id``.
    public var id: String
    /// How it ended.
    public var status: CheckStatus
    /// Why it was skipped or not run, or the reason of a known failure; nil otherwise.
    public var reason: String?
    /// What is wrong, when it failed.
    public var failure: Failure?
    /// How long it took, in seconds.
    public var seconds: Double
    /// What it timed out waiting for, where it ended so.
    package var timeOut: TimeOutKind?

    /// What is wrong with a store.
    public struct Failure: Sendable, Hashable, Codable {
        /// What was expected and what was found.
        public var message: String
        /// The seed of its random choices.
        public var seed: UInt64
        /// Swift that repeats what was done to the store; it compiles with `import TidelineStore`.
        public var script: String?

        package init(message: String, seed: UInt64, script: String?) {
            self.message = message
            self.seed = seed
            self.script = script
        }
    }

    package init(
        id: String, status: CheckStatus, reason: String? = nil, failure: Failure? = nil, seconds: Double = 0,
        timeOut: TimeOutKind? = nil
    ) {
        self.id = id
        self.timeOut = timeOut
        self.status = status
        self.reason = reason
        self.failure = failure
        self.seconds = seconds
    }
}

/// How a check can end.
public enum CheckStatus: String, Sendable, Hashable, Codable, CaseIterable {
    /// The promise held.
    case passed
    /// It did not.
    case failed
    /// The suite itself could not do what the check needs; no verdict.
    case kitError
    /// The store declares that the promise is not its.
    case skipped
    /// It did not hold, which the list of known failures says.
    case knownFailure
    /// It held, though the list of known failures says it does not: take it off the list.
    case unexpectedPass
    /// The harness lacks a hook that the check needs, or the check did not come to its end. The second is so of a check
    /// that gets no answer soon, when an earlier one of the same store has timed out after the whole time limit.
    case notRun

    /// Whether a run with such a result has failed.
    public var isFailure: Bool {
        switch self {
        case .failed, .kitError, .unexpectedPass: true
        case .passed, .skipped, .knownFailure, .notRun: false
        }
    }
}
