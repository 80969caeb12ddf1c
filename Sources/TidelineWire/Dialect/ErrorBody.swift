internal import TidelineStore

/// What the body of a failed request says.
enum ErrorBody {
    /// In this order: where there is a title, it is the least that an answer says.
    private static let names = ["error", "description", "message", "Message", "detail", "title"]
    private static let maximumLength = 2_000
    private static let maximumPageLength = 500

    /// The message in `{"error": "…"}`, `{"description": "…"}`, `{"message": "…"}`, an object with one of these inside,
    /// a bare JSON string, or the text itself where it is no JSON, at most 2,000 characters; of a web page or XML its
    /// text, at most 500. A message that is only "Error" gives way to a longer one.
    static func message(of body: [UInt8]) -> String {
        // Wrapped, so that the reader of rows reads a bare string, too.
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
