#if Commands
internal import TidelineSupport

/// The report for a terminal: a table for each number of rows, the legend, the use of disk and memory, and the missing
/// figures with their reasons.
struct BenchmarkTerminalReport: BenchmarkReportWriter {
    /// The number of columns of the terminal.
    var width = 100
    /// The style, with or without colors.
    var style = TerminalStyle(isColored: false)
    /// Whether to omit the conditions of the run and works that are not applicable.
    var isQuiet = false

    func text(of report: BenchmarkReport) -> String {
        let layouts = FigureSection.all(of: report).map { TerminalLayout(section: $0, width: width, style: style) }
        let tables = layouts.flatMap(\.tables)
        var parts = [banner(report)]
        if !isQuiet { parts.append(facts(report)) }
        for layout in layouts { parts += [heading(layout.section)] + layout.tables.map(\.lines) }
        parts += [verdict(report), legend(report, tables), storage(report), remarks(report), ending(report)]
        parts.append(banner(report))
        return parts.filter { !$0.isEmpty }.map { $0.joined(separator: "\n") }.joined(separator: "\n\n") + "\n"
    }

    // MARK: Before the tables

    private func banner(_ report: BenchmarkReport) -> [String] {
        guard RunFacts.isDebug(report) else { return [] }
        let rule = String(repeating: "!", count: min(width, RunFacts.debugWarning.map(\.count).max() ?? 0))
        let lines = RunFacts.debugWarning.flatMap { $0.wrapped(to: width) }
        return ([rule] + lines + [rule]).map(style.bad)
    }

    private func facts(_ report: BenchmarkReport) -> [String] {
        let facts = RunFacts.all(report)
        let label = min(facts.map(\.0.count).max() ?? 0, 24)
        return facts.flatMap { name, text in
            Escape.line(text).wrapped(to: width, after: Escape.line(name), labelWidth: label + 2, look: style.faint)
        }
    }

    private func heading(_ section: FigureSection) -> [String] {
        let rule = String(repeating: "─", count: max(min(width, 120) - section.title.count - 4, 0))
        return [style.strong("── \(section.title) \(rule)")]
    }

    // MARK: After the tables

    private func legend(_ report: BenchmarkReport, _ tables: [TerminalTable]) -> [String] {
        guard !tables.isEmpty else { return [] }
        let detail = tables.filter(\.section.hasRatios).map(\.detail).max() ?? .spread
        return RunFacts.legend(report, detail).flatMap { sign, text in
            text.wrapped(to: width, after: sign, labelWidth: 6, look: style.strong)
        }
    }

    private func verdict(_ report: BenchmarkReport) -> [String] {
        StoreRecommendation.lines(of: report).flatMap { Escape.line($0).wrapped(to: width) }.map(style.strong)
    }

    private func storage(_ report: BenchmarkReport) -> [String] {
        guard let table = StorageFigures.table(of: report) else { return [] }
        // The last columns are omitted if the terminal is too narrow.
        let plain = TerminalStyle(isColored: false)
        let count = (3...max(table.heading.count, 3)).last { count in
            table.lines(plain, columns: count).allSatisfy { $0.count <= width }
        }
        return [style.strong("Files and memory")] + table.lines(style, columns: count ?? 3)
            + StorageFigures.explanation.wrapped(to: width).map(style.faint)
    }

    private func remarks(_ report: BenchmarkReport) -> [String] {
        let remarks = MissingFigures.all(of: report).filter { !isQuiet || $0.kind != .notApplicable }
        return remarks.flatMap { remark in
            Escape.line(remark.text).wrapped(
                to: width, after: remark.kind.title, labelWidth: remark.kind.title.count + 2,
                look: remark.kind == .notApplicable ? style.faint : style.bad)
        }
    }

    private func ending(_ report: BenchmarkReport) -> [String] {
        RunFacts.warnings(report).flatMap { Escape.line($0).wrapped(to: width) }.map(style.open)
    }
}
#endif
