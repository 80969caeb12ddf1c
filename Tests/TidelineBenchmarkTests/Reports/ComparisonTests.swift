#if Commands
import FoundationEssentials
import Testing
import TidelineStore
import TidelineSupport

@testable import TidelineBenchmark

@Suite("The comparison of two reports")
struct ComparisonTests {
    private typealias Sample = SampleReport

    private static let subjects = [
        Sample.subject("a", engine: "e"), Sample.subject("c", .baseline, engine: "e"),
    ]

    /// The times of nine iterations by default, all different.
    private func times(_ seconds: Double, count: Int = 9) -> [Double] {
        (0..<count).map { seconds * (1 + Double($0) / 1000) }
    }

    private func report(_ a: [Double], baseline c: [Double]? = nil, id: String = "w") -> BenchmarkReport {
        Sample.report(
            Self.subjects, [Sample.workload(id, [Sample.result("a", a)] + (c.map { [Sample.result("c", $0)] } ?? []))])
    }

    private func verdict(_ old: BenchmarkReport, _ new: BenchmarkReport) throws -> BenchmarkComparison.Verdict? {
        try BenchmarkComparison(old: old, new: new).entries.first?.verdict
    }

    @Test("Significant changes are slower or faster, and a slowdown of 3 % is a regression")
    func verdicts() throws {
        let old = report(times(1))
        #expect(try verdict(old, report(times(1.1))) == .slower)
        #expect(try verdict(old, report(times(0.9))) == .faster)
        #expect(try verdict(old, report(times(1.0005))) == .same)
        #expect(try BenchmarkComparison(old: old, new: report(times(1.1))).hasRegression)
        #expect(try !BenchmarkComparison(old: old, new: report(times(0.9))).hasRegression)
        let little = try BenchmarkComparison(old: old, new: report(times(1.02)))
        #expect(little.entries[0].verdict == .slower)
        #expect(!little.hasRegression)
        #expect(abs(try #require(little.entries[0].change) - 0.02) < 1e-9)
        #expect(little.findsRegressions)
    }

    @Test("Fewer than nine repetitions on one side are not tested")
    func tooFew() throws {
        let comparison = try BenchmarkComparison(old: report(times(1, count: 8)), new: report(times(2)))
        #expect(comparison.entries[0].verdict == .tooFew)
        #expect(comparison.entries[0].probability == nil)
        #expect(!comparison.hasRegression && !comparison.findsRegressions)
        #expect(comparison.terminalText().contains("too few repetitions"))
    }

    @Test("If both reports have ratios, these are compared, so that a slower machine is no regression")
    func ratios() throws {
        let old = report(times(2), baseline: times(1))
        let slowMachine = try BenchmarkComparison(old: old, new: report(times(3), baseline: times(1.5)))
        #expect(slowMachine.entries.map(\.basis) == [.ratio])
        #expect(slowMachine.entries[0].verdict == .same)
        let slowStore = try BenchmarkComparison(old: old, new: report(times(3), baseline: times(1)))
        #expect(slowStore.hasRegression)
        #expect(abs(try #require(slowStore.entries[0].change) - 0.5) < 1e-9)
        let withoutBaseline = try BenchmarkComparison(old: old, new: report(times(3)))
        #expect(withoutBaseline.entries.map(\.basis) == [.time])
        #expect(withoutBaseline.hasRegression)
    }

    @Test("A change is in words, because a sign could mean the time or the speed")
    func change() throws {
        func text(_ seconds: Double) throws -> String {
            try BenchmarkComparison(old: report(times(1)), new: report(times(seconds))).markdownText()
        }
        #expect(try text(1.5).contains("| 50.0 % more time |"))
        #expect(try text(0.5).contains("| 50.0 % less time |"))
        #expect(try text(1).contains("| same time |"))
    }

    @Test("Entries of only one report are listed, and failures have no figure")
    func onlyInOne() throws {
        let comparison = try BenchmarkComparison(old: report(times(1), id: "gone"), new: report(times(1), id: "came"))
        #expect(comparison.entries.map(\.workload) == ["came", "gone"])
        #expect(comparison.entries.map(\.verdict) == [.onlyNew, .onlyOld])
        #expect(!comparison.findsRegressions)
        var failed = report(times(1))
        failed.results[0].subjects[0].failure = .init(kind: .failed, reason: "")
        #expect(try verdict(report(times(1)), failed) == .onlyOld)
    }

    @Test("Different work with the same name is not compared")
    func different() throws {
        let changes: [(String, (inout BenchmarkReport) -> Void)] = [
            ("workload has 1000 units of \"row\", the new one 7 of \"row\"", { $0.results[0].units = 7 }),
            ("durability is normal, the new one full", { $0.subjects[0].durability = .full }),
            ("settings of the store are [], the new ones [\"cache=1\"]", { $0.subjects[0].settings = ["cache=1"] }),
        ]
        for (difference, change) in changes {
            var new = report(times(9))
            change(&new)
            let comparison = try BenchmarkComparison(old: report(times(1)), new: new)
            #expect(comparison.entries.first?.verdict == .different("the old \(difference)"))
            #expect(!comparison.hasRegression, "\(difference)")
        }
    }

    @Test("Reports with different settings are not compared, and the error names the setting")
    func mismatch() throws {
        let changes: [(String, (inout BenchmarkSettings) -> Void)] = [
            ("rows", { $0.rows = [5] }), ("columns", { $0.columns = 55 }), ("value size", { $0.valueSize = 5 }),
            ("key order", { $0.keyOrder = .uuid7 }), ("batch", { $0.batch = 5 }), ("readers", { $0.readers = 5 }),
            ("seed", { $0.seed = 5 }),
        ]
        for (name, change) in changes {
            var new = report(times(1))
            change(&new.settings)
            let error = #expect(throws: BenchmarkError.self, "\(name)") {
                try BenchmarkComparison(old: report(times(1)), new: new)
            }
            #expect(error?.description.contains("the setting \"\(name)\" is ") == true, "\(name)")
        }
    }

    @Test("A different machine, build or engine and an incomplete run cause warnings")
    func warnings() throws {
        var new = report(times(1))
        #expect(try BenchmarkComparison(old: report(times(1)), new: new).warnings.isEmpty)
        new.environment.processor = "Another"
        new.environment.host.build = "debug"
        new.subjects[0].engineVersion = "2"
        new.isInterrupted = true
        let warnings = try BenchmarkComparison(old: report(times(1)), new: new).warnings
        #expect(
            warnings == [
                "different processor: \"A Processor @ 2.5 GHz\" before, \"Another\" now",
                "different build: \"release\" before, \"debug\" now",
                "different version of e: \"1.2\" before, \"2\" now",
                "the new results are from a debug build and meaningless", "the new run did not complete",
            ])
    }

    @Test("Holm's correction: with more comparisons, a difference must be clearer")
    func holm() throws {
        func make(_ first: [Double]) -> BenchmarkReport {
            let all = [first] + Array(repeating: times(1), count: 3)
            return Sample.report(
                Self.subjects, all.enumerated().map { Sample.workload("w\($0)", [Sample.result("a", $1)]) })
        }
        // In w0 all new values except two are above all old ones; the other workloads do not change.
        let (old, new) = (make(Array(times(1).dropLast(2)) + [1.010, 1.011]), make(times(1.0065)))
        let comparison = try BenchmarkComparison(old: old, new: new)
        let groups = [old, new].map { $0.results[0].subjects[0].samples.map { $0.seconds / 1000 } }
        let alone = MannWhitney(groups[0], groups[1]).probability
        #expect(alone < 0.01)
        #expect(comparison.entries[0].probability == alone * 4)
        #expect(comparison.entries[0].verdict == .same)
        #expect(comparison.entries.dropFirst().allSatisfy { $0.probability == 1 })
    }

    @Test("Too many comparisons for the repetitions cause a warning")
    func blind() throws {
        func make(_ seconds: Double) -> BenchmarkReport {
            Sample.report(
                Self.subjects, (0..<244).map { Sample.workload("w\($0)", [Sample.result("a", times(seconds))]) })
        }
        let comparison = try BenchmarkComparison(old: make(1), new: make(2))
        #expect(comparison.entries.allSatisfy { $0.verdict == .same })
        #expect(comparison.warnings.contains { $0.hasPrefix("244 comparisons are too many") })
        #expect(!comparison.findsRegressions)
    }

    @Test("Every format shows the verdicts and escapes all texts")
    func forms() throws {
        var (old, new) = (Sample.hostile, Sample.hostile)
        old.results[1].subjects[0].samples = Sample.result("", times(1)).samples
        new.results[1].subjects[0].samples = Sample.result("", times(2)).samples
        old.results[1].subjects[2].samples = Sample.result("", times(1)).samples
        new.results[1].subjects[2].samples = Sample.result("", times(1)).samples
        new.environment.processor = "other \(Sample.nasty)"
        let comparison = try BenchmarkComparison(old: old, new: new)
        let terminal = comparison.terminalText()
        #expect(!terminal.unicodeScalars.contains { $0.properties.generalCategory == .control && $0 != "\n" })
        #expect(terminal.contains("slower"))
        #expect(terminal.contains("1 regression."))
        let explanation = comparison.terminalText(width: 40).components(separatedBy: "\n\n").last ?? ""
        #expect(explanation.hasSuffix("3 %.\n"))
        #expect(explanation.split(separator: "\n").allSatisfy { $0.count <= 40 })
        #expect(MarkdownCheck.unevenRows(comparison.markdownText()) == [])
        #expect(comparison.markdownText().contains("100.0 % more time"))
        let page = BenchmarkHTMLReport().text(of: new, beside: comparison)
        #expect(page.contains("<td><span class=\"bad\">slower</span></td>"))
        #expect(page.contains("Compared with the old results"))
        #expect(HTMLCheck.problems(page) == [])
    }
}
#endif
