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
