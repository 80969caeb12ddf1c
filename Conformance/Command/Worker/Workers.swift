internal import Foundation
internal import Synchronization
internal import TidelineCommandSupport
internal import TidelineConformance

/// Runs checks in processes: when one dies, the check it was in has failed, and another goes on with the rest.
final class Workers: CheckExecutor {
    /// How much longer than a check may take a worker is waited for: it says itself which check hangs, if it can.
    private static let patience = 30.0

    private struct State {
        var processes: [ObjectIdentifier: WorkerProcess] = [:]
        var isStopped = false
    }

    private let program: ConformanceProgram
    private let words: [String: StoreWord]
    private let state = Mutex(State())

    /// - Parameter words: What `--store` is given for a store, by its name in reports.
    init(program: ConformanceProgram, words: [String: StoreWord]) {
        self.program = program
        self.words = words
    }

    func run(
        _ checks: [Check], of suite: ConformanceSuite, _ note: @escaping @Sendable (ConformanceEvent.Kind) -> Void
    ) async {
        await withCheckedContinuation { continuation in
            // Its calls block.
            Thread.detachNewThread { [self] in
                supervise(checks, of: suite, note)
                continuation.resume()
            }
        }
    }

    /// What a store declares to be called; nil when it does not say.
    func declaredName(_ store: StoreWord) -> String? {
        var name: String?
        var ledger = WorkerLedger([], seed: 0)
        _ = try? employ(store, ConformanceSettings(), TimeOuts(), &ledger) { kind in
            if case .declared(let capabilities) = kind { name = capabilities.name }
        }
        return name
    }

    /// Ends all workers, and starts no more; their temporary files are gone when this returns.
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
            suite.timeOuts.note(result)
            note(.checkEnded(suite.knownFailures.judged(result, store: store)))
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
                    judging(.checkEnded(.kitError(check.id, message, suite.settings.seed)))
                }
                return
            }
            rest = ledger.remaining
        }
    }

    /// Runs one worker to its end.
    /// - Returns: How it died; nil when it has done its work, or was ended on purpose for a check that hung.
    private func employ(
        _ store: StoreWord, _ settings: ConformanceSettings, _ timeOuts: TimeOuts, _ ledger: inout WorkerLedger,
        _ note: (ConformanceEvent.Kind) -> Void
    ) throws -> (how: String, output: String)? {
        guard let process = try start(store) else { return nil }
        defer { state.withLock { $0.processes[ObjectIdentifier(process)] = nil } }
        let alarm = WorkerAlarm(after: settings.timeLimit / .seconds(1) + Self.patience) { process.kill() }
        var isHung = false
        try process.perform(WorkerTask(ledger.remaining, settings, timeOuts.all)) { line in
            alarm.reset()
            guard let message = try? JSONDecoder().decode(WorkerMessage.self, from: line) else { return true }
            if let kind = ledger.take(message) { note(kind) }
            isHung = message.isHang
            return !isHung
        }
        alarm.cancel()
        // Its thread still runs, and would disturb the checks that follow.
        if isHung { process.kill() }
        let how = process.end()
        if isHung { return nil }
        if alarm.hasRung { return ("by not answering any more: it was killed", process.lastErrors) }
        if let how { return (how, process.lastErrors) }
        return ledger.remaining.isEmpty ? nil : ("with exit status 0", process.lastErrors)
    }

    /// Starts a worker, unless they were stopped. As one step: who stops them finds every one that was started, with its
    /// files, and none is started behind his back.
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
    /// Whether a check has ended because its time was over.
    fileprivate var isHang: Bool {
        if case .ended(let result) = self { result.timeOut == .call } else { false }
    }
}

extension CheckResult {
    /// A check that could not be done.
    fileprivate static func kitError(_ id: String, _ message: String, _ seed: UInt64) -> CheckResult {
        CheckResult(id: id, status: .kitError, failure: Failure(message: message, seed: seed, script: nil))
    }
}
