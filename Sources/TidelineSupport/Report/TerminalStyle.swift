/// The style of terminal output, with or without colors.
package struct TerminalStyle: Sendable, Hashable {
    /// Whether the output uses colors.
    package var isColored: Bool

    package init(isColored: Bool) { self.isColored = isColored }

    /// Returns the text in green.
    package func good(_ text: String) -> String { colored(text, "32") }
    /// Returns the text in red.
    package func bad(_ text: String) -> String { colored(text, "31") }
    /// Returns the text in yellow.
    package func open(_ text: String) -> String { colored(text, "33") }
    /// Returns the text in bold.
    package func strong(_ text: String) -> String { colored(text, "1") }
    /// Returns the text in a faint style.
    package func faint(_ text: String) -> String { colored(text, "2") }

    /// Returns the text in a look of a document.
    package func styled(_ text: String, _ look: RichText.Look) -> String {
        switch look {
        case .good: good(text)
        case .bad: bad(text)
        case .open: open(text)
        case .strong: strong(text)
        case .faint, .small: faint(text)
        case .plain, .code, .detail: text
        }
    }

    private func colored(_ text: String, _ code: String) -> String {
        isColored ? "\u{1B}[\(code)m\(text)\u{1B}[0m" : text
    }
}
