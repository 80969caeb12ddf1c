#if Commands
import Testing
import TidelineStore

@testable import TidelineBenchmark

@Suite("The figures of a report")
struct FiguresTests {
    private typealias Sample = SampleReport

    /// A store and its baseline.
    private static let pair = [Sample.subject("a", engine: "e"), Sample.subject("c", .baseline, engine: "e")]
    private static let rivals = [Sample.subject("a", engine: "e"), Sample.subject("b", engine: "f")]

    @Test("The ratio is the baseline's time divided by the subject's, for each round")
    func ratio() throws {
        // Both subjects were disturbed in the second round.
        let figures = figures(Self.pair, [Sample.result("a", [2, 8, 4]), Sample.result("c", [1, 4, 1])])
        let ratio = try #require(figures.subject("a")?.ratio)
        #expect(ratio.median == 0.5 && ratio.interval == 0.25...0.5)
        #expect(figures.subject("a")?.unitTime?.median == 0.004)
        #expect(figures.subject("a")?.rate == 250)
        #expect(figures.subject("c")?.ratio == nil)
    }

    @Test("There is no ratio to a baseline with another engine or durability, or to a failed one")
    func strangers() {
        let subject = Sample.subject("a", engine: "e", .normal)
        let own = Sample.result("a", [2, 2])
        func ratio(_ baseline: SubjectDescription, _ result: SubjectResult) -> Spread? {
            figures([subject, baseline], [own, result]).subject("a")?.ratio
        }
        #expect(ratio(Sample.subject("c", .baseline, engine: "e"), Sample.result("c", [1, 1])) != nil)
        #expect(ratio(Sample.subject("c", .baseline, engine: "f"), Sample.result("c", [1, 1])) == nil)
        #expect(ratio(Sample.subject("c", .baseline, engine: "e", .full), Sample.result("c", [1, 1])) == nil)
        #expect(ratio(Sample.subject("c", .other, engine: "e"), Sample.result("c", [1, 1])) == nil)
        var failed = Sample.result("c", [1, 1])
        failed.failure = .init(kind: .wrongAnswer, reason: "")
        #expect(ratio(Sample.subject("c", .baseline, engine: "e"), failed) == nil)
        #expect(ratio(Sample.subject("c", .baseline, engine: "e"), Sample.result("c", [])) == nil)
    }

    @Test("With baselines of two durabilities, each subject has the ratio to its own")
    func durabilities() {
        let subjects = [
            Sample.subject("safe", engine: "e", .full), Sample.subject("c", .baseline, engine: "e", .normal),
            Sample.subject("safe c", .baseline, engine: "e", .full), Sample.subject("other", .other, engine: "e"),
        ]
        let figures = figures(
            subjects,
            [
                Sample.result("safe", [10]), Sample.result("c", [1]), Sample.result("safe c", [5]),
                Sample.result("other", [4]),
            ])
        #expect(figures.subject("safe")?.ratio?.median == 0.5)
        #expect(figures.subject("other")?.ratio?.median == 0.25)
    }

    @Test("The fastest is selected for each durability, without baselines")
    func fastest() {
        let subjects = [
            Sample.subject("slow", engine: "e"), Sample.subject("fast", engine: "f"),
            Sample.subject("memory", engine: "m", .none), Sample.subject("c", .baseline, engine: "e"),
            Sample.subject("safe", engine: "e", .full), Sample.subject("safer", engine: "f", .full),
        ]
        let times = [[4.0, 5], [2, 3], [1, 1], [1, 1], [9, 9], [8, 8]]
        let figures = figures(subjects, zip(subjects, times).map { Sample.result($0.name, $1) })
        #expect(figures.subjects.filter(\.isFastest).map(\.subject.name) == ["fast", "safer"])
    }

    @Test("A subject without a significant difference to the fastest counts as fastest")
    func tie() {
        func fastest(_ a: [Double], _ b: [Double]) -> [String] {
            figures(Self.rivals, [Sample.result("a", a), Sample.result("b", b)]).subjects.filter(\.isFastest)
                .map(\.subject.name)
        }
        #expect(fastest([10, 10, 10, 10, 10], [11, 11, 9, 11, 11]) == ["a", "b"])
        #expect(fastest([10, 10, 10, 10, 10], [11, 11, 11, 11, 11]) == ["a"])
    }

    @Test("Wrong answers and iterations without time have no figures")
    func wrong() {
        var wrong = Sample.result("a", [1])
        wrong.failure = .init(kind: .wrongAnswer, reason: "")
        let figures = figures(Self.rivals, [wrong, Sample.result("b", [2])])
        #expect(figures.subject("a")?.unitTime == nil)
        #expect(figures.subjects.allSatisfy { !$0.isFastest })
        #expect(self.figures(Self.rivals, [Sample.result("a", [0, 0])]).subject("a")?.unitTime == nil)
    }

    @Test("A baseline has a column only if there are no other subjects")
    func columns() {
        let work = Sample.workload("w", [Sample.result("a", [1]), Sample.result("c", [1])])
        #expect(FigureSection.all(of: Sample.report(Self.pair, [work])).map { $0.columns.map(\.name) } == [["a"]])
        let bare = Sample.report([Self.pair[1]], [work])
        #expect(FigureSection.all(of: bare).map { $0.columns.map(\.name) } == [["c"]])
    }

    @Test("Each number of rows has a section, and JSON parsers have their own")
    func sections() {
        let sections = FigureSection.all(of: Sample.large(rows: [1000, 10]))
        #expect(sections.map(\.rows) == [10, 10, 1000, 1000])
        #expect(sections.map(\.isJSON) == [false, true, false, true])
        #expect(sections[0].columns.map(\.name) == ["sqlite", "lmdb", "leveldb", "memory"])
        #expect(sections[1].columns.map(\.name) == ["Tideline packed", "JSONSerialization"])
    }

    private func figures(_ subjects: [SubjectDescription], _ results: [SubjectResult]) -> WorkloadFigures {
        WorkloadFigures(Sample.workload("w", results), subjects: subjects)
    }
}
#endif
