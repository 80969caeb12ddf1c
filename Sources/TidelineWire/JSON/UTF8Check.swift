/// Validates UTF-8 according to table 3-7 of the Unicode standard. Rejects overlong forms, surrogates, and code points
/// above U+10FFFF.
enum UTF8Check {
    /// Returns the length of the multi-byte character at `offset`, which must be within `bytes`, or 0 if it is invalid.
    static func sequenceLength(in bytes: ByteView, at offset: Int) -> Int {
        let (length, second) = expectation(after: bytes[offset])
        guard length > 0, bytes.count - offset >= length, second.contains(bytes[offset + 1]) else { return 0 }
        for index in 2..<max(length, 2) where bytes[offset + index] & 0xC0 != 0x80 { return 0 }
        return length
    }

    /// Returns the length of a character with the given first byte, or 0 if it is invalid, and the range of the second
    /// byte.
    private static func expectation(after first: UInt8) -> (length: Int, second: ClosedRange<UInt8>) {
        switch first {
        case 0xC2...0xDF: (2, 0x80...0xBF)
        case 0xE0: (3, 0xA0...0xBF)
        case 0xED: (3, 0x80...0x9F)
        case 0xE1...0xEF: (3, 0x80...0xBF)
        case 0xF0: (4, 0x90...0xBF)
        case 0xF1...0xF3: (4, 0x80...0xBF)
        case 0xF4: (4, 0x80...0x8F)
        default: (0, 0x80...0xBF)
        }
    }

    /// Whether `bytes` are valid UTF-8.
    static func isValid(_ bytes: UnsafeRawBufferPointer) -> Bool {
        let bytes = ByteView(bytes)
        var offset = 0
        while offset < bytes.count {
            if bytes[offset] < 0x80 {
                offset += 1
                continue
            }
            let length = sequenceLength(in: bytes, at: offset)
            guard length > 0 else { return false }
            offset += length
        }
        return true
    }
}
