#if Commands
internal import TidelineStore
internal import TidelineSupport

/// A bar chart of the work per second, with one scale and separate charts for each durability. A vertical line marks
/// the bare engine.
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
            let survival = RunFacts.survival(group.durability)
            return (groups.count > 1 ? "<p class=\"survival\">\(survival)</p>\n" : "") + chart(group.figures, scale)
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
        let text = "\(FigureFormat.rate(rate)) \(FigureFormat.plural(workload.result.unit))/s"
        return text + (figures.ratio.map { " · \(FigureFormat.speed($0))" } ?? "")
    }

    /// The work per second of the bare engine, derived from the ratio.
    private func bareRate(_ figures: SubjectFigures) -> Double? {
        guard let rate = figures.rate, let ratio = figures.ratio?.median, ratio > 0 else { return nil }
        return rate / ratio
    }
}

/// The latency distribution of a workload, as a chart and a table.
struct LatencyChart {
    /// The inverse of the rarest share that the chart shows.
    private static let maxRarity = 100_000.0

    let workload: WorkloadFigures
    let columns: [SubjectDescription]
    let palette: HTMLPalette

    /// The chart and the table, or no blocks if there are no latencies.
    var blocks: [Block] {
        let figures = columns.compactMap { workload.subject($0.name) }.compactMap { figures in
            figures.result.latency.flatMap { figures.unitTime == nil ? nil : (figures.subject, $0) }
        }
        guard !figures.isEmpty else { return [] }
        return [
            .details("Latency", [.html(chart(figures)), .html(palette.key(figures.map(\.0))), .table(table(figures))])
        ]
    }

    private func chart(_ figures: [(SubjectDescription, LatencySummary)]) -> String {
        let series = figures.map { subject, latency in
            LineChart.Series(
                subject: subject,
                points: latency.curve.filter { $0.share >= 0 && $0.share <= 1 }.map { point in
                    // The inverse of the share of slower operations: one in 2, 10, or 100.
                    (
                        x: min(1 / max(1 - point.share, 1 / Self.maxRarity), Self.maxRarity),
                        y: Double(point.nanoseconds) / 1e9
                    )
                })
        }
        let marks: [LineChart.Mark] = [
            (1, ""), (2, "50 %"), (10, "90 %"), (100, "99 %"), (1000, "99.9 %"), (Self.maxRarity, "99.999 %"),
        ]
        return LineChart(
            label: "Latency of \(workload.result.title) by percentile, as in the table below",
            series: series, marks: marks, palette: palette
        ).html
    }

    private func table(_ figures: [(SubjectDescription, LatencySummary)]) -> Table {
        let rows = figures.map { subject, latency in
            let times = [latency.p50, latency.p90, latency.p99, latency.p999, latency.max]
            let cells = times.map { RichText(FigureFormat.time(Double($0) / 1e9)) }
            return Table.Row([RichText(subject.name)] + cells)
        }
        return Table(
            "Latency of \(workload.result.title)", heading: ["", "50 %", "90 %", "99 %", "99.9 %", "longest"],
            rows: rows, numbers: Set(1...5))
    }
}

/// The cost of a unit of a workload by number of rows, as a chart and a table.
struct GrowthChart {
    private let figures: [WorkloadFigures]
    private let series: [LineChart.Series]
    private let title: String
    private let palette: HTMLPalette

    /// Creates a chart, or returns `nil` if there is only one number of rows.
    init?(_ unsorted: [WorkloadFigures], _ subjects: [SubjectDescription], _ palette: HTMLPalette) {
        figures = unsorted.sorted { $0.result.rows < $1.result.rows }
        guard unsorted.count > 1, let title = figures.first?.result.title else { return nil }
        self.title = title
        self.palette = palette
        series = subjects.filter { $0.kind != .baseline }.map { [figures] subject in
            LineChart.Series(
                subject: subject,
                points: figures.compactMap { workload in
                    workload.subject(subject.name)?.unitTime.map { (Double(workload.result.rows), $0.median) }
                })
        }.filter { !$0.points.isEmpty }
        if series.isEmpty { return nil }
    }

    var html: String {
        let marks = figures.map { (value: Double($0.result.rows), label: FigureFormat.count($0.result.rows)) }
        let chart = LineChart(
            label: "Time of a unit by number of rows, \(title), as in the table below", series: series,
            marks: marks, hasPoints: true, palette: palette)
        return """
            <article class="work">
            <h4>\(Escape.markup(title))</h4>
            \(chart.html)
            \(palette.key(series.map(\.subject)))
            \([.table(table)].html())
            </article>
            """
    }

    private var table: Table {
        let rows = series.map(\.subject).map { subject in
            let cells = figures.map { workload in
                RichText(workload.subject(subject.name)?.unitTime.map { FigureFormat.time($0.median) } ?? "–")
            }
            return Table.Row([RichText(subject.name)] + cells)
        }
        return Table(
            "Time of a unit by number of rows, \(title)",
            heading: [""] + figures.map { FigureFormat.count($0.result.rows) }, rows: rows,
            numbers: Set(1...figures.count))
    }
}
#endif
