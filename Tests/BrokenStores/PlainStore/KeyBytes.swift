internal import TidelineStore

/// Keys whose byte order is the order of the encoded values: null, then NaN, then all other values.
struct KeyBytes {
    static let null: UInt8 = 0
    static let nan: UInt8 = 1
    static let value: UInt8 = 2

    var bytes: [UInt8] = []
    var flaw: Flaw?

    /// Appends a value. A text ends with a terminator, so that no key of two values is a prefix of another.
    mutating func append(_ value: Value) {
        switch value {
        case .null: bytes.append(Self.null)
        case .double(let double) where double.isNaN: bytes.append(flaw == .indexCountsNaN ? Self.value : Self.nan)
        default:
            bytes.append(Self.value)
            appendContent(of: value)
        }
    }

    private mutating func appendContent(of value: Value) {
        switch value {
        case .null: break
        case .bool(let value): bytes.append(value ? 1 : 0)
        case .int(let value): append(word: ordered(value))
        case .timestamp(let value): append(word: ordered(value.ticks))
        case .double(let value): append(word: ordered(value))
        case .string(let text), .json(let text): append(content: Array(text.utf8))
        case .bytes(let content): append(content: content)
        }
    }

    private func ordered(_ value: Int64) -> UInt64 {
        UInt64(bitPattern: value) ^ (flaw == .indexForgetsTheSign ? 0 : 1 << 63)
    }

    /// Positive and negative zero have one key, because they are equal.
    private func ordered(_ value: Double) -> UInt64 {
        let bits = (value == 0 && flaw != .indexSplitsZero ? 0 : value).bitPattern
        return bits >> 63 == 1 ? ~bits : bits | 1 << 63
    }

    private mutating func append(word: UInt64) {
        for shift in stride(from: 56, through: 0, by: -8) { bytes.append(UInt8(truncatingIfNeeded: word >> shift)) }
    }

    private mutating func append(content: [UInt8]) {
        append(beginning: content)
        bytes += [0, 1]
    }

    /// Appends the bytes of a text without its terminator. Zero is escaped so that the terminator sorts first.
    mutating func append(beginning content: [UInt8]) {
        for byte in content {
            if byte == 0, flaw == .indexEndsAtNUL { return }
            bytes.append(byte)
            if byte == 0 { bytes.append(0xFF) }
        }
    }

    /// Returns the least key greater than all keys with the prefix `bytes`, or `nil` if there is none.
    static func successor(of bytes: [UInt8]) -> [UInt8]? {
        var successor = bytes
        while let last = successor.popLast() {
            if last < 0xFF { return successor + [last + 1] }
        }
        return nil
    }
}
