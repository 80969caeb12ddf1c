internal import TidelineStore

/// The range of the content of a JSON string, between its quotes.
struct ScannedText {
    var start: Int
    var end: Int
    /// Whether the content has escape sequences.
    var hasEscapes: Bool
}

extension JSONScanner {
    /// Reads the string whose opening quote is here, and checks its escape sequences and UTF-8.
    @inline(__always)
    mutating func string() throws(JSONFault) -> ScannedText {
        let start = position + 1
        let end = PlainText.end(in: bytes, from: start)
        guard end < bytes.count, bytes[end] == UInt8(ascii: "\"") else { return try string(from: start, plainTo: end) }
        position = end + 1
        return ScannedText(start: start, end: end, hasEscapes: false)
    }

    /// Reads the rest of a string that contains more than plain ASCII.
    private mutating func string(from start: Int, plainTo end: Int) throws(JSONFault) -> ScannedText {
        var hasEscapes = false
        position = end
        while position < bytes.count {
            let byte = bytes[position]
            if byte == UInt8(ascii: "\"") {
                position += 1
                return ScannedText(start: start, end: position - 1, hasEscapes: hasEscapes)
            } else if byte == UInt8(ascii: "\\") {
                hasEscapes = true
                try skipEscape()
            } else if byte >= 0x80 {
                try skipNonASCII()
            } else {
                throw fault(.controlCharacter)
            }
            position = PlainText.end(in: bytes, from: position)
        }
        throw fault(.unexpectedEnd)
    }

    /// Appends the unescaped text of a string to `buffer`.
    func unescape(_ text: ScannedText, into buffer: inout [UInt8]) {
        var index = text.start
        while index < text.end {
            guard bytes[index] == UInt8(ascii: "\\") else {
                buffer.append(bytes[index])
                index += 1
                continue
            }
            // string() has checked all escape sequences, so none extends past the end of the text.
            let letter = bytes[index + 1]
            index += 2
            switch letter {
            case UInt8(ascii: "b"): buffer.append(0x08)
            case UInt8(ascii: "f"): buffer.append(0x0C)
            case UInt8(ascii: "n"): buffer.append(0x0A)
            case UInt8(ascii: "r"): buffer.append(0x0D)
            case UInt8(ascii: "t"): buffer.append(0x09)
            case UInt8(ascii: "u"): buffer.append(contentsOf: UTF8.encode(scalar(at: &index)) ?? .init())
            default: buffer.append(letter)
            }
        }
    }

    /// Returns the unescaped text of a string.
    func text(_ text: ScannedText) -> String { withContent(of: text) { String(decoding: $0, as: UTF8.self) } }

    /// Calls `body` with the unescaped text of a string.
    func withContent<T>(of text: ScannedText, _ body: (UnsafeRawBufferPointer) -> T) -> T {
        guard text.hasEscapes else { return body(slice(text.start, text.end)) }
        var unescaped: [UInt8] = []
        unescape(text, into: &unescaped)
        return unescaped.withUnsafeBytes { body($0) }
    }

    /// Returns the character of a checked escape sequence whose hexadecimal digits begin at `index`, and moves `index`
    /// past them.
    private func scalar(at index: inout Int) -> Unicode.Scalar {
        let unit = UInt32(hexadecimal(at: index) ?? 0)
        index += 4
        guard unit & 0xFC00 == 0xD800 else { return Unicode.Scalar(unit) ?? "\u{FFFD}" }
        let low = UInt32(hexadecimal(at: index + 2) ?? 0)
        index += 6
        return Unicode.Scalar(0x10000 + (unit & 0x3FF) << 10 + low & 0x3FF) ?? "\u{FFFD}"
    }

    // MARK: Escapes

    private mutating func skipEscape() throws(JSONFault) {
        guard position + 1 < bytes.count else { throw atEnd() }
        switch bytes[position + 1] {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"),
            UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
            position += 2
        case UInt8(ascii: "u"): try skipUnicodeEscape()
        default: throw fault(.invalidEscape)
        }
    }

    private mutating func skipUnicodeEscape() throws(JSONFault) {
        let unit = try codeUnit(at: position)
        switch unit & 0xFC00 {
        case 0xD800:
            let next = position + 6
            guard next < bytes.count else { throw atEnd() }
            guard bytes[next] == UInt8(ascii: "\\") else { throw fault(.loneSurrogate) }
            guard next + 1 < bytes.count else { throw atEnd() }
            guard bytes[next + 1] == UInt8(ascii: "u") else { throw fault(.loneSurrogate) }
            guard try codeUnit(at: next) & 0xFC00 == 0xDC00 else { throw fault(.loneSurrogate) }
            position += 12
        case 0xDC00: throw fault(.loneSurrogate)
        default: position += 6
        }
    }

    /// Returns the code unit of the escape sequence `\uXXXX` at `offset`.
    private func codeUnit(at offset: Int) throws(JSONFault) -> UInt16 {
        guard offset + 6 <= bytes.count else { throw atEnd() }
        guard let unit = hexadecimal(at: offset + 2) else { throw JSONFault(kind: .invalidEscape, offset: offset) }
        return unit
    }

    private func hexadecimal(at offset: Int) -> UInt16? {
        var number: UInt16 = 0
        for index in offset..<(offset + 4) {
            guard let digit = bytes[index].hexadecimalDigit else { return nil }
            number = number << 4 | UInt16(digit)
        }
        return number
    }

    private func atEnd() -> JSONFault { JSONFault(kind: .unexpectedEnd, offset: bytes.count) }

    // MARK: UTF-8

    private mutating func skipNonASCII() throws(JSONFault) {
        while position < bytes.count, bytes[position] >= 0x80 {
            let length = UTF8Check.sequenceLength(at: bytes.base + position, count: bytes.count - position)
            guard length > 0 else { throw fault(.invalidUTF8) }
            position += length
        }
    }
}
