package import TidelineStore

/// Conversion of instants to and from the date format of HTTP headers: `Sat, 21 Nov 2026 09:12:49 GMT`.
package enum HTTPDate {
    private static let days = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    /// Returns the text of an instant, truncated to whole seconds.
    package static func text(of instant: Timestamp) -> String {
        let parts = instant.parts
        // 1970-01-01 was a Thursday.
        let (day, rest) = instant.ticks.quotientAndRemainder(dividingBy: 86_400 * Timestamp.ticksPerSecond)
        let weekday = Int(((rest < 0 ? day - 1 : day) % 7 + 7) % 7)
        let date = "\(padded(parts.day, 2)) \(months[parts.month - 1]) \(padded(parts.year, 4))"
        let time = "\(padded(parts.hour, 2)):\(padded(parts.minute, 2)):\(padded(parts.second, 2))"
        return "\(days[weekday]), \(date) \(time) GMT"
    }

    /// Returns the instant for a text in this format, or `nil` for any other text. The weekday is not checked.
    package static func instant(_ text: String) -> Timestamp? {
        let fields = text.split(separator: " ", omittingEmptySubsequences: true)
        guard fields.count == 6, fields[5] == "GMT" || fields[5] == "UTC", let day = number(fields[1]),
            let month = months.firstIndex(of: String(fields[2])), let year = number(fields[3])
        else { return nil }
        let clock = fields[4].split(separator: ":", omittingEmptySubsequences: false).map { number($0) }
        guard clock.count == 3, let hour = clock[0], let minute = clock[1], let second = clock[2] else { return nil }
        // HTTP dates may contain a leap second, which this calendar does not support.
        return Timestamp(
            TimestampParts(year: year, month: month + 1, day: day, hour: hour, minute: minute, second: min(second, 59)))
    }

    private static func number(_ text: Substring) -> Int? {
        text.utf8.allSatisfy(\.isDigit) && text.utf8.count <= 4 ? Int(text) : nil
    }

    private static func padded(_ number: Int, _ width: Int) -> String {
        let text = String(number)
        return String(repeating: "0", count: max(0, width - text.count)) + text
    }
}
