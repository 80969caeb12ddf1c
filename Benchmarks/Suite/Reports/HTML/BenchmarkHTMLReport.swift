internal import TidelineSupport

/// The report as a self-contained HTML page without scripts: tables of all figures, bar charts of the workloads, latency
/// distributions, and the cost by number of rows if there are several.
package struct BenchmarkHTMLReport: BenchmarkReportWriter {
    /// Creates a writer.
    package init() {}

    package func text(of report: BenchmarkReport) -> String { text(of: report, beside: nil) }

    /// Returns the page, with a comparison to an earlier run.
    package func text(of report: BenchmarkReport, beside comparison: BenchmarkComparison?) -> String {
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
        let rows = Set(report.results.map(\.rows)).sorted().map(FigureFormat.count).joined(separator: ", ")
        let warnings =
            (RunFacts.isDebug(report) ? [RunFacts.debugWarning.joined(separator: " ")] : [])
            + RunFacts.warnings(report)
        let hasRatios = report.figures.contains { $0.subjects.contains { $0.ratio != nil } }
        let bars = [("Bars", "the work per second; a vertical line marks the bare engine. More is better.")]
        let legend = (RunFacts.legend(report) + (hasRatios ? bars : [])).map { sign, meaning in
            "<li><strong>\(sign == "*" ? "Bold" : sign)</strong>: \(Escape.markup(meaning))</li>"
        }
        return """
            <header>
            <h1>Benchmark of \(Escape.markup(names))</h1>
            \(warnings.map { "<p class=\"warning\">\(Escape.markup($0))</p>" }.joined(separator: "\n"))
            \(StoreRecommendation.lines(of: report).map { "<p class=\"verdict\"><strong>\(Escape.markup($0))</strong></p>" }
                .joined(separator: "\n"))
            <p>\(rows) rows, \(Escape.markup(RunFacts.settings(report.settings))).</p>
            <ul class="meaning">\(legend.joined())</ul>
            </header>
            """
    }

    private func storage(_ report: BenchmarkReport) -> String {
        guard let (heading, rows) = StorageFigures.table(of: report) else { return "" }
        let lines = rows.map { row in
            let cells = ([row[0]] + row.dropFirst(2)).map { "<td>\($0)</td>" }.joined()
            return "<tr><th scope=\"row\">\(Escape.markup(row[1]))</th>\(cells)</tr>"
        }
        let table = HTMLFrame.table(
            caption: "Files and memory", heading: ["", "rows"] + heading.dropFirst(2), rows: lines, className: "figures"
        )
        return "<section>\n<h2>Files and memory</h2>\n<p>\(StorageFigures.explanation)</p>\n\(table)\n</section>"
    }

    private func remarks(_ report: BenchmarkReport) -> String {
        let items = MissingFigures.all(of: report).map { remark in
            let look = remark.kind == .notApplicable ? "faint" : "bad"
            return "<li><span class=\"\(look)\">\(remark.kind.title)</span> \(Escape.markup(remark.text))</li>"
        }
        guard !items.isEmpty else { return "" }
        return "<section>\n<h2>Missing figures</h2>\n<ul>\n\(items.joined(separator: "\n"))\n</ul>\n</section>"
    }

    private func footer(_ report: BenchmarkReport) -> String {
        """
        <footer>
        <h2>The run</h2>
        \(HTMLFrame.list(RunFacts.environment(report)))
        <h3>Subjects</h3>
        \(HTMLFrame.list(RunFacts.subjects(report)))
        </footer>
        """
    }
}

/// The colors of the subjects in all charts of a page.
struct HTMLPalette {
    /// The number of colors, which repeat for more subjects.
    static let count = 8

    private let positions: [String: Int]

    init(_ subjects: [SubjectDescription]) {
        let ordered = subjects.filter { $0.kind != .baseline } + subjects.filter { $0.kind == .baseline }
        positions = Dictionary(
            ordered.enumerated().map { ($0.element.name, $0.offset) }, uniquingKeysWith: { first, _ in first })
    }

    /// The CSS class with the subject's color.
    func className(_ subject: SubjectDescription) -> String { "s\((positions[subject.name] ?? 0) % Self.count)" }

    /// The legend of a chart.
    func key(_ subjects: [SubjectDescription]) -> String {
        let items = subjects.map { subject in
            "<li><svg class=\"swatch\" viewBox=\"0 0 10 10\" aria-hidden=\"true\">"
                + "<rect class=\"\(className(subject))\" width=\"10\" height=\"10\" rx=\"2\"></rect></svg> "
                + "\(Escape.markup(subject.name))</li>"
        }
        return "<ul class=\"legend\">\(items.joined())</ul>"
    }
}

/// The style rules of the benchmark's page, in addition to the shared ones.
enum HTMLStyle {
    /// The colors remain distinguishable with common color blindness (Okabe and Ito), adjusted to the background.
    static let text = """
        :root {
          --s0: #0072b2; --s1: #d55e00; --s2: #009e73; --s3: #b3628f; --s4: #b08000; --s5: #3a9bd0; --s6: #6b6b6b;
          --s7: #7a4b2a;
        }
        @media (prefers-color-scheme: dark) {
          :root {
            --s0: #4aa8e0; --s1: #f08a4b; --s2: #33c49a; --s3: #dd94bd; --s4: #e0b040; --s5: #8fd0f5; --s6: #a8a8a8;
            --s7: #c99b78;
          }
        }
        .warning {
          padding: .5rem .8rem; border-radius: 6px; color: var(--bad); background: var(--bad-shade); font-weight: 600;
        }
        .faint { color: var(--faint); }
        .meaning { padding-left: 1.2rem; font-size: .9rem; }
        .figures { font-variant-numeric: tabular-nums; }
        .figures thead th:not(:first-child), .figures td { text-align: right; white-space: nowrap; }
        .figures thead th { font-weight: 600; }
        .figures tbody th { min-width: 11rem; }
        .figures.small { font-size: .75rem; }
        .figures.small th, .figures.small td { padding: .25rem .3rem; }
        .figures.small tbody th { min-width: 0; }
        .figures.text td { text-align: left; white-space: normal; }
        .cards { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(20rem, 100%), 1fr)); gap: .8rem; }
        .cards { margin-top: .8rem; align-items: start; }
        .work { min-width: 0; padding: .6rem .8rem .8rem; border: 1px solid var(--line); border-radius: 8px; }
        .work h4 { margin: 0; }
        .work p { margin: .2rem 0 .5rem; font-size: .82rem; }
        .work .survival { margin: .5rem 0 .15rem; color: var(--faint); }
        .work .legend { margin: .3rem 0 .6rem; font-size: .8rem; }
        .work summary { font-size: .85rem; color: var(--link); }
        svg { display: block; width: 100%; height: auto; }
        svg.swatch { display: inline-block; width: .7rem; height: .7rem; }
        svg text { font-size: 11px; fill: var(--ink); font-variant-numeric: tabular-nums; }
        svg text.end { text-anchor: end; }
        svg text.middle { text-anchor: middle; }
        svg text.best { font-weight: 700; }
        .lines text { font-size: 10px; fill: var(--faint); }
        .bare { stroke: var(--ink); stroke-width: 2; }
        .rule { stroke: var(--line); stroke-width: 1; }
        \((0..<HTMLPalette.count).map { ".s\($0) { fill: var(--s\($0)); stroke: var(--s\($0)); }" }.joined(separator: "\n"))
        svg rect[class] { stroke: none; }
        .lines polyline { fill: none; stroke-width: 2; stroke-linejoin: round; }
        @media (max-width: 46rem) {
          .figures { font-size: .82rem; }
          .figures tbody th { min-width: 8rem; }
        }
        """
}
