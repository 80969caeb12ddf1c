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
