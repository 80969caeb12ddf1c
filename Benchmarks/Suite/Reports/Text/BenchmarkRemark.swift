internal import TidelineStore
internal import TidelineSupport

/// Why figures are missing: one reason, with the subjects and workloads that it concerns.
struct BenchmarkRemark {
    /// The subjects' names.
    var subjects: [String]
    /// What kind of a reason it is.
    var kind: SubjectResult.Failure.Kind
    /// The reason.
    var reason: String
    /// The workloads, each once.
    var workloads: [String]

    /// Who, why and where, on a line.
    var text: String {
        "\(subjects.joined(separator: ", ")): \(reason) (\(workloads.joined(separator: ", ")))"
    }

    /// All of a report: what is wrong first, then what failed, then what is not a subject's. Subjects that miss the same for
    /// the same reason are told of together.
    static func all(of report: BenchmarkReport) -> [BenchmarkRemark] {
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
    ) -> [BenchmarkRemark] {
        let missing = report.results.flatMap { result in
            result.subjects.filter { $0.subject == subject && $0.failure?.kind == kind }
                .map { (reason: $0.failure?.reason ?? "", workload: result.id) }
        }
        return missing.map(\.reason).uniqued().map { reason in
            let workloads = missing.filter { $0.reason == reason }.map(\.workload).uniqued()
            return BenchmarkRemark(subjects: [subject], kind: kind, reason: reason, workloads: workloads)
        }
    }
}

extension SubjectResult.Failure.Kind {
    /// How a list of remarks calls it.
    var title: String {
        switch self {
        case .notApplicable: "not applicable"
        case .failed: "failed"
        case .wrongAnswer: "wrong answer"
        }
    }

    /// What stands in the place of the figure.
    var sign: String {
        switch self {
        case .notApplicable: "–"
        case .failed: "failed"
        case .wrongAnswer: "wrong"
        }
    }
}

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
