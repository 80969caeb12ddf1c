#if Commands
import ArgumentParser
import Foundation
import Testing
import TidelineTestSupport

@testable import TidelineBenchmark

@Suite("The benchmark command")
struct BenchCommandTests {
    let probe: ProbeProcess

    init() throws { probe = try ProbeProcess("CommandProbe") }

    /// A short run of one workload that reads all rows.
    private let short = ["--rows", "200", "--repetitions", "2", "--warm-up", "0", "--filter", "scan-view"]

    private func run(_ arguments: [String], hasFaults: Bool = true) throws -> ProbeProcess.Output {
        try probe.run(arguments, environment: ["BENCH": hasFaults ? "faults" : "memory"])
    }

    @Test("A run of a custom store exits with 0, writes its report and removes its files")
    func custom() throws {
        let output = try run(short + ["--json", probe.path("report.json")], hasFaults: false)
        #expect(output.status == 0, "\(output)")
        let report = try BenchmarkReport(json: probe.data(), path: "report.json")
        #expect(report.subjects.map(\.name) == ["memory"])
        #expect(report.results.map(\.id) == ["scan-view"])
        #expect(report.results[0].subjects[0].samples.count == 2)
        #expect(try probe.leftovers() == [])
    }

    @Test("NAME:FOLDER puts the databases of a store into a folder of its own, which is removed")
    func ownFolder() throws {
        let store = "none:\(probe.path("own"))"
        let output = try run(short + ["--store", store, "--no-baseline", "--json", probe.path("report.json")])
        #expect(output.status == 0, "\(output)")
        let report = try BenchmarkReport(json: probe.data(), path: "report.json")
        #expect(report.subjects.map(\.name) == [store])
        #expect(report.subjects[0].settings == ["folder=\(probe.path("own"))"])
        #expect(!FileManager.default.fileExists(atPath: probe.path("own")))
    }

    @Test("A debug build warns on standard error and in the report")
    func debugBuild() throws {
        let output = try run(short, hasFaults: false)
        #if DEBUG
        #expect(output.err.contains("DEBUG BUILD"))
        #expect(output.out.contains("DEBUG BUILD"))
        #else
        #expect(output.err == "")
        #endif
    }

    @Test("A wrong answer and a failure exit with 1; the other subjects and the baseline have figures")
    func failures() throws {
        let output = try run(
            short + ["--store", "none", "--store", "miscounts,fails", "--json", probe.path("report.json")])
        #expect(output.status == 1, "\(output)")
        let subjects = try BenchmarkReport(json: probe.data(), path: "report.json").results[0].subjects
        #expect(subjects.map(\.subject) == ["none", "miscounts", "fails", "in C"])
        #expect(subjects.map { $0.failure?.kind } == [nil, .wrongAnswer, .failed, nil])
        #expect(subjects[2].failure?.reason == "page 3 is damaged [corrupt]")
        #expect(try run(short + ["--store", "none", "--no-baseline"]).status == 0)
        #expect(try probe.leftovers() == [])
    }

    @Test("An interrupted run exits with 130, writes its reports and removes its files")
    func interruption() throws {
        let process = try probe.start(
            ["--rows", "200", "--filter", "scan-view", "--filter", "count*", "--filter", "get*", "--store", "hangs"]
                + ["--json", probe.path("report.json")],
            environment: ["BENCH": "faults", "HANGING": probe.path("hanging")])
        try waitUntil("the store to hang") { FileManager.default.fileExists(atPath: probe.path("hanging")) }
        process.interrupt()
        try process.finish()
        #expect(try probe.output(process).status == 130)
        #expect(try BenchmarkReport(json: probe.data(), path: "report.json").isInterrupted)
        #expect(try probe.leftovers() == [])
    }

    @Test("--fail-on-regression refuses an old report with too few repetitions, and exits with 1 if nothing is tested")
    func untested() throws {
        let work = ["--rows", "200", "--warm-up", "0", "--filter", "scan-view"]
        let old = ["--json", probe.path("report.json")]
        let new = work + ["--compare", probe.path("report.json"), "--fail-on-regression"]
        #expect(try run(work + old + ["--repetitions", "2"], hasFaults: false).status == 0)
        let few = try run(new, hasFaults: false)
        #expect(few.status == 2, "\(few)")
        #expect(few.err.contains("needs at least 9 repetitions, but \(probe.path("report.json")) has 2"), "\(few.err)")
        #expect(try run(work + old + ["--repetitions", "9"], hasFaults: false).status == 0)
        let other = try run(new + ["--store", "none", "--no-baseline"])
        #expect(other.status == 1, "\(other)")
        #expect(other.err.contains("no result could be tested"), "\(other.err)")
    }

    @Test(
        "Invalid arguments exit with 2 and a message before the run",
        arguments: [
            (["--store", "nine"], "there is no store \"nine\". Did you mean \"none\"?"),
            (["--store", "fails,size=1"], "the store fails has no settings"),
            (["--store", "none,none"], "listed more than once"),
            (["--filter", "scan-veiw"], "Did you mean \"scan-view\"? --list shows all"),
            (["--filter", "xyz*"], "there is no workload \"xyz*\""),
            (["--rows", "99"], "--rows takes numbers from 100 to 100m"), (["--rows", "1m,"], "--rows"),
            (["--rows", "9223372036854775807m"], "--rows"),
            (["--columns", "9"], "--columns must be a number from 10 to 1000, not 9."),
            (["--value-size", "0"], "--value-size must be a number from 1"),
            (["--batch", "0"], "--batch must be a number from 1"),
            (["--readers", "65"], "--readers must be a number from 1 to 64, not 65."),
            (["--repetitions", "0"], "--repetitions must be a number from 1"), (["--warm-up", "-1"], "--warm-up"),
            (["--key-order", "uuid4"], "--key-order"), (["--seed", "x"], "--seed"),
            (["--durability", "full", "--store", "fails"], "none of the stores has this setting"),
            (["--json", "/nowhere/at/all"], "cannot be written"), (["--fail-on-regression"], "--compare OLD.json"),
            (["--list", "--json", "-"], "remove it or --list"), (["--list", "--csv", "-"], "remove it or --list"),
            (["more"], "more"), (["--nonsense"], "--nonsense"),
        ])
    func usage(arguments: [String], message: String) throws {
        let output = try run(arguments)
        #expect(output.status == 2, "\(output)")
        #expect(output.err.contains(message), "\(output.err)")
        #expect(output.out.isEmpty)
        #expect(try probe.leftovers() == [])
    }

    @Test("A directory with other files exits with 2, also with --force, and remains unchanged")
    func foreignFiles() throws {
        let mine = probe.path("mine")
        try FileManager.default.createDirectory(atPath: mine, withIntermediateDirectories: true)
        try Data("dear".utf8).write(to: URL(fileURLWithPath: mine + "/letter"))
        for force in [[], ["--force"]] {
            let output = try run(short + ["--directory", mine] + force)
            #expect(output.status == 2)
            #expect(output.err.contains("contains files that no benchmark created"))
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: mine) == ["letter"])
    }

    @Test("Kept databases are in the reported directory, and --force deletes them")
    func keeping() throws {
        let position = ["--directory", probe.path("bench"), "--store", "none"]
        #expect(try run(short + position + ["--keep"]).out.contains("The databases are in \(probe.path("bench"))"))
        #expect(FileManager.default.fileExists(atPath: probe.path("bench/databases")))
        #expect(try run(short + position).err.contains("Use --force to delete them."))
        #expect(try run(short + position + ["--force"]).status == 0)
    }

    @Test("The list contains every selected workload, as text and as Markdown")
    func listing() throws {
        let list = try run(["--list"], hasFaults: false)
        #expect(list.status == 0)
        let workloads = Workload.all(BenchmarkSettings(), rows: 100_000)
        for workload in workloads { #expect(list.out.contains(" \(workload.id) ")) }
        let some = try run(["--list", "--filter", "scan-*", "--markdown", "-"], hasFaults: false)
        #expect(some.out.hasPrefix("## Reading\n"))
        #expect(some.out.contains("| `scan-view` |"))
        #expect(!some.out.contains("get-"))
    }
}

@Suite("The options of the benchmark command")
struct BenchOptionTests {
    @Test("Numbers of rows accept k and m, without duplicates")
    func rows() throws {
        try #expect(RowCounts(argument: "100000,1m,20K,1000k").numbers == [100_000, 1_000_000, 20_000])
        for text in ["", ",", "x", "k", "1.5m", "-1", "99", "100000001", "101m", "1g"] {
            #expect(throws: ValidationError.self, "\(text)") { try RowCounts(argument: text) }
        }
    }

    @Test(
        "A star matches any letters, a group all of its workloads, and --quick the quick workloads")
    func workloads() throws {
        let all = Workload.all(BenchmarkSettings(), rows: 100_000)
        func chosen(_ patterns: String..., quick: Bool = false) throws -> [String] {
            try WorkloadSelection(patterns: patterns, isQuick: quick, among: all).chosen(all).map(\.id)
        }
        #expect(try chosen() == all.map(\.id))
        #expect(try chosen("*") == all.map(\.id))
        #expect(try chosen("reading") == all.filter { $0.group == .reading }.map(\.id))
        #expect(try chosen("*-view", "SCAN-VIEW") == all.map(\.id).filter { $0.hasSuffix("-view") })
        #expect(try chosen("s*n-*iew") == ["scan-view"])
        #expect(try chosen(quick: true) == all.filter(\.isQuick).map(\.id))
    }

    @Test("The remaining time is shown after the start of a run")
    func timeLeft() {
        #expect(BenchProgress.timeLeft(after: .seconds(10), share: 0.01) == "")
        #expect(BenchProgress.timeLeft(after: .seconds(10), share: 0.5) == " · about 10 s left")
        #expect(BenchProgress.timeLeft(after: .seconds(600), share: 0.5) == " · about 10 min left")
        #expect(BenchProgress.timeLeft(after: .seconds(7200), share: 0.5) == " · about 2 h left")
    }
}
#endif
