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

    /// Appends the unescaped text of a string to `buffer`. The escape sequence of half of a surrogate pair becomes a
    /// byte that no text contains, so that a name with it is not that of a column.
    ///
    /// - Returns: Whether there was no such escape sequence.
    func unescape(_ text: ScannedText, into buffer: inout [UInt8]) -> Bool {
        var isText = true
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
            case UInt8(ascii: "u"):
                if let character = scalar(at: &index) {
                    buffer.append(contentsOf: UTF8.encode(character) ?? .init())
                } else {
                    buffer.append(0xFF)
                    isText = false
                }
            default: buffer.append(letter)
            }
        }
        return isText
    }

    /// Returns the unescaped text of a string.
    func text(_ text: ScannedText) -> String { withContent(of: text) { String(decoding: $0, as: UTF8.self) } }

    /// Skips an array or object. Half of a surrogate pair in it is an error.
    mutating func skipWholeValue() throws(JSONFault) {
        let start = position
        hasHalfOfPair = false
        try skipValue()
        if hasHalfOfPair { throw JSONFault(kind: .loneSurrogate, offset: start) }
    }

    /// Returns the unescaped text of a string. Half of a surrogate pair is an error.
    func wholeText(_ text: ScannedText) throws(JSONFault) -> String {
        guard text.hasEscapes else { return String(decoding: slice(text.start, text.end), as: UTF8.self) }
        var content: [UInt8] = []
        guard unescape(text, into: &content) else { throw JSONFault(kind: .loneSurrogate, offset: text.start - 1) }
        return String(decoding: content, as: UTF8.self)
    }

    /// Calls `body` with the unescaped text of a string.
    func withContent<T>(of text: ScannedText, _ body: (UnsafeRawBufferPointer) -> T) -> T {
        guard text.hasEscapes else { return body(slice(text.start, text.end)) }
        var unescaped: [UInt8] = []
        _ = unescape(text, into: &unescaped)
        return unescaped.withUnsafeBytes { body($0) }
    }

    /// Returns the character of a checked escape sequence whose hexadecimal digits begin at `index`, and moves `index`
    /// past them. Returns `nil` for half of a surrogate pair.
    private func scalar(at index: inout Int) -> Unicode.Scalar? {
        let unit = UInt32(hexadecimal(at: index) ?? 0)
        index += 4
        guard isPair(unit, at: index - 6) else { return Unicode.Scalar(unit) }
        let low = UInt32(hexadecimal(at: index + 2) ?? 0)
        index += 6
        return Unicode.Scalar(0x10000 + (unit & 0x3FF) << 10 + low & 0x3FF)
    }

    /// Returns whether the escape sequence at `offset`, of a code unit, and the next one are a surrogate pair.
    private func isPair(_ unit: UInt32, at offset: Int) -> Bool {
        guard unit & 0xFC00 == 0xD800, offset + 12 <= bytes.count, bytes[offset + 6] == UInt8(ascii: "\\"),
            bytes[offset + 7] == UInt8(ascii: "u"), let low = hexadecimal(at: offset + 8)
        else { return false }
        return low & 0xFC00 == 0xDC00
    }

    // MARK: Escapes

    private mutating func skipEscape() throws(JSONFault) {
        guard position + 1 < bytes.count else { throw atEnd() }
        switch bytes[position + 1] {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"),
            UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
            position += 2
        case UInt8(ascii: "u"):
            guard position + 6 <= bytes.count else { throw atEnd() }
            guard let unit = hexadecimal(at: position + 2) else { throw fault(.invalidEscape) }
            if isPair(UInt32(unit), at: position) {
                position += 12
            } else {
                // The grammar admits half of a surrogate pair (RFC 8259, section 8.2).
                if unit & 0xF800 == 0xD800 { hasHalfOfPair = true }
                position += 6
            }
        default: throw fault(.invalidEscape)
        }
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
