/// A hash function for in-memory tables of keys, with a random seed per process, so that colliding keys cannot be
/// chosen in advance.
///
/// The standard library's hasher takes five times as long, which would slow down every row that is written.
package enum KeyHash {
    private static let seed = UInt64(truncatingIfNeeded: Hasher().finalize())

    /// Returns the hash of a key.
    ///
    /// Unsafe pointers: every load is within the key. All bytes are read, some of them twice.
    package static func of(_ key: UnsafeRawBufferPointer) -> UInt64 {
        var hash = mix(seed ^ UInt64(key.count), 0x9E37_79B9_7F4A_7C15)
        guard key.count >= 8 else {
            for index in key.indices { hash = unsafe mix(hash ^ UInt64(key[index]), 0xD6E8_FEB8_6659_FD93) }
            return hash
        }
        let last = key.count &- 8
        var offset = 0
        while offset < last {
            hash = unsafe mix(hash ^ key.loadUnaligned(fromByteOffset: offset, as: UInt64.self), 0xD6E8_FEB8_6659_FD93)
            offset &+= 8
        }
        return unsafe mix(hash ^ key.loadUnaligned(fromByteOffset: last, as: UInt64.self), 0xA076_1D64_78BD_642F)
    }

    /// Combines both halves of a product, so that each bit depends on all bits of the number.
    @inline(__always)
    private static func mix(_ number: UInt64, _ factor: UInt64) -> UInt64 {
        let (high, low) = number.multipliedFullWidth(by: factor)
        return high ^ low
    }
}
