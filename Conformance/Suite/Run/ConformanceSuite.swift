internal import Foundation
internal import Synchronization
public import TidelineStore

/// The conformance suite for one kind of store.
///
/// With Swift Testing, three lines run all checks that Tideline's adapters must pass against your own store:
///
/// ```swift
/// let suite = ConformanceSuite { directory in try MyStore(directory: directory) }
///
/// @Test(arguments: suite.checks) func conforms(_ check: Check) async throws { try await suite.verify(check) }
/// ```
///
/// and with XCTest:
///
/// ```swift
/// func testConformance() async throws {
///     for check in suite.checks { try await suite.verify(check) }
/// }
/// ```
public struct ConformanceSuite: Sendable {
    /// The harness that opens the stores.
    public var harness: StoreHarness
    /// The settings of the suite.
    public var settings: ConformanceSettings
    /// The failures to expect, each with a reason.
    public var knownFailures: KnownFailures
    private let declared = Declaration()
    /// The checks that have timed out.
    package let timeOuts = TimeOuts()

    /// Creates a suite for the stores that `open` opens.
    ///
    /// - Parameters:
    ///   - settings: The settings of the suite.
    ///   - open: Opens the store in a directory, which exists and belongs to the store alone, or creates an empty one
    ///     there.
    public init<Store: LocalStore>(
        settings: ConformanceSettings = ConformanceSettings(),
        _ open: @escaping @Sendable (_ directory: String) throws -> Store
    ) {
        self.init(StoreHarness(open), settings: settings)
    }

    /// Creates a suite for the stores of a harness, which may have hooks.
    public init(
        _ harness: StoreHarness, settings: ConformanceSettings = ConformanceSettings(),
        knownFailures: KnownFailures = KnownFailures()
    ) {
        self.harness = harness
        self.settings = settings
        self.knownFailures = knownFailures
    }

    /// The checks of the profile that run on this store: those whose required capabilities it declares and whose hooks
    /// the harness provides. The others are in ``omitted``.
    ///
    /// A store is opened once to read its capabilities. If that fails, all checks are included and fail with the
    /// reason.
    public var checks: [Check] { settings.profile.checks.filter { obstacle(of: $0) == nil } }

    /// The checks of the profile that do not run on this store, each with the reason.
    public var omitted: [CheckResult] {
        settings.profile.checks.compactMap { check in obstacle(of: check).map { CheckResult(check, $0) } }
    }

    /// Returns the capabilities that the store declares.
    /// - Throws: Errors from opening the store.
    public func capabilities() throws -> StoreCapabilities { try declared.capabilities(of: harness) }

    /// Runs a check and throws a ``ConformanceFailure`` unless it passed or failed as expected.
    ///
    /// The error is also thrown for a check that cannot run, so that no check passes silently.
    public func verify(_ check: Check) async throws {
        let result = await run(check)
        switch result.status {
        case .passed, .knownFailure: return
        case .failed, .harnessError, .unexpectedPass, .skipped, .tolerated, .notRun:
            throw ConformanceFailure(check, result)
        }
    }

    /// Runs a check on a new store in its own directory, on its own thread.
    public func run(_ check: Check) async -> CheckResult {
        if let obstacle = obstacle(of: check) { return CheckResult(check, obstacle) }
        let start = ContinuousClock.now
        var result = await CheckThread(check, suite: self).result()
        result.seconds = (ContinuousClock.now - start) / .seconds(1)
        let judged = knownFailures.judged(result, store: name)
        timeOuts.note(judged)
        return judged
    }

    /// The name in reports: the harness's name, or the name that the store declares.
    public var name: String { harness.name ?? (try? capabilities().name) ?? "store" }

    func obstacle(of check: Check) -> SkipReason? {
        guard let capabilities = try? capabilities() else { return nil }
        guard check.since <= capabilities.contractVersion else {
            return .skipped(
                "declared: written for version \(capabilities.contractVersion) of the contract, which promises this since "
                    + "version \(check.since)")
        }
        let obstacles = check.needs.compactMap { $0.obstacle(capabilities, harness) }
        // A promise that the store does not make needs no hook.
        let skipped = obstacles.first { if case .skipped = $0 { true } else { false } }
        return skipped ?? obstacles.first
    }
}

extension CheckResult {
    /// Creates the result of a check that does not run.
    init(_ check: Check, _ obstacle: SkipReason) {
        switch obstacle {
        case .skipped(let reason, let isExcluded):
            self.init(id: check.id, status: .skipped, reason: reason, isExcluded: isExcluded)
        case .notRun(let reason): self.init(id: check.id, status: .notRun, reason: reason)
        }
    }
}

/// The capabilities that a harness's stores declare, read once.
private final class Declaration: Sendable {
    private let known = Mutex<StoreCapabilities?>(nil)

    func capabilities(of harness: StoreHarness) throws -> StoreCapabilities {
        try known.withLock { known in
            if let known { return known }
            let folder = try CheckFolder()
            defer { folder.remove() }
            let store = try harness.open(StoreOpening(directory: folder.path))
            defer { try? store.close() }
            known = store.capabilities
            return store.capabilities
        }
    }
}

extension ConformanceSuite {
    /// Creates a store with rows that the suite knows, to be kept as a fixture.
    ///
    /// Call this method when a release introduces a new on-disk format. Pass a subdirectory, named after the format, of
    /// the directory that ``StoreHarness/fixtures`` names, and check it in.
    ///
    /// - Parameter directory: A directory that is empty or does not exist.
    /// - Throws: Errors of the store; ``StoreError/Code/unsupported`` if the directory is not empty.
    public func makeFixture(in directory: String) throws {
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        guard try FileManager.default.contentsOfDirectory(atPath: directory).isEmpty else {
            throw StoreError(.unsupported, "the directory for a new fixture is not empty", path: directory)
        }
        // Some stores move rows between their files when they are opened.
        for table in FixtureContent.tables {
            let store = try harness.open(StoreOpening(directory: directory))
            do { try FixtureContent.fill(table, in: store) } catch {
                try? store.close()
                throw error
            }
            try store.close()
        }
    }
}

/// The settings of a suite.
public struct ConformanceSettings: Sendable, Hashable {
    /// The seed of random checks; the same seed generates the same operations.
    public var seed: UInt64
    /// The number of repetitions of random checks: kills, scripts, power losses. Twice as many rounds take about twice
    /// as long.
    public var rounds: Int
    /// The number of rows that the scale checks store. Checks of single operations store a quarter of it, except in
    /// ``Profile/long``.
    public var rows: Int
    /// The time after which a check counts as hung; ten times as long for checks of the tier ``CheckTier/long``. After
    /// the first hang, other checks of the same store wait for a twentieth of this time, but at least ten seconds, and
    /// those of the same group for a sixtieth, but at least five seconds; if they time out, they are reported as not
    /// run, with the reason. A hang that is a known failure does not shorten the time of the others.
    public var timeLimit: Duration
    /// The profile that selects the checks.
    public var profile: Profile

    /// Creates settings with defaults for those not given.
    public init(
        seed: UInt64 = 1, rounds: Int = 1, rows: Int = 100_000, timeLimit: Duration = .seconds(300),
        profile: Profile = .full
    ) {
        self.seed = seed
        self.rounds = max(rounds, 1)
        self.rows = max(rows, 1)
        self.timeLimit = timeLimit
        self.profile = profile
    }

    /// Returns the time after which a check counts as hung. Some disks need several minutes for 100,000 commits.
    func limit(of check: Check) -> Duration { timeLimit * (check.tier == .long ? 10 : 1) }
}
