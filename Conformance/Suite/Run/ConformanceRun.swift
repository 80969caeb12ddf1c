public import TidelineStore

/// A run of the suite over one or several stores, which ends in a report.
///
/// ```swift
/// let run = ConformanceRun([StoreHarness { try MyStore(directory: $0) }])
/// let report = await run.report()
/// try HTMLReport().text(of: report).write(toFile: "conformance.html", atomically: true, encoding: .utf8)
/// ```
public struct ConformanceRun: Sendable {
    /// How the stores are made.
    public var stores: [StoreHarness]
    /// How the suite runs.
    public var settings: ConformanceSettings
    /// What is known to fail.
    public var knownFailures: KnownFailures
    /// Which checks run, in this order.
    public var checks: [Check]
    /// How many stores are checked at a time; the checks of one store run one after another.
    public var jobs: Int
    /// What runs the checks.
    package var executor: any CheckExecutor = SameProcessExecutor()

    /// A run of the checks of the settings' profile.
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

    /// Runs the checks and reports what they found.
    ///
    /// - Parameter observe: Is told of each step, on any thread.
    public func report(_ observe: @escaping @Sendable (ConformanceEvent) -> Void = { _ in }) async -> ConformanceReport
    {
        let collector = ReportCollector(self)
        await run(collector, observe)
        return collector.report()
    }

    /// Runs the checks; what they find is in the collector, from the first on.
    package func run(
        _ collector: ReportCollector, _ observe: @escaping @Sendable (ConformanceEvent) -> Void
    ) async {
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

/// What happens in a run.
public struct ConformanceEvent: Sendable {
    /// What can happen.
    public enum Kind: Sendable {
        /// These checks are about to run on the store, one after another.
        case storeBegan(checks: [Check])
        /// The store was opened, and declares this.
        case declared(StoreCapabilities)
        /// A check begins.
        case checkBegan(Check)
        /// A check has ended. Told again for the same check when the process died of it afterwards; the last word counts.
        case checkEnded(CheckResult)
        /// All checks of the store have ended.
        case storeEnded
    }

    /// The store's name.
    public var store: String
    /// What happened.
    public var kind: Kind
}

/// Runs the checks of one store one after another.
package protocol CheckExecutor: Sendable {
    /// Runs checks and tells of each; one that is not told of did not run.
    func run(
        _ checks: [Check], of suite: ConformanceSuite, _ note: @escaping @Sendable (ConformanceEvent.Kind) -> Void)
        async
}

/// Runs checks in this process: a store that ends it ends the run.
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
