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
        timeOuts.note(result)
        return knownFailures.judged(result, store: name)
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
        case .skipped(let reason): self.init(id: check.id, status: .skipped, reason: reason)
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
