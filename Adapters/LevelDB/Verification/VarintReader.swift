/// Reads numbers and byte strings from the start of a sequence of bytes. Each read returns `nil` if too few bytes are
/// left.
struct VarintReader {
    private var bytes: ArraySlice<UInt8>

    init(_ bytes: some Sequence<UInt8>) { self.bytes = ArraySlice(bytes) }

    var isAtEnd: Bool { bytes.isEmpty }

    /// Reads a number of at most 64 bits, stored in groups of seven bits per byte, the lowest first.
    mutating func number() -> UInt64? {
        var value: UInt64 = 0
        for shift in stride(from: UInt64(0), to: 64, by: 7) {
            guard let byte = bytes.popFirst() else { return nil }
            value |= UInt64(byte & 0x7F) << shift
            if byte < 0x80 { return value }
        }
        return nil
    }

    /// Reads a length and as many bytes.
    mutating func string() -> ArraySlice<UInt8>? {
        guard let length = number(), length <= UInt64(bytes.count) else { return nil }
        defer { bytes = bytes.dropFirst(Int(length)) }
        return bytes.prefix(Int(length))
    }
}
