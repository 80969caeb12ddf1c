internal import Foundation
internal import Synchronization
internal import TidelineStore

/// Runs a check on its own thread: its store calls block, and a call that never returns must not stop the suite.
final class CheckThread: Sendable {
    /// Predicates are evaluated recursively, and a debug build needs a large stack frame for each level.
    private static let stackSize = 64 << 20

    private let check: Check
    private let suite: ConformanceSuite
    private let waiting = Mutex<CheckedContinuation<CheckResult, Never>?>(nil)

    init(_ check: Check, suite: ConformanceSuite) {
        self.check = check
        self.suite = suite
    }

    /// Waits for the result. A check that hangs is abandoned together with its thread.
    func result() async -> CheckResult {
        await withCheckedContinuation { continuation in
            waiting.withLock { $0 = continuation }
            let thread = Thread { [self] in finish(outcome()) }
            thread.stackSize = CheckThread.stackSize
            thread.name = check.id
            thread.start()
            let wait = suite.timeOuts.wait(.call, in: check.group, limit: suite.settings.limit(of: check))
            DispatchQueue.global().asyncAfter(deadline: .now() + wait.seconds) { [weak self] in
                guard let self else { return }
                let message = "no answer within \(wait.limit): a call of the store hangs"
                finish(ended(TimeOut(kind: .call, message: message, wait: wait), script: nil))
            }
        }
    }

    private func finish(_ result: CheckResult) {
        let continuation = waiting.withLock { waiting in
            let continuation = waiting
            waiting = nil
            return continuation
        }
        continuation?.resume(returning: result)
    }

    private func outcome() -> CheckResult {
        let folder: CheckFolder
        do { folder = try CheckFolder() } catch { return harnessError(error) }
        defer { folder.remove() }
        let context: CheckContext
        do {
            context = CheckContext(
                directory: folder.path, settings: suite.settings, harness: suite.harness,
                capabilities: try suite.capabilities(), group: check.group, timeOuts: suite.timeOuts,
                // Of two checks beside each other, one adds columns and indexes by the other call.
                redefinesFirst: check.id.hasOddNumber)
        } catch {
            return failed("the store cannot be opened: \(error)", script: nil)
        }
        defer { context.end() }
        return outcome(of: context)
    }

    private func outcome(of context: CheckContext) -> CheckResult {
        do {
            try check.body(context)
            return CheckResult(id: check.id, status: .passed)
        } catch let failure as CheckFailure {
            return failed(failure.message, script: failure.script ?? script(context))
        } catch let timeOut as TimeOut {
            return ended(timeOut, script: script(context))
        } catch let error as HarnessError {
            return harnessError(error)
        } catch let undecided as NotDecidable {
            return CheckResult(id: check.id, status: .notRun, reason: undecided.reason)
        } catch let error as StoreError {
            return failed("an unexpected error was thrown: \(error)", script: script(context))
        } catch {
            return failed("expected a StoreError, but got \(type(of: error)): \(error)", script: script(context))
        }
    }

    private func script(_ context: CheckContext) -> String {
        context.trace.script(
            named: check.id.replacing("-", with: ""), comment: "\(check.id) with seed \(suite.settings.seed)")
    }

    /// Returns the result of a check that timed out: no verdict if it did not wait for the full time limit.
    private func ended(_ timeOut: TimeOut, script: String?) -> CheckResult {
        var result = failed(timeOut.message, script: script)
        result.timeOut = timeOut.kind
        guard let earlier = timeOut.wait.earlier else { return result }
        result.status = .notRun
        result.failure = nil
        result.reason = "\(timeOut.message); the wait was shortened because \(earlier) had timed out"
        return result
    }

    private func failed(_ message: String, script: String?) -> CheckResult {
        let failure = CheckResult.Failure(message: message, seed: suite.settings.seed, script: script)
        return CheckResult(id: check.id, status: .failed, failure: failure)
    }

    private func harnessError(_ error: any Error) -> CheckResult {
        let message = (error as? HarnessError)?.message ?? "\(error)"
        let failure = CheckResult.Failure(message: message, seed: suite.settings.seed, script: nil)
        return CheckResult(id: check.id, status: .harnessError, failure: failure)
    }
}

extension String {
    /// Whether the number at the end of an identifier of a check is odd.
    fileprivate var hasOddNumber: Bool { last?.wholeNumberValue.map { !$0.isMultiple(of: 2) } ?? false }
}
