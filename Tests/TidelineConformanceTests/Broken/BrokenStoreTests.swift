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
    private static func makeSuite(_ flaw: Flaw?, timeLimit: Duration) -> ConformanceSuite {
        let harness = StoreHarness(
            modes: [.existing, .readOnly, .limitedSize], process: makeProcess(flaw), faults: InterposedFiles(),
            destroy: { try PlainStore.destroy(in: $0) },
            open: { try PlainStore($0, flaw: flaw) })
        return ConformanceSuite(harness, settings: ConformanceSettings(rows: 500, timeLimit: timeLimit))
    }

    /// The executable, next to the tests, that can also open plain stores.
    private static func makeProcess(_ flaw: Flaw?) -> StoreProcess? {
        guard let tests = Bundle.main.executableURL else { return nil }
        let probe = tests.deletingLastPathComponent().appendingPathComponent("StoreProbe").path
        return StoreProcess(executable: probe, arguments: ["plain:\(flaw?.rawValue ?? "")"])
    }

    static let plain = makeSuite(nil, timeLimit: .seconds(300))

    @Test("A store that keeps every promise passes every check", arguments: plain.checks)
    func passes(_ check: Check) async throws {
        try await ConcurrencyLimit.checks.run { try await Self.plain.verify(check) }
    }

    @Test("Each flaw is found by the checks of the promise that it breaks", arguments: BrokenStore.all)
    func isFound(_ broken: BrokenStore) async throws {
        for id in broken.checks {
            // One suite for each check, because a check waits for less time after another one has timed out.
            let suite = Self.makeSuite(broken.flaw, timeLimit: .seconds(20))
            let check = try #require(Check.named(id))
            let result = await ConcurrencyLimit.checks.run { await suite.run(check) }
            #expect(result.status == .failed, "\(id) \(check.promise)")
            let told = "\(check.promise)\n\(result.failure?.message ?? "")"
            #expect(told.localizedCaseInsensitiveContains(broken.word), "\(told)")
        }
    }

    @Test("Every flaw of the plain store is in the list exactly once, with a check")
    func isListed() {
        #expect(Set(BrokenStore.all.map(\.flaw)) == Set(Flaw.allCases))
        #expect(BrokenStore.all.count == Flaw.allCases.count)
        #expect(BrokenStore.all.filter { $0.checks.isEmpty }.map(\.flaw) == [])
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
