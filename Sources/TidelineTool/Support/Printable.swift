internal import Foundation
internal import TidelineStore

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

/// The beginning of a text that is longer than a few lines of a terminal, and how long it is; shorter ones as they are.
func shortened(_ text: String, to limit: Int = 200) -> String {
    guard text.utf8.count > limit, let end = text.index(text.startIndex, offsetBy: limit, limitedBy: text.endIndex),
        end < text.endIndex
    else { return text }
    return "\(text[..<end])… (\(text.count) characters)"
}

/// An instant in the time zone of the terminal, to the second: `2026-11-22 10:14:27`.
func localTime(_ time: Timestamp) -> String {
    let formatter = DateFormatter()
    formatter.locale = Locale(identifier: "en_US_POSIX")
    formatter.dateFormat = "yyyy-MM-dd HH:mm:ss"
    return formatter.string(from: time.date)
}
