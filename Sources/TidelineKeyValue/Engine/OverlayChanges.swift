/// The changes of an ``OverlayTransaction``: a map whose values begin with a mark, for a removed key has none.
struct OverlayChanges {
    /// What became of a key.
    enum Change {
        case unchanged, removed, stored
    }

    private static let removed: UInt8 = 0
    private static let stored: UInt8 = 1

    private(set) var map = OrderedMap()
    /// Where mark and value are put together, kept so that it is not allocated each time.
    private var scratch: [UInt8] = []

    /// The value behind the mark, nil for a removed key.
    static func value(of marked: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer? {
        marked.first == stored ? UnsafeRawBufferPointer(rebasing: marked[1...]) : nil
    }

    /// Calls `body` with the value that was stored under a key, if one was.
    func read(
        _ key: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) throws -> Void
    ) rethrows -> Change {
        let change = try map.get(key) { marked -> Change in
            guard let value = OverlayChanges.value(of: marked) else { return .removed }
            try body(value)
            return .stored
        }
        return change ?? .unchanged
    }

    mutating func put(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) {
        mark(value)
        scratch.withUnsafeBytes { map.put(key, $0) }
    }

    /// Stores a value under a key that was not changed.
    /// - Returns: Whether it was stored.
    mutating func insert(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) -> Bool {
        mark(value)
        return scratch.withUnsafeBytes { map.insert(key, $0) }
    }

    mutating func delete(_ key: UnsafeRawBufferPointer) {
        withUnsafeBytes(of: OverlayChanges.removed) { map.put(key, $0) }
    }

    private mutating func mark(_ value: UnsafeRawBufferPointer) {
        scratch.removeAll(keepingCapacity: true)
        scratch.append(OverlayChanges.stored)
        scratch.append(contentsOf: value)
    }
}
