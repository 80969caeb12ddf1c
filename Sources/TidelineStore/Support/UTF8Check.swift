/// Validates UTF-8 according to table 3-7 of the Unicode standard. Rejects overlong forms, surrogates, and code points
/// above U+10FFFF.
@usableFromInline
package enum UTF8Check {
    /// Returns whether `bytes` are valid UTF-8.
    @inlinable
    @inline(__always)
    package static func isValid(_ bytes: UnsafeRawBufferPointer) -> Bool {
        unsafe isASCII(bytes) || isWellFormed(bytes)
    }

    /// Returns whether no byte has its highest bit set, as in most text. Checks eight bytes at a time; the last eight
    /// may overlap bytes that were already checked.
    @inlinable
    @inline(__always)
    static func isASCII(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var seen: UInt64 = 0
        guard bytes.count >= 8 else {
            for position in bytes.indices { seen |= unsafe UInt64(bytes[position]) }
            return seen & 0x80 == 0
        }
        var position = 0
        while position + 8 <= bytes.count {
            seen |= unsafe bytes.loadUnaligned(fromByteOffset: position, as: UInt64.self)
            position += 8
        }
        seen |= unsafe bytes.loadUnaligned(fromByteOffset: bytes.count - 8, as: UInt64.self)
        return seen & 0x8080_8080_8080_8080 == 0
    }

    @usableFromInline
    static func isWellFormed(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard let start = bytes.baseAddress else { return true }
        var position = 0
        while position < bytes.count {
            // Text in most alphabets has runs of ASCII.
            if position + 8 <= bytes.count,
                unsafe bytes.loadUnaligned(fromByteOffset: position, as: UInt64.self) & 0x8080_8080_8080_8080 == 0
            {
                position += 8
                continue
            }
            let length =
                unsafe bytes[position] < 0x80
                ? 1 : sequenceLength(at: start + position, count: bytes.count - position)
            guard length > 0 else { return false }
            position += length
        }
        return true
    }

    /// Returns the length of the multi-byte character at the start of `count` bytes, or 0 if it is invalid. There must
    /// be at least one byte.
    @inlinable
    package static func sequenceLength(at start: UnsafeRawPointer, count: Int) -> Int {
        let (length, second): (Int, ClosedRange<UInt8>)
        switch unsafe start.load(as: UInt8.self) {
        case 0xC2...0xDF: (length, second) = (2, 0x80...0xBF)
        case 0xE0: (length, second) = (3, 0xA0...0xBF)
        case 0xED: (length, second) = (3, 0x80...0x9F)
        case 0xE1...0xEF: (length, second) = (3, 0x80...0xBF)
        case 0xF0: (length, second) = (4, 0x90...0xBF)
        case 0xF1...0xF3: (length, second) = (4, 0x80...0xBF)
        case 0xF4: (length, second) = (4, 0x80...0x8F)
        default: return 0
        }
        guard count >= length, second.contains(unsafe start.load(fromByteOffset: 1, as: UInt8.self)) else { return 0 }
        for offset in 2..<length where unsafe start.load(fromByteOffset: offset, as: UInt8.self) & 0xC0 != 0x80 {
            return 0
        }
        return length
    }
}
