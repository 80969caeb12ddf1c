internal import TidelineStore

/// A word, literal, or symbol of a filter.
struct FilterToken {
    enum Kind: Equatable {
        case word(String)
        case literal(Value)
        case open, close, comma, minus, end
    }

    var kind: Kind
    /// The range of the token, in UTF-8 bytes.
    var range: Range<Int>
}

/// Splits the text of a filter or order into tokens.
struct FilterLexer {
    let bytes: [UInt8]
    private var position = 0
    private var peeked: FilterToken?

    init(_ text: String) { bytes = Array(text.utf8) }

    /// Returns the next token without consuming it.
    mutating func peek() throws(WireError) -> FilterToken {
        if let peeked { return peeked }
        let token = try scan()
        peeked = token
        return token
    }

    /// Consumes the next token.
    mutating func advance() throws(WireError) {
        position = try peek().range.upperBound
        peeked = nil
    }

    /// Returns an error which reports that something else was expected in place of the next token.
    mutating func expected(_ what: String) throws(WireError) -> WireError {
        let token = try peek()
        let found = token.kind == .end ? "the end" : excerpt(token.range)
        return fault("expected \(what), found \(found)", at: token.range.lowerBound)
    }

    /// Returns a part of the filter in quotes, truncated if it is long.
    func excerpt(_ range: Range<Int>) -> String {
        let text = String(
            decoding: bytes[range.lowerBound..<min(range.upperBound, range.lowerBound + 60)], as: UTF8.self)
        return text.debugDescription
    }

    func fault(_ message: String, at offset: Int) -> WireError { WireError(.invalidFilter, message, offset: offset) }

    private mutating func scan() throws(WireError) -> FilterToken {
        while position < bytes.count, [0x20, 0x09, 0x0A, 0x0D].contains(bytes[position]) { position += 1 }
        let start = position
        guard start < bytes.count else { return FilterToken(kind: .end, range: start..<start) }
        switch bytes[start] {
        case UInt8(ascii: "("): return FilterToken(kind: .open, range: start..<start + 1)
        case UInt8(ascii: ")"): return FilterToken(kind: .close, range: start..<start + 1)
        case UInt8(ascii: ","): return FilterToken(kind: .comma, range: start..<start + 1)
        case UInt8(ascii: "'"):
            let (text, end) = try quoted(from: start)
            return FilterToken(kind: .literal(.string(text)), range: start..<end)
        case UInt8(ascii: "-") where start + 1 < bytes.count && bytes[start + 1].isDigit: return try number(from: start)
        case UInt8(ascii: "-"): return FilterToken(kind: .minus, range: start..<start + 1)
        case let byte where byte.isDigit: return try number(from: start)
        default: return try word(from: start)
        }
    }

    // MARK: Text

    /// Returns the content of the quotes that open at `start`, and the offset after the closing quote.
    private func quoted(from start: Int) throws(WireError) -> (text: String, end: Int) {
        var content: [UInt8] = []
        var index = start + 1
        while index < bytes.count {
            if bytes[index] == UInt8(ascii: "'") {
                guard index + 1 < bytes.count, bytes[index + 1] == UInt8(ascii: "'") else {
                    return (String(decoding: content, as: UTF8.self), index + 1)
                }
                index += 1
            }
            content.append(bytes[index])
            index += 1
        }
        throw fault("expected a closing ' for the text that begins here", at: start)
    }

    private func word(from start: Int) throws(WireError) -> FilterToken {
        var end = start
        while let (scalar, length) = scalar(at: end),
            end == start ? scalar.startsIdentifier : scalar.continuesIdentifier
        {
            end += length
        }
        guard end > start else {
            let length = scalar(at: start)?.length ?? 1
            throw fault("\(excerpt(start..<start + length)) is not allowed here", at: start)
        }
        let word = String(decoding: bytes[start..<end], as: UTF8.self)
        if word == "cast", byte(end) == UInt8(ascii: "(") { return try cast(from: start, content: end + 1) }
        guard end < bytes.count, bytes[end] == UInt8(ascii: "'") else {
            return FilterToken(kind: .word(word), range: start..<end)
        }
        let (text, literalEnd) = try quoted(from: end)
        guard let value = FilterLiteral.value(prefix: word, text: text) else {
            throw fault("\(word)'…' is not a known type of literal", at: start)
        }
        guard let value else { throw fault("\(excerpt(end..<literalEnd)) is not a valid \(word)", at: start) }
        return FilterToken(kind: .literal(value), range: start..<literalEnd)
    }

    /// Reads the text of a cast, with or without quotes around it: the date of
    /// `cast(2026-11-21T09:12:49.403Z,Edm.DateTimeOffset)`, or a string in the form of another type.
    private func cast(from start: Int, content: Int) throws(WireError) -> FilterToken {
        let end = bytes[content...].firstIndex(of: UInt8(ascii: ")")) ?? bytes.endIndex
        let parts = bytes[content..<end].split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false)
        let type = parts.count == 2 ? String(decoding: parts[1].trimmingBlanks, as: UTF8.self) : ""
        let other = EdmType.casts.first { $0.name == type }
        guard end < bytes.endIndex, other != nil || type == "Edm.DateTimeOffset" else {
            throw fault("cast must have the form cast(2026-11-21T09:12:49.403Z,Edm.DateTimeOffset)", at: start)
        }
        var text = parts[0].trimmingBlanks
        let quote = UInt8(ascii: "'")
        if text.count > 1, text.first == quote, text.last == quote { text = text.dropFirst().dropLast() }
        if let other {
            let literal = String(decoding: text, as: UTF8.self)
            guard (try? other.literal(literal, in: "")) != nil else {
                throw fault("\(excerpt(content..<end)) is not a valid \(type)", at: content)
            }
            return FilterToken(kind: .literal(.string(literal)), range: start..<end + 1)
        }
        guard let timestamp = Timestamp(String(decoding: text, as: UTF8.self)) else {
            throw fault("\(excerpt(content..<end)) is not a valid date", at: content)
        }
        return FilterToken(kind: .literal(.timestamp(timestamp)), range: start..<end + 1)
    }

    /// Returns the scalar at an offset. The bytes are valid UTF-8.
    private func scalar(at offset: Int) -> (scalar: Unicode.Scalar, length: Int)? {
        guard offset < bytes.count else { return nil }
        let first = bytes[offset]
        if first < 0x80 { return (Unicode.Scalar(first), 1) }
        let length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2
        let text = String(decoding: bytes[offset..<min(offset + length, bytes.count)], as: UTF8.self)
        return text.unicodeScalars.first.map { ($0, length) }
    }

    // MARK: Numbers

    private func number(from start: Int) throws(WireError) -> FilterToken {
        var end = digits(from: start + (bytes[start] == UInt8(ascii: "-") ? 1 : 0))
        var isDouble = false
        if byte(end) == UInt8(ascii: "."), byte(end + 1)?.isDigit ?? false {
            isDouble = true
            end = digits(from: end + 1)
        }
        if let exponent = exponent(from: end) {
            isDouble = true
            end = exponent
        }
        let text = String(decoding: bytes[start..<end], as: UTF8.self)
        let suffix = byte(end).map { $0 | 0x20 }
        let isLong = suffix == UInt8(ascii: "l")
        // Single and decimal are read as doubles.
        let hasDoubleSuffix = suffix.map { "dfm".utf8.contains($0) } ?? false
        if isLong || hasDoubleSuffix { end += 1 }
        if let (next, length) = scalar(at: end), next.continuesIdentifier || next == "'" {
            throw fault("expected the end of a number, found \(excerpt(end..<end + length))", at: end)
        }
        if isLong, isDouble { throw fault("a number with the suffix L must be whole", at: start) }
        let value = try value(text, isDouble: isDouble || hasDoubleSuffix, isLong: isLong, at: start)
        return FilterToken(kind: .literal(value), range: start..<end)
    }

    private func value(_ text: String, isDouble: Bool, isLong: Bool, at start: Int) throws(WireError) -> Value {
        if !isDouble, let int = Int64(text) { return .int(int) }
        guard !isLong else { throw fault("the number does not fit 64 bits", at: start) }
        guard let double = Double(text), double.isFinite else {
            throw fault("the number does not fit a double", at: start)
        }
        return .double(double)
    }

    private func byte(_ offset: Int) -> UInt8? { offset < bytes.count ? bytes[offset] : nil }

    private func digits(from start: Int) -> Int {
        var end = start
        while byte(end)?.isDigit ?? false { end += 1 }
        return end
    }

    /// Returns the offset after an exponent that begins at `start`, or `nil` if there is no exponent.
    private func exponent(from start: Int) -> Int? {
        guard let letter = byte(start), letter | 0x20 == UInt8(ascii: "e") else { return nil }
        var first = start + 1
        if byte(first) == UInt8(ascii: "-") || byte(first) == UInt8(ascii: "+") { first += 1 }
        let end = digits(from: first)
        return end > first ? end : nil
    }
}

extension UInt8 {
    /// Whether this is an ASCII digit.
    var isDigit: Bool { self &- 0x30 < 10 }
}
