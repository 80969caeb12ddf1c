internal import Foundation
internal import TidelineSupport

/// Lines over two logarithmic axes.
struct LineChart {
    /// One subject's line.
    struct Series {
        var subject: SubjectDescription
        /// The points, x from the least to the greatest.
        var points: [(x: Double, y: Double)]
    }

    /// A mark on the x axis.
    typealias Mark = (value: Double, label: String)

    private static let (width, height) = (340.0, 210.0)
    private static let (left, right, top, bottom) = (46.0, 332.0, 10.0, 184.0)

    /// What the chart shows, for those who hear it.
    var label: String
    var series: [Series]
    /// The marks of the x axis, which reaches from the first to the last.
    var marks: [Mark]
    /// Whether points are drawn, too.
    var hasPoints = false
    let palette: HTMLPalette

    var html: String {
        let values = series.flatMap(\.points).map(\.y).filter { $0 > 0 }
        guard let least = values.min(), let greatest = values.max(), let first = marks.first, let last = marks.last
        else { return "" }
        let x = Axis(first.value, last.value, Self.left, Self.right)
        // Whole powers of ten, so that each has its line.
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
        let place = y.place(seconds)
        let unit = TimeUnit.fitting(seconds)
        let label = "\(BenchmarkWords.count(Int((seconds / unit.seconds).rounded()))) \(unit.rawValue)"
        return SVG.line(Self.left, place, Self.right, place, "rule")
            + SVG.text(Self.left - 5, place + 4, seconds < 1e-9 ? "" : label, "end")
    }

    private func mark(_ mark: Mark, _ x: Axis) -> String {
        let place = x.place(mark.value)
        let anchor = mark.value == marks.last?.value ? "end" : mark.value == marks.first?.value ? "name" : "middle"
        return SVG.line(place, Self.top, place, Self.bottom, "rule")
            + SVG.text(place, Self.bottom + 17, mark.label, anchor)
    }

    private func line(_ series: Series, _ x: Axis, _ y: Axis) -> String {
        let points = series.points.filter { $0.y > 0 }.map { (x: x.place($0.x), y: y.place($0.y)) }
        let look = palette.className(series.subject)
        return SVG.polyline(points, look) + (hasPoints ? points.map { SVG.circle($0.x, $0.y, 3, look) }.joined() : "")
    }

    /// Places of values along an axis.
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

        func place(_ value: Double) -> Double {
            let place = (log10(value) - first) * perPower
            return start + (length < 0 ? max(min(place, 0), length) : min(max(place, 0), length))
        }
    }
}
