extension Predicate.Function {
    /// The result over values; null when one is null or of a type that the function does not take, see ``Evaluator``.
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
        case .contains: return .bool(text.utf8Range(of: other, from: text.startIndex) != nil)
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
    /// A position in a text. The arithmetic of ints may have become a double: its whole part, held to 64 bits.
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

// Swift compares strings and characters by canonical equivalence; a query compares bytes, as engines do.
extension String {
    fileprivate var asciiTrimmed: String {
        func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }
        guard let first = utf8.firstIndex(where: { !isSpace($0) }), let last = utf8.lastIndex(where: { !isSpace($0) })
        else { return "" }
        return String(self[first...last])
    }

    /// Where `other` first occurs, byte for byte, at or after `start`; an empty text is found at once.
    fileprivate func utf8Range(of other: String, from start: Index) -> Range<Index>? {
        let needle = other.utf8
        guard let first = needle.first else { return start..<start }
        var rest = utf8[start...]
        while let index = rest.firstIndex(of: first) {
            rest = rest[index...]
            if rest.starts(with: needle) { return index..<utf8.index(index, offsetBy: needle.count) }
            rest = rest.dropFirst()
        }
        return nil
    }

    fileprivate func scalarOffset(of other: String) -> Int64 {
        guard let range = utf8Range(of: other, from: startIndex) else { return -1 }
        return Int64(unicodeScalars.distance(from: startIndex, to: range.lowerBound))
    }

    fileprivate func replacingUTF8(_ other: String, with replacement: String) -> String {
        guard !other.isEmpty else { return self }
        var result = ""
        var start = startIndex
        while let range = utf8Range(of: other, from: start) {
            result.unicodeScalars.append(contentsOf: unicodeScalars[start..<range.lowerBound])
            result.unicodeScalars.append(contentsOf: replacement.unicodeScalars)
            start = range.upperBound
        }
        result.unicodeScalars.append(contentsOf: unicodeScalars[start...])
        return result
    }
}
