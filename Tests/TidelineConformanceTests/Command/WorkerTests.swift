#if Commands
import Foundation
import Testing
import TidelineStore
import TidelineTestSupport

@testable import TidelineConformance

@Suite("Worker processes")
struct WorkerTests {
    private let probe: ProbeProcess

    init() throws { probe = try ProbeProcess("CommandProbe") }

    /// Runs checks of stores and returns the report, with failures.
    private func failingReport(
        of stores: String, _ checks: String..., options: [String] = []
    ) throws -> ConformanceReport {
        let arguments = ["--store", stores] + checks.flatMap { ["--filter", $0] } + options
        #expect(try probe.run(arguments + ["--json", probe.path("report.json")]).status == 1)
        return try ConformanceReport(json: probe.data())
    }

    @Test("A store that ends its process fails the check that was running; the other checks continue")
    func death() throws {
        let report = try failingReport(of: "traps,exits", "GET-009", "GET-01")
        #expect(report.isComplete)
        for store in report.stores {
            #expect(store.results.count == 11)
            #expect(store.results[0].status == .passed)
            #expect(store.totals.failed > 4)
        }
        let trap = try #require(report.stores[0].results[1].failure)
        #expect(trap.message.contains("the store ended the process with signal"))
        #expect(trap.message.contains("the index has no such row"))
        let exit = try #require(report.stores[1].results[1].failure)
        #expect(exit.message.contains("the store ended the process with exit status 3"))
        #expect(try probe.leftovers() == [])
    }

    @Test("A store that ends its process when it is opened fails every check at once")
    func deathOnOpening() throws {
        let results = try failingReport(of: "traps-on-opening", "GET").stores[0].results
        #expect(results.allSatisfy { $0.status == .failed })
        #expect(results.allSatisfy { $0.failure?.message.contains("when it was opened") == true })
    }

    @Test("A check that hangs fails, and the remaining checks run in another process")
    func hang() throws {
        // After the hang, a check of the same group has five seconds, which a busy machine may use up.
        let expected: [CheckStatus] = [.passed, .failed, .passed]
        var results: [CheckResult] = []
        for _ in 0..<3 where results.map(\.status) != expected {
            results = try failingReport(
                of: "hangs", "GET-010", "GET-009", "GET-030", options: ["--time-limit", "20"]
            ).stores[0].results
        }
        #expect(results.map(\.status) == expected)
        #expect(results[1].failure?.message.contains("hangs") == true)
        #expect(try probe.leftovers() == [])
    }

    @Test("After one check times out, the others end early with the reason, in other processes too")
    func repeatedHang() throws {
        let report = try failingReport(of: "hangs", "GET-010", "GET-011", "GET-012", options: ["--time-limit", "5"])
        let results = report.stores[0].results
        #expect(results.map(\.status) == [.failed, .notRun, .notRun])
        #expect(results.dropFirst().allSatisfy { $0.reason?.contains("because GET-010 had timed out") == true })
        #expect(results.dropFirst().allSatisfy { $0.reason?.contains("within 5.0 seconds") == true })
    }

    @Test("A check that is known to hang does not hide another that hangs")
    func knownHang() throws {
        try "GET-010 issue 3".write(toFile: probe.path("known"), atomically: true, encoding: .utf8)
        let options = ["--time-limit", "5", "--known", probe.path("known")]
        let report = try failingReport(of: "hangs", "GET-010", "GET-011", "GET-012", options: options)
        #expect(report.stores[0].results.map(\.status) == [.knownFailure, .failed, .notRun])
    }

    @Test("The output of a store is not taken for a message of its process")
    func printing() throws {
        let output = try probe.run("--store", "prints", "--filter", "GET-001", "--filter", "GET-011")
        #expect(output.status == 0, "\(output)")
    }

    @Test("An interrupted run reports the completed checks, writes its reports, leaves no files, and ends with 130")
    func interruption() throws {
        let process = try probe.start([
            "--store", "hangs", "--filter", "GET-009", "--filter", "GET-010", "--json", probe.path("report.json"),
        ])
        try waitUntil("the run to begin") { try probe.output(process).out.contains("2 checks of hangs") }
        process.interrupt()
        try process.finish()
        let output = try probe.output(process)
        #expect(output.status == 130)
        #expect(output.out.contains("The run did not complete."))
        let report = try ConformanceReport(json: probe.data())
        #expect(!report.isComplete)
        #expect(report.stores[0].results.contains { $0.status == .notRun })
        #expect(try probe.leftovers() == [])
    }

    @Test("When the command itself is killed, its processes end and leave no files")
    func killed() throws {
        let process = try probe.start(["--store", "hangs", "--filter", "GET-010"])
        // The folder of the check is inside the worker's folder. If it exists, the worker is running the check.
        try waitUntil("the worker to be at work") {
            // A worker's folder may be removed between the two calls.
            try probe.leftovers().contains { (try? probe.leftovers(in: $0))?.isEmpty == false }
        }
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
        try waitUntil("the files to go") { try probe.leftovers().isEmpty }
    }

    @Test("A second process ends with its input, also in a call of the store that never returns")
    func endOfInput() throws {
        let steps: [ChildStep] = [.open(StoreOpening(directory: probe.folder.path)), .change(.deletionByID, step: 0)]
        let job = String(decoding: try JSONEncoder().encode(ChildJob(steps: steps)), as: UTF8.self)
        let output = try probe.run("--store", "hangs", "--child", "--", ChildJob.marker, job)
        #expect(output.status == ChildJob.Status.failed, "\(output)")
    }

    @Test("A worker has ten times the time limit as long as checks of the tier long remain")
    func longestWait() throws {
        let settings = ConformanceSettings(timeLimit: .seconds(10))
        let long = try #require(Check.named("LNG-001"))
        #expect(Workers.longestWait(for: checks, settings) == 130)
        #expect(Workers.longestWait(for: checks + [long], settings) == 220)
    }

    // MARK: Attribution of a crash

    private var checks: [Check] { Array(Check.all.prefix(3)) }

    private var ledgerAfterOneCheck: WorkerLedger {
        var ledger = WorkerLedger(checks, seed: 5)
        _ = ledger.take(.began(checks[0].id))
        _ = ledger.take(.ended(CheckResult(id: checks[0].id, status: .passed)))
        return ledger
    }

    @Test("A crash is attributed to the running check")
    func blamesRunning() {
        var ledger = ledgerAfterOneCheck
        _ = ledger.take(.began(checks[1].id))
        let results = ledger.died("with signal 11", output: "oh")
        #expect(results.map(\.id) == [checks[1].id])
        #expect(results[0].status == .failed)
        #expect(results[0].failure?.seed == 5)
        #expect(results[0].failure?.message.contains("with signal 11\nStandard error:\noh") == true)
        #expect(ledger.remaining == [checks[2]])
    }

    @Test("A crash between checks is attributed to the last check, which may have left a task running")
    func blamesLast() {
        var ledger = ledgerAfterOneCheck
        let results = ledger.died("with signal 6", output: "")
        #expect(results.map(\.id) == [checks[0].id])
        #expect(results[0].failure?.message.contains("after the check had ended") == true)
        #expect(ledger.remaining == Array(checks.dropFirst()))
    }

    @Test("A crash before the first check ends all checks, unless the store was opened before")
    func blamesOpening() {
        var ledger = WorkerLedger(checks, seed: 5)
        #expect(ledger.died("x", output: "").map(\.id) == checks.map(\.id))
        #expect(ledger.remaining.isEmpty)
        ledger = WorkerLedger(checks, seed: 5)
        _ = ledger.take(.declared(.init(name: "a")))
        #expect(ledger.died("x", output: "").map(\.id) == [checks[0].id])
        #expect(ledger.remaining.count == 2)
    }

    @Test("A message about a check that was not requested is ignored")
    func strangers() {
        var ledger = WorkerLedger(checks, seed: 5)
        #expect(ledger.take(.began("XXX-001")) == nil)
        #expect(ledger.take(.ended(CheckResult(id: "XXX-001", status: .failed))) == nil)
        #expect(ledger.remaining == checks)
    }
}
#endif
