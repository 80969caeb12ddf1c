internal import Foundation
internal import TidelineSupport

/// Pieces of SVG. Texts are escaped.
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

    /// A coordinate; none that is no number comes into a page.
    static func number(_ value: Double) -> String { value.isFinite ? String(format: "%.1f", value) : "0" }

    /// A text that is not longer than there is room for.
    static func shortened(_ text: String, to count: Int) -> String {
        text.count > count ? text.prefix(count - 1) + "…" : text
    }
}
