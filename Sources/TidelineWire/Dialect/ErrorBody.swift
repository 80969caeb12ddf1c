internal import TidelineStore

/// Extracts the message from the body of a failed request.
package enum ErrorBody {
    /// The member names in order of preference. A title is the least specific part of a response.
    private static let names = ["error", "description", "message", "Message", "detail", "title"]
    private static let maximumLength = 2_000
    private static let maximumPageLength = 500

    /// Returns the message in `{"error": "…"}`, `{"description": "…"}`, `{"message": "…"}`, an object that contains one
    /// of these, or a JSON string. Returns the text itself if it is not JSON. The message has up to 2,000 characters.
    /// For a web page or XML document, returns its text, up to 500 characters. Prefers a longer message to one that is
    /// only "Error".
    package static func message(of body: [UInt8]) -> String {
        // The body is wrapped in an object, so that the row reader also accepts a JSON string.
        let wrapped = Array(#"{"body":"#.utf8) + body + [UInt8(ascii: "}")]
        if let value = row(wrapped)?["body"], let message = message(in: value, depth: 0) {
            return isPage(message.utf8) ? page(message.utf8) : String(message.prefix(maximumLength))
        }
        return isPage(body) ? page(body) : String(plain(body).prefix(maximumLength))
    }

    private static func message(in value: Value, depth: Int) -> String? {
        switch value {
        case .string(let text):
            return text
        case .json(let text) where depth < 4:
            guard let row = row(Array(text.utf8)) else { return nil }
            let messages = names.compactMap { name in row[name].flatMap { message(in: $0, depth: depth + 1) } }
            return messages.first { !saysNothing($0) } ?? messages.first
        default:
            return nil
        }
    }

    private static func saysNothing(_ message: String) -> Bool { ["", "error"].contains(message.asciiLowercased) }

    private static func row(_ bytes: [UInt8]) -> Row? {
        bytes.withUnsafeBytes { try? JSONRow.parse($0) }
    }

    private static func isPage(_ body: some Sequence<UInt8>) -> Bool {
        var iterator = body.lazy.drop { [0x20, 0x09, 0x0A, 0x0D, 0xEF, 0xBB, 0xBF].contains($0) }.makeIterator()
        return iterator.next() == UInt8(ascii: "<")
    }

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
