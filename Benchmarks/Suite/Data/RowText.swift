internal import TidelineSupport

/// Texts of rows, made byte by byte where they stay: a run makes tens of millions.
enum RowText {
    /// Words of letters: what stands in a text does not matter to a store, only how long it is.
    static func words(_ size: Int, _ random: inout SplitMix64) -> String {
        String(unsafeUninitializedCapacity: size) { bytes in
            var word: UInt64 = 0
            for place in 0..<size {
                word = place % 8 == 0 ? random.next() : word >> 8
                let letter = UInt8(truncatingIfNeeded: word & 0x1F)
                bytes[place] = letter < 26 ? UInt8(ascii: "a") + letter : UInt8(ascii: " ")
            }
            return size
        }
    }

    /// A number in decimal, with zeros before it where it has fewer digits.
    static func number(_ number: Int, digits: Int) -> String {
        let text = String(number)
        return text.utf8.count < digits ? String(repeating: "0", count: digits - text.utf8.count) + text : text
    }

    /// A UUID of these 128 bits but those that tell its version and its variant.
    static func uuid(_ high: UInt64, _ low: UInt64, version: UInt64) -> String {
        let high = high & ~0xF000 | version << 12
        let low = low & 0x3FFF_FFFF_FFFF_FFFF | 0x8000_0000_0000_0000
        return String(unsafeUninitializedCapacity: 36) { bytes in
            var place = 0
            for digit in 0..<32 {
                if digit == 8 || digit == 12 || digit == 16 || digit == 20 {
                    bytes[place] = UInt8(ascii: "-")
                    place += 1
                }
                let word = digit < 16 ? high : low
                let nibble = UInt8(truncatingIfNeeded: word >> UInt64(60 - digit % 16 * 4) & 0xF)
                bytes[place] = nibble < 10 ? UInt8(ascii: "0") + nibble : UInt8(ascii: "a") + nibble - 10
                place += 1
            }
            return place
        }
    }
}
