/// Takes numbers and byte strings from the front of bytes; every one is nil when the bytes end within it.
struct VarintReader {
    private var bytes: ArraySlice<UInt8>

    init(_ bytes: some Sequence<UInt8>) { self.bytes = ArraySlice(bytes) }

    var isAtEnd: Bool { bytes.isEmpty }

    /// A number of seven bits a byte, the lowest first, at most 64 bits.
    mutating func number() -> UInt64? {
        var value: UInt64 = 0
        for shift in stride(from: UInt64(0), to: 64, by: 7) {
            guard let byte = bytes.popFirst() else { return nil }
            value |= UInt64(byte & 0x7F) << shift
            if byte < 0x80 { return value }
        }
        return nil
    }

    /// A length and so many bytes.
    mutating func string() -> ArraySlice<UInt8>? {
        guard let length = number(), length <= UInt64(bytes.count) else { return nil }
        defer { bytes = bytes.dropFirst(Int(length)) }
        return bytes.prefix(Int(length))
    }
}
