#if Commands
internal import Foundation
internal import Synchronization
internal import TidelineStore
internal import TidelineSupport

/// Runs checks in processes. If one dies, the current check has failed, and another continues with the rest.
final class Workers: CheckExecutor {
    private struct State {
        var processes: [ObjectIdentifier: WorkerProcess] = [:]
        var isStopped = false
    }

    private let program: ConformanceProgram
    private let words: [String: StoreWord]
    private let state = Mutex(State())

    /// - Parameter words: The argument of `--store` for each store, keyed by its name in reports.
    init(program: ConformanceProgram, words: [String: StoreWord]) {
        self.program = program
        self.words = words
    }

    func run(
        _ checks: [Check], of suite: ConformanceSuite, _ note: @escaping @Sendable (ConformanceEvent.Kind) -> Void
    ) async {
        await withCheckedContinuation { continuation in
            // The calls of a worker block.
            Thread.detachNewThread { [self] in
                supervise(checks, of: suite, note)
                continuation.resume()
            }
        }
    }

    /// Returns the name that a store declares, or `nil` if it cannot be read.
    func declaredName(_ store: StoreWord) -> String? {
        var name: String?
        var ledger = WorkerLedger([], seed: 0)
        _ = try? employ(store, ConformanceSettings(), TimeOuts(), &ledger) { kind in
            if case .declared(let capabilities) = kind { name = capabilities.name }
        }
        return name
    }

    /// Stops all workers and starts no more. Their temporary files are removed when this method returns.
    func stop() {
        let processes = state.withLock { state in
            state.isStopped = true
            return Array(state.processes.values)
        }
        for process in processes { process.kill() }
        for process in processes { _ = process.end() }
    }

    private func supervise(
        _ checks: [Check], of suite: ConformanceSuite, _ note: @escaping (ConformanceEvent.Kind) -> Void
    ) {
        let store = suite.name
        let judging: (ConformanceEvent.Kind) -> Void = { kind in
            guard case .checkEnded(let result) = kind else { return note(kind) }
            let judged = suite.knownFailures.judged(result, store: store)
            suite.timeOuts.note(judged)
            note(.checkEnded(judged))
        }
        var rest = checks
        while !rest.isEmpty, !state.withLock({ $0.isStopped }) {
            var ledger = WorkerLedger(rest, seed: suite.settings.seed)
            do {
                let end = try employ(
                    words[store] ?? StoreWord(name: store), suite.settings, suite.timeOuts, &ledger, judging)
                if let end, !state.withLock({ $0.isStopped }) {
                    for result in ledger.died(end.how, output: end.output) { judging(.checkEnded(result)) }
                }
            } catch {
                let message = "no process could be started for the check: \(error)"
                for check in ledger.remaining {
                    judging(.checkEnded(.harnessError(check.id, message, suite.settings.seed)))
                }
                return
            }
            rest = ledger.remaining
        }
    }

    /// Runs one worker to its end. Returns how it died, or `nil` if it completed or was stopped because a check hung.
    private func employ(
        _ store: StoreWord, _ settings: ConformanceSettings, _ timeOuts: TimeOuts, _ ledger: inout WorkerLedger,
        _ note: (ConformanceEvent.Kind) -> Void
    ) throws -> (how: String, output: String)? {
        guard let process = try start(store) else { return nil }
        defer { state.withLock { $0.processes[ObjectIdentifier(process)] = nil } }
        let alarm = WorkerAlarm(after: Self.longestWait(for: ledger.remaining, settings)) { process.kill() }
        var isHung = false
        try process.perform(WorkerTask(ledger.remaining, settings, timeOuts.all)) { line in
            alarm.reset()
            guard let message = try? JSONDecoder().decode(WorkerMessage.self, from: line) else { return true }
            if let kind = ledger.take(message) { note(kind) }
            isHung = message.isHang
            return !isHung
        }
        alarm.cancel()
        // Threads of the hung check would disturb the next ones. The worker does not know whether the failure is known.
        if isHung { process.kill() }
        let how = process.end()
        if isHung { return nil }
        if alarm.hasRung { return ("by not responding: it was killed", process.lastErrors) }
        if let how { return (how, process.lastErrors) }
        return ledger.remaining.isEmpty ? nil : ("with exit status 0", process.lastErrors)
    }

    /// Returns the seconds to wait for a worker's message: longer than each check, whose hangs it reports itself.
    static func longestWait(for checks: [Check], _ settings: ConformanceSettings) -> Double {
        let limit = checks.map { settings.limit(of: $0) }.max() ?? settings.timeLimit
        return limit / .seconds(1) + 120
    }

    /// Starts a worker, unless workers were stopped: atomically, so that `stop()` sees each one with its files.
    private func start(_ store: StoreWord) throws -> WorkerProcess? {
        try state.withLock { state in
            guard !state.isStopped else { return nil }
            let process = try WorkerProcess(program, store: store)
            state.processes[ObjectIdentifier(process)] = process
            return process
        }
    }
}

extension WorkerMessage {
    /// Whether a check ended because it timed out.
    fileprivate var isHang: Bool {
        if case .ended(let result) = self { result.timeOut != nil } else { false }
    }
}

extension CheckResult {
    /// Creates the result of a check that could not be done.
    fileprivate static func harnessError(_ id: String, _ message: String, _ seed: UInt64) -> CheckResult {
        CheckResult(id: id, status: .harnessError, failure: Failure(message: message, seed: seed, script: nil))
    }
}
#endif
