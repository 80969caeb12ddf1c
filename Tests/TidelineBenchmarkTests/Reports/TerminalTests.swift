import Testing
import TidelineSupport

@testable import TidelineBenchmark

@Suite("The report on a terminal")
struct TerminalTests {
    private let report = SampleReport.large(rows: [1000])

    private func lines(_ report: BenchmarkReport, width: Int = 120) -> [String] {
        BenchmarkTerminalReport(width: width).text(of: report).split(separator: "\n").map(String.init)
    }

    @Test(
        "Four stores stand beside each other from 100 characters on, with spreads from 120 on", arguments: [100, 120])
    func wide(width: Int) throws {
        let lines = lines(report, width: width)
        let heading = try #require(lines.first { $0.hasPrefix("   ") && $0.contains("sqlite") })
        #expect(heading.split(separator: " ").map(String.init) == ["sqlite", "lmdb", "leveldb", "memory"])
        let scan = try #require(lines.first { $0.contains("ordered scan, Row values") })
        #expect(scan.contains("ns/row"))
        #expect(scan.contains("*"))
        #expect(scan.contains("±") == (width == 120))
    }

    @Test("No line is longer than the terminal is wide", arguments: [60, 80, 100, 120, 200])
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

    @Test("What failed, is wrong or not applicable stands in the table and is told below, alike ones together")
    func remarks() {
        let lines = lines(report)
        #expect(lines.contains { $0.contains("commit of one row") && $0.contains("failed") })
        #expect(lines.contains { $0.contains("filter, order, limit 50") && $0.contains("wrong") })
        #expect(lines.contains { $0.contains("open and read a row") && $0.contains("–") })
        #expect(lines.contains("wrong answer  leveldb: 999 rows found, 1,000 expected (find-index)"))
        #expect(lines.contains("failed  lmdb: mdb_put: MDB_MAP_FULL: Environment mapsize limit (commit)"))
        #expect(lines.contains { $0.hasPrefix("not applicable  sqlite in C, lmdb in C, leveldb in C: bare engine") })
    }

    @Test("A debug build is told loudly, at the beginning and at the end; a release build is not")
    func debug() throws {
        #expect(!BenchmarkTerminalReport().text(of: report).contains("WORTHLESS"))
        var report = report
        report.environment.host.build = "debug"
        let lines = lines(report)
        #expect(lines[1].contains("WORTHLESS"))
        #expect(lines[lines.count - 3].contains("WORTHLESS"))
    }

    @Test("An interrupted run says so")
    func interrupted() {
        var report = report
        report.isInterrupted = true
        #expect(lines(report).last == BenchmarkFacts.interruption)
    }

    @Test("No control character reaches a terminal, and no colour where none is wanted")
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

    @Test("Sizes and memory are told of each subject, and left out where nothing is known")
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
