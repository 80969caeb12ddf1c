internal import Foundation
internal import Synchronization
public import TidelineStore

/// The conformance suite for one kind of store.
///
/// With Swift Testing, three lines hold a store of one's own to everything that Tideline's adapters are held to:
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
    /// How the stores are made.
    public var harness: StoreHarness
    /// How the suite runs.
    public var settings: ConformanceSettings
    /// What is known to fail, each with a reason.
    public var knownFailures: KnownFailures
    private let declared = Declaration()
    /// Which checks have timed out.
    package let timeOuts = TimeOuts()

    /// A suite for the stores that `open` makes.
    ///
    /// - Parameters:
    ///   - settings: How it runs.
    ///   - open: Opens the store in a folder, which exists and is the store's alone, or makes an empty one there.
    public init<Store: LocalStore>(
        settings: ConformanceSettings = ConformanceSettings(),
        _ open: @escaping @Sendable (_ directory: String) throws -> Store
    ) {
        self.init(StoreHarness(open), settings: settings)
    }

    /// A suite for the stores of a harness, which may have hooks.
    public init(
        _ harness: StoreHarness, settings: ConformanceSettings = ConformanceSettings(),
        knownFailures: KnownFailures = KnownFailures()
    ) {
        self.harness = harness
        self.settings = settings
        self.knownFailures = knownFailures
    }

    /// The checks of the profile that run on this store: those for which it declares what they need, and for which the
    /// harness has the hooks. The others are in ``omitted``.
    ///
    /// A store is opened once, to ask what it declares; when that fails, all checks are here, and fail with the reason.
    public var checks: [Check] { settings.profile.checks.filter { obstacle(of: $0) == nil } }

    /// The checks of the profile that do not run on this store, each with the reason.
    public var omitted: [CheckResult] {
        settings.profile.checks.compactMap { check in obstacle(of: check).map { CheckResult(check, $0) } }
    }

    /// What the store declares.
    /// - Throws: What opening it throws.
    public func capabilities() throws -> StoreCapabilities { try declared.capabilities(of: harness) }

    /// Runs a check and throws a ``ConformanceFailure`` unless it held, or failed as is known.
    ///
    /// Also thrown for a check that cannot run: nothing passes in silence.
    public func verify(_ check: Check) async throws {
        let result = await run(check)
        switch result.status {
        case .passed, .knownFailure: return
        case .failed, .kitError, .unexpectedPass, .skipped, .notRun: throw ConformanceFailure(check, result)
        }
    }

    /// Runs a check on a fresh store in a folder of its own, on a thread of its own.
    public func run(_ check: Check) async -> CheckResult {
        if let obstacle = obstacle(of: check) { return CheckResult(check, obstacle) }
        let start = ContinuousClock.now
        var result = await CheckThread(check, suite: self).result()
        result.seconds = (ContinuousClock.now - start) / .seconds(1)
        timeOuts.note(result)
        return knownFailures.judged(result, store: name)
    }

    /// The name in reports: the harness' or the one the store declares.
    public var name: String { harness.name ?? (try? capabilities().name) ?? "store" }

    private func obstacle(of check: Check) -> Obstacle? {
        guard let capabilities = try? capabilities() else { return nil }
        let obstacles = check.needs.compactMap { $0.obstacle(capabilities, harness) }
        // A promise that the store does not give needs no hook.
        let skipped = obstacles.first { if case .skipped = $0 { true } else { false } }
        return skipped ?? obstacles.first
    }
}

extension CheckResult {
    /// A check that does not run.
    init(_ check: Check, _ obstacle: Obstacle) {
        switch obstacle {
        case .skipped(let reason): self.init(id: check.id, status: .skipped, reason: reason)
        case .notRun(let reason): self.init(id: check.id, status: .notRun, reason: reason)
        }
    }
}

/// What a harness' stores declare, asked once.
private final class Declaration: Sendable {
    private let known = Mutex<StoreCapabilities?>(nil)

    func capabilities(of harness: StoreHarness) throws -> StoreCapabilities {
        try known.withLock { known in
            if let known { return known }
            let folder = try TrialFolder()
            defer { folder.remove() }
            let store = try harness.open(StoreOpening(directory: folder.path))
            defer { try? store.close() }
            known = store.capabilities
            return store.capabilities
        }
    }
}
