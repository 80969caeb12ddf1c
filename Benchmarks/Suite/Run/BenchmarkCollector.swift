internal import Synchronization

/// Holds what a run has found so far, so that an interrupted one has its report, too.
public final class BenchmarkCollector: Sendable {
    private let state: Mutex<BenchmarkReport>

    /// A collector for a run that has found nothing yet.
    public init(_ run: BenchmarkRun, environment: BenchmarkEnvironment) {
        state = Mutex(
            BenchmarkReport(
                environment: environment, settings: run.settings, subjects: run.subjects.map(SubjectDescription.init),
                results: []))
    }

    /// The report of what was found so far: workload by workload, and within each by the number of rows.
    public func report() -> BenchmarkReport {
        var report = state.withLock(\.self)
        let order = report.results.map(\.id).enumerated().reduce(into: [:]) { order, entry in
            order[entry.element] = order[entry.element] ?? entry.offset
        }
        report.results.sort { (order[$0.id] ?? 0, $0.rows) < (order[$1.id] ?? 0, $1.rows) }
        return report
    }

    /// Takes what was found of a workload, in place of what was found of it before.
    func put(_ result: WorkloadResult) {
        state.withLock { report in
            report.results.removeAll { $0.id == result.id && $0.rows == result.rows }
            report.results.append(result)
        }
    }

    func put(_ size: DatabaseSize) { state.withLock { $0.sizes.append(size) } }

    func put(otherProcessors: Double?) { state.withLock { $0.environment.otherProcessors = otherProcessors } }

    func stop(_ reason: String) { state.withLock { $0.stopReason = reason } }

    /// Notes that the run does not come to its end.
    public func interrupt() { state.withLock { $0.isInterrupted = true } }
}

extension SubjectDescription {
    /// What is to be told of a subject.
    init(_ subject: BenchmarkSubject) {
        self.init(
            name: subject.name, kind: subject.kind, engine: subject.engine, engineVersion: subject.engineVersion,
            settings: subject.settings, durability: subject.durability)
    }
}

extension BenchmarkReport {
    /// Whether a subject failed or answered wrongly, or the run ended by itself before its end.
    public var hasFailures: Bool {
        stopReason != nil
            || results.contains { result in
                result.subjects.contains { $0.failure.map { $0.kind != .notApplicable } ?? false }
            }
    }
}
