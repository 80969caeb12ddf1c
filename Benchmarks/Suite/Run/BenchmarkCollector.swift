#if Commands
internal import Synchronization

/// Collects the results of a run, so that an interrupted run still has a report.
package final class BenchmarkCollector: Sendable {
    private let state: Mutex<BenchmarkReport>

    /// Creates an empty collector for a run.
    package init(_ run: BenchmarkRun, environment: BenchmarkEnvironment) {
        state = Mutex(
            BenchmarkReport(
                environment: environment, settings: run.settings, subjects: run.subjects.map(SubjectDescription.init),
                results: []))
    }

    /// The results so far, ordered by workload and then by number of rows.
    package func report() -> BenchmarkReport {
        var report = state.withLock(\.self)
        let order = report.results.map(\.id).enumerated().reduce(into: [:]) { order, entry in
            order[entry.element] = order[entry.element] ?? entry.offset
        }
        report.results.sort { (order[$0.id] ?? 0, $0.rows) < (order[$1.id] ?? 0, $1.rows) }
        return report
    }

    /// Replaces the result of a workload.
    func put(_ result: WorkloadResult) {
        state.withLock { report in
            report.results.removeAll { $0.id == result.id && $0.rows == result.rows }
            report.results.append(result)
        }
    }

    func put(_ size: DatabaseSize) { state.withLock { $0.sizes.append(size) } }

    func put(otherProcessors: Double?) { state.withLock { $0.environment.otherProcessors = otherProcessors } }

    func stop(_ reason: String) { state.withLock { $0.stopReason = reason } }

    /// Marks the run as interrupted.
    package func interrupt() { state.withLock { $0.isInterrupted = true } }
}

extension SubjectDescription {
    /// The part of a subject that reports show.
    init(_ subject: BenchmarkSubject) {
        self.init(
            name: subject.name, kind: subject.kind, engine: subject.engine, engineVersion: subject.engineVersion,
            settings: subject.settings, durability: subject.durability)
    }
}

extension BenchmarkReport {
    /// Whether a subject failed or gave a wrong answer, or the run stopped early because of an error.
    package var hasFailures: Bool {
        stopReason != nil
            || results.contains { result in
                result.subjects.contains { $0.failure.map { $0.kind != .notApplicable } ?? false }
            }
    }
}
#endif
