internal import TidelineKeyValue

/// The keys that may be there, of the key spaces that were seen empty: so that the first pull into a table, which asks for
/// every row whether it is new, does not ask LevelDB.
///
/// Every key that is stored must be noted before it can be read; what is noted and then not stored, or removed again, costs
/// a look-up in vain. A space that was not empty when it was first asked for is nothing known of.
///
/// `@unchecked Sendable`: it is used within writes only, of which the engine has one at a time.
final class KnownKeys: @unchecked Sendable {
    private struct Space {
        let number: UInt32
        /// Nil where nothing is known.
        var filter: KeyFilter?
    }

    /// The space asked for last comes first. Unchecked: nothing that is called while it is changed comes back to it.
    @exclusivity(unchecked)
    private var spaces: [Space] = []

    /// Whether there certainly is no such key.
    ///
    /// - Parameter isEmpty: Whether no key begins with those of a space; asked once for each.
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

    /// Notes a key that is about to be stored.
    ///
    /// - Parameter hash: Its ``KeyHash``.
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

/// A set of hashes that may say of one in a hundred that it has it when it does not, in two bytes for each.
///
/// Each part is a Bloom filter in which a hash sets four bits of one word. A part is full when it has one hash for 16 bits;
/// then another is begun that is four times as large.
struct KeyFilter: Sendable {
    private static let firstWordCount = 1 << 10
    /// Beyond eight million bytes, a filter takes more memory than it is worth.
    private static let lastWordCount = 1 << 20

    private var parts: [[UInt64]] = [Array(repeating: 0, count: KeyFilter.firstWordCount)]
    /// How many hashes the last part can still take.
    private var room = KeyFilter.firstWordCount * 4

    /// Whether a hash was certainly not inserted.
    func lacks(_ hash: UInt64) -> Bool {
        let bits = Self.bits(of: hash)
        for part in parts where part[Self.word(of: hash, in: part)] & bits == bits { return false }
        return true
    }

    /// - Returns: Whether there was room for it; if not, the set is of no use any more.
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

    /// By bits of the hash that the bits in the word do not depend on; the number of words is a power of two.
    private static func word(of hash: UInt64, in part: [UInt64]) -> Int {
        Int(truncatingIfNeeded: hash >> 24) & (part.count - 1)
    }
}
