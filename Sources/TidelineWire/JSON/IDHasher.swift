package import TidelineStore

/// Hashes and compares textual ids by their bytes, ASCII case aside where the table ignores it.
///
/// The hash begins with a random number, so that no answer can be made to fill one place of a hash table.
package struct IDHasher: Sendable {
    private let seed = UInt64.random(in: .min ... .max)
    private let ignoresCase: Bool

    package init(matching: IDMatching) { ignoresCase = matching == .asciiCaseInsensitive }

    /// A hash that is the same for ids that are the same.
    ///
    /// Unsafe pointers: eight bytes are loaded where at least eight are left.
    @inline(__always)
    package func hash(_ id: UnsafeRawBufferPointer) -> UInt64 {
        // The bit that tells `A` from `a`. Other bytes that differ in it only share a hash, no more.
        let fold: UInt64 = ignoresCase ? 0x2020_2020_2020_2020 : 0
        var hash = seed ^ UInt64(truncatingIfNeeded: id.count)
        var offset = 0
        while id.count - offset >= 8 {
            hash = Self.mix(hash ^ (id.loadUnaligned(fromByteOffset: offset, as: UInt64.self) | fold))
            offset += 8
        }
        var tail: UInt64 = 0
        while offset < id.count {
            tail = tail << 8 | UInt64(id[offset])
            offset += 1
        }
        return Self.mix(hash ^ (tail | fold))
    }

    /// Whether two ids are the same to the table.
    package func areSame(_ a: some Collection<UInt8>, _ b: some Collection<UInt8>) -> Bool {
        a.count == b.count && zip(a, b).allSatisfy(areSame)
    }

    private func areSame(_ a: UInt8, _ b: UInt8) -> Bool {
        a == b || (ignoresCase && a ^ b == 0x20 && (a | 0x20) &- UInt8(ascii: "a") < 26)
    }

    private static func mix(_ word: UInt64) -> UInt64 {
        let product = word.multipliedFullWidth(by: 0x9E37_79B9_7F4A_7C15)
        return product.high ^ product.low
    }
}
