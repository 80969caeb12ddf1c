/// The number stored after every value, which detects damage to the value, to its key, or to their position.
///
/// Each step mixes the next eight bytes into a 64-bit state and is a bijection of both. Two inputs of equal length that
/// differ in only one word, for example by a flipped bit, therefore never lead to the same state. Folding the state to
/// 32 bits misses one in 4 billion such differences. It does not protect against intentional changes. The checksum is
/// part of the file format.
enum Checksum {
    /// The number of bytes that the checksum takes after a value.
    static var size: Int { 4 }

    /// Returns the checksum of a value under a key.
    static func of(key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer) -> UInt32 {
        var state = UInt64(truncatingIfNeeded: key.count) &* 0x9E37_79B9_7F4A_7C15 ^ UInt64(value.count)
        absorb(key, into: &state)
        absorb(value, into: &state)
        state ^= state >> 29
        state &*= 0xBF58_476D_1CE4_E5B9
        return UInt32(truncatingIfNeeded: state ^ state >> 32)
    }

    /// Returns whether the last four bytes of `stored` are the checksum of the bytes before them.
    static func matches(key: UnsafeRawBufferPointer, stored: UnsafeRawBufferPointer) -> Bool {
        guard stored.count >= size else { return false }
        let value = UnsafeRawBufferPointer(rebasing: stored.dropLast(size))
        return stored.loadUnaligned(fromByteOffset: value.count, as: UInt32.self)
            == of(key: key, value: value).littleEndian
    }

    private static func absorb(_ bytes: UnsafeRawBufferPointer, into state: inout UInt64) {
        var offset = 0
        while offset &+ 8 <= bytes.count {
            mix(bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self).littleEndian, into: &state)
            offset &+= 8
        }
        guard offset < bytes.count else { return }
        guard offset == 0 else {
            // The remaining bytes as a big-endian number: the low bits of the last eight bytes.
            let last = UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: bytes.count &- 8, as: UInt64.self))
            mix(last & (1 &<< UInt64(8 &* (bytes.count &- offset)) &- 1), into: &state)
            return
        }
        mix(bytes.reduce(0) { $0 << 8 | UInt64($1) }, into: &state)
    }

    private static func mix(_ word: UInt64, into state: inout UInt64) {
        state = (state ^ word) &* 0x9FB2_1C65_1E98_DF25
        state ^= state >> 32
    }
}
