internal import TidelineStore
internal import TidelineSupport

/// Which store to pick for which kind of work, as the figures have it.
enum BenchmarkVerdict {
    /// A sentence for each durability that several stores have: for each part of the report, the store that is the fastest
    /// in most workloads, or too close to the fastest to be distinguished. Only the greatest number of rows counts.
    static func lines(of report: BenchmarkReport) -> [String] {
        let figures = report.figures.filter { $0.result.group != .json }
        guard let rows = figures.map(\.result.rows).max() else { return [] }
        let workloads = figures.filter { $0.result.rows == rows }
        let durabilities = report.subjects.filter { $0.kind != .baseline }.map(\.durability).uniqued()
        return durabilities.compactMap { durability in
            let picks = WorkloadGroup.allCases.compactMap { group in
                pick(of: durability, workloads.filter { $0.result.group == group })
                    .map { "for \(group.title.lowercasedFirst) pick \($0)" }
            }
            guard !picks.isEmpty else { return nil }
            let survival = BenchmarkFacts.survival(durability)
            return "With \(BenchmarkWords.count(rows)) rows, where \(survival): \(picks.joined(separator: "; "))."
        }
    }

    /// The stores that are the fastest in most of some workloads; nil where there is no choice.
    private static func pick(
        of durability: StoreCapabilities.Durability, _ workloads: [WorkloadFigures]
    ) -> String? {
        let rivals = workloads.flatMap(\.subjects).filter {
            $0.subject.kind != .baseline && $0.subject.durability == durability && $0.unitTime != nil
        }
        let names = rivals.map(\.subject.name).uniqued()
        guard names.count > 1 else { return nil }
        let wins = names.map { name in rivals.count { $0.subject.name == name && $0.isFastest } }
        guard let most = wins.max(), most > 0 else { return nil }
        let best = zip(names, wins).filter { $0.1 == most }.map(\.0)
        return best.count == names.count ? "any" : best.joined(separator: " or ")
    }
}

extension String {
    /// The text within a sentence; an abbreviation such as `JSON` stays.
    fileprivate var lowercasedFirst: String {
        dropFirst().first?.isUppercase == true ? self : prefix(1).lowercased() + dropFirst()
    }
}
