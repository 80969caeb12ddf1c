/// A check that did not pass, told so that a test's output says all there is to know.
public struct ConformanceFailure: Error, CustomStringConvertible {
    /// The check.
    public let check: Check
    /// How it went.
    public let result: CheckResult

    init(_ check: Check, _ result: CheckResult) {
        self.check = check
        self.result = result
    }

    /// The promise, what was found, the seed, and a script that repeats it.
    public var description: String {
        var lines = ["\(check.id): \(check.promise)"]
        switch result.status {
        case .unexpectedPass: lines.append("It holds, but is listed as a known failure: take it off the list.")
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
