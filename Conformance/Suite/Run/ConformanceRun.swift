public import TidelineStore

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
    func run(
        _ checks: [Check], of suite: ConformanceSuite, _ note: @escaping @Sendable (ConformanceEvent.Kind) -> Void)
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
