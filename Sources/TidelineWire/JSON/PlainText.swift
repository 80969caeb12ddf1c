/// The part of a text that is the same in JSON and outside: ASCII but for the quote, the backslash and the controls.
enum PlainText {
    /// The offset, from `offset` on, of the first byte of `bytes` that is none of those, or the number of bytes.
    ///
    /// Unsafe pointers: before a load of so many bytes comes the test that so many are left.
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

    /// Words in which the high bit of a byte says that the byte is not plain, each up to its lowest such byte.
    ///
    /// For a byte of ASCII no sum leaves its eight bits: it reaches the high bit unless the byte is the quote, the
    /// backslash or a control. Any other byte has the high bit itself; what its sums carry over only harms bytes above.
    /// Two words at once, as the comparisons of vectors of bytes are compiled to a loop over the bytes.
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
