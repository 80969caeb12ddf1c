#if Commands
import Foundation
import Testing
import TidelineStore
import TidelineSupport

@testable import TidelineBenchmark

@Suite("The report on a terminal")
struct TerminalTests {
    private let report = SampleReport.large(rows: [1000])

    private func lines(_ report: BenchmarkReport, width: Int = 120) -> [String] {
        BenchmarkTerminalReport(width: width).text(of: report).split(separator: "\n").map(String.init)
    }

    @Test(
        "Four stores fit in 80 columns, with ratios in 100 and margins of error in 120",
        arguments: [80, 100, 120])
    func wide(width: Int) throws {
        let lines = lines(report, width: width)
        let position = try #require(lines.firstIndex { $0.hasPrefix("   ") && $0.contains("sqlite") })
        let heading = lines[position]
        #expect(heading.split(separator: " ").map(String.init) == ["sqlite", "lmdb", "leveldb", "memory"])
        let scan = try #require(lines.first { $0.contains("ordered scan, Row") })
        #expect(scan.contains("ns/row"))
        #expect(scan.contains("*"))
        #expect(scan.contains("±") == (width == 120))
        #expect(lines[position + 1].contains("×C") == (width > 80))
    }

    @Test("A ratio with a margin of error of more than a third is unclear, in every format")
    func unclear() {
        let subjects = [SampleReport.subject("a", engine: "e"), SampleReport.subject("c", .baseline, engine: "e")]
        let work = SampleReport.workload(
            "w", [SampleReport.result("a", [1, 1, 1]), SampleReport.result("c", [0.5, 1, 2])])
        let report = SampleReport.report(subjects, [work])
        #expect(lines(report).contains { $0.contains("the work w") && $0.hasSuffix("unclear") })
        #expect(BenchmarkMarkdownReport().text(of: report).contains("×C unclear"))
        #expect(BenchmarkHTMLReport().text(of: report).contains("<small>×C unclear</small>"))
    }

    @Test("Every format recommends the store that is fastest in most workloads")
    func verdict() {
        let subjects = [
            SampleReport.subject("a", engine: "e"), SampleReport.subject("b", engine: "f"),
            SampleReport.subject("memory", engine: "m", .none), SampleReport.subject("c", .baseline, engine: "e"),
        ]
        func work(_ id: String, _ group: WorkloadGroup, _ a: Double, _ b: Double, rows: Int = 2000) -> WorkloadResult {
            let results = [("a", a), ("b", b), ("memory", 0.1), ("c", 0.2)].map {
                SampleReport.result($0, [$1, $1 * 1.01, $1 * 1.02])
            }
            return SampleReport.workload(id, group: group, rows: rows, results)
        }
        let report = SampleReport.report(
            subjects,
            [
                work("w1", .writing, 1, 2), work("w2", .writing, 1, 3), work("w3", .writing, 3, 1),
                work("r1", .reading, 2, 1), work("q1", .queries, 1, 1), work("r1", .reading, 1, 9, rows: 1000),
                work("j", .json, 1, 9),
            ])
        let verdict = """
            With 2,000 rows, where commits survive a crash of the program: for writing pick a; for reading pick b; \
            for queries pick any.
            """
        #expect(StoreRecommendation.lines(of: report) == [verdict])
        #expect(lines(report, width: 200).contains(verdict))
        #expect(BenchmarkMarkdownReport().text(of: report).contains("**Verdict**: With 2,000 rows"))
        #expect(BenchmarkHTMLReport().text(of: report).contains("for reading pick b"))
        #expect(StoreRecommendation.lines(of: SampleReport.report([], [])) == [])
        #expect(StoreRecommendation.lines(of: self.report).first == StoreRecommendation.forApps)
    }

    @Test("The sentence for an app is that of the article")
    func article() throws {
        let root = URL(fileURLWithPath: #filePath).pathComponents.dropLast(4).joined(separator: "/")
        let path = "\(root)/Conformance/Suite/TidelineConformance.docc/ChoosingAStore.md"
        let article = try String(contentsOfFile: path, encoding: .utf8)
        #expect(article.contains(StoreRecommendation.forApps))
    }

    @Test("A run with a warning has no verdict")
    func noVerdict() {
        let warnings: [(inout BenchmarkReport) -> Void] = [
            { $0.environment.host.build = "debug" }, { $0.environment.otherProcessors = 1 },
            { $0.isInterrupted = true }, { $0.stopReason = "the disk is full" },
        ]
        for warn in warnings {
            var report = report
            warn(&report)
            #expect(StoreRecommendation.lines(of: report) == [])
            #expect(!lines(report, width: 400).contains { $0.contains("pick") })
            #expect(!BenchmarkHTMLReport().text(of: report).contains("Verdict"))
        }
    }

    @Test(
        "A store whose margin of error is more than a third of its time has no star, and none has if the fastest is such"
    )
    func noStar() {
        let subjects = ["a", "b", "c"].map { SampleReport.subject($0, engine: $0) }
        func fastest(_ times: [Double]...) -> [Bool] {
            let results = zip(["a", "b", "c"], times).map { SampleReport.result($0, $1) }
            let report = SampleReport.report(subjects, [SampleReport.workload("w", results)])
            return report.figures[0].subjects.map(\.isFastest)
        }
        #expect(fastest([1, 1, 1], [1, 1, 1], [2, 2, 2]) == [true, true, false])
        #expect(fastest([1, 1, 1], [0.5, 1.1, 1.8], [2, 2, 2]) == [true, false, false])
        #expect(fastest([1.2, 1.2, 1.2], [0.5, 1.1, 1.8], [2, 2, 2]) == [false, false, false])
        #expect(fastest([1], [2], [3]) == [false, false, false])
    }

    @Test("Every format and the comparison warn of a busy machine")
    func busyMachine() throws {
        var report = report
        report.environment.otherProcessors = 0.1
        #expect(RunFacts.warnings(report) == [])
        report.environment.otherProcessors = 1.26
        let warning =
            "The machine was busy: other programs used 1.3 of 2 processors during the run. Measure again when it is idle."
        #expect(lines(report, width: 200).last == warning)
        #expect(BenchmarkMarkdownReport().text(of: report).contains("The machine was busy"))
        #expect(BenchmarkHTMLReport().text(of: report).contains(warning))
        let comparison = try BenchmarkComparison(old: self.report, new: report)
        #expect(comparison.warnings == ["other programs used the machine during the new run"])
        let decoded = try BenchmarkReport(json: Data(BenchmarkJSONReport().text(of: report).utf8), path: "r")
        #expect(decoded.environment.otherProcessors == 1.26)
    }

    @Test("No line is longer than the width of the terminal", arguments: [60, 80, 100, 120, 200])
    func fits(width: Int) {
        for line in lines(report, width: width) { #expect(line.count <= width, "\(line)") }
    }

    @Test("On a narrow terminal each store still has every workload")
    func narrow() {
        let lines = lines(report, width: 60)
        #expect(lines.count { $0.contains("ordered scan, Row") } == 4)
        for store in ["sqlite", "lmdb", "leveldb", "memory"] {
            #expect(lines.contains { $0.split(separator: " ") == [store[...]] }, "\(store)")
        }
    }

    @Test("Missing figures are marked in the table and explained below, combined by reason")
    func missingFigures() {
        let lines = lines(report)
        #expect(lines.contains { $0.contains("commit of one row") && $0.contains("failed") })
        #expect(lines.contains { $0.contains("filter, order, limit 50") && $0.contains("wrong") })
        #expect(lines.contains { $0.contains("open and read a row") && $0.contains("–") })
        #expect(lines.contains("wrong answer  leveldb: 999 rows found, 1,000 expected (find-index)"))
        #expect(lines.contains("failed  lmdb: mdb_put: MDB_MAP_FULL: Environment mapsize limit (commit)"))
        #expect(lines.contains { $0.hasPrefix("not applicable  sqlite in C, lmdb in C, leveldb in C: bare engine") })
    }

    @Test("Only a debug build has a warning, at the beginning and at the end, and an interrupted run at the end")
    func warnings() throws {
        #expect(!BenchmarkTerminalReport().text(of: report).contains("MEANINGLESS"))
        var report = report
        report.isInterrupted = true
        #expect(self.lines(report).last == RunFacts.interruption)
        report.isInterrupted = false
        report.environment.host.build = "debug"
        let lines = lines(report)
        #expect(lines[1].contains("MEANINGLESS"))
        #expect(lines[lines.count - 3].contains("MEANINGLESS"))
    }

    @Test("Text contains no control characters, and colors only if enabled")
    func control() {
        let report = SampleReport.hostile
        let plain = BenchmarkTerminalReport(width: 120).text(of: report)
        #expect(!plain.unicodeScalars.contains { $0.properties.generalCategory == .control && $0 != "\n" })
        let colored = BenchmarkTerminalReport(width: 120, style: TerminalStyle(isColored: true)).text(of: report)
        #expect(colored.contains("\u{1B}["))
        #expect(colored.replacing(#/\u{1B}\[\d+m/#, with: "") == plain)
    }

    @Test("A report without results, or without repetitions, has no table and does not fail")
    func empty() {
        #expect(!BenchmarkTerminalReport().text(of: SampleReport.report([], [])).contains("──"))
        let work = SampleReport.workload("w", [SampleReport.result("a", [])])
        let text = BenchmarkTerminalReport().text(
            of: SampleReport.report([SampleReport.subject("a", engine: "e")], [work]))
        #expect(text.contains("the work w"))
    }

    @Test("The use of disk and memory is shown for each subject if known")
    func storage() {
        let lines = lines(report)
        #expect(lines.contains("Files and memory"))
        #expect(lines.contains { $0.hasPrefix(" rows  store") && $0.contains("compacted") })
        #expect(lines.contains { $0.hasPrefix("1,000  sqlite ") && $0.contains(" B") })
        let work = SampleReport.workload("w", [SampleReport.result("a", [])])
        let bare = SampleReport.report([SampleReport.subject("a", engine: "e")], [work])
        #expect(!self.lines(bare).contains("Files and memory"))
    }
}
#endif
