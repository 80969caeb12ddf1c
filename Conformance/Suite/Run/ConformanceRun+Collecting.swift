internal import Synchronization
internal import TidelineStore
internal import TidelineSupport

/// Collects the events of a run. A report can be made at any time.
package final class ReportCollector: Sendable {
    private struct Findings {
        var name: String
        var capabilities: StoreCapabilities?
        var results: [String: CheckResult] = [:]
        var began: ContinuousClock.Instant?
        var seconds: Double?
    }

    private let settings: ConformanceSettings
    private let checks: [Check]
    private let environment = ReportEnvironment.current
    private let findings: Mutex<[Findings]>

    package init(_ run: ConformanceRun) {
        settings = run.settings
        checks = run.checks
        findings = Mutex(run.stores.enumerated().map { Findings(name: $1.name ?? "store \($0 + 1)") })
    }

    /// Records an event of the store at the given index in the run.
    func note(_ event: ConformanceEvent, index: Int) {
        findings.withLock { findings in
            findings[index].name = event.store
            switch event.kind {
            case .storeBegan: findings[index].began = .now
            case .declared(let capabilities): findings[index].capabilities = capabilities
            case .checkBegan: break
            case .checkEnded(let result): findings[index].results[result.id] = result
            case .storeEnded: findings[index].seconds = Self.seconds(since: findings[index].began)
            }
        }
    }

    /// Returns a report of the results so far. A check without a result is reported as not run.
    package func report() -> ConformanceReport {
        let findings = findings.withLock { $0 }
        return ConformanceReport(
            settings: ReportSettings(settings), environment: environment,
            isComplete: findings.allSatisfy { $0.seconds != nil && $0.results.count == checks.count },
            checks: checks.map(CheckSummary.init), stores: findings.map(report))
    }

    private func report(_ findings: Findings) -> StoreReport {
        let results = checks.map { check in
            findings.results[check.id]
                ?? CheckResult(id: check.id, status: .notRun, reason: "the run ended before this check")
        }
        return StoreReport(
            name: findings.name, capabilities: findings.capabilities, results: results,
            seconds: findings.seconds ?? Self.seconds(since: findings.began))
    }

    private static func seconds(since start: ContinuousClock.Instant?) -> Double {
        start.map { (.now - $0) / .seconds(1) } ?? 0
    }
}
