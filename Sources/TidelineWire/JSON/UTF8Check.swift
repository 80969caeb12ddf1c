/// Which bytes are UTF-8: table 3-7 of the Unicode standard, so that overlong forms, surrogates and what is past
/// U+10FFFF are refused.
enum UTF8Check {
    /// The length of the character of more than one byte at `offset`, which lies within `bytes`; 0 when there is none.
    static func sequenceLength(in bytes: ByteView, at offset: Int) -> Int {
        let (length, second) = expectation(after: bytes[offset])
        guard length > 0, bytes.count - offset >= length, second.contains(bytes[offset + 1]) else { return 0 }
        for index in 2..<max(length, 2) where bytes[offset + index] & 0xC0 != 0x80 { return 0 }
        return length
    }

    /// The number of bytes of a character with this first byte, 0 if there is none, and what its second byte may be.
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

    /// Whether all of `bytes` is UTF-8.
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
