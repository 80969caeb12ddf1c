/// Base64 with the standard alphabet (RFC 4648, section 4).
enum Base64 {
    /// Decodes `text`, with or without padding, and appends the result to `bytes`. Returns `false`, with `bytes` in an
    /// unspecified state, if a character, the length or the padding is invalid, or if an unused bit is set. Unused bits
    /// must be zero, so that each content has only one text.
    static func decode(_ text: UnsafeRawBufferPointer, into bytes: inout [UInt8]) -> Bool {
        var end = text.count
        if end % 4 == 0 {
            // Padding is valid only if it completes a group of four characters.
            for _ in 0..<2 where end > 0 && text[end - 1] == UInt8(ascii: "=") { end -= 1 }
        }
        guard end % 4 != 1 else { return false }
        bytes.reserveCapacity(bytes.count + end / 4 * 3 + 2)
        var bits: UInt32 = 0
        var count = 0
        for index in 0..<end {
            guard let sextet = sextet(text[index]) else { return false }
            bits = bits << 6 | UInt32(sextet)
            count += 6
            if count >= 8 {
                count -= 8
                bytes.append(UInt8(truncatingIfNeeded: bits >> UInt32(count)))
            }
        }
        return bits & (1 << UInt32(count) - 1) == 0
    }

    /// Appends the padded base64 text of `content` to `text`.
    static func encode(_ content: UnsafeRawBufferPointer, into text: inout [UInt8]) {
        text.reserveCapacity(text.count + (content.count + 2) / 3 * 4)
        var index = 0
        while index < content.count {
            let rest = content.count - index
            let second = rest > 1 ? UInt32(content[index + 1]) : 0
            let third = rest > 2 ? UInt32(content[index + 2]) : 0
            let bits = UInt32(content[index]) << 16 | second << 8 | third
            text.append(character(bits >> 18))
            text.append(character(bits >> 12))
            text.append(rest > 1 ? character(bits >> 6) : UInt8(ascii: "="))
            text.append(rest > 2 ? character(bits) : UInt8(ascii: "="))
            index += 3
        }
    }

    private static func sextet(_ character: UInt8) -> UInt8? {
        switch character {
        case 0x41...0x5A: character - 0x41
        case 0x61...0x7A: character - 0x61 + 26
        case 0x30...0x39: character - 0x30 + 52
        case UInt8(ascii: "+"): 62
        case UInt8(ascii: "/"): 63
        default: nil
        }
    }

    private static func character(_ bits: UInt32) -> UInt8 {
        let sextet = UInt8(bits & 0x3F)
        switch sextet {
        case 0..<26: return sextet + 0x41
        case 26..<52: return sextet - 26 + 0x61
        case 52..<62: return sextet - 52 + 0x30
        default: return sextet == 62 ? UInt8(ascii: "+") : UInt8(ascii: "/")
        }
    }
}
