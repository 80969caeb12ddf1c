internal import TidelineStore

/// Escaping of text from stores and checks for each report format.
///
/// An escaped text can neither end a tag or a table cell nor control a terminal.
package enum Escape {
    /// Escapes text for XML and HTML, in text and in quoted attributes.
    ///
    /// Characters that XML 1.0 cannot represent, not even as a reference, are written in Swift's escape notation.
    package static func markup(_ text: String) -> String {
        map(text) { scalar in
            switch scalar {
            case "&": "&amp;"
            case "<": "&lt;"
            case ">": "&gt;"
            case "\"": "&quot;"
            case "'": "&#39;"
            // Written as references, because parsers normalize these characters to spaces in attributes.
            case "\t", "\n", "\r": "&#\(scalar.value);"
            default: isHiddenInMarkup(scalar) ? visible(scalar) : nil
            }
        }
    }

    /// Escapes text for an element that preserves line breaks, such as `pre`. Line breaks are unchanged.
    package static func markupLines(_ text: String) -> String { markup(text).replacingUTF8("&#10;", with: "\n") }

    /// Escapes text for one cell of a Markdown table, or for one line.
    package static func markdown(_ text: String) -> String {
        map(line(text)) { scalar in
            switch scalar {
            case "&": "&amp;"
            case "<": "&lt;"
            case "\\", "|", "`", "*", "_", "[", "]", "~", "#", "$", "{", "}", "!": "\\\(scalar)"
            default: nil
            }
        }
    }

    /// Escapes text for a terminal: replaces control characters, except line breaks, with their escape notation.
    package static func terminal(_ text: String) -> String {
        map(text) { $0 == "\n" ? nil : isControl($0) ? visible($0) : nil }
    }

    /// Returns the text on one line, with control characters replaced by their escape notation.
    package static func line(_ text: String) -> String { terminal(text).replacingUTF8("\n", with: " ") }

    private static func map(_ text: String, _ escaped: (Unicode.Scalar) -> String?) -> String {
        text.unicodeScalars.reduce(into: "") { result, scalar in
            if let text = escaped(scalar) { result += text } else { result.unicodeScalars.append(scalar) }
        }
    }

    private static func visible(_ scalar: Unicode.Scalar) -> String { "\\u{\(String(scalar.value, radix: 16))}" }

    /// Whether a character controls a terminal, ends the line, or changes the direction of the text that follows.
    package static func isControl(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator: true
        default: isDirection(scalar)
        }
    }

    private static func isHiddenInMarkup(_ scalar: Unicode.Scalar) -> Bool {
        scalar.properties.generalCategory == .control || scalar.properties.isNoncharacterCodePoint
            || isDirection(scalar)
    }

    /// Whether a character changes the direction of the text that follows, so that text can look like other text.
    private static func isDirection(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x202A...0x202E, 0x2066...0x2069: true
        default: false
        }
    }
}
