internal import TidelineSupport

/// The report as Markdown: a table for each group and number of rows, and the conditions of the run.
package struct BenchmarkMarkdownReport: BenchmarkReportWriter {
    /// Creates a writer.
    package init() {}

    package func text(of report: BenchmarkReport) -> String {
        var parts = ["# Benchmark"]
        if RunFacts.isDebug(report) {
            parts.append(RunFacts.debugWarning.map { "**\($0)**" }.joined(separator: " "))
        }
        parts += RunFacts.warnings(report).map(Escape.markdown)
        parts += StoreRecommendation.lines(of: report).map { "**Verdict**: \(Escape.markdown($0))" }
        parts += [legend(report), facts(report)]
        for section in FigureSection.all(of: report) { parts += tables(section) }
        parts += storage(report) + remarks(report)
        return parts.joined(separator: "\n\n") + "\n"
    }

    private func legend(_ report: BenchmarkReport) -> String {
        RunFacts.legend(report).map { "- **\($0 == "*" ? "bold" : $0)**: \($1)" }.joined(separator: "\n")
    }

    private func facts(_ report: BenchmarkReport) -> String {
        RunFacts.all(report).map { "- \(Escape.markdown($0)): \(Escape.markdown($1))" }.joined(separator: "\n")
    }

    private func tables(_ section: FigureSection) -> [String] {
        ["## \(section.title)"]
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
        return FigureFormat.time(time) + (figures.ratio.map { ", \(FigureFormat.speed($0))" } ?? "")
    }

    private func storage(_ report: BenchmarkReport) -> [String] {
        guard let (heading, rows) = StorageFigures.table(of: report) else { return [] }
        let table = MarkdownTable(heading: heading, rows: rows, numbers: Set([0] + Array(2..<heading.count)))
        return ["## Files and memory", StorageFigures.explanation, table.text]
    }

    private func remarks(_ report: BenchmarkReport) -> [String] {
        let remarks = MissingFigures.all(of: report)
        guard !remarks.isEmpty else { return [] }
        return [
            "## Missing figures",
            remarks.map { "- \($0.kind.title): \(Escape.markdown($0.text))" }.joined(separator: "\n"),
        ]
    }
}
