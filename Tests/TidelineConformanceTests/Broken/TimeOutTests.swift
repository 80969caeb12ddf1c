import BrokenStores
import Foundation
import Testing
import TidelineStore

@testable import TidelineConformance

@Suite("Checks that time out")
struct TimeOutTests {
    @Test("A store that keeps its lock after an error costs one time limit; its other checks name the cause")
    func lockHeldForever() async throws {
        let harness = StoreHarness(modes: []) { try PlainStore($0, flaw: .lockHeldForever) }
        let suite = ConformanceSuite(harness, settings: ConformanceSettings(timeLimit: .seconds(10)))
        var results: [CheckResult] = []
        for id in ["UPS-029", "UPS-038", "UPS-001", "TRN-002", "TRN-003", "TRN-004", "TRN-054"] {
            results.append(await suite.run(try #require(Check.named(id))))
        }
        let inVain = results.filter { $0.timeOut != nil }
        #expect(inVain.count > 2)
        let first = try #require(inVain.first)
        #expect(first.status == .failed)
        for result in inVain.dropFirst() {
            #expect(result.status == .notRun)
            #expect(result.reason?.contains("because \(first.id) had timed out") == true, "\(result.reason ?? "")")
        }
        // A check that does not wait has its own verdict, unless the machine takes more than five seconds for it.
        let other = try #require(Check.named("UPS-001"))
        var verdict = results.first { $0.id == other.id }?.status
        for _ in 0..<5 where verdict != .passed { verdict = await suite.run(other).status }
        #expect(verdict == .passed)
    }

    @Test(
        "Only a check of the tier long may take longer than the limit",
        arguments: [(CheckTier.long, CheckStatus.passed), (.stress, .failed)])
    func longChecks(_ tier: CheckTier, _ status: CheckStatus) async {
        // A check of the tier long ends after the limit, another one only when its result is known.
        let end = DispatchSemaphore(value: 0)
        defer { end.signal() }
        let seconds = tier == .long ? 14.0 : 300
        let check = Check("LNG-999", "A check that waits", tier: tier) { _ in _ = end.wait(timeout: .now() + seconds) }
        let harness = StoreHarness(modes: []) { try PlainStore($0, flaw: nil) }
        let limit = Duration.seconds(tier == .long ? 12 : 2)
        let suite = ConformanceSuite(harness, settings: ConformanceSettings(timeLimit: limit))
        #expect(await suite.run(check).status == status)
    }

    @Test("After a check that is known to time out, another waits for the whole limit and has a verdict")
    func knownFailure() async throws {
        let harness = StoreHarness(modes: []) { try PlainStore($0, flaw: nil) }
        let suite = ConformanceSuite(
            harness, settings: ConformanceSettings(timeLimit: .seconds(2)),
            knownFailures: try KnownFailures(parsing: "UPS-001 issue 3"))
        let end = DispatchSemaphore(value: 0)
        defer { for _ in 0..<2 { end.signal() } }
        for (id, status) in [("UPS-001", CheckStatus.knownFailure), ("UPS-002", CheckStatus.failed)] {
            let check = Check(id, "A check that waits") { _ in _ = end.wait(timeout: .now() + 300) }
            #expect(await suite.run(check).status == status)
        }
    }

    @Test("The first check waits for the whole limit, other checks of the store less, those of its group least")
    func limits() {
        let timeOuts = TimeOuts()
        let limit = Duration.seconds(300)
        func wait(_ kind: TimeOutKind, _ group: CheckGroup) -> CheckWait {
            timeOuts.wait(kind, in: group, limit: limit)
        }
        #expect(wait(.call, .upsert) == CheckWait(limit: limit))
        timeOuts.note(CheckResult(id: "UPS-001", status: .passed))
        timeOuts.note(CheckResult(id: "UPS-001", status: .notRun, timeOut: .call))
        #expect(timeOuts.all == [:])
        timeOuts.note(CheckResult(id: "UPS-002", status: .failed, timeOut: .call))
        timeOuts.note(CheckResult(id: "UPS-003", status: .failed, timeOut: .call))
        #expect(wait(.call, .upsert) == CheckWait(limit: .seconds(5), earlier: "UPS-002"))
        #expect(wait(.call, .lookup) == CheckWait(limit: .seconds(15), earlier: "UPS-002"))
        #expect(wait(.thread, .upsert) == CheckWait(limit: limit))
        let short = timeOuts.wait(.call, in: .lookup, limit: .seconds(2))
        #expect(short == CheckWait(limit: .seconds(2), earlier: "UPS-002"))
    }
}
