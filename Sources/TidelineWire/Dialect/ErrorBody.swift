internal import TidelineStore

/// Extracts the message from the body of a failed request.
package enum ErrorBody {
    /// The member names in order of preference. A title is the least specific part of a response.
    private static let names = ["error", "description", "message", "Message", "detail", "title"]
    private static let maximumLength = 2_000
    private static let maximumPageLength = 500
    private static let maximumTitle = 100
    /// The number of bytes in which a page shows that it is one; comments may precede its first element.
    private static let maximumPreamble = 1_024
    private static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

    /// Returns the message in `{"error": "…"}`, `{"description": "…"}`, `{"message": "…"}`, an object that contains one
    /// of these, or a JSON string. Returns the text itself if it is not JSON. The message has up to 2,000 characters.
    /// For a web page or XML document, returns its text, up to 500 characters. Prefers a longer message to one that is
    /// only "Error".
    package static func message(of body: [UInt8]) -> String {
        if let value = value(body), let message = message(in: value, depth: 0) {
            return isMarkup(message.utf8) ? page(message.utf8) : String(message.prefix(maximumLength))
        }
        return isMarkup(body) ? page(body) : String(plain(body).prefix(maximumLength))
    }

    /// Returns whether a body has exactly the form of the errors of table services: `{"error": "…"}`, or a JSON string.
    package static func hasExactForm(_ body: [UInt8]) -> Bool {
        switch value(body) {
        case .string?: return true
        case .json(let text)?:
            guard let members = try? JSONRow.parse(Array(text.utf8)).values, members.count == 1,
                case .string? = members.first?.value
            else { return false }
            return members.first?.name == "error"
        default: return false
        }
    }

    /// Returns a body as a JSON value, or `nil` if it is not JSON. It is wrapped in an object, so that the row reader
    /// also accepts a JSON string. A byte order mark is skipped, as ``JSONScanner`` does in other bodies.
    static func value(_ body: [UInt8]) -> Value? {
        var wrapped = Array(#"{"body":"#.utf8)
        wrapped += body.dropFirst(body.starts(with: byteOrderMark) ? byteOrderMark.count : 0)
        wrapped.append(UInt8(ascii: "}"))
        return (try? JSONRow.parse(wrapped))?["body"]
    }

    private static func message(in value: Value, depth: Int) -> String? {
        switch value {
        case .string(let text):
            return text
        case .json(let text) where depth < 4:
            guard let row = try? JSONRow.parse(Array(text.utf8)) else { return nil }
            let messages = names.compactMap { name in row[name].flatMap { message(in: $0, depth: depth + 1) } }
            return messages.first { !saysNothing($0) } ?? messages.first
        default:
            return nil
        }
    }

    private static func saysNothing(_ message: String) -> Bool { ["", "error"].contains(message.asciiLowercased) }

    /// Returns whether a body is a web page: HTML, and no other form of XML.
    package static func isPage(_ body: [UInt8]) -> Bool {
        guard isMarkup(body) else { return false }
        let start = String(decoding: trimmed(body).prefix(maximumPreamble), as: UTF8.self).asciiLowercased
        return start.hasPrefix("<!doctype html") || ["<html", "<head", "<body"].contains { start.contains($0) }
    }

    /// Returns the title of a web page on one line, up to 100 characters, or `nil` if it has none.
    package static func title(of page: [UInt8]) -> String? {
        let title = PageText.title(of: page)
        guard !title.isEmpty else { return nil }
        return title.count > maximumTitle ? String(title.prefix(maximumTitle - 1)) + "\u{2026}" : title
    }

    private static func trimmed(_ body: some Collection<UInt8>) -> some Collection<UInt8> {
        body.drop { [0x20, 0x09, 0x0A, 0x0D, 0xEF, 0xBB, 0xBF].contains($0) }
    }

    private static func isMarkup(_ body: some Collection<UInt8>) -> Bool { trimmed(body).first == UInt8(ascii: "<") }

    private static func page(_ body: some Collection<UInt8>) -> String {
        let text = PageText.text(of: body).unicodeScalars
        guard text.count > maximumPageLength else { return String(text) }
        return String(text.prefix(maximumPageLength - 1)) + "\u{2026}"
    }

    private static func plain(_ body: [UInt8]) -> String {
        let text = String(decoding: body.prefix(4 * maximumLength), as: UTF8.self)
        let scalars = text.unicodeScalars
        guard let first = scalars.firstIndex(where: { !$0.properties.isWhitespace }),
            let last = scalars.lastIndex(where: { !$0.properties.isWhitespace })
        else { return "" }
        return String(scalars[first...last])
    }
}

/// The body of a list of rows.
enum ListBody {
    /// The members with the rows, of ZUMO 2 with a count, and of Datasync.
    private static let members = ["results", "items"]

    /// Returns whether a body is an array, or an object with an array of rows.
    static func isList(_ body: [UInt8]) -> Bool {
        guard case .json(let text)? = ErrorBody.value(body) else { return false }
        if text.hasPrefix("[") { return true }
        guard let row = try? JSONRow.parse(Array(text.utf8)) else { return false }
        return members.contains { name in
            if case .json(let rows)? = row[name] { rows.hasPrefix("[") } else { false }
        }
    }
}
