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
