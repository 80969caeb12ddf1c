/// A line of text with looks and links, written as a string literal: `"\(id, .code) failed"`.
package struct RichText: ExpressibleByStringInterpolation {
    /// The look of a part of a text.
    package enum Look: String {
        case plain, strong, small, code, faint, good, bad, open
        /// A detail on a line of its own, where there is room.
        case detail
    }

    /// A part with one look.
    package struct Span {
        package var text: String
        package var look: Look
        /// The identifier of the block to which the text links.
        package var link: String?
        /// A sign that represents the text in narrow cells.
        package var sign: String?
    }

    /// The parts.
    package var spans: [Span]

    /// The text without looks.
    package var plain: String { spans.map(\.text).joined() }

    /// Creates text with one look.
    package init(_ text: String, _ look: Look = .plain) { spans = [Span(text: text, look: look)] }

    package init(stringLiteral text: String) { self.init(text) }

    package init(stringInterpolation: StringInterpolation) { spans = stringInterpolation.spans }

    /// The parts of a literal.
    package struct StringInterpolation: StringInterpolationProtocol {
        var spans: [Span] = []

        package init(literalCapacity: Int, interpolationCount: Int) {}

        package mutating func appendLiteral(_ text: String) { if !text.isEmpty { appendInterpolation(text) } }

        package mutating func appendInterpolation(
            _ text: String, _ look: Look = .plain, link: String? = nil, sign: String? = nil
        ) {
            spans.append(Span(text: text, look: look, link: link, sign: sign))
        }

        package mutating func appendInterpolation(_ text: RichText) { spans += text.spans }
    }
}

extension [RichText] {
    /// Returns the texts in sequence, with a separator between them.
    package func joined(separator: String) -> RichText {
        reduce(into: RichText("")) { text, other in
            text.spans += (text.spans.count > 1 ? [RichText.Span(text: separator, look: .plain)] : []) + other.spans
        }
    }
}
