internal import TidelineStore

/// The literals of a filter.
enum FilterLiteral {
    /// Returns the filter text of a value.
    ///
    /// - Throws: ``WireError/Code/invalidFilter`` for NaN and infinities, which the syntax cannot represent.
    static func text(of value: Value, _ syntax: OData.Syntax) throws(WireError) -> String {
        switch value {
        case .null: return "null"
        case .bool(let value): return value ? "true" : "false"
        case .int(let value): return Int32(exactly: value) == nil ? "\(value)L" : "\(value)"
        case .double(let value): return try text(of: value)
        case .string(let value), .json(let value): return quoted(value)
        case .timestamp(let value) where syntax == .version4: return "cast(\(value.iso8601()),Edm.DateTimeOffset)"
        case .timestamp(let value): return "datetimeoffset'\(value.iso8601())'"
        case .bytes(let value):
            var text: [UInt8] = []
            value.withUnsafeBytes { Base64.encode($0, into: &text) }
            return "'\(String(decoding: text, as: UTF8.self))'"
        }
    }

    private static func text(of double: Double) throws(WireError) -> String {
        guard double.isFinite else {
            throw WireError(.invalidFilter, "\(double) cannot be represented in a filter")
        }
        // Swift's shortest text that reads back as the same value always has a point or an exponent. The plus sign of
        // `1e+16` is removed, because not every server decodes it in a URL.
        let text = "\(double)"
        return text.utf8.contains(UInt8(ascii: "+")) ? String(text.filter { $0 != "+" }) : text
    }

    /// Returns the text in quotes, with each quote in it doubled. Works on bytes: Swift combines a quote and a
    /// following combining mark into one character, but a server still reads the quote.
    static func quoted(_ text: String) -> String {
        var bytes: [UInt8] = [UInt8(ascii: "'")]
        bytes.reserveCapacity(text.utf8.count + 2)
        for byte in text.utf8 {
            bytes.append(byte)
            if byte == UInt8(ascii: "'") { bytes.append(byte) }
        }
        bytes.append(UInt8(ascii: "'"))
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Returns the value of a literal with a prefix, such as `datetime'2026-11-21'`, or `nil` if the text is invalid.
    static func value(prefix: String, text: String) -> Value?? {
        switch prefix {
        case "datetimeoffset", "datetime": .some(Timestamp(text).map { .timestamp($0) })
        case "guid": .some(ItemID.isUUID(text) ? .string(text) : nil)
        // An enumeration, by its name in the server's model.
        case let name where name.utf8.contains(UInt8(ascii: ".")): .some(.string(text))
        case "binary", "X": .some(bytes(hexadecimal: text).map { .bytes($0) })
        default: .none
        }
    }

    private static func bytes(hexadecimal text: String) -> [UInt8]? {
        let digits = text.utf8.compactMap(\.hexadecimalDigit)
        guard digits.count == text.utf8.count, digits.count.isMultiple(of: 2) else { return nil }
        return stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
    }
}

extension UInt8 {
    /// The value of this ASCII character as a hexadecimal digit, or `nil` if it is not one.
    var hexadecimalDigit: UInt8? {
        switch self {
        case 0x30...0x39: self - 0x30
        case 0x41...0x46: self - 0x41 + 10
        case 0x61...0x66: self - 0x61 + 10
        default: nil
        }
    }
}
