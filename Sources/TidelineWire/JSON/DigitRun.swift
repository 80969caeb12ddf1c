/// The decimal digits at the beginning of eight bytes, read at once.
struct DigitRun {
    /// How many there are, 0 to 8.
    let count: Int
    /// What each byte is above the character 0, the first byte lowest.
    private let digits: UInt64

    /// The digits at the beginning of eight bytes as they lie in memory.
    @inline(__always)
    init(_ text: UInt64) {
        digits = UInt64(littleEndian: text) ^ 0x3030_3030_3030_3030
        // The high bit of a byte says that it is past nine. Only a byte that is can carry into those above it, and the
        // lowest such byte is all that counts.
        let tooLarge = (digits &+ 0x7676_7676_7676_7676 | digits) & 0x8080_8080_8080_8080
        count = tooLarge.trailingZeroBitCount >> 3
    }

    /// The number that they make; 0 without any.
    @inline(__always)
    var value: UInt64 {
        // As if zeros came before them. Then neighbours are put together: to pairs, to fours, to eight.
        var number = digits << UInt64(64 - count * 8)
        number = number &* 10 &+ (number >> 8)
        let pairs: UInt64 = 0x0000_00FF_0000_00FF
        let high = (number & pairs) &* (100 + 1_000_000 << 32)
        let low = (number >> 16 & pairs) &* (1 + 10_000 << 32)
        return (high &+ low) >> 32
    }

    /// Ten to the power of ``count``: by how much a number grows to which they are appended.
    @inline(__always)
    var scale: UInt64 { Self.powersOfTen[count] }

    /// Ten to the powers from 0 to 8.
    static let powersOfTen: [UInt64] = [1, 10, 100, 1000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000]
}
