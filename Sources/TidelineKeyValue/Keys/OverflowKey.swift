internal import TidelineStore

/// The representation of overflow keys, which exceed the engine's maximum key length.
///
/// A key of up to ``shortLength`` bytes is stored unchanged. The stored form of a longer key is its first
/// ``shortLength`` bytes, a hash of the whole key, and a number that distinguishes keys with the same hash. Its value
/// begins with the whole key:
///
/// | stored key | stored value |
/// |---|---|
/// | the first `maximum - 10` bytes, hash (8), number (2, big-endian) | length of the whole key (4, little-endian), the
/// whole key, the value |
///
/// Overflow keys are therefore in order of their prefix, and only those with the same prefix have to be sorted when
/// they are read.
@safe
struct OverflowKey: Sendable {
    static let tailLength = 10
    /// The smallest maximum key length that an engine may have.
    static let leastMaximum = 128

    /// The length up to which keys are stored unchanged, or `Int.max` if there is no limit.
    let shortLength: Int
    private let hash: @Sendable (UnsafeRawBufferPointer) -> UInt64

    /// Creates the representation for an engine.
    ///
    /// - Parameters:
    ///   - maximum: The engine's maximum key length.
    ///   - hash: The hash function, which is part of the format and must never change.
    init(maximum: Int, hash: @escaping @Sendable (UnsafeRawBufferPointer) -> UInt64 = unsafe OverflowKey.hash) {
        shortLength = maximum == .max ? .max : maximum - Self.tailLength
        unsafe self.hash = hash
    }

    /// Whether a stored key represents an overflow key.
    func isLong(_ stored: UnsafeRawBufferPointer) -> Bool { stored.count > shortLength }

    /// Returns the common prefix of the stored forms of an overflow key: everything except the number.
    func hashedPrefix(of key: UnsafeRawBufferPointer) -> [UInt8] {
        var hashedPrefix = unsafe Array(key.prefix(shortLength))
        unsafe withUnsafeBytes(of: hash(key).bigEndian) { unsafe hashedPrefix.append(contentsOf: $0) }
        return hashedPrefix
    }

    /// Decodes the whole key and the value of an entry.
    ///
    /// - Parameters:
    ///   - stored: The stored form of an overflow key.
    ///   - content: The stored value.
    /// - Throws: ``StoreError/Code/corrupt`` if the two are inconsistent.
    func parts(
        of stored: UnsafeRawBufferPointer, _ content: UnsafeRawBufferPointer
    ) throws(StoreError) -> (key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer) {
        let start = MemoryLayout<UInt32>.size
        guard content.count >= start else { throw Self.damaged }
        let count = unsafe Int(clamping: UInt32(littleEndian: content.loadUnaligned(as: UInt32.self)))
        guard count > shortLength, content.count - start >= count else { throw Self.damaged }
        let key = unsafe UnsafeRawBufferPointer(rebasing: content[start..<(start + count)])
        guard stored.count == shortLength + Self.tailLength, unsafe stored.compare(key, first: shortLength) == 0,
            unsafe UInt64(bigEndian: stored.loadUnaligned(fromByteOffset: shortLength, as: UInt64.self)) == hash(key)
        else { throw Self.damaged }
        return unsafe (key, UnsafeRawBufferPointer(rebasing: content[(start + count)...]))
    }

    /// Returns the stored value for an overflow key.
    static func stored(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(MemoryLayout<UInt32>.size + key.count + value.count)
        unsafe withUnsafeBytes(of: UInt32(key.count).littleEndian) { unsafe bytes.append(contentsOf: $0) }
        unsafe bytes.append(contentsOf: key)
        unsafe bytes.append(contentsOf: value)
        return bytes
    }

    private static var damaged: StoreError { StoreError(.corrupt, "the entry of an overflow key is damaged") }

    /// Returns the 64-bit FNV-1a hash.
    static func hash(_ bytes: UnsafeRawBufferPointer) -> UInt64 { unsafe bytes.stableHash }
}

extension UnsafeRawBufferPointer {
    /// Compares at most the first `count` bytes, as ``compare(_:)`` does.
    func compare(_ other: UnsafeRawBufferPointer, first count: Int) -> Int {
        unsafe UnsafeRawBufferPointer(rebasing: prefix(count)).compare(
            UnsafeRawBufferPointer(rebasing: other.prefix(count)))
    }
}
