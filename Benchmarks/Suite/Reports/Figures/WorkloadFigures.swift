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
