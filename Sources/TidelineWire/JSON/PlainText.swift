/// The part of a text that is the same in JSON and outside: ASCII but for the quote, the backslash and the controls.
enum PlainText {
    /// The offset, from `offset` on, of the first byte of `bytes` that is none of those, or the number of bytes.
    ///
    /// Unsafe pointers: a load of eight bytes is preceded by the test that eight are left, one of a byte by the test
    /// that one is.
    @inline(__always)
    static func end(in bytes: UnsafeRawBufferPointer, from offset: Int) -> Int {
        var offset = offset
        // Eight bytes at once: the high bit of a byte is set in `found` when it is not plain. A borrow can set one
        // wrongly only above another that is set rightly, and only the lowest counts.
        let ones: UInt64 = 0x0101_0101_0101_0101
        let highs: UInt64 = 0x8080_8080_8080_8080
        while bytes.count - offset >= 8 {
            let word = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
            let quotes = word ^ (ones &* 0x22)
            let slashes = word ^ (ones &* 0x5C)
            let controls = (word &- ones &* 0x20) & ~word
            let found = ((quotes &- ones) & ~quotes | (slashes &- ones) & ~slashes | controls | word) & highs
            if found != 0 { return offset + (found.trailingZeroBitCount >> 3) }
            offset += 8
        }
        while offset < bytes.count, isPlain(bytes[offset]) { offset += 1 }
        return offset
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        byte >= 0x20 && byte < 0x80 && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\")
    }
}
