package import TidelineSupport

/// The report for a terminal: a table for each number of rows, the legend, the use of disk and memory, and the missing
/// figures with their reasons.
package struct BenchmarkTerminalReport: BenchmarkReportWriter {
    /// The number of columns of the terminal.
    package var width: Int
    /// The style, with or without colors.
    package var style: TerminalStyle
    /// Whether to omit the conditions of the run and works that are not applicable.
    package var isQuiet: Bool

    /// Creates a writer.
    package init(width: Int = 100, style: TerminalStyle = TerminalStyle(isColored: false), isQuiet: Bool = false) {
        self.width = width
        self.style = style
        self.isQuiet = isQuiet
    }

    package func text(of report: BenchmarkReport) -> String {
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
            let lines = Escape.line(text).wrapped(to: max(width - label - 2, 20))
            let name = Escape.line(name)
            let blanks = String(repeating: " ", count: max(label - name.count, 0))
            let indent = String(repeating: " ", count: label + 2)
            return [style.faint(name) + blanks + "  " + lines[0]] + lines.dropFirst().map { indent + $0 }
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
            let lines = text.wrapped(to: max(width - 6, 20))
            return [style.strong(sign) + String(repeating: " ", count: 6 - sign.count) + lines[0]]
                + lines.dropFirst().map { "      " + $0 }
        }
    }

    private func verdict(_ report: BenchmarkReport) -> [String] {
        StoreRecommendation.lines(of: report).flatMap { Escape.line($0).wrapped(to: width) }.map(style.strong)
    }

    private func storage(_ report: BenchmarkReport) -> [String] {
        guard let (heading, rows) = StorageFigures.table(of: report) else { return [] }
        // The last columns are omitted if the terminal is too narrow.
        let tables = (3...max(heading.count, 3)).reversed().map { count in
            TextTable(
                rows: [Array(heading.prefix(count))] + rows.map { $0.prefix(count).map(Escape.line) },
                numbers: Set([0] + Array(2..<count)))
        }
        let fitting = tables.first { $0.lines.allSatisfy { $0.count <= width } } ?? tables[tables.count - 1]
        return [style.strong("Files and memory")] + fitting.lines { $0 == 0 ? style.faint($2) : $2 }
            + StorageFigures.explanation.wrapped(to: width).map(style.faint)
    }

    private func remarks(_ report: BenchmarkReport) -> [String] {
        let remarks = MissingFigures.all(of: report).filter { !isQuiet || $0.kind != .notApplicable }
        return remarks.flatMap { remark in
            let title = remark.kind.title
            let lines = Escape.line(remark.text).wrapped(to: max(width - title.count - 2, 20))
            let look = remark.kind == .notApplicable ? style.faint : style.bad
            let blanks = String(repeating: " ", count: title.count + 2)
            return [look(title) + "  " + lines[0]] + lines.dropFirst().map { blanks + $0 }
        }
    }

    private func ending(_ report: BenchmarkReport) -> [String] {
        RunFacts.warnings(report).flatMap { Escape.line($0).wrapped(to: width) }.map(style.open)
    }
}
