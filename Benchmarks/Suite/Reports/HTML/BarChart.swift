internal import TidelineStore
internal import TidelineSupport

/// Bars of how much each subject does in a second, all of one scale. Those whose commits survive as much stand together; a
/// tick in a bar's row is the bare engine below it.
struct BarChart {
    private static let width = 340.0
    private static let rowHeight = 34.0

    let workload: WorkloadFigures
    let columns: [SubjectDescription]
    let palette: HTMLPalette

    var html: String {
        let groups = self.groups
        let scale = groups.flatMap(\.figures).flatMap { [$0.rate, bareRate($0)] }.compactMap { $0 }.max() ?? 1
        return groups.map { group in
            let note =
                groups.count > 1 ? "<p class=\"survival\">\(BenchmarkFacts.survival(group.durability))</p>\n" : ""
            return note + chart(group.figures, scale)
        }.joined(separator: "\n")
    }

    private var groups: [(durability: StoreCapabilities.Durability, figures: [SubjectFigures])] {
        let figures = columns.compactMap { workload.subject($0.name) }.filter { $0.rate != nil }
        return figures.map(\.subject.durability).uniqued().map { durability in
            (durability, figures.filter { $0.subject.durability == durability })
        }
    }

    private func chart(_ figures: [SubjectFigures], _ scale: Double) -> String {
        let height = Self.rowHeight * Double(figures.count)
        let bars = figures.enumerated().map { bar($0.element, top: Double($0.offset) * Self.rowHeight, scale) }
        let label = figures.map { "\($0.subject.name) \(speed($0))" }.joined(separator: ", ")
        return """
            <svg class="bars" viewBox="0 0 \(SVG.number(Self.width)) \(SVG.number(height))" role="img" \
            aria-label="\(Escape.markup("\(workload.result.title): \(label)"))">
            \(bars.joined(separator: "\n"))
            </svg>
            """
    }

    private func bar(_ figures: SubjectFigures, top: Double, _ scale: Double) -> String {
        let length = max((figures.rate ?? 0) / scale * Self.width, 1)
        let tick = bareRate(figures).map { rate in
            let x = min(rate / scale * Self.width, Self.width - 1)
            return SVG.line(x, top + 15, x, top + 29, "bare")
        }
        return [
            SVG.text(0, top + 12, SVG.shortened(figures.subject.name, to: 20), figures.isFastest ? "best" : "name"),
            SVG.text(Self.width, top + 12, speed(figures), figures.isFastest ? "best end" : "end"),
            SVG.rectangle(0, top + 17, length, 10, palette.className(figures.subject)), tick ?? "",
        ].joined()
    }

    private func speed(_ figures: SubjectFigures) -> String {
        guard let rate = figures.rate else { return "" }
        let text = "\(BenchmarkWords.rate(rate)) \(BenchmarkWords.plural(workload.result.unit))/s"
        return text + (figures.ratio.map { " · \(BenchmarkWords.speed($0))" } ?? "")
    }

    /// What the bare engine does in a second, by the ratio.
    private func bareRate(_ figures: SubjectFigures) -> Double? {
        guard let rate = figures.rate, let ratio = figures.ratio?.median, ratio > 0 else { return nil }
        return rate / ratio
    }
}
