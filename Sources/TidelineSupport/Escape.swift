/// Texts of stores and checks as each form of report can hold them: a store's text neither ends a tag or a cell nor
/// commands a terminal.
package enum Escape {
    /// For XML and HTML, in text and in quoted attributes. What XML 1.0 cannot hold, not even as a reference, becomes
    /// visible, as Swift would write it.
    package static func markup(_ text: String) -> String {
        map(text) { scalar in
            switch scalar {
            case "&": "&amp;"
            case "<": "&lt;"
            case ">": "&gt;"
            case "\"": "&quot;"
            case "'": "&#39;"
            // As references, as an attribute would turn them into blanks.
            case "\t", "\n", "\r": "&#\(scalar.value);"
            default: isHiddenInMarkup(scalar) ? visible(scalar) : nil
            }
        }
    }

    /// For text within an element that keeps its lines, such as `pre`: line ends stay as they are.
    package static func markupLines(_ text: String) -> String { markup(text).replacing("&#10;", with: "\n") }

    /// For one cell of a Markdown table, or one line.
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

    /// For a terminal: control characters become visible, but for line ends.
    package static func terminal(_ text: String) -> String {
        map(text) { $0 == "\n" ? nil : isControl($0) ? visible($0) : nil }
    }

    /// On one line, control characters visible.
    package static func line(_ text: String) -> String { terminal(text).replacing("\n", with: " ") }

    private static func map(_ text: String, _ escaped: (Unicode.Scalar) -> String?) -> String {
        text.unicodeScalars.reduce(into: "") { result, scalar in
            if let text = escaped(scalar) { result += text } else { result.unicodeScalars.append(scalar) }
        }
    }

    private static func visible(_ scalar: Unicode.Scalar) -> String { "\\u{\(String(scalar.value, radix: 16))}" }

    private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator: true
        default: isDirection(scalar)
        }
    }

    private static func isHiddenInMarkup(_ scalar: Unicode.Scalar) -> Bool {
        scalar.properties.generalCategory == .control || scalar.properties.isNoncharacterCodePoint
            || isDirection(scalar)
    }

    /// Characters that turn the direction of what follows, by which text can look like other text.
    private static func isDirection(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x202A...0x202E, 0x2066...0x2069: true
        default: false
        }
    }
}
