#if Commands
internal import TidelineStore

/// The figures of all subjects in a workload.
package struct WorkloadFigures: Sendable, Hashable {
    /// The result of the workload.
    package let result: WorkloadResult
    /// The figures of every subject with a result, in the order of the report.
    package let subjects: [SubjectFigures]

    /// Returns the figures of a subject, or `nil` if it has none.
    package func subject(_ name: String) -> SubjectFigures? { subjects.first { $0.subject.name == name } }
}

extension BenchmarkReport {
    /// The figures of all results, in order.
    package var figures: [WorkloadFigures] { results.map { WorkloadFigures($0, subjects: subjects) } }
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

    /// The baseline of a subject: the bare engine with the same durability.
    private static func baseline(of figures: SubjectFigures, among all: [SubjectFigures]) -> SubjectFigures? {
        guard figures.subject.kind != .baseline else { return nil }
        return all.first { other in
            other.subject.kind == .baseline && other.unitTime != nil
                && (other.subject.engine, other.subject.durability) == (
                    figures.subject.engine, figures.subject.durability
                )
        }
    }

    /// The indexes of the fastest subjects of each durability, including those without a significant difference to
    /// them. None if the fastest is unclear, and none whose own time is unclear.
    private static func fastest(among all: [SubjectFigures]) -> [Int] {
        let rivals = all.indices.filter { all[$0].subject.kind != .baseline && all[$0].unitTime != nil }
        return Dictionary(grouping: rivals) { all[$0].subject.durability }.values.flatMap { rivals -> [Int] in
            guard rivals.count > 1, let best = rivals.min(by: { time(all[$0]) < time(all[$1]) }), isClear(all[best])
            else { return [] }
            return rivals.filter { position in
                guard position != best else { return true }
                let speed = isClear(all[position]) ? Spread(all[position].speeds(beside: all[best])) : nil
                return speed.map { $0.interval.upperBound >= 1 } ?? false
            }
        }
    }

    private static func isClear(_ figures: SubjectFigures) -> Bool {
        figures.unitTime.map { $0.reach != nil && !FigureFormat.isUnclear($0) } ?? false
    }

    private static func time(_ figures: SubjectFigures) -> Double { figures.unitTime?.median ?? .infinity }
}

/// The figures of a subject in a workload.
package struct SubjectFigures: Sendable, Hashable {
    /// The subject.
    package let subject: SubjectDescription
    /// The result of the subject.
    package let result: SubjectResult
    /// The time of a unit in seconds, over all iterations; `nil` if there are no valid figures.
    package let unitTime: Spread?
    /// The speed relative to the bare engine: the baseline's time divided by the subject's, for each round. `nil` if
    /// the run has no baseline of the same engine and durability.
    package var ratio: Spread? { Spread(ratios) }
    /// The time of a unit in each iteration.
    let unitTimes: [Double]
    /// The values of ``ratio``.
    var ratios: [Double] = []
    /// Whether no other subject of the same durability is significantly faster. False if there is no other subject, or
    /// if the margin of error is more than a third of the time.
    package internal(set) var isFastest = false

    /// The number of units per second.
    package var rate: Double? { unitTime.map { 1 / $0.median } }
}

extension SubjectFigures {
    init(_ result: SubjectResult, of subject: SubjectDescription, units: Int) {
        self.result = result
        self.subject = subject
        let counts = result.failure == nil && units > 0
        unitTimes = counts ? result.samples.map(\.seconds).filter { $0 > 0 }.map { $0 / Double(units) } : []
        unitTime = Spread(unitTimes)
    }

    /// The speed relative to another subject, for each round; empty if one of them has no figures.
    func speeds(beside other: SubjectFigures) -> [Double] {
        guard unitTime != nil, other.unitTime != nil else { return [] }
        return zip(result.samples, other.result.samples).filter { $0.seconds > 0 && $1.seconds > 0 }
            .map { $1.seconds / $0.seconds }
    }
}

/// The figures of one table: one number of rows and all subjects.
struct FigureSection {
    /// The number of rows.
    var rows: Int
    /// Whether the section is about JSON parsers.
    var isJSON: Bool
    /// The subjects with a column. Baselines have one only if there are no other subjects.
    var columns: [SubjectDescription]
    /// The workloads, in order.
    var workloads: [WorkloadFigures]

    /// The heading.
    var title: String { isJSON ? "JSON" : "\(FigureFormat.count(rows)) rows" }

    /// The workloads by group.
    var groups: [(group: WorkloadGroup, workloads: [WorkloadFigures])] {
        WorkloadGroup.allCases.compactMap { group in
            let members = workloads.filter { $0.result.group == group }
            return members.isEmpty ? nil : (group, members)
        }
    }

    /// Whether there are any ratios.
    var hasRatios: Bool { workloads.contains { $0.subjects.contains { $0.ratio != nil } } }

    /// The sections of a report, by number of rows.
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
#endif
