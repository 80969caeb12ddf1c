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
