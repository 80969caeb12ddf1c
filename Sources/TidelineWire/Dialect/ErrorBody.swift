internal import TidelineStore

/// What the body of a failed request says.
enum ErrorBody {
    private static let names = ["error", "description", "message", "Message", "title", "detail"]
    private static let maximumLength = 2_000

    /// The message in `{"error": "…"}`, `{"description": "…"}`, `{"message": "…"}`, an object with one of these inside,
    /// a bare JSON string, or the text itself where it is no JSON; of a web page its title, as proxies send one.
    /// At most 2,000 characters.
    static func message(of body: [UInt8]) -> String {
        // Wrapped, so that the reader of rows reads a bare string, too.
        let wrapped = Array(#"{"body":"#.utf8) + body + [UInt8(ascii: "}")]
        let text: String
        if let value = row(wrapped)?["body"], let message = message(in: value, depth: 0) {
            text = message
        } else {
            text = plain(body)
        }
        return String(text.prefix(maximumLength))
    }

    private static func message(in value: Value, depth: Int) -> String? {
        switch value {
        case .string(let text):
            return text
        case .json(let text) where depth < 4:
            guard let row = row(Array(text.utf8)) else { return nil }
            for name in names {
                if let value = row[name], let message = message(in: value, depth: depth + 1) { return message }
            }
            return nil
        default:
            return nil
        }
    }

    private static func row(_ bytes: [UInt8]) -> Row? {
        bytes.withUnsafeBytes { try? JSONRow.parse($0) }
    }

    private static func plain(_ body: [UInt8]) -> String {
        let text = String(decoding: body.prefix(4 * maximumLength), as: UTF8.self)
        let scalars = text.unicodeScalars
        guard let first = scalars.firstIndex(where: { !$0.properties.isWhitespace }),
            let last = scalars.lastIndex(where: { !$0.properties.isWhitespace })
        else { return "" }
        let trimmed = String(scalars[first...last])
        return trimmed.hasPrefix("<") ? title(of: trimmed) : trimmed
    }

    /// The title of a web page, empty when it has none.
    private static func title(of page: String) -> String {
        let folded = page.asciiLowercased.unicodeScalars
        let scalars = page.unicodeScalars
        guard let tag = folded.firstRange(of: "<title>".unicodeScalars),
            let end = folded[tag.upperBound...].firstRange(of: "</title>".unicodeScalars)
        else { return "" }
        let start = folded.distance(from: folded.startIndex, to: tag.upperBound)
        let length = folded.distance(from: tag.upperBound, to: end.lowerBound)
        return String(String.UnicodeScalarView(scalars.dropFirst(start).prefix(length)))
    }
}
