internal import TidelineStore

/// What a workload came to for every subject.
public struct WorkloadFigures: Sendable, Hashable {
    /// What was found.
    public let result: WorkloadResult
    /// Every subject that has a result, in the order of the report.
    public let subjects: [SubjectFigures]

    /// The figures of a subject; nil when it has none here.
    public func subject(_ name: String) -> SubjectFigures? { subjects.first { $0.subject.name == name } }
}

extension BenchmarkReport {
    /// The figures of every result, in order.
    public var figures: [WorkloadFigures] { results.map { WorkloadFigures($0, subjects: subjects) } }
}

extension WorkloadFigures {
    init(_ result: WorkloadResult, subjects: [SubjectDescription]) {
        self.result = result
        var figures = subjects.compactMap { subject in
            result.subjects.first { $0.subject == subject.name }
                .map { SubjectFigures($0, of: subject, units: result.units) }
        }
        for index in figures.indices {
            let baseline = Self.baseline(of: figures[index], among: figures)
            figures[index].ratios = baseline.map(figures[index].speeds) ?? []
        }
        for index in Self.fastest(among: figures) { figures[index].isFastest = true }
        self.subjects = figures
    }

    /// The bare engine below a subject: the same engine, and it keeps as much.
    private static func baseline(of figures: SubjectFigures, among all: [SubjectFigures]) -> SubjectFigures? {
        guard figures.subject.kind != .baseline else { return nil }
        return all.first { other in
            other.subject.kind == .baseline && other.unitTime != nil
                && (other.subject.engine, other.subject.durability) == (
                    figures.subject.engine, figures.subject.durability
                )
        }
    }

    /// The places of the fastest of each durability, and of those that cannot be told from them.
    private static func fastest(among all: [SubjectFigures]) -> [Int] {
        let rivals = all.indices.filter { all[$0].subject.kind != .baseline && all[$0].unitTime != nil }
        return Dictionary(grouping: rivals) { all[$0].subject.durability }.values.flatMap { rivals -> [Int] in
            guard rivals.count > 1, let best = rivals.min(by: { time(all[$0]) < time(all[$1]) }) else { return [] }
            return rivals.filter { place in
                place == best
                    || Spread(all[place].speeds(beside: all[best])).map { $0.interval.upperBound >= 1 } ?? false
            }
        }
    }

    private static func time(_ figures: SubjectFigures) -> Double { figures.unitTime?.median ?? .infinity }
}

/// What the repetitions of one subject in one workload come to.
public struct SubjectFigures: Sendable, Hashable {
    /// Who it is.
    public let subject: SubjectDescription
    /// What was measured.
    public let result: SubjectResult
    /// The time of one unit in seconds, over the repetitions; nil where there is no figure that counts.
    public let unitTime: Spread?
    /// How many times as fast as the bare engine it is: the baseline's time divided by the subject's, for each pair of
    /// repetitions that ran beside each other. Nil where the run has no baseline of the same engine and durability.
    public var ratio: Spread? { Spread(ratios) }
    /// The times of a unit, of each repetition.
    let unitTimes: [Double]
    /// What ``ratio`` is of.
    var ratios: [Double] = []
    /// Whether it is the fastest of those that keep as much as it does, or too close to the fastest to be told apart. False
    /// where there is nobody to compare it with.
    public internal(set) var isFastest = false

    /// How many units are done in a second.
    public var rate: Double? { unitTime.map { 1 / $0.median } }
}

extension SubjectFigures {
    init(_ result: SubjectResult, of subject: SubjectDescription, units: Int) {
        self.result = result
        self.subject = subject
        let counts = result.failure == nil && units > 0
        unitTimes = counts ? result.samples.map(\.seconds).filter { $0 > 0 }.map { $0 / Double(units) } : []
        unitTime = Spread(unitTimes)
    }

    /// How many times as fast as `other` this one is, in each pair of repetitions; empty where one of them has no figure.
    func speeds(beside other: SubjectFigures) -> [Double] {
        guard unitTime != nil, other.unitTime != nil else { return [] }
        return zip(result.samples, other.result.samples).filter { $0.seconds > 0 && $1.seconds > 0 }
            .map { $1.seconds / $0.seconds }
    }
}

/// The figures that stand in one table: of one number of rows, with those who did the work beside each other.
struct FigureSection {
    /// How many rows the table of the run had.
    var rows: Int
    /// Whether it is of readers of JSON, which have no database.
    var isJSON: Bool
    /// Who has a column. Baselines have none where there is somebody to hold against them.
    var columns: [SubjectDescription]
    /// The workloads, in order.
    var workloads: [WorkloadFigures]

    /// The workloads under their headings.
    var groups: [(group: WorkloadGroup, workloads: [WorkloadFigures])] {
        WorkloadGroup.allCases.compactMap { group in
            let members = workloads.filter { $0.result.group == group }
            return members.isEmpty ? nil : (group, members)
        }
    }

    /// Whether any figure has a ratio.
    var hasRatios: Bool { workloads.contains { $0.subjects.contains { $0.ratio != nil } } }

    /// All of a report, the least number of rows first.
    static func all(of report: BenchmarkReport) -> [FigureSection] {
        let figures = report.figures
        return Set(report.results.map(\.rows)).sorted().flatMap { rows in
            [false, true].compactMap { isJSON in
                let members = figures.filter { $0.result.rows == rows && ($0.result.group == .json) == isJSON }
                return members.isEmpty ? nil : FigureSection(rows, isJSON: isJSON, members, report.subjects)
            }
        }
    }

    private init(_ rows: Int, isJSON: Bool, _ workloads: [WorkloadFigures], _ subjects: [SubjectDescription]) {
        self.rows = rows
        self.isJSON = isJSON
        self.workloads = workloads
        let busy = subjects.filter { subject in
            workloads.contains { $0.subject(subject.name).map { $0.result.failure?.kind != .notApplicable } ?? false }
        }
        let held = busy.filter { $0.kind != .baseline }
        columns = held.isEmpty ? busy : held
    }
}
