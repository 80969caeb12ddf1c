#if Serve
internal import Foundation
internal import TidelineStore
internal import TidelineSupport

/// Returns `text` for one line of a terminal, with control characters and those that change the direction of text as
/// escapes such as `\n` or `\u{1B}`.
///
/// Anyone with access to the server can write a row's text, so it must neither break the line nor control the terminal.
func printable(_ text: String) -> String {
    guard text.unicodeScalars.contains(where: Escape.isControl) else { return text }
    return text.unicodeScalars.map { Escape.isControl($0) ? $0.escaped(asASCII: true) : String($0) }.joined()
}

/// Returns a text that is longer than `limit` as its first characters and its length, and a shorter text unchanged.
func shortened(_ text: String, to limit: Int = 200) -> String {
    guard text.utf8.count > limit, let end = text.index(text.startIndex, offsetBy: limit, limitedBy: text.endIndex),
        end < text.endIndex
    else { return text }
    return "\(text[..<end])… (\(text.count) characters)"
}

/// Returns an instant in the local time zone, to the second: `2026-11-22 10:14:27`.
func localTime(_ time: Timestamp) -> String {
    let formatter = DateFormatter()
    formatter.locale = Locale(identifier: "en_US_POSIX")
    formatter.dateFormat = "yyyy-MM-dd HH:mm:ss"
    return formatter.string(from: time.date)
}
#endif
