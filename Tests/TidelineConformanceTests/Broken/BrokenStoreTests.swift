import BrokenStores
import Foundation
import Testing
import TidelineConformance
import TidelineFaults
import TidelineStore

/// The suite over a store that keeps every promise, and over stores that each break one.
@Suite("Stores that are broken on purpose")
struct BrokenStoreTests {
    /// `TIDELINE_BROKEN_STORES=all` runs every check over every broken store, which takes long.
    private static let isThorough = ProcessInfo.processInfo.environment["TIDELINE_BROKEN_STORES"] == "all"

    /// A call that hangs is a mistake, too, and found by waiting.
    private static func makeSuite(_ flaw: Flaw?, timeLimit: Duration) -> ConformanceSuite {
        let harness = StoreHarness(
            modes: [.existing, .readOnly, .limitedSize], process: makeProcess(flaw), faults: InterposedFiles(),
            destroy: { try PlainStore.destroy(in: $0) },
            open: { try PlainStore($0, flaw: flaw) })
        return ConformanceSuite(harness, settings: ConformanceSettings(rows: 500, timeLimit: timeLimit))
    }

    /// The executable that opens plain stores too, which lies beside the tests.
    private static func makeProcess(_ flaw: Flaw?) -> StoreProcess? {
        guard let tests = Bundle.main.executableURL else { return nil }
        let probe = tests.deletingLastPathComponent().appendingPathComponent("StoreProbe").path
        return StoreProcess(executable: probe, arguments: ["plain:\(flaw?.rawValue ?? "")"])
    }

    static let plain = makeSuite(nil, timeLimit: .seconds(300))

    @Test("A store that keeps every promise passes every check", arguments: plain.checks)
    func passes(_ check: Check) async throws { try await Self.plain.verify(check) }

    @Test("Every mistake is found by the checks of the promise that it breaks", arguments: BrokenStore.all)
    func isFound(_ broken: BrokenStore) async throws {
        for id in broken.checks {
            // One each, as a check does not wait long where another one has timed out.
            let suite = Self.makeSuite(broken.flaw, timeLimit: .seconds(20))
            let check = try #require(Check.named(id))
            let result = await suite.run(check)
            #expect(result.status == .failed, "\(id) \(check.promise)")
            let told = "\(check.promise)\n\(result.failure?.message ?? "")"
            #expect(told.localizedCaseInsensitiveContains(broken.word), "\(told)")
        }
    }

    @Test("Every mistake that the plain store can make is in the list, once, with a check")
    func isListed() {
        #expect(Set(BrokenStore.all.map(\.flaw)) == Set(Flaw.allCases))
        #expect(BrokenStore.all.count == Flaw.allCases.count)
        #expect(BrokenStore.all.filter { $0.checks.isEmpty }.map(\.flaw) == [])
    }

    /// None makes the suite itself fail, and whatever is found is told.
    @Test("No broken store gets past the whole suite, or breaks it", .enabled(if: isThorough), arguments: Flaw.allCases)
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
