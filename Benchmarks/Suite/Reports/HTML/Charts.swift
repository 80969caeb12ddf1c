internal import Foundation
internal import TidelineStore
internal import TidelineSupport

/// SVG elements with escaped text.
enum SVG {
    static func text(_ x: Double, _ y: Double, _ text: String, _ className: String) -> String {
        "<text x=\"\(number(x))\" y=\"\(number(y))\" class=\"\(className)\">\(Escape.markup(text))</text>"
    }

    static func line(_ x1: Double, _ y1: Double, _ x2: Double, _ y2: Double, _ className: String) -> String {
        "<line x1=\"\(number(x1))\" y1=\"\(number(y1))\" x2=\"\(number(x2))\" y2=\"\(number(y2))\" class=\"\(className)\">"
            + "</line>"
    }

    static func rectangle(
        _ x: Double, _ y: Double, _ width: Double, _ height: Double, _ className: String
    ) -> String {
        "<rect x=\"\(number(x))\" y=\"\(number(y))\" width=\"\(number(width))\" height=\"\(number(height))\" rx=\"2\" "
            + "class=\"\(className)\"></rect>"
    }

    static func circle(_ x: Double, _ y: Double, _ radius: Double, _ className: String) -> String {
        "<circle cx=\"\(number(x))\" cy=\"\(number(y))\" r=\"\(number(radius))\" class=\"\(className)\"></circle>"
    }

    static func polyline(_ points: [(x: Double, y: Double)], _ className: String) -> String {
        let text = points.map { "\(number($0.x)),\(number($0.y))" }.joined(separator: " ")
        return "<polyline points=\"\(text)\" class=\"\(className)\"></polyline>"
    }

    /// A coordinate, or 0 if the value is not finite.
    static func number(_ value: Double) -> String { value.isFinite ? String(format: "%.1f", value) : "0" }

    /// A text truncated to a number of characters.
    static func shortened(_ text: String, to count: Int) -> String {
        text.count > count ? text.prefix(count - 1) + "…" : text
    }
}

/// A bar chart of the work per second, with one scale and separate charts for each durability. A vertical line marks the
/// bare engine.
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

    var html: String {
        let figures = columns.compactMap { workload.subject($0.name) }.compactMap { figures in
            figures.result.latency.flatMap { figures.unitTime == nil ? nil : (figures.subject, $0) }
        }
        guard !figures.isEmpty else { return "" }
        return """
            <details>
            <summary>Latency</summary>
            \(chart(figures))
            \(palette.key(figures.map(\.0)))
            \(table(figures))
            </details>
            """
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

    private func table(_ figures: [(SubjectDescription, LatencySummary)]) -> String {
        let rows = figures.map { subject, latency in
            let times = [latency.p50, latency.p90, latency.p99, latency.p999, latency.max]
            let cells = times.map { "<td>\(FigureFormat.time(Double($0) / 1e9))</td>" }.joined()
            return "<tr><th scope=\"row\">\(Escape.markup(subject.name))</th>\(cells)</tr>"
        }
        return HTMLFrame.table(
            caption: "Latency of \(workload.result.title)", heading: ["", "50 %", "90 %", "99 %", "99.9 %", "longest"],
            rows: rows, className: "figures small")
    }
}

/// A line chart with two logarithmic axes.
struct LineChart {
    /// The line of a subject.
    struct Series {
        var subject: SubjectDescription
        /// The points, by ascending x.
        var points: [(x: Double, y: Double)]
    }

    /// A mark on the x axis.
    typealias Mark = (value: Double, label: String)

    private static let (width, height) = (340.0, 210.0)
    private static let (left, right, top, bottom) = (46.0, 332.0, 10.0, 184.0)

    /// The description for screen readers.
    var label: String
    var series: [Series]
    /// The marks of the x axis, from its start to its end.
    var marks: [Mark]
    /// Whether to draw the points.
    var hasPoints = false
    let palette: HTMLPalette

    var html: String {
        let values = series.flatMap(\.points).map(\.y).filter { $0 > 0 }
        guard let least = values.min(), let greatest = values.max(), let first = marks.first, let last = marks.last
        else { return "" }
        let x = Axis(first.value, last.value, Self.left, Self.right)
        // Round to powers of ten, each of which has a line.
        let (low, high) = (floor(log10(least)), max(ceil(log10(greatest)), floor(log10(least)) + 1))
        let y = Axis(pow(10, low), pow(10, high), Self.bottom, Self.top)
        let parts =
            stride(from: low, through: high, by: high - low > 6 ? 2 : 1).map { rule(pow(10, $0), y) }
            + marks.map { mark($0, x) } + series.map { line($0, x, y) }
        return """
            <svg class="lines" viewBox="0 0 \(SVG.number(Self.width)) \(SVG.number(Self.height))" role="img" \
            aria-label="\(Escape.markup(label))">
            \(parts.joined(separator: "\n"))
            </svg>
            """
    }

    private func rule(_ seconds: Double, _ y: Axis) -> String {
        let position = y.position(seconds)
        let unit = TimeUnit.fitting(seconds)
        let label = "\(FigureFormat.count(Int((seconds / unit.seconds).rounded()))) \(unit.rawValue)"
        return SVG.line(Self.left, position, Self.right, position, "rule")
            + SVG.text(Self.left - 5, position + 4, seconds < 1e-9 ? "" : label, "end")
    }

    private func mark(_ mark: Mark, _ x: Axis) -> String {
        let position = x.position(mark.value)
        let anchor = mark.value == marks.last?.value ? "end" : mark.value == marks.first?.value ? "name" : "middle"
        return SVG.line(position, Self.top, position, Self.bottom, "rule")
            + SVG.text(position, Self.bottom + 17, mark.label, anchor)
    }

    private func line(_ series: Series, _ x: Axis, _ y: Axis) -> String {
        let points = series.points.filter { $0.y > 0 }.map { (x: x.position($0.x), y: y.position($0.y)) }
        let look = palette.className(series.subject)
        return SVG.polyline(points, look) + (hasPoints ? points.map { SVG.circle($0.x, $0.y, 3, look) }.joined() : "")
    }

    /// A logarithmic axis.
    private struct Axis {
        private let start: Double
        private let length: Double
        private let first: Double
        private let perPower: Double

        init(_ least: Double, _ greatest: Double, _ start: Double, _ end: Double) {
            self.start = start
            length = end - start
            first = log10(least)
            let powers = log10(greatest) - log10(least)
            perPower = powers > 0 ? length / powers : 0
        }

        func position(_ value: Double) -> Double {
            let position = (log10(value) - first) * perPower
            return start + (length < 0 ? max(min(position, 0), length) : min(max(position, 0), length))
        }
    }
}
