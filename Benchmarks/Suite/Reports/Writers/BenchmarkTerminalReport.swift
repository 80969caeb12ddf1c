public import TidelineSupport

/// A report as one reads it on a terminal: a table for each number of rows, what it means, what the files and the memory
/// came to, and what is missing and why.
public struct BenchmarkTerminalReport: BenchmarkReportWriter {
    /// How many characters a line has; the tables are laid out to fit.
    public var width: Int
    /// With colours or without.
    public var style: TerminalStyle
    /// Whether the run's circumstances and what is not applicable are left out.
    public var isQuiet: Bool

    /// A writer.
    public init(width: Int = 100, style: TerminalStyle = TerminalStyle(isColored: false), isQuiet: Bool = false) {
        self.width = width
        self.style = style
        self.isQuiet = isQuiet
    }

    public func text(of report: BenchmarkReport) -> String {
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
        guard BenchmarkFacts.isDebug(report) else { return [] }
        let rule = String(repeating: "!", count: min(width, BenchmarkFacts.debugWarning.map(\.count).max() ?? 0))
        let lines = BenchmarkFacts.debugWarning.flatMap { $0.wrapped(to: width) }
        return ([rule] + lines + [rule]).map(style.bad)
    }

    private func facts(_ report: BenchmarkReport) -> [String] {
        let facts =
            BenchmarkFacts.environment(report) + [("Settings", BenchmarkFacts.settings(report.settings))]
            + BenchmarkFacts.subjects(report)
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
        let title = section.isJSON ? "JSON" : "\(BenchmarkWords.count(section.rows)) rows"
        let rule = String(repeating: "─", count: max(min(width, 120) - title.count - 4, 0))
        return [style.strong("── \(title) \(rule)")]
    }

    // MARK: After the tables

    private func legend(_ report: BenchmarkReport, _ tables: [TerminalTable]) -> [String] {
        guard !tables.isEmpty else { return [] }
        let detail = tables.filter(\.section.hasRatios).map(\.detail).max() ?? .spread
        return BenchmarkFacts.legend(report, detail).flatMap { sign, text in
            let lines = text.wrapped(to: max(width - 6, 20))
            return [style.strong(sign) + String(repeating: " ", count: 6 - sign.count) + lines[0]]
                + lines.dropFirst().map { "      " + $0 }
        }
    }

    private func verdict(_ report: BenchmarkReport) -> [String] {
        BenchmarkVerdict.lines(of: report).flatMap { Escape.line($0).wrapped(to: width) }.map(style.strong)
    }

    private func storage(_ report: BenchmarkReport) -> [String] {
        let all = StorageFigures.all(of: report)
        let columns = StorageFigures.columns.filter { column in all.contains { column.value($0) != nil } }
        guard !all.isEmpty else { return [] }
        // Where the line is too short, the last columns are left out.
        let tables = columns.indices.reversed().map { storage(all, Array(columns[...$0])) }
        let fitting = tables.first { $0.lines.allSatisfy { $0.count <= width } } ?? tables[tables.count - 1]
        return [style.strong("Files and memory")] + fitting.lines { $0 == 0 ? style.faint($2) : $2 }
            + StorageFigures.explanation.wrapped(to: width).map(style.faint)
    }

    private func storage(_ all: [StorageFigures], _ columns: [StorageFigures.Column]) -> TextTable {
        let rows = all.map { figures in
            [BenchmarkWords.count(figures.rows), Escape.line(figures.subject.name)]
                + columns.map { $0.value(figures).map(BenchmarkWords.bytes) ?? "–" }
        }
        return TextTable(
            rows: [["rows", "store"] + columns.map(\.title)] + rows,
            numbers: Set([0] + Array(2..<(columns.count + 2))))
    }

    private func remarks(_ report: BenchmarkReport) -> [String] {
        let remarks = BenchmarkRemark.all(of: report).filter { !isQuiet || $0.kind != .notApplicable }
        return remarks.flatMap { remark in
            let title = remark.kind.title
            let lines = Escape.line(remark.text).wrapped(to: max(width - title.count - 2, 20))
            let look = remark.kind == .notApplicable ? style.faint : style.bad
            let blanks = String(repeating: " ", count: title.count + 2)
            return [look(title) + "  " + lines[0]] + lines.dropFirst().map { blanks + $0 }
        }
    }

    private func ending(_ report: BenchmarkReport) -> [String] {
        BenchmarkFacts.warnings(report).flatMap { Escape.line($0).wrapped(to: width) }.map(style.open)
    }
}
