/// Colours of a terminal, or none.
public struct TerminalStyle: Sendable, Hashable {
    /// Whether colours are used.
    public var isColored: Bool

    /// A style.
    public init(isColored: Bool) { self.isColored = isColored }

    /// Green.
    package func good(_ text: String) -> String { colored(text, "32") }
    /// Red.
    package func bad(_ text: String) -> String { colored(text, "31") }
    /// Yellow.
    package func open(_ text: String) -> String { colored(text, "33") }
    /// Bold.
    package func strong(_ text: String) -> String { colored(text, "1") }
    /// Faint.
    package func faint(_ text: String) -> String { colored(text, "2") }

    private func colored(_ text: String, _ code: String) -> String {
        isColored ? "\u{1B}[\(code)m\(text)\u{1B}[0m" : text
    }
}
