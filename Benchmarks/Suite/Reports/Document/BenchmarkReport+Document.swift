#if Commands
internal import TidelineSupport

/// The report as Markdown: a table for each group and number of rows, and the conditions of the run.
struct BenchmarkMarkdownReport: BenchmarkReportWriter {
    func text(of report: BenchmarkReport) -> String { BenchmarkDocument(report).document.markdown }
}

/// The report as a self-contained HTML page without scripts: tables of all figures, bar charts of the workloads,
/// latency distributions, and the cost by number of rows if there are several.
struct BenchmarkHTMLReport: BenchmarkReportWriter {
    func text(of report: BenchmarkReport) -> String { text(of: report, beside: nil) }

    /// Returns the page, with a comparison to an earlier run.
    func text(of report: BenchmarkReport, beside comparison: BenchmarkComparison?) -> String {
        BenchmarkDocument(report, comparison: comparison).document.html
    }
}

/// The document of a report.
struct BenchmarkDocument {
    private let report: BenchmarkReport
    private let comparison: BenchmarkComparison?
    private let palette: HTMLPalette

    init(_ report: BenchmarkReport, comparison: BenchmarkComparison? = nil) {
        self.report = report
        self.comparison = comparison
        palette = HTMLPalette(report.subjects)
    }

    var document: Document {
        let names = report.subjects.filter { $0.kind != .baseline }.map(\.name).joined(separator: ", ")
        let compared = comparison.map { [$0.section] } ?? []
        return Document(
            "Benchmark of \(names)", introduction: introduction,
            body: compared + FigureSection.all(of: report).map(section) + growth + storage + missing + [run],
            style: ChartStyle.text)
    }

    private var introduction: [Block] {
        let debug = RunFacts.isDebug(report) ? [RunFacts.debugWarning.joined(separator: " ")] : []
        let verdicts = StoreRecommendation.lines(of: report).map { Block.paragraph("\("Verdict", .strong): \($0)") }
        let legend = RunFacts.legend(report).map { sign, meaning -> RichText in
            "\(sign == "*" ? "Bold" : sign, .strong): \(meaning)"
        }
        let rows = Set(report.results.map(\.rows)).sorted().map(FigureFormat.count).joined(separator: ", ")
        return (debug + RunFacts.warnings(report)).map { .warning($0) } + verdicts
            + [.paragraph(RichText("\(rows) rows, \(RunFacts.settings(report.settings)).")), .list(legend), bars]
    }

    /// The meaning of the bars, which only a page has.
    private var bars: Block {
        let hasRatios = report.figures.contains { $0.subjects.contains { $0.ratio != nil } }
        let bare = hasRatios ? "; a vertical line marks the bare engine" : ""
        return .html("<p><strong>Bars</strong>: the work per second\(bare). More is better.</p>")
    }

    // MARK: Figures

    private func section(_ section: FigureSection) -> Block {
        .section(
            section.title,
            section.groups.flatMap { group, workloads -> [Block] in
                let table = table(of: group, workloads, section)
                let cards = workloads.map { card($0, section.columns) }
                let blocks: [Block] = [
                    .table(table), .html("<div class=\"cards\">\n\(cards.joined(separator: "\n"))\n</div>"),
                ]
                return section.isJSON ? blocks : [.section(group.title, blocks)]
            })
    }

    private func table(
        of group: WorkloadGroup, _ workloads: [WorkloadFigures], _ section: FigureSection
    ) -> Table {
        let rows = workloads.map { workload in
            Table.Row(
                [RichText(workload.result.title), RichText(workload.result.unit, .small)]
                    + section.columns.map { workload.subject($0.name).map(cell) ?? "" })
        }
        return Table(
            "\(group.title), \(FigureFormat.count(section.rows)) rows",
            heading: ["Time for one", "unit"] + section.columns.map(\.name), rows: rows,
            numbers: Set(2..<(section.columns.count + 2)), names: 2)
    }

    private func cell(_ figures: SubjectFigures) -> RichText {
        if let failure = figures.result.failure { return RichText(failure.kind.sign, failure.kind.look) }
        guard let time = figures.unitTime?.median else { return "" }
        let text = RichText(FigureFormat.time(time), figures.isFastest ? .strong : .plain)
        return figures.ratio.map { "\(text)\(FigureFormat.speed($0), .detail)" } ?? text
    }

    private func card(_ workload: WorkloadFigures, _ columns: [SubjectDescription]) -> String {
        let chart = BarChart(workload: workload, columns: columns, palette: palette)
        let latency = LatencyChart(workload: workload, columns: columns, palette: palette)
        return """
            <article class="work">
            <h4>\(Escape.markup(workload.result.title))</h4>
            <p class="kind">\(Escape.markup(workload.result.explanation))</p>
            \(chart.html)
            \(latency.blocks.html())
            </article>
            """
    }

    /// The cost of a unit by number of rows; empty for a single number.
    private var growth: [Block] {
        let figures = report.figures.filter { $0.result.group != .json }
        let cards = figures.map(\.result.id).uniqued().compactMap { id in
            GrowthChart(figures.filter { $0.result.id == id }, report.subjects, palette)?.html
        }
        guard !cards.isEmpty else { return [] }
        return [
            .html(
                """
                <section>
                <h2>Cost by number of rows</h2>
                <div class="cards">
                \(cards.joined(separator: "\n"))
                </div>
                </section>
                """)
        ]
    }

    // MARK: The run

    private var storage: [Block] {
        guard let table = StorageFigures.table(of: report) else { return [] }
        return [
            .section("Files and memory", [.paragraph(RichText(StorageFigures.explanation)), .table(table)])
        ]
    }

    private var missing: [Block] {
        let remarks = MissingFigures.all(of: report).map { remark -> RichText in
            "\(remark.kind.title, remark.kind.look): \(remark.text)"
        }
        return remarks.isEmpty ? [] : [.section("Missing figures", [.list(remarks)])]
    }

    private var run: Block {
        .section(
            "The run",
            [.facts(RunFacts.environment(report)), .section("Subjects", [.facts(RunFacts.subjects(report))])])
    }
}

extension SubjectResult.Failure.Kind {
    fileprivate var look: RichText.Look { self == .notApplicable ? .faint : .bad }
}
#endif
