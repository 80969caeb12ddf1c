internal import TidelineSupport

/// A report as Markdown, for a README: a table for each part and number of rows, and what the run was.
public struct BenchmarkMarkdownReport: BenchmarkReportWriter {
    /// A writer.
    public init() {}

    public func text(of report: BenchmarkReport) -> String {
        var parts = ["# Benchmark"]
        if BenchmarkFacts.isDebug(report) {
            parts.append(BenchmarkFacts.debugWarning.map { "**\($0)**" }.joined(separator: " "))
        }
        parts += BenchmarkFacts.warnings(report).map(Escape.markdown)
        parts += BenchmarkVerdict.lines(of: report).map { "**Verdict**: \(Escape.markdown($0))" }
        parts += [legend(report), facts(report)]
        for section in FigureSection.all(of: report) { parts += tables(section) }
        parts += storage(report) + remarks(report)
        return parts.joined(separator: "\n\n") + "\n"
    }

    private func legend(_ report: BenchmarkReport) -> String {
        BenchmarkFacts.legend(report).map { "- **\($0 == "*" ? "bold" : $0)**: \($1)" }.joined(separator: "\n")
    }

    private func facts(_ report: BenchmarkReport) -> String {
        let facts =
            BenchmarkFacts.environment(report) + [("Settings", BenchmarkFacts.settings(report.settings))]
            + BenchmarkFacts.subjects(report)
        return facts.map { "- \(Escape.markdown($0)): \(Escape.markdown($1))" }.joined(separator: "\n")
    }

    // MARK: Figures

    private func tables(_ section: FigureSection) -> [String] {
        let title = section.isJSON ? "JSON" : "\(BenchmarkWords.count(section.rows)) rows"
        return ["## \(title)"]
            + section.groups.flatMap { group, workloads in
                (section.isJSON ? [] : ["### \(group.title)"]) + [table(section, workloads)]
            }
    }

    private func table(_ section: FigureSection, _ workloads: [WorkloadFigures]) -> String {
        MarkdownTable(
            heading: ["", "unit"] + section.columns.map(\.name),
            rows: workloads.map { workload in
                [workload.result.title, workload.result.unit]
                    + section.columns.map { workload.subject($0.name).map(cell) ?? "" }
            }, numbers: Set(2..<(section.columns.count + 2)), bold: bold(section, workloads)
        ).text
    }

    private func bold(_ section: FigureSection, _ workloads: [WorkloadFigures]) -> Set<MarkdownTable.Place> {
        Set(
            workloads.enumerated().flatMap { row, workload in
                section.columns.indices.filter { workload.subject(section.columns[$0].name)?.isFastest == true }
                    .map { MarkdownTable.Place(row: row, column: $0 + 2) }
            })
    }

    private func cell(_ figures: SubjectFigures) -> String {
        if let failure = figures.result.failure { return failure.kind.sign }
        guard let time = figures.unitTime?.median else { return "" }
        return BenchmarkWords.time(time) + (figures.ratio.map { ", \(BenchmarkWords.speed($0))" } ?? "")
    }

    // MARK: The rest

    private func storage(_ report: BenchmarkReport) -> [String] {
        let all = StorageFigures.all(of: report)
        guard !all.isEmpty else { return [] }
        let columns = StorageFigures.columns.filter { column in all.contains { column.value($0) != nil } }
        let table = MarkdownTable(
            heading: ["rows", "store"] + columns.map(\.title),
            rows: all.map { figures in
                [BenchmarkWords.count(figures.rows), figures.subject.name]
                    + columns.map { $0.value(figures).map(BenchmarkWords.bytes) ?? "–" }
            }, numbers: Set([0] + Array(2..<(columns.count + 2))))
        return ["## Files and memory", StorageFigures.explanation, table.text]
    }

    private func remarks(_ report: BenchmarkReport) -> [String] {
        let remarks = BenchmarkRemark.all(of: report)
        guard !remarks.isEmpty else { return [] }
        return [
            "## What is missing",
            remarks.map { "- \($0.kind.title): \(Escape.markdown($0.text))" }.joined(separator: "\n"),
        ]
    }
}
