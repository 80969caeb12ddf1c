/// The result of one check on one store.
public struct CheckResult: Sendable, Hashable, Codable {
    /// The check's ``Check/id``.
    public var id: String
    /// The outcome.
    public var status: CheckStatus
    /// The reason why the check was skipped or not run, or the reason of a known failure; otherwise `nil`.
    public var reason: String?
    /// The problem, if the check failed.
    public var failure: Failure?
    /// The duration in seconds.
    public var seconds: Double
    /// The kind of wait that timed out, if the check ended that way.
    package var timeOut: TimeOutKind?
    /// `true` if the check was skipped for the store's opposite declaration or the dialect; otherwise `nil`.
    package var isExcluded: Bool?

    /// A problem with a store.
    public struct Failure: Sendable, Hashable, Codable {
        /// The expected and the actual behavior.
        public var message: String
        /// The seed of the check's random choices.
        public var seed: UInt64
        /// Swift code that repeats the operations on the store; it compiles with `import TidelineStore`. For a server,
        /// the requests and responses.
        public var script: String?

        package init(message: String, seed: UInt64, script: String?) {
            self.message = message
            self.seed = seed
            self.script = script
        }
    }

    package init(
        id: String, status: CheckStatus, reason: String? = nil, failure: Failure? = nil, seconds: Double = 0,
        timeOut: TimeOutKind? = nil, isExcluded: Bool = false
    ) {
        self.id = id
        self.timeOut = timeOut
        self.isExcluded = isExcluded ? true : nil
        self.status = status
        self.reason = reason
        self.failure = failure
        self.seconds = seconds
    }
}

/// The possible outcomes of a check.
public enum CheckStatus: String, Sendable, Hashable, Codable, CaseIterable {
    /// The promise held.
    case passed
    /// The promise did not hold.
    case failed
    /// The suite itself could not do what the check requires; no verdict.
    case harnessError
    /// The store declares that it does not make the promise.
    case skipped
    /// The promise did not hold, as the list of known failures says.
    case knownFailure
    /// The promise held although the list of known failures says otherwise. Remove it from the list.
    case unexpectedPass
    /// The promise did not hold, but clients work with such a server, as the reason says.
    case tolerated
    /// The harness lacks a hook that the check requires, or the check did not complete. The latter includes a check
    /// that times out early because an earlier check of the same store timed out after the whole time limit.
    case notRun

    /// Whether a run with such a result has failed.
    public var isFailure: Bool {
        switch self {
        case .failed, .harnessError, .unexpectedPass: true
        case .passed, .skipped, .knownFailure, .tolerated, .notRun: false
        }
    }
}

/// A broken promise: the expected and the actual behavior.
struct CheckFailure: Error {
    /// The problem, described for the store's author.
    var message: String
    /// Swift code that reproduces the failure, if a check has a shorter form than the trace of its calls.
    var script: String?

    init(_ message: String, script: String? = nil) {
        self.message = message
        self.script = script
    }
}

/// A failure of the suite itself, such as creating a directory. It is no verdict on the store.
struct HarnessError: Error, CustomStringConvertible {
    /// The operation that failed.
    var message: String

    init(_ message: String) { self.message = message }

    var description: String { message }
}

/// A promise that cannot be verified with this harness. The check counts as not run.
struct NotDecidable: Error {
    /// The reason why the promise cannot be verified.
    var reason: String

    init(_ reason: String) { self.reason = reason }
}

/// A check that did not pass, described so that a test's output contains all that is known.
public struct ConformanceFailure: Error, CustomStringConvertible {
    /// The check.
    public let check: Check
    /// The result.
    public let result: CheckResult

    init(_ check: Check, _ result: CheckResult) {
        self.check = check
        self.result = result
    }

    /// The promise, the finding, the seed, and a script that reproduces it.
    public var description: String {
        var lines = ["\(check.id): \(check.promise)"]
        switch result.status {
        case .unexpectedPass: lines.append("The promise holds but is listed as a known failure: update the list.")
        case .skipped, .notRun: lines.append("It does not run: \(result.reason ?? "")")
        default: break
        }
        if let failure = result.failure {
            lines.append(failure.message)
            lines.append("seed \(failure.seed)")
            if let script = failure.script { lines += ["", script] }
        }
        return lines.joined(separator: "\n")
    }
}
