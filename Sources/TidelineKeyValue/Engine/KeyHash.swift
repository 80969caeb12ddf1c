/// A hash of keys for tables in memory: seeded anew in each process, so that nobody can choose keys that collide.
///
/// A hasher of the standard library takes five times as long, which every row that is written would feel.
package enum KeyHash {
    private static let seed = UInt64(truncatingIfNeeded: Hasher().finalize())

    /// The hash of a key.
    ///
    /// Unsafe pointers: every load lies within the key, of which all bytes are read, some of them twice.
    package static func of(_ key: UnsafeRawBufferPointer) -> UInt64 {
        var hash = mix(seed ^ UInt64(key.count), 0x9E37_79B9_7F4A_7C15)
        guard key.count >= 8 else {
            for byte in key { hash = mix(hash ^ UInt64(byte), 0xD6E8_FEB8_6659_FD93) }
            return hash
        }
        let last = key.count &- 8
        var offset = 0
        while offset < last {
            hash = mix(hash ^ key.loadUnaligned(fromByteOffset: offset, as: UInt64.self), 0xD6E8_FEB8_6659_FD93)
            offset &+= 8
        }
        return mix(hash ^ key.loadUnaligned(fromByteOffset: last, as: UInt64.self), 0xA076_1D64_78BD_642F)
    }

    /// Both halves of a product, of which each bit depends on all bits of the number.
    @inline(__always)
    private static func mix(_ number: UInt64, _ factor: UInt64) -> UInt64 {
        let (high, low) = number.multipliedFullWidth(by: factor)
        return high ^ low
    }
}
