internal import Synchronization
public import TidelineStore
internal import TidelineSupport

/// A run of the suite over one or more stores, which produces a report.
///
/// ```swift
/// let run = ConformanceRun([StoreHarness { try MyStore(directory: $0) }])
/// let report = await run.report()
/// print(report.text)
/// ```
public struct ConformanceRun: Sendable {
    /// The stores to check.
    public var stores: [StoreHarness]
    /// The settings of the suite.
    public var settings: ConformanceSettings
    /// The failures to expect.
    public var knownFailures: KnownFailures
    /// The checks to run, in this order.
    public var checks: [Check]
    /// The number of stores checked at the same time. The checks of one store run one after another.
    public var jobs: Int
    /// Runs the checks.
    package var executor: any CheckExecutor = SameProcessExecutor()

    /// Creates a run of the checks of the settings' profile.
    public init(
        _ stores: [StoreHarness], settings: ConformanceSettings = ConformanceSettings(),
        knownFailures: KnownFailures = KnownFailures(), jobs: Int = 1
    ) {
        self.stores = stores
        self.settings = settings
        self.knownFailures = knownFailures
        self.jobs = max(jobs, 1)
        checks = settings.profile.checks
    }

    /// Runs the checks and returns a report.
    ///
    /// - Parameter observe: Called with each event, on any thread.
    public func report(_ observe: @escaping @Sendable (ConformanceEvent) -> Void = { _ in }) async -> ConformanceReport
    {
        let collector = ReportCollector(self)
        await run(collector, observe)
        return collector.report()
    }

    /// Runs the checks. The collector contains their results as they arrive.
    package func run(_ collector: ReportCollector, _ observe: @escaping @Sendable (ConformanceEvent) -> Void) async {
        await withTaskGroup(of: Void.self) { group in
            for (index, store) in stores.enumerated() {
                if index >= jobs { await group.next() }
                let suite = ConformanceSuite(store, settings: settings, knownFailures: knownFailures)
                group.addTask {
                    let store = suite.name
                    let note: @Sendable (ConformanceEvent.Kind) -> Void = { kind in
                        let event = ConformanceEvent(store: store, kind: kind)
                        collector.note(event, index: index)
                        observe(event)
                    }
                    note(.storeBegan(checks: checks))
                    await executor.run(checks, of: suite, note)
                    note(.storeEnded)
                }
            }
        }
    }
}

/// An event of a run.
public struct ConformanceEvent: Sendable {
    /// The kinds of events.
    public enum Kind: Sendable {
        /// These checks are about to run on the store, one after another.
        case storeBegan(checks: [Check])
        /// The store was opened and declares these capabilities.
        case declared(StoreCapabilities)
        /// A check begins.
        case checkBegan(Check)
        /// A check has ended. The last event counts, if the process dies of the same check afterwards.
        case checkEnded(CheckResult)
        /// All checks of the store have ended.
        case storeEnded
    }

    /// The store's name.
    public var store: String
    /// The kind of event.
    public var kind: Kind
}

/// Runs the checks of one store one after another.
package protocol CheckExecutor: Sendable {
    /// Runs checks and reports each of them. A check that is not reported did not run.
    func run(_ checks: [Check], of suite: ConformanceSuite, _ note: @escaping @Sendable (ConformanceEvent.Kind) -> Void)
        async
}

/// Runs checks in this process. A store that terminates the process terminates the run.
package struct SameProcessExecutor: CheckExecutor {
    package init() {}

    package func run(
        _ checks: [Check], of suite: ConformanceSuite, _ note: @escaping @Sendable (ConformanceEvent.Kind) -> Void
    ) async {
        if let capabilities = try? suite.capabilities() { note(.declared(capabilities)) }
        for check in checks {
            note(.checkBegan(check))
            note(.checkEnded(await suite.run(check)))
        }
    }
}

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
