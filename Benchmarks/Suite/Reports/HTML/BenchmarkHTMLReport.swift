internal import TidelineSupport

/// A report as one HTML page that needs nothing else and runs no script: tables of all figures, bars beside each other for
/// each workload, curves of latencies, and the cost over the number of rows where there are several.
public struct BenchmarkHTMLReport: BenchmarkReportWriter {
    /// A writer.
    public init() {}

    public func text(of report: BenchmarkReport) -> String { text(of: report, beside: nil) }

    /// The page with a comparison to an earlier run.
    public func text(of report: BenchmarkReport, beside comparison: BenchmarkComparison?) -> String {
        let sections = FigureSection.all(of: report)
        let palette = HTMLPalette(report.subjects)
        let page =
            [HTMLFrame.head(title: "Benchmark", style: HTMLStyle.text, hasScript: false), header(report), "<main>"]
            + [comparison.map(\.htmlSection) ?? ""]
            + sections.map { HTMLSection(section: $0, palette: palette).html }
            + [HTMLGrowth(report: report, palette: palette).html, storage(report), remarks(report), "</main>"]
            + [footer(report), HTMLFrame.end]
        return page.filter { !$0.isEmpty }.joined(separator: "\n") + "\n"
    }

    private func header(_ report: BenchmarkReport) -> String {
        let names = report.subjects.filter { $0.kind != .baseline }.map(\.name).joined(separator: ", ")
        let rows = Set(report.results.map(\.rows)).sorted().map(BenchmarkWords.count).joined(separator: ", ")
        let warnings =
            (BenchmarkFacts.isDebug(report) ? [BenchmarkFacts.debugWarning.joined(separator: " ")] : [])
            + BenchmarkFacts.warnings(report)
        let hasRatios = report.figures.contains { $0.subjects.contains { $0.ratio != nil } }
        let bare = [("Bars", "how much is done in a second; an upright line is the bare engine. More is better.")]
        let legend = (BenchmarkFacts.legend(report) + (hasRatios ? bare : [])).map { sign, meaning in
            "<li><strong>\(sign == "*" ? "Bold" : sign)</strong>: \(Escape.markup(meaning))</li>"
        }
        return """
            <header>
            <h1>Benchmark of \(Escape.markup(names))</h1>
            \(warnings.map { "<p class=\"warning\">\(Escape.markup($0))</p>" }.joined(separator: "\n"))
            \(BenchmarkVerdict.lines(of: report).map { "<p class=\"verdict\"><strong>\(Escape.markup($0))</strong></p>" }
                .joined(separator: "\n"))
            <p>\(rows) rows, \(Escape.markup(BenchmarkFacts.settings(report.settings))).</p>
            <ul class="meaning">\(legend.joined())</ul>
            </header>
            """
    }

    private func storage(_ report: BenchmarkReport) -> String {
        let all = StorageFigures.all(of: report)
        guard !all.isEmpty else { return "" }
        let columns = StorageFigures.columns.filter { column in all.contains { column.value($0) != nil } }
        let rows = all.map { figures in
            let cells = columns.map { "<td>\($0.value(figures).map(BenchmarkWords.bytes) ?? "–")</td>" }.joined()
            let name = Escape.markup(figures.subject.name)
            return "<tr><th scope=\"row\">\(name)</th><td>\(BenchmarkWords.count(figures.rows))</td>\(cells)</tr>"
        }
        let table = HTMLFrame.table(
            caption: "Files and memory", heading: ["", "rows"] + columns.map(\.title), rows: rows, className: "figures")
        return "<section>\n<h2>Files and memory</h2>\n<p>\(StorageFigures.explanation)</p>\n\(table)\n</section>"
    }

    private func remarks(_ report: BenchmarkReport) -> String {
        let items = BenchmarkRemark.all(of: report).map { remark in
            let look = remark.kind == .notApplicable ? "faint" : "bad"
            return "<li><span class=\"\(look)\">\(remark.kind.title)</span> \(Escape.markup(remark.text))</li>"
        }
        guard !items.isEmpty else { return "" }
        return "<section>\n<h2>What is missing</h2>\n<ul>\n\(items.joined(separator: "\n"))\n</ul>\n</section>"
    }

    private func footer(_ report: BenchmarkReport) -> String {
        let run = BenchmarkFacts.environment(report)
        return """
            <footer>
            <h2>The run</h2>
            \(HTMLFrame.list(run))
            <h3>Who was measured</h3>
            \(HTMLFrame.list(BenchmarkFacts.subjects(report)))
            </footer>
            """
    }
}
