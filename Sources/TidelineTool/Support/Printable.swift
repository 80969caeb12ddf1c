/// `text` as it fits on one line of a terminal: control characters are written as escapes, such as `\n` or `\u{1B}`.
///
/// A row's text comes from whoever has access to the server; it must neither break the line nor command the terminal.
func printable(_ text: String) -> String {
    guard text.unicodeScalars.contains(where: isControl) else { return text }
    return text.unicodeScalars.map { isControl($0) ? $0.escaped(asASCII: true) : String($0) }.joined()
}

private func isControl(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .control, .lineSeparator, .paragraphSeparator: true
    default: false
    }
}
