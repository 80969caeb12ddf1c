#if Commands
internal import TidelineStore
internal import TidelineSupport

/// A reason for missing figures, with its subjects and workloads.
struct MissingFigures {
    /// The names of the subjects.
    var subjects: [String]
    /// The kind of reason.
    var kind: SubjectResult.Failure.Kind
    /// The reason.
    var reason: String
    /// The identifiers of the workloads.
    var workloads: [String]

    /// The subjects, the reason and the workloads on one line.
    var text: String {
        "\(subjects.joined(separator: ", ")): \(reason) (\(workloads.joined(separator: ", ")))"
    }

    /// The missing figures of a report: wrong answers, then failures, then works that are not applicable. Subjects with
    /// the same reason and workloads are combined.
    static func all(of report: BenchmarkReport) -> [MissingFigures] {
        let kinds: [SubjectResult.Failure.Kind] = [.wrongAnswer, .failed, .notApplicable]
        let all = kinds.flatMap { kind in report.subjects.flatMap { of($0.name, kind, report) } }
        return all.reduce(into: []) { merged, remark in
            let same = merged.firstIndex { other in
                (other.kind, other.reason) == (remark.kind, remark.reason) && other.workloads == remark.workloads
            }
            if let same { merged[same].subjects += remark.subjects } else { merged.append(remark) }
        }
    }

    private static func of(
        _ subject: String, _ kind: SubjectResult.Failure.Kind, _ report: BenchmarkReport
    ) -> [MissingFigures] {
        let missing = report.results.flatMap { result in
            result.subjects.filter { $0.subject == subject && $0.failure?.kind == kind }
                .map { (reason: $0.failure?.reason ?? "", workload: result.id) }
        }
        return missing.map(\.reason).uniqued().map { reason in
            let workloads = missing.filter { $0.reason == reason }.map(\.workload).uniqued()
            return MissingFigures(subjects: [subject], kind: kind, reason: reason, workloads: workloads)
        }
    }
}

extension SubjectResult.Failure.Kind {
    /// The title in a list.
    var title: String {
        switch self {
        case .notApplicable: "not applicable"
        case .failed: "failed"
        case .wrongAnswer: "wrong answer"
        }
    }

    /// The text in place of the figure.
    var sign: String {
        switch self {
        case .notApplicable: "–"
        case .failed: "failed"
        case .wrongAnswer: "wrong"
        }
    }
}

/// Recommends stores for kinds of work.
enum StoreRecommendation {
    /// The sentence for an app, which is also in the article *Choosing a store*.
    static let forApps =
        "On a phone: SQLite, unless measurements of your app on the phone show that it needs another store."

    /// Returns the sentence for an app if SQLite was measured, then a sentence for each durability that several stores
    /// have. For each group of workloads it names the stores that are most often the fastest with the greatest number
    /// of rows.
    ///
    /// A run with a warning has no recommendation.
    static func lines(of report: BenchmarkReport) -> [String] {
        guard !RunFacts.isDebug(report), RunFacts.warnings(report).isEmpty else { return [] }
        let picks = picks(of: report)
        let hasSQLite = report.subjects.contains { $0.kind != .baseline && $0.engine == "sqlite" }
        return (hasSQLite && !picks.isEmpty ? [forApps] : []) + picks
    }

    private static func picks(of report: BenchmarkReport) -> [String] {
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
            let survival = RunFacts.survival(durability)
            return "With \(FigureFormat.count(rows)) rows, where \(survival): \(picks.joined(separator: "; "))."
        }
    }

    /// The stores that are most often the fastest, or `nil` if there is no choice.
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
    /// The text for the middle of a sentence; abbreviations such as `JSON` do not change.
    fileprivate var lowercasedFirst: String {
        dropFirst().first?.isUppercase == true ? self : prefix(1).lowercased() + dropFirst()
    }
}
#endif
