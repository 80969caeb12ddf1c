extension Sequence<UInt8> {
    /// The 64-bit FNV-1a hash of the bytes. Unlike Swift's hashes, it is the same in every process; it is part of
    /// stored formats, and must never change.
    @inlinable
    package var stableHash: UInt64 {
        reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
    }
}
