internal import TidelineStore

/// How keys stand in an engine whose keys end at some length.
///
/// A key of up to ``shortLength`` bytes stands as it is. A longer one is stored as its first ``shortLength`` bytes, a hash
/// of the whole and a number that tells keys of one hash apart, and its value begins with the whole key:
///
/// | stored key | stored value |
/// |---|---|
/// | the first `maximum - 10` bytes, hash (8), number (2, big-endian) | length of the whole key (4, little-endian), the whole key, the value |
///
/// So long keys come in order of what they begin with, and only those that begin alike have to be sorted when they are
/// read.
struct LongKey: Sendable {
    static let tailLength = 10
    /// The least that an engine's greatest length of a key may be.
    static let leastMaximum = 128

    /// The length up to which keys stand as they are; `Int.max` when there is no limit.
    let shortLength: Int
    private let hash: @Sendable (UnsafeRawBufferPointer) -> UInt64

    /// - Parameters:
    ///   - maximum: The greatest length of a key in the engine.
    ///   - hash: A hash that never changes, as it belongs to the format.
    init(maximum: Int, hash: @escaping @Sendable (UnsafeRawBufferPointer) -> UInt64 = LongKey.hash) {
        shortLength = maximum == .max ? .max : maximum - Self.tailLength
        self.hash = hash
    }

    /// Whether a key as it is stored stands for a longer one.
    func isLong(_ stored: UnsafeRawBufferPointer) -> Bool { stored.count > shortLength }

    /// What the stored keys of a long key begin with: all but the number.
    func stem(of key: UnsafeRawBufferPointer) -> [UInt8] {
        var stem = Array(key.prefix(shortLength))
        withUnsafeBytes(of: hash(key).bigEndian) { stem.append(contentsOf: $0) }
        return stem
    }

    /// The whole key and the value of an entry.
    ///
    /// - Parameters:
    ///   - stored: The key as it is stored, which is a long one's.
    ///   - content: What is stored under it.
    /// - Throws: ``StoreError/Code/corrupt`` when the two do not belong together.
    func parts(
        of stored: UnsafeRawBufferPointer, _ content: UnsafeRawBufferPointer
    ) throws(StoreError) -> (key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer) {
        let start = MemoryLayout<UInt32>.size
        guard content.count >= start else { throw Self.damaged }
        let count = Int(UInt32(littleEndian: content.loadUnaligned(as: UInt32.self)))
        guard count > shortLength, content.count - start >= count else { throw Self.damaged }
        let key = UnsafeRawBufferPointer(rebasing: content[start..<(start + count)])
        guard stored.count == shortLength + Self.tailLength, stored.compare(key, first: shortLength) == 0,
            UInt64(bigEndian: stored.loadUnaligned(fromByteOffset: shortLength, as: UInt64.self)) == hash(key)
        else { throw Self.damaged }
        return (key, UnsafeRawBufferPointer(rebasing: content[(start + count)...]))
    }

    /// What is stored for a long key.
    static func stored(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(MemoryLayout<UInt32>.size + key.count + value.count)
        withUnsafeBytes(of: UInt32(key.count).littleEndian) { bytes.append(contentsOf: $0) }
        bytes.append(contentsOf: key)
        bytes.append(contentsOf: value)
        return bytes
    }

    private static var damaged: StoreError { StoreError(.corrupt, "the entry of a long key is damaged") }

    /// FNV-1a with 64 bits.
    static func hash(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        return hash
    }
}

extension UnsafeRawBufferPointer {
    /// As ``compare(_:)``, of so many bytes at most.
    func compare(_ other: UnsafeRawBufferPointer, first count: Int) -> Int {
        UnsafeRawBufferPointer(rebasing: prefix(count)).compare(UnsafeRawBufferPointer(rebasing: other.prefix(count)))
    }
}
