#if Commands
internal import Foundation
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
#endif
