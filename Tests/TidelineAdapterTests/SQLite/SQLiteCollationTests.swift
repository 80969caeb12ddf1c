import Testing
import TidelineSupport

@testable import TidelineSQLite

/// Tests that ids compare without regard to ASCII case up to their last byte.
@Suite struct SQLiteCollationTests {
    @Test func theOrderIsThatOfTheFoldedBytes() {
        var random = SplitMix64(seed: 7)
        // A small alphabet, so that texts have long common prefixes and differ only in case.
        let alphabet = [UInt8]("aAbB@[`{z\0\u{E9}".utf8)
        for _ in 0..<20_000 {
            let a = text(alphabet, &random)
            var b = text(alphabet, &random)
            if !a.isEmpty, Bool.random(using: &random) { b = a + b }
            #expect(compare(a, b).signum() == expected(a, b), "\(a) \(b)")
        }
    }

    private func text(_ alphabet: [UInt8], _ random: inout SplitMix64) -> [UInt8] {
        (0..<Int.random(in: 0...20, using: &random)).map { _ in
            alphabet[Int.random(in: 0..<alphabet.count, using: &random) / Int.random(in: 1...4, using: &random)]
        }
    }

    private func compare(_ a: [UInt8], _ b: [UInt8]) -> Int32 {
        // One extra byte, so that an empty text has an address; it must not be read.
        (a + [1]).withUnsafeBytes { x in
            (b + [2]).withUnsafeBytes { y in
                FoldingCollation.compare(nil, Int32(a.count), x.baseAddress, Int32(b.count), y.baseAddress)
            }
        }
    }

    private func expected(_ a: [UInt8], _ b: [UInt8]) -> Int32 {
        let (x, y) = (a.map(folded), b.map(folded))
        return x == y ? 0 : x.lexicographicallyPrecedes(y) ? -1 : 1
    }

    private func folded(_ byte: UInt8) -> UInt8 { (0x41...0x5A).contains(byte) ? byte + 0x20 : byte }
}
