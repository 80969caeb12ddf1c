import Foundation
import Testing
import TidelineMemory
import TidelineStore

@testable import TidelineConformance

@Suite("The report of a run")
struct ReportModelTests {
    @Test("Totals count each status")
    func totals() {
        let totals = SampleReport.report.stores[0].totals
        for status in CheckStatus.allCases where status != .tolerated { #expect(totals[status] == 1, "\(status)") }
        #expect(totals.all == 7)
        #expect(SampleReport.report.stores[1].totals.passed == 7)
    }

    @Test("A profile is reached if no check failed and none was left out")
    func reached() {
        #expect(SampleReport.report.stores[1].profiles.allSatisfy { $0.outcome == .reached && $0.words == "reached" })
    }

    @Test("A profile is missed if a check of its own groups failed, known or not")
    func missed() {
        let profiles = SampleReport.report.stores[0].profiles
        // The sample contains no check of the sync core.
        #expect(profiles[0].outcome == .reached)
        #expect(profiles[1].outcome == .missed)
        #expect(profiles[1].failed == 1)
        #expect(profiles[1].skipped == 1)
        #expect(profiles[2].failed == 2)
        #expect(profiles[2].words == "2 failed")
        // A check that the suite itself could not perform counts as not run.
        #expect(profiles[3].notRun == 2)
    }

    @Test(
        "A profile is open while one of its checks has not run, even if the check was not requested",
        arguments: [CheckStatus.notRun, .harnessError, nil])
    func open(status: CheckStatus?) {
        var results = SampleReport.checks.map { CheckResult(id: $0.id, status: .passed) }
        if let status { results[6].status = status } else { results.removeLast() }
        let verdict = ProfileVerdict(.full, results: results, among: SampleReport.all)
        #expect(verdict.outcome == .open)
        #expect(verdict.words == "1 not run")
        #expect(ProfileVerdict(.durable, results: results, among: SampleReport.all).outcome == .reached)
        #expect(ProfileVerdict(.full, results: [], among: SampleReport.all).words == "not run")
    }

    @Test("A report written as JSON is read back unchanged")
    func json() throws {
        let text = try JSONReport().text(of: SampleReport.report)
        let read = try ConformanceReport(json: Data(text.utf8))
        #expect(read == SampleReport.report)
        #expect(read.schema == "tideline-conformance/1")
        #expect(read.settings.seed == .max)
        #expect(text == (try JSONReport().text(of: read)))
    }

    @Test("A report of another version is refused with its version; a file that is no report, with the missing part")
    func refusals() throws {
        let text = try JSONReport().text(of: SampleReport.report)
        let newer = text.replacing("tideline-conformance/1", with: "tideline-conformance/2\\u001b")
        #expect(message(newer).contains("tideline-conformance/2"))
        #expect(!message(newer).contains("\u{1B}"))
        #expect(message(newer).contains("reads tideline-conformance/1 only"))
        #expect(message("{}").contains("not a conformance report"))
        #expect(message("[1").contains("not a conformance report"))
        #expect(message(text.replacing("\"rounds\" : 3", with: "\"rounds\" : \"3\"")).contains("settings.rounds"))
        #expect(message(text.replacing("\"rounds\" : 3,", with: "")).contains("settings.rounds"))
    }

    private func message(_ json: String) -> String {
        do {
            _ = try ConformanceReport(json: Data(json.utf8))
            return "read"
        } catch { return "\(error)" }
    }

    @Test("A run over several stores reports each check of each store and the capabilities of the stores")
    func run() async throws {
        var run = ConformanceRun(
            ["a", "b"].map { name in StoreHarness(name: name, modes: []) { _ in try MemoryStore() } }, jobs: 2)
        run.checks = Check.all.filter { $0.id.hasPrefix("UPS-00") }
        let report = await run.report()
        #expect(report.isComplete)
        #expect(!report.hasFailures)
        #expect(report.stores.map(\.name) == ["a", "b"])
        #expect(report.checks.map(\.id) == run.checks.map(\.id))
        for store in report.stores {
            #expect(store.results.map(\.id) == run.checks.map(\.id))
            #expect(store.results.allSatisfy { $0.status == .passed })
            #expect(store.capabilities?.isPersistent == false)
            #expect(store.profiles.map(\.outcome) == [.open, .open, .open, .open])
        }
    }

    @Test("A report of an unfinished run contains that fact and the remaining checks")
    func incomplete() async {
        var run = ConformanceRun([StoreHarness(name: "a", modes: []) { _ in try MemoryStore() }])
        run.checks = Array(Check.all.prefix(3))
        let collector = ReportCollector(run)
        collector.note(ConformanceEvent(store: "a", kind: .storeBegan(checks: run.checks)), index: 0)
        let first = CheckResult(id: run.checks[0].id, status: .passed)
        collector.note(ConformanceEvent(store: "a", kind: .checkEnded(first)), index: 0)
        let report = collector.report()
        #expect(!report.isComplete)
        #expect(report.stores[0].results.map(\.status) == [.passed, .notRun, .notRun])
        #expect(report.stores[0].results[1].reason == "the run ended before this check")
        #expect(TerminalReport().text(of: report).contains("The run did not complete."))
    }
}

@Suite("Checks that did not run")
struct OmissionTests {
    @Test("Stores that omit the same checks for the same reason are listed together, most checks first")
    func together() {
        func store(_ name: String, _ omitted: [(String, CheckStatus, String)]) -> StoreReport {
            let results = omitted.map { CheckResult(id: $0.0, status: $0.1, reason: $0.2) }
            return StoreReport(name: name, capabilities: nil, results: results, seconds: 0)
        }
        var report = SampleReport.report
        report.stores = [
            store("a", [("1", .skipped, "x"), ("2", .notRun, "y"), ("3", .notRun, "z"), ("4", .notRun, "z")]),
            store("b", [("1", .skipped, "x"), ("2", .notRun, "z")]),
        ]
        let found = Omission.all(of: report).map { "\($0.stores) \($0.status) \($0.reason) \($0.ids)" }
        #expect(
            found == [
                "[\"a\", \"b\"] skipped x [\"1\"]", "[\"a\"] notRun z [\"3\", \"4\"]", "[\"a\"] notRun y [\"2\"]",
                "[\"b\"] notRun z [\"2\"]",
            ])
    }

    @Test("A check that the store's capabilities rule out is skipped; otherwise a missing hook is named")
    func precedence() async {
        for check in Check.all where check.needs.contains(where: \.isCapability) {
            guard check.needs.contains(where: { !$0.isCapability }), check.needs.contains(.persistence) else {
                continue
            }
            let memory = ConformanceSuite(StoreHarness(modes: []) { _ in try MemoryStore() })
            #expect(await memory.run(check).status == .skipped, "\(check.id)")
        }
    }
}
