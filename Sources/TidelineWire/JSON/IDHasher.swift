package import TidelineStore

/// Hashes and compares textual ids by their bytes, ignoring ASCII case if the table does.
///
/// The hash has a random seed per process, so that a response cannot be constructed to cause hash collisions. Measured
/// processes have the same seed, that of the standard library.
package struct IDHasher: Sendable {
    private let seed = UInt64(truncatingIfNeeded: Hasher().finalize())
    private let ignoresCase: Bool

    package init(matching: TableSchema.IDMatching) { ignoresCase = matching == .asciiCaseInsensitive }

    /// Returns a hash that is equal for equal ids.
    ///
    /// Unsafe pointers: eight bytes are loaded only if at least eight bytes are left.
    @inline(__always)
    package func hash(_ id: UnsafeRawBufferPointer) -> UInt64 {
        // The bit that distinguishes `A` from `a`. Other bytes that differ only in this bit merely have the same hash.
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

    /// Whether two ids are equal in the table.
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
