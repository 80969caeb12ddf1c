internal import TidelineStore

/// The keys of an index that differ only in the identifier, collected from the last to the first.
struct KeyGroup {
    /// The maximum number of keys in a group.
    private static let capacity = 256

    /// The common prefix of the keys.
    private(set) var prefix: [UInt8] = []
    private var keys = KeyList()

    /// Whether a key with a prefix of the given length belongs to the group.
    func holds(_ key: UnsafeRawBufferPointer, prefixCount: Int) -> Bool {
        guard prefix.count == prefixCount else { return false }
        return unsafe prefix.withUnsafeBytes {
            unsafe $0.compare(UnsafeRawBufferPointer(rebasing: key[..<prefixCount])) == 0
        }
    }

    /// Removes all keys and begins the group of the given key.
    mutating func begin(_ key: UnsafeRawBufferPointer, prefixCount: Int) {
        prefix.removeAll(keepingCapacity: true)
        unsafe prefix.append(contentsOf: UnsafeRawBufferPointer(rebasing: key[..<prefixCount]))
        keys.removeAll()
    }

    /// Adds a key, or returns `false` if the group is full.
    mutating func add(_ key: UnsafeRawBufferPointer) -> Bool {
        guard keys.count < Self.capacity else { return false }
        unsafe keys.append(key)
        return true
    }

    /// Calls `body` with each key and an empty value, beginning with the key that was added last.
    func forEachKeyAscending(_ body: EntryBody) throws -> ScanStep {
        for index in (0..<keys.count).reversed() {
            let step = try unsafe keys.withKey(at: index) { key in
                try unsafe body(key, UnsafeRawBufferPointer(start: nil, count: 0))
            }
            if case .stop = step { return .stop }
        }
        return .next
    }

    /// Returns the part of `range` that contains the group's keys.
    func range(within range: KeyRange) -> KeyRange {
        let end = KeyRange.end(ofPrefix: prefix)
        return KeyRange(
            from: prefix.precedes(range.lower) ? range.lower : prefix,
            to: end.precedes(range.upper) ? end : range.upper)
    }
}

/// Keys in one buffer, in the order in which they were added.
struct KeyList {
    private var bytes: [UInt8] = []
    private var ends: [Int] = []

    var count: Int { ends.count }

    mutating func append(_ key: UnsafeRawBufferPointer) {
        unsafe bytes.append(contentsOf: key)
        ends.append(bytes.count)
    }

    /// Removes all keys, but keeps the memory.
    mutating func removeAll() {
        bytes.removeAll(keepingCapacity: true)
        ends.removeAll(keepingCapacity: true)
    }

    /// Calls `body` with the key at a position.
    func withKey<T>(at index: Int, _ body: (UnsafeRawBufferPointer) throws -> T) rethrows -> T {
        let start = index == 0 ? 0 : ends[index - 1]
        return try unsafe bytes.withUnsafeBytes { bytes in
            try unsafe body(UnsafeRawBufferPointer(rebasing: bytes[start..<ends[index]]))
        }
    }
}
