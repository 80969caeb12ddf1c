/// Which cases of ASCII letters the ids of rows have.
///
/// Two ids can differ in case only where both cases occur. Nearly all tables have ids of one case, such as UUIDs, and
/// need no further look.
struct IDCases: OptionSet, Sendable {
    let rawValue: UInt8

    static let upper = IDCases(rawValue: 1)
    static let lower = IDCases(rawValue: 2)
    static let both: IDCases = [.upper, .lower]

    /// Adds the cases of an id's letters.
    ///
    /// Unsafe pointers: eight bytes are loaded where at least eight are.
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

    /// Whether one of eight bytes is of `A`–`Z`: at least the first and not beyond the last, and ASCII.
    private static func hasUpper(_ bytes: UInt64) -> Bool {
        let low = bytes & (ones &* 0x7F)
        let fromA = low &+ ones &* (0x80 - 0x41)
        let beyondZ = low &+ ones &* (0x80 - 0x5B)
        return fromA & ~beyondZ & ~bytes & (ones &* 0x80) != 0
    }
}
