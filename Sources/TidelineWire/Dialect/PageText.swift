internal import TidelineStore

/// Extracts the text of a web page or an XML document, as a browser would display it, on one line.
///
/// Accepts any bytes, because they are untrusted. The time is linear in their length.
struct PageText {
    private let bytes: ArraySlice<UInt8>
    private var position: Int
    private var text: [UInt8] = []
    private var title: [UInt8] = []
    private var isInTitle = false

    /// The maximum number of bytes to read. The reason for a failed request is near the beginning of a page.
    private static let maximumLength = 64 << 10
    /// Elements whose content is not shown.
    private static let hidden: Set<String> = ["script", "style", "template", "noscript", "svg"]
    private static let entities: [String: String] = [
        "amp": "&", "lt": "<", "gt": ">", "quot": "\"", "apos": "'", "nbsp": " ", "copy": "\u{A9}",
        "ndash": "\u{2013}", "mdash": "\u{2014}", "hellip": "\u{2026}", "lsquo": "\u{2018}", "rsquo": "\u{2019}",
        "ldquo": "\u{201C}", "rdquo": "\u{201D}",
    ]

    /// Reads a page.
    private init(_ page: some Collection<UInt8>) {
        bytes = Array(page.prefix(Self.maximumLength))[...]
        position = bytes.startIndex
        read()
    }

    /// Returns the text of a page, or its title if the page has no text.
    static func text(of page: some Collection<UInt8>) -> String {
        let reader = PageText(page)
        let text = joined(reader.text)
        return text.isEmpty ? joined(reader.title) : text
    }

    /// Returns the title of a page, or an empty string.
    static func title(of page: some Collection<UInt8>) -> String { joined(PageText(page).title) }

    /// Returns the words, separated by single spaces.
    private static func joined(_ bytes: [UInt8]) -> String {
        let text = String(decoding: bytes, as: UTF8.self)
        // A byte order mark is not part of a word.
        return text.unicodeScalars.split {
            $0.properties.isWhitespace || $0.value < 0x20 || "\u{7F}\u{FEFF}".unicodeScalars.contains($0)
        }
        .map { String($0) }.joined(separator: " ")
    }

    private mutating func read() {
        while position < bytes.endIndex {
            switch bytes[position] {
            case UInt8(ascii: "<"): readMarkup()
            case UInt8(ascii: "&"): readEntity()
            default:
                append([bytes[position]])
                position += 1
            }
        }
    }

    private mutating func append(_ content: some Sequence<UInt8>) {
        if isInTitle { title += content } else { text += content }
    }

    // MARK: Markup

    private mutating func readMarkup() {
        if starts(with: "<!--") { return skip(past: "-->") }
        if starts(with: "<![CDATA[") {
            let start = position + 9
            skip(past: "]]>")
            let hasEnd = bytes[..<position].suffix(3).elementsEqual("]]>".utf8)
            return append(bytes[start..<max(start, position - (hasEnd ? 3 : 0))])
        }
        if starts(with: "<?") { return skip(past: ">") }
        readTag()
    }

    private mutating func readTag() {
        let isEnd = position + 1 < bytes.endIndex && bytes[position + 1] == UInt8(ascii: "/")
        let start = position + (isEnd ? 2 : 1)
        let name = String(decoding: bytes[min(start, bytes.endIndex)...].prefix { $0.isNameByte }, as: UTF8.self)
            .asciiLowercased
        guard !name.isEmpty || starts(with: "<!") else {
            // This is a less-than sign, not a tag.
            append([bytes[position]])
            position += 1
            return
        }
        skipTag()
        if name == "title" { isInTitle = !isEnd }
        append([0x20])
        let isEmpty = bytes[..<position].suffix(2).elementsEqual("/>".utf8)
        guard !isEnd, !isEmpty, Self.hidden.contains(name) else { return }
        skip(past: "</\(name)")
        skipTag()
    }

    /// Moves past the `>` that ends the tag here. Ignores a `>` within the quotes of an attribute.
    private mutating func skipTag() {
        var quote: UInt8?
        while position < bytes.endIndex {
            let byte = bytes[position]
            position += 1
            if let open = quote {
                if byte == open { quote = nil }
            } else if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") {
                quote = byte
            } else if byte == UInt8(ascii: ">") {
                return
            }
        }
    }

    private func starts(with text: StaticString) -> Bool {
        bytes[position...].starts(with: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    /// Moves past the next occurrence of a text, ignoring case, or to the end.
    private mutating func skip(past end: String) {
        let end = Array(end.utf8)
        while position < bytes.endIndex {
            if bytes[position...].prefix(end.count).map(\.asciiFolded) == end {
                position += end.count
                return
            }
            position += 1
        }
    }

    // MARK: Entities

    private mutating func readEntity() {
        let rest = bytes[(position + 1)...].prefix(12)
        let name = rest.prefix { $0 != UInt8(ascii: ";") }
        if name.count < rest.count, let character = Self.character(String(decoding: name, as: UTF8.self)) {
            append(character.utf8)
            position = name.endIndex + 1
        } else {
            append([bytes[position]])
            position += 1
        }
    }

    private static func character(_ name: String) -> String? {
        guard name.hasPrefix("#") else { return entities[name] }
        let isHexadecimal = name.hasPrefix("#x") || name.hasPrefix("#X")
        let number = UInt32(name.dropFirst(isHexadecimal ? 2 : 1), radix: isHexadecimal ? 16 : 10)
        return number.flatMap { Unicode.Scalar($0) }.map { String($0) }
    }
}

extension UInt8 {
    /// Whether the name of an element may contain this byte.
    fileprivate var isNameByte: Bool {
        switch self {
        case 0x30...0x3A, 0x41...0x5A, 0x61...0x7A, 0x80...0xFF: true
        default: self == UInt8(ascii: "-") || self == UInt8(ascii: "_") || self == UInt8(ascii: ".")
        }
    }
}
