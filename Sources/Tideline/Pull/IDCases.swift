/// The cases of the ASCII letters in the identifiers of rows.
///
/// Two identifiers can differ only in case if both cases occur. Nearly all tables have identifiers of one case, such as
/// UUIDs, and need no further check.
struct IDCases: OptionSet, Sendable {
    let rawValue: UInt8

    static let upper = IDCases(rawValue: 1)
    static let lower = IDCases(rawValue: 2)
    static let both: IDCases = [.upper, .lower]

    /// Adds the cases of an identifier's letters.
    ///
    /// The pointer access is safe: eight bytes are loaded only if at least eight remain.
    mutating func note(_ id: UnsafeRawBufferPointer) {
        guard self != .both else { return }
        guard id.count >= 8 else {
            for byte in id { note(UInt64(byte)) }
            return
        }
        for offset in stride(from: 0, to: id.count - 8, by: 8) {
            note(id.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
        }
        note(id.loadUnaligned(fromByteOffset: id.count - 8, as: UInt64.self))
    }

    private mutating func note(_ bytes: UInt64) {
        if Self.hasUpper(bytes) { insert(.upper) }
        if Self.hasUpper(bytes ^ Self.ones &* 0x20) { insert(.lower) }
    }

    private static let ones: UInt64 = 0x0101_0101_0101_0101

    /// Returns whether one of eight bytes is an ASCII letter from `A` to `Z`.
    private static func hasUpper(_ bytes: UInt64) -> Bool {
        let low = bytes & (ones &* 0x7F)
        let fromA = low &+ ones &* (0x80 - 0x41)
        let beyondZ = low &+ ones &* (0x80 - 0x5B)
        return fromA & ~beyondZ & ~bytes & (ones &* 0x80) != 0
    }
}
