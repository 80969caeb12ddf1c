import BrokenStores
import Foundation
import Testing
import TidelineConformance
import TidelineFaults
import TidelineStore
import TidelineTestSupport

/// Runs the suite over a store that keeps every promise and over stores that each break one.
@Suite("Deliberately broken stores")
struct BrokenStoreTests {
    /// `TIDELINE_BROKEN_STORES=all` runs every check over every broken store, which takes a long time.
    private static let isThorough = ProcessInfo.processInfo.environment["TIDELINE_BROKEN_STORES"] == "all"

    /// A call that hangs is a flaw as well. It is detected by a timeout.
    private static func makeSuite(
        _ flaw: Flaw?, timeLimit: Duration, rows: Int = 500, isShared: Bool = false
    ) -> ConformanceSuite {
        var harness = StoreHarness(
            modes: [.existing, .readOnly, .limitedSize], process: makeProcess(flaw, isShared),
            faults: InterposedFiles(),
            destroy: { try PlainStore.destroy(in: $0, flaw: flaw) },
            open: { try PlainStore($0, flaw: flaw, isShared: isShared) })
        harness.fixtures = fixtures
        harness.letTimePass = PlainClock.advance
        return ConformanceSuite(
            harness, settings: ConformanceSettings(rows: rows, timeLimit: timeLimit, profile: .long))
    }

    /// Plain stores of this format and of a later one.
    private static let fixtures = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appendingPathComponent("../../Fixtures/plain").standardizedFileURL.path

    /// The executable, next to the tests, that can also open plain stores.
    private static func makeProcess(_ flaw: Flaw?, _ isShared: Bool) -> StoreProcess? {
        guard let tests = Bundle.main.executableURL else { return nil }
        let probe = tests.deletingLastPathComponent().appendingPathComponent("StoreProbe").path
        return StoreProcess(
            executable: probe, arguments: ["\(isShared ? "plain-shared" : "plain"):\(flaw?.rawValue ?? "")"])
    }

    static let plain = makeSuite(nil, timeLimit: .seconds(300))

    /// A plain store whose files several stores and processes can open at once.
    static let shared = makeSuite(nil, timeLimit: .seconds(300), isShared: true)

    /// The checks of sharing. A shared plain store cannot refuse to be destroyed, as it does not know of others.
    static var sharedChecks: [Check] {
        shared.checks.filter { check in
            guard !check.needs.contains(.destroying) || check.group != .lifecycle else { return false }
            return !Set(check.needs).isDisjoint(with: [.sharedFiles, .process]) || check.group == .observation
                || ["TAB-207", "TAB-208"].contains(check.id)
        }
    }

    @Test("A shared store that keeps every promise passes every check of sharing", arguments: sharedChecks)
    func passesShared(_ check: Check) async throws {
        try await ConcurrencyLimit.checks.run { try await Self.shared.verify(check) }
    }

    @Test("A store that keeps every promise passes every check", arguments: plain.checks)
    func passes(_ check: Check) async throws {
        // Resources are measured of the whole process, in which other tests run.
        for attempt in 0..<10 where check.tier == .long {
            if await ConcurrencyLimit.checks.run({ await Self.plain.run(check) }).status != .failed { return }
            try await Task.sleep(for: .seconds(attempt))
        }
        try await ConcurrencyLimit.checks.run { try await Self.plain.verify(check) }
    }

    @Test("A store that keeps every promise passes with fewer rows than a scan reads", arguments: [1, 5])
    func passesWithFewRows(_ rows: Int) async throws {
        let suite = Self.makeSuite(nil, timeLimit: .seconds(300), rows: rows)
        let check = try #require(Check.named("SCA-009"))
        try await ConcurrencyLimit.checks.run { try await suite.verify(check) }
    }

    @Test("Each flaw is found by the checks of the promise that it breaks", arguments: BrokenStore.all)
    func isFound(_ broken: BrokenStore) async throws {
        for id in broken.checks {
            let check = try #require(Check.named(id))
            var (status, told) = (CheckStatus.passed, "")
            // Tests beside this one may free as much memory as the store takes, reorder its threads, or keep the
            // processors until a time limit. The check then passes, or fails for another reason.
            for _ in 0..<4 where status != .failed || !told.localizedCaseInsensitiveContains(broken.word) {
                // One suite for each attempt, because a check waits for less time after another one has timed out.
                let suite = Self.makeSuite(
                    broken.flaw, timeLimit: .seconds(broken.rows > 500 ? 300 : 60), rows: broken.rows)
                let result = await ConcurrencyLimit.checks.run { await suite.run(check) }
                status = result.status
                told = "\(check.promise)\n\(result.failure?.message ?? "")"
            }
            #expect(status == .failed, "\(id) \(check.promise)")
            #expect(told.localizedCaseInsensitiveContains(broken.word), "\(told)")
        }
    }

    @Test("Every flaw of the plain store is in the list exactly once, with a check")
    func isListed() {
        #expect(Set(BrokenStore.all.map(\.flaw)) == Set(Flaw.allCases))
        #expect(BrokenStore.all.count == Flaw.allCases.count)
        #expect(BrokenStore.all.filter { $0.checks.isEmpty }.map(\.flaw) == [])
    }

    private static func makeEngineSuite(_ flaw: EngineFlaw?) -> ConformanceSuite {
        var harness = StoreHarness(modes: []) { try PlainStore(StoreOpening(directory: $0.directory)) }
        harness.engine = { _ in PlainEngine(flaw: flaw) }
        return ConformanceSuite(harness, settings: ConformanceSettings(rows: 2_000))
    }

    @Test("An engine that keeps every promise passes every check of engines")
    func passesAsEngine() async throws {
        let suite = Self.makeEngineSuite(nil)
        for check in suite.checks where check.group == .engine { try await suite.verify(check) }
    }

    @Test("Each flaw of an engine is found by the check of its promise", arguments: EngineFlaw.allCases)
    func isFoundInEngine(_ flaw: EngineFlaw) async throws {
        let result = await Self.makeEngineSuite(flaw).run(try #require(Check.named(flaw.check)))
        #expect(result.status == .failed, "\(result)")
    }

    /// No broken store makes the suite itself fail, and every finding has a message.
    @Test("No broken store passes the whole suite or makes it fail", .enabled(if: isThorough), arguments: Flaw.allCases)
    func getsNowhere(_ flaw: Flaw) async {
        let suite = Self.makeSuite(flaw, timeLimit: .seconds(5))
        var findings: [CheckResult] = []
        for check in suite.checks {
            let result = await suite.run(check)
            #expect(result.status != .harnessError, "\(check.id): \(result.failure?.message ?? "")")
            if result.status == .failed { findings.append(result) }
        }
        #expect(!findings.isEmpty)
        #expect(findings.allSatisfy { $0.failure?.message.isEmpty == false })
    }
}
