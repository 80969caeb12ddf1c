/// Text that JSON does not change: ASCII except the quote, the backslash and control characters.
enum PlainText {
    /// Returns the offset of the first byte at or after `offset` that is not plain text, or the number of bytes.
    ///
    /// Unsafe pointers: each load follows a check that enough bytes are left.
    @inline(__always)
    static func end(in bytes: ByteView, from offset: Int) -> Int {
        var offset = offset
        while bytes.count &- offset >= 16 {
            let foreign = foreign(in: bytes.loadUnaligned(fromByteOffset: offset, as: SIMD2<UInt64>.self))
            if foreign[0] != 0 { return offset &+ foreign[0].trailingZeroBitCount >> 3 }
            if foreign[1] != 0 { return offset &+ 8 &+ foreign[1].trailingZeroBitCount >> 3 }
            offset &+= 16
        }
        if bytes.count &- offset >= 8 {
            let foreign = foreign(in: SIMD2(bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self), 0))
            if foreign[0] != 0 { return offset &+ foreign[0].trailingZeroBitCount >> 3 }
            offset &+= 8
        }
        while offset < bytes.count, isPlain(bytes[offset]) { offset += 1 }
        return offset
    }

    /// Returns words in which the high bit of a byte is set if the byte is not plain text. Only the lowest such byte of
    /// each word is reliable.
    ///
    /// For an ASCII byte, no sum exceeds eight bits, and it sets the high bit unless the byte is the quote, the
    /// backslash or a control character. Any other byte has the high bit set already, and a carry from its sums affects
    /// only higher bytes. Two words are processed at once, because comparisons of byte vectors are compiled to a loop
    /// over the bytes.
    @inline(__always)
    private static func foreign(in text: SIMD2<UInt64>) -> SIMD2<UInt64> {
        let ones = SIMD2<UInt64>(repeating: 0x0101_0101_0101_0101)
        let words = SIMD2(UInt64(littleEndian: text[0]), UInt64(littleEndian: text[1]))
        let isNoQuote = (words ^ (ones &* 0x22)) &+ ones &* 0x7F
        let isNoBackslash = (words ^ (ones &* 0x5C)) &+ ones &* 0x7F
        let isNoControl = words &+ ones &* 0x60
        return ~(isNoQuote & isNoBackslash & isNoControl & ~words) & (ones &* 0x80)
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        byte >= 0x20 && byte < 0x80 && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\")
    }
}
