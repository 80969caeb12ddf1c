extension RowPredicate.Function {
    /// Returns the function's result. It is null if an operand is null or of a type that the function does not accept;
    /// see ``Evaluator``.
    func result(of operands: [Value]) -> Value {
        switch self {
        case .equalsIgnoringCase:
            .bool(Value.areEqual(operands[0], operands[1], ignoringCase: true))
        case .round, .floor, .ceiling: number(operands[0])
        case .year, .month, .day, .hour, .minute, .second:
            operands[0].timestamp.map { .int(Int64(part($0.parts))) } ?? .null
        case .substring: Self.substring(operands)
        case .length, .lower, .upper, .trim: operands[0].string.map(text) ?? .null
        case .indexOf, .startsWith, .endsWith, .contains, .concat, .replace:
            texts(operands.compactMap(\.string), of: operands.count)
        }
    }

    // MARK: Text

    private func text(_ text: String) -> Value {
        switch self {
        case .length: .int(Int64(text.unicodeScalars.count))
        case .lower: .string(text.asciiLowercased)
        case .upper: .string(text.asciiUppercased)
        case .trim: .string(text.asciiTrimmed)
        default: .null
        }
    }

    private func texts(_ texts: [String], of count: Int) -> Value {
        guard texts.count == count else { return .null }
        let (text, other) = (texts[0], texts[1])
        switch self {
        case .indexOf: return .int(text.scalarOffset(of: other))
        case .startsWith: return .bool(text.utf8.starts(with: other.utf8))
        case .endsWith: return .bool(text.utf8.reversed().starts(with: other.utf8.reversed()))
        case .contains: return .bool(text.utf8Offset(of: other) != nil)
        case .concat: return .string(text + other)
        case .replace: return .string(text.replacingUTF8(other, with: texts[2]))
        default: return .null
        }
    }

    private static func substring(_ operands: [Value]) -> Value {
        guard let text = operands[0].string, let start = operands[1].position else { return .null }
        let tail = text.unicodeScalars.dropFirst(Int(clamping: max(start, 0)))
        guard operands.count == 3 else { return .string(String(tail)) }
        guard let length = operands[2].position else { return .null }
        return .string(String(tail.prefix(Int(clamping: max(length, 0)))))
    }

    // MARK: Numbers and instants

    private func number(_ value: Value) -> Value {
        switch value {
        case .int: return value
        case .double(let double):
            let rule: FloatingPointRoundingRule =
                self == .round ? .toNearestOrAwayFromZero : self == .floor ? .down : .up
            return double.isNaN ? .null : .double(double.rounded(rule))
        default: return .null
        }
    }

    private func part(_ parts: TimestampParts) -> Int {
        switch self {
        case .year: parts.year
        case .month: parts.month
        case .day: parts.day
        case .hour: parts.hour
        case .minute: parts.minute
        default: parts.second
        }
    }
}

extension Value {
    /// The value as a position in a text, or `nil` if it is not a number.
    ///
    /// Arithmetic of ints may have overflowed to a double. Its whole part is used, clamped to 64 bits.
    fileprivate var position: Int64? {
        switch self {
        case .int(let value): value
        case .double(let value) where value >= 0x1p63: .max
        case .double(let value) where value < -0x1p63: .min
        case .double(let value): value.isNaN ? nil : Int64(value)
        default: nil
        }
    }
}

// Swift compares strings and characters by canonical equivalence. A query compares bytes, as engines do.
extension String {
    fileprivate var asciiTrimmed: String {
        func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }
        guard let first = utf8.firstIndex(where: { !isSpace($0) }), let last = utf8.lastIndex(where: { !isSpace($0) })
        else { return "" }
        // A space and the mark that combines with it are one character, which a subscript would not divide.
        return String(decoding: utf8[first...last], as: UTF8.self)
    }

    /// Returns the byte offset of the first occurrence of `other`, compared byte by byte. It is 0 if `other` is empty.
    fileprivate func utf8Offset(of other: String) -> Int? {
        guard !other.isEmpty else { return 0 }
        var offset: Int?
        ByteSearch(other).forEachMatch(in: self) { match in
            offset = match.lowerBound
            return false
        }
        return offset
    }

    fileprivate func scalarOffset(of other: String) -> Int64 {
        guard let offset = utf8Offset(of: other) else { return -1 }
        return Int64(utf8.prefix(offset).count { $0 & 0xC0 != 0x80 })
    }

    /// Returns the text with every `other` replaced, compared byte by byte.
    ///
    /// The standard library's `replacing` compares characters, and does not find a quotation mark that a combining mark
    /// follows.
    package func replacingUTF8(_ other: String, with replacement: String) -> String {
        guard !other.isEmpty else { return self }
        var text = self
        return text.withUTF8 { text in
            var result: [UInt8] = []
            var start = 0
            unsafe ByteSearch(other).forEachMatch(in: text) { match in
                unsafe result += text[start..<match.lowerBound]
                result += replacement.utf8
                start = match.upperBound
                return true
            }
            return unsafe String(decoding: result + text[start...], as: UTF8.self)
        }
    }

    /// Returns the size in bytes of this text with every `other` replaced, counted up to `limit`.
    func sizeReplacingUTF8(_ other: String, with replacement: String, upTo limit: Int) -> Int {
        let growth = replacement.utf8.count - other.utf8.count
        var size = utf8.count
        guard !other.isEmpty, growth > 0 else { return size }
        ByteSearch(other).forEachMatch(in: self) { _ in
            size += growth
            return size <= limit
        }
        return size
    }
}

/// A byte-by-byte search for a text in other texts, using the Knuth-Morris-Pratt algorithm.
///
/// The time is proportional to the sum of both lengths, not to their product, for any texts.
private struct ByteSearch {
    private let needle: [UInt8]
    /// For each prefix of the text, the length of its longest proper prefix that is also its suffix.
    private let borders: [Int]

    /// - Parameter text: The text to search for, which must not be empty.
    init(_ text: String) {
        let needle = Array(text.utf8)
        var borders = Array(repeating: 0, count: needle.count)
        var length = 0
        for index in needle.indices.dropFirst() {
            while length > 0, needle[length] != needle[index] { length = borders[length - 1] }
            if needle[length] == needle[index] { length += 1 }
            borders[index] = length
        }
        (self.needle, self.borders) = (needle, borders)
    }

    func forEachMatch(in text: String, _ body: (Range<Int>) -> Bool) {
        var text = text
        text.withUTF8 { unsafe forEachMatch(in: $0, body) }
    }

    /// Calls `body` with each match from left to right, without overlaps, until it returns `false`.
    func forEachMatch(in text: UnsafeBufferPointer<UInt8>, _ body: (Range<Int>) -> Bool) {
        var matched = 0
        for index in text.indices {
            while matched > 0, unsafe needle[matched] != text[index] { matched = borders[matched - 1] }
            if unsafe needle[matched] == text[index] { matched += 1 }
            guard matched == needle.count else { continue }
            guard body(index + 1 - matched..<index + 1) else { return }
            matched = 0
        }
    }
}
