#if Commands
internal import TidelineStore
internal import TidelineSupport

extension BenchmarkComparison {
    /// The figures of a subject in a workload, from one report.
    private struct Side {
        var workload: WorkloadResult
        var figures: SubjectFigures
    }

    private struct Key: Hashable {
        var workload: String
        var rows: Int
        var subject: String
    }

    /// The entries for all subjects except baselines, in the order of the new report; entries only in the old one
    /// follow.
    static func entries(_ old: BenchmarkReport, _ new: BenchmarkReport) -> [Entry] {
        let (before, after) = (sides(old), sides(new))
        let known = Dictionary(before, uniquingKeysWith: { first, _ in first })
        let now = Dictionary(after, uniquingKeysWith: { first, _ in first })
        return (after + before).map(\.0).uniqued().compactMap { entry(known[$0], now[$0]) }
    }

    private static func sides(_ report: BenchmarkReport) -> [(Key, Side)] {
        report.figures.flatMap { workload in
            workload.subjects.filter { $0.subject.kind != .baseline && $0.unitTime != nil }.map { figures in
                (
                    Key(workload: workload.result.id, rows: workload.result.rows, subject: figures.subject.name),
                    Side(workload: workload.result, figures: figures)
                )
            }
        }
    }

    private static func entry(_ old: Side?, _ new: Side?) -> Entry? {
        guard let side = new ?? old else { return nil }
        var entry = Entry(
            workload: side.workload.id, rows: side.workload.rows, subject: side.figures.subject.name, basis: .time,
            old: old?.figures.unitTime, new: new?.figures.unitTime, verdict: old == nil ? .onlyNew : .onlyOld)
        guard let old, let new else { return entry }
        if let reason = difference(old, new) {
            entry.verdict = .different(reason)
            return entry
        }
        compare(old, new, &entry)
        return entry
    }

    private static func compare(_ old: Side, _ new: Side, _ entry: inout Entry) {
        var (before, after) = (old.figures.unitTimes, new.figures.unitTimes)
        if let oldRatio = old.figures.ratio, let newRatio = new.figures.ratio {
            (entry.basis, entry.old, entry.new) = (.ratio, oldRatio, newRatio)
            (before, after) = (old.figures.ratios, new.figures.ratios)
        }
        guard let was = entry.old?.median, let becomes = entry.new?.median else { return }
        entry.change = entry.basis == .ratio ? was / becomes - 1 : becomes / was - 1
        guard min(before.count, after.count) >= fewestRepetitions else {
            entry.verdict = .tooFew
            return
        }
        entry.verdict = .same
        entry.probability = MannWhitney(before, after).probability
    }

    /// The difference between the two works, or `nil` if they are the same.
    private static func difference(_ old: Side, _ new: Side) -> String? {
        let (before, after) = (old.figures.subject, new.figures.subject)
        if (old.workload.unit, old.workload.units) != (new.workload.unit, new.workload.units) {
            return "the old workload has \(old.workload.units) units of \(old.workload.unit.debugDescription), "
                + "the new one \(new.workload.units) of \(new.workload.unit.debugDescription)"
        }
        if before.engine != after.engine { return "the old engine is \(before.engine), the new one \(after.engine)" }
        if before.durability != after.durability {
            return "the old durability is \(before.durability.rawValue), the new one \(after.durability.rawValue)"
        }
        guard before.settings != after.settings else { return nil }
        return "the old settings of the store are \(before.settings), the new ones \(after.settings)"
    }
}
#endif
