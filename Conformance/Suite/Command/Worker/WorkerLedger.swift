#if Commands
internal import Foundation

/// The state of a worker's checks: which have ended, and which one to blame if the worker dies.
struct WorkerLedger {
    /// The checks without a result.
    private(set) var remaining: [Check]
    private var running: Check?
    private var last: CheckResult?
    private var hasDeclared = false
    private let seed: UInt64

    init(_ checks: [Check], seed: UInt64) {
        remaining = checks
        self.seed = seed
    }

    /// Processes a message and returns the event to report.
    mutating func take(_ message: WorkerMessage) -> ConformanceEvent.Kind? {
        switch message {
        case .declared(let capabilities):
            hasDeclared = true
            return .declared(capabilities)
        case .began(let id):
            running = remaining.first { $0.id == id }
            return running.map { .checkBegan($0) }
        case .ended(let result):
            running = nil
            guard remaining.contains(where: { $0.id == result.id }) else { return nil }
            last = result
            remaining.removeAll { $0.id == result.id }
            return .checkEnded(result)
        }
    }

    /// Processes the worker's death, such as `with signal 11`, with the last errors; returns at least one result.
    mutating func died(_ end: String, output: String) -> [CheckResult] {
        defer { running = nil }
        if let running {
            remaining.removeAll { $0.id == running.id }
            return [failed(running.id, "the store ended the process \(end)", output)]
        }
        if let last {
            let about = last.failure.map { "\n\($0.message)" } ?? ""
            return [failed(last.id, "the store ended the process \(end)after the check had ended\(about)", output)]
        }
        // A store that ends the process when it is first opened will do so every time.
        let blamed = hasDeclared ? Array(remaining.prefix(1)) : remaining
        remaining.removeFirst(blamed.count)
        return blamed.map { failed($0.id, "the store ended the process \(end) when it was opened", output) }
    }

    private func failed(_ id: String, _ message: String, _ output: String) -> CheckResult {
        let output = output.isEmpty ? "" : "\nStandard error:\n\(output)"
        let failure = CheckResult.Failure(message: message + output, seed: seed, script: nil)
        return CheckResult(id: id, status: .failed, failure: failure)
    }
}
#endif
