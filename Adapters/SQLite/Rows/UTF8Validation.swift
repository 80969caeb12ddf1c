/// Returns whether bytes are well-formed UTF-8, as defined by Table 3-7 of the Unicode Standard.
///
/// Another program may have changed the text in a file, and a string decoded from invalid bytes would differ from them.
@inline(__always)
func isValidUTF8(_ bytes: UnsafeRawBufferPointer) -> Bool { isASCII(bytes) || isWellFormed(bytes) }

/// Returns whether no byte has its highest bit set, as in most text. Checks eight bytes at a time; the last eight may
/// overlap bytes that were already checked.
@inline(__always)
private func isASCII(_ bytes: UnsafeRawBufferPointer) -> Bool {
    var seen: UInt64 = 0
    guard bytes.count >= 8 else {
        for byte in bytes { seen |= UInt64(byte) }
        return seen & 0x80 == 0
    }
    var position = 0
    while position + 8 <= bytes.count {
        seen |= bytes.loadUnaligned(fromByteOffset: position, as: UInt64.self)
        position += 8
    }
    seen |= bytes.loadUnaligned(fromByteOffset: bytes.count - 8, as: UInt64.self)
    return seen & 0x8080_8080_8080_8080 == 0
}

private func isWellFormed(_ bytes: UnsafeRawBufferPointer) -> Bool {
    var position = 0
    while position < bytes.count {
        // Text in most alphabets has runs of ASCII.
        if position + 8 <= bytes.count,
            bytes.loadUnaligned(fromByteOffset: position, as: UInt64.self) & 0x8080_8080_8080_8080 == 0
        {
            position += 8
            continue
        }
        guard let length = scalarLength(bytes, at: position) else { return false }
        position += length
    }
    return true
}

/// Returns the length in bytes of the well-formed scalar at `position`, or `nil` if it is not well-formed.
private func scalarLength(_ bytes: UnsafeRawBufferPointer, at position: Int) -> Int? {
    let first = bytes[position]
    if first < 0x80 { return 1 }
    let (length, second): (Int, ClosedRange<UInt8>)
    switch first {
    case 0xC2...0xDF: (length, second) = (2, 0x80...0xBF)
    case 0xE0: (length, second) = (3, 0xA0...0xBF)
    case 0xED: (length, second) = (3, 0x80...0x9F)
    case 0xE1...0xEF: (length, second) = (3, 0x80...0xBF)
    case 0xF0: (length, second) = (4, 0x90...0xBF)
    case 0xF1...0xF3: (length, second) = (4, 0x80...0xBF)
    case 0xF4: (length, second) = (4, 0x80...0x8F)
    default: return nil
    }
    guard position + length <= bytes.count, second.contains(bytes[position + 1]) else { return nil }
    for index in (position + 2)..<(position + length) where bytes[index] & 0xC0 != 0x80 { return nil }
    return length
}
