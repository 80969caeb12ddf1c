internal import TidelineKeyValue

/// The keys that a write knows without a lookup in LevelDB, which takes more than twice as long as a change.
///
/// - **Absent keys**: the cache knows the keys that may exist in key spaces that were empty when first used. The first
///   pull into a table, which checks for every row whether it is new, therefore does not have to query LevelDB. Every
///   key must be recorded before it is stored. A recorded key that is not stored, or is deleted again, costs only an
///   unnecessary lookup. Nothing is recorded about a space that was not empty when it was first used.
/// - **Existing keys**: those that a transaction found and remembered; see ``LevelDBTransaction/remember(_:)``. A key
///   is forgotten before it is deleted, and all keys are forgotten when a transaction is rolled back.
///
/// `@unchecked Sendable`: it is used only within writes, of which the engine runs one at a time.
final class LookupCache: @unchecked Sendable {
    private struct Space {
        let number: UInt32
        /// `nil` if the keys of the space are not known.
        var filter: KeyFilter?
    }

    /// The key spaces, the most recently used first. Exclusivity is unchecked because no access overlaps another.
    @exclusivity(unchecked)
    private var spaces: [Space] = []
    /// The keys that exist. Unchecked for the same reason.
    @exclusivity(unchecked)
    private var existing = OverlayChanges()
    /// The size of `existing` in bytes above which it is full.
    private let maximumSize: Int
    /// The number of keys that were not remembered because `existing` was full, less the number of later lookups that
    /// it saved.
    private var missed = 0

    init(maximumSize: Int = 12 << 20) { self.maximumSize = maximumSize }

    // MARK: Absent keys

    /// Returns whether a key certainly does not exist.
    ///
    /// - Parameter isEmpty: Returns whether no key begins with the four bytes of a space; called once for each space.
    func lacks(_ key: UnsafeRawBufferPointer, isEmpty: (_ space: UnsafeRawBufferPointer) -> Bool) -> Bool {
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
    func noteStored(_ key: UnsafeRawBufferPointer, hash: UInt64) {
        guard let number = Self.space(of: key) else { return }
        for index in spaces.indices where spaces[index].number == number {
            if spaces[index].filter?.insert(hash) == false { spaces[index].filter = nil }
            return
        }
    }

    private static func space(of key: UnsafeRawBufferPointer) -> UInt32? {
        key.count >= 4 ? key.loadUnaligned(as: UInt32.self) : nil
    }

    // MARK: Existing keys

    /// Returns whether a key is remembered as existing.
    func contains(_ key: UnsafeRawBufferPointer) -> Bool {
        guard existing.count > 0, contains(key, hash: KeyHash.of(key)) else { return false }
        if missed > 0 { missed -= 1 }
        return true
    }

    private func contains(_ key: UnsafeRawBufferPointer, hash: UInt64) -> Bool {
        if case .stored = existing.change(of: key, hash: hash) { true } else { false }
    }

    /// Remembers a key that exists.
    ///
    /// A full cache keeps its keys, so that writing more rows than fit again and again saves some lookups. If it saves
    /// too few, it is emptied.
    func insert(_ key: UnsafeRawBufferPointer) {
        let hash = KeyHash.of(key)
        if existing.size > maximumSize {
            guard !contains(key, hash: hash) else { return }
            missed += 1
            guard missed > existing.count else { return }
            removeAll()
        }
        existing.put(key, UnsafeRawBufferPointer(start: nil, count: 0), hash: hash)
    }

    /// Forgets a key that is about to be deleted.
    func remove(_ key: UnsafeRawBufferPointer) {
        guard existing.count > 0 else { return }
        let hash = KeyHash.of(key)
        if contains(key, hash: hash) { existing.remove(key, hash: hash) }
    }

    /// Forgets all keys that exist.
    func removeAll() {
        existing = OverlayChanges()
        missed = 0
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
