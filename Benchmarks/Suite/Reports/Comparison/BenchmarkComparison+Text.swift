#if Commands
internal import Foundation
package import TidelineSupport

extension BenchmarkComparison {
    /// Returns text for a terminal of `width` columns: the changes, then a summary that counts the other entries.
    package func terminalText(width: Int = 100, style: TerminalStyle = TerminalStyle(isColored: false)) -> String {
        var parts = [warnings.map { style.open("warning: ") + Escape.line($0) }]
        let shown = entries.filter(\.isShown)
        if !shown.isEmpty { parts.append(Self.table(shown).lines(style)) }
        parts.append(
            summary.flatMap { $0.wrapped(to: width) }.map { hasRegression ? style.bad($0) : $0 }
                + Self.explanation.wrapped(to: width).map(style.faint))
        return parts.filter { !$0.isEmpty }.map { $0.joined(separator: "\n") }.joined(separator: "\n\n") + "\n"
    }

    /// Returns Markdown with all entries in one table.
    package func markdownText() -> String { [section].markdown(level: 2) }

    /// The comparison as a section of a report.
    var section: Block {
        let summary = summary.map { Block.paragraph(RichText($0, hasRegression ? .bad : .good)) }
        let table = entries.isEmpty ? [] : [Block.table(Self.table(entries))]
        return .section(
            "Compared with the old results",
            summary + warnings.map { .warning($0) } + table + [.paragraph(RichText(Self.explanation))])
    }

    private static func table(_ entries: [Entry]) -> Table {
        let rows = entries.map { entry in
            let cells = entry.cells
            return Table.Row(cells.dropLast().map { RichText($0) } + cells.suffix(1).map { RichText($0, entry.look) })
        }
        return Table("Comparison", heading: heading, rows: rows, numbers: [0, 3, 4, 5, 6])
    }

    /// The meaning of the figures.
    static let explanation = """
        Old and new are ratios to the bare engine (×C) if both runs have one, otherwise times of a unit. p is the \
        probability of the Mann-Whitney test with Holm's correction. Faster and slower: p < 0.01. A regression is slower \
        by at least 3 %.
        """

    /// The number of entries with each verdict.
    var summary: [String] {
        let words = entries.map(\.words)
        let counts = words.uniqued().map { word in "\(words.count { $0 == word }) \(word)" }
        let all = entries.isEmpty ? "Nothing to compare." : counts.joined(separator: ", ") + "."
        let regressions = entries.count(where: \.isRegression)
        return [regressions > 0 ? "\(counted(regressions, "regression")). \(all)" : all]
    }

    static let heading = ["rows", "workload", "store", "old", "new", "change", "p", "verdict"]
}

extension BenchmarkComparison.Entry {
    /// A short text for the verdict.
    var words: String {
        switch verdict {
        case .faster: "faster"
        case .slower: isRegression ? "slower" : "slower by less than 3 %"
        case .same: "the same"
        case .tooFew: "not tested, with too few repetitions"
        case .onlyOld: "only in the old results"
        case .onlyNew: "only in the new results"
        case .different: "not the same work"
        }
    }

    /// The cells of the entry in a table.
    var cells: [String] {
        let change = change.map(Self.words(of:)) ?? ""
        let chance = probability.map { $0 < 0.0001 ? "<0.0001" : String(format: "%.4f", $0) } ?? ""
        let reason = if case .different(let reason) = verdict { ": \(reason)" } else { "" }
        return [
            FigureFormat.count(rows), workload, subject, figure(old), figure(new), change, chance, words + reason,
        ]
    }

    /// A change of time in words, because a sign could also mean a change of speed.
    private static func words(of change: Double) -> String {
        let text = String(format: "%.1f %%", abs(change) * 100)
        return text == "0.0 %" ? "same time" : "\(text) \(change > 0 ? "more" : "less") time"
    }

    fileprivate var look: RichText.Look { isRegression ? .bad : verdict == .faster ? .good : .open }

    /// Whether a terminal shows the entry.
    fileprivate var isShown: Bool {
        switch verdict {
        case .faster, .slower, .tooFew, .different: true
        case .same, .onlyOld, .onlyNew: false
        }
    }

    private func figure(_ spread: Spread?) -> String {
        guard let spread else { return "–" }
        guard basis == .ratio else { return FigureFormat.time(spread.median) }
        return FigureFormat.isUnclear(spread)
            ? "×C \(FigureFormat.unclear)" : "\(FigureFormat.ratio(spread.median)) ×C"
    }
}
#endif
