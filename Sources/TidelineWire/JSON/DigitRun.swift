/// The decimal digits at the beginning of eight bytes, which are read at once.
struct DigitRun {
    /// The number of digits, from 0 to 8.
    let count: Int
    /// The difference of each byte to the character 0, with the first byte lowest.
    private let digits: UInt64

    /// Finds the digits at the beginning of eight bytes, given in memory order.
    @inline(__always)
    init(_ text: UInt64) {
        digits = UInt64(littleEndian: text) ^ 0x3030_3030_3030_3030
        // The high bit of a byte is set if the byte is greater than nine. Only such a byte can carry into the bytes
        // above it, and only the lowest such byte is used.
        let tooLarge = (digits &+ 0x7676_7676_7676_7676 | digits) & 0x8080_8080_8080_8080
        count = tooLarge.trailingZeroBitCount >> 3
    }

    /// The number that the digits form, or 0 if there are no digits.
    @inline(__always)
    var value: UInt64 {
        // Shift in leading zeros. Then combine neighbors: into pairs, groups of four, and all eight digits.
        var number = digits << UInt64(64 - count * 8)
        number = number &* 10 &+ (number >> 8)
        let pairs: UInt64 = 0x0000_00FF_0000_00FF
        let high = (number & pairs) &* (100 + 1_000_000 << 32)
        let low = (number >> 16 & pairs) &* (1 + 10_000 << 32)
        return (high &+ low) >> 32
    }

    /// Ten to the power of ``count``: the factor for a number to which the digits are appended.
    @inline(__always)
    var scale: UInt64 { Self.powersOfTen[count] }

    /// The powers of ten from 0 to 8.
    static let powersOfTen: [UInt64] = [1, 10, 100, 1000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000]
}
