internal import TidelineKeyValue

/// The keys that may exist in key spaces that were empty when first used. With it, the first pull into a table, which
/// checks for every row whether it is new, does not have to query LevelDB.
///
/// Every key must be recorded before it is stored. A recorded key that is not stored, or is deleted again, costs only
/// an unnecessary lookup. Nothing is recorded about a space that was not empty when it was first used.
///
/// `@unchecked Sendable`: it is used only within writes, of which the engine runs one at a time.
final class KnownKeys: @unchecked Sendable {
    private struct Space {
        let number: UInt32
        /// `nil` if the keys of the space are not known.
        var filter: KeyFilter?
    }

    /// The key spaces, the most recently used first. Exclusivity is unchecked because no access overlaps another.
    @exclusivity(unchecked)
    private var spaces: [Space] = []

    /// Returns whether a key certainly does not exist.
    ///
    /// - Parameter isEmpty: Returns whether no key begins with the four bytes of a space; called once for each space.
    func lack(_ key: UnsafeRawBufferPointer, isEmpty: (_ space: UnsafeRawBufferPointer) -> Bool) -> Bool {
        guard let number = Self.space(of: key) else { return false }
        if spaces.first?.number != number {
            if let index = spaces.firstIndex(where: { $0.number == number }) {
                spaces.swapAt(0, index)
            } else {
                let isEmpty = isEmpty(UnsafeRawBufferPointer(rebasing: key[..<4]))
                spaces.insert(Space(number: number, filter: isEmpty ? KeyFilter() : nil), at: 0)
            }
        }
        return spaces[0].filter?.lacks(KeyHash.of(key)) ?? false
    }

    /// Records a key that is about to be stored.
    ///
    /// - Parameter hash: The ``KeyHash`` of the key.
    func note(_ key: UnsafeRawBufferPointer, hash: UInt64) {
        guard let number = Self.space(of: key) else { return }
        for index in spaces.indices where spaces[index].number == number {
            if spaces[index].filter?.insert(hash) == false { spaces[index].filter = nil }
            return
        }
    }

    private static func space(of key: UnsafeRawBufferPointer) -> UInt32? {
        key.count >= 4 ? key.loadUnaligned(as: UInt32.self) : nil
    }
}

/// A set of hashes with a false-positive rate of one percent, which takes two bytes for each hash.
///
/// Each part is a Bloom filter in which a hash sets four bits of one word. A part is full when it has one hash for
/// every 16 bits; the next part is four times as large.
struct KeyFilter: Sendable {
    private static let firstWordCount = 1 << 10
    /// The maximum size of a part, eight million bytes; a larger filter uses more memory than it is worth.
    private static let lastWordCount = 1 << 20

    private var parts: [[UInt64]] = [Array(repeating: 0, count: KeyFilter.firstWordCount)]
    /// The number of hashes that the last part can still take.
    private var room = KeyFilter.firstWordCount * 4

    /// Returns whether a hash was certainly not inserted.
    func lacks(_ hash: UInt64) -> Bool {
        let bits = Self.bits(of: hash)
        for part in parts where part[Self.word(of: hash, in: part)] & bits == bits { return false }
        return true
    }

    /// - Returns: Whether there was space for the hash; if not, the set can no longer be used.
    mutating func insert(_ hash: UInt64) -> Bool {
        if room == 0 {
            let count = parts[parts.count - 1].count * 4
            guard count <= Self.lastWordCount else { return false }
            parts.append(Array(repeating: 0, count: count))
            room = count * 4
        }
        room -= 1
        let last = parts.count - 1
        parts[last][Self.word(of: hash, in: parts[last])] |= Self.bits(of: hash)
        return true
    }

    private static func bits(of hash: UInt64) -> UInt64 {
        1 << (hash & 63) | 1 << (hash >> 6 & 63) | 1 << (hash >> 12 & 63) | 1 << (hash >> 18 & 63)
    }

    /// Returns the index of a hash's word, from bits of the hash that do not select the bits in the word. The number of
    /// words is a power of two.
    private static func word(of hash: UInt64, in part: [UInt64]) -> Int {
        Int(truncatingIfNeeded: hash >> 24) & (part.count - 1)
    }
}
