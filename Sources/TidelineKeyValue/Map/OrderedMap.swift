package import TidelineStore

/// An ordered map of byte strings to byte strings, whose copies cost nothing until they are changed.
///
/// It is a B+tree of values (``MapNode``): a copy is a snapshot, which shares all nodes with the original until either
/// changes them. Copies may be used on several threads at once, each by one at a time.
package struct OrderedMap: Sendable {
    private(set) var root = MapNode()
    /// How many entries there are.
    package private(set) var count = 0
    /// The bytes of all keys and values.
    package private(set) var byteCount = 0

    /// An empty map.
    package init() {}

    /// Calls `body` with the value of a key; nil, without calling it, when there is none.
    package func get<T>(
        _ key: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) throws -> T
    ) rethrows -> T? {
        try root.get(key, body)
    }

    /// A cursor at the first entry of a range, or of the whole map.
    package func cursor(in range: KeyRange? = nil, descending: Bool = false) -> MapCursor {
        MapCursor(root, range, descending: descending)
    }

    /// Calls `body` with each entry of a range in order of keys, until it returns ``ScanStep/stop``.
    package func scan(
        _ range: KeyRange, descending: Bool,
        _ body: (_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws -> ScanStep
    ) rethrows {
        var cursor = cursor(in: range, descending: descending)
        while !cursor.isAtEnd {
            guard case .next = try cursor.withEntry(body) else { return }
            cursor.advance()
        }
    }

    /// Stores a value under a key, in the place of one there may be.
    package mutating func put(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) {
        _ = put(key, value, over: { _ in true })
    }

    /// Stores a value under a key that has none, or in the place of the one there is if `replaces` says so of it.
    /// - Returns: Whether the key had none.
    package mutating func put(
        _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer,
        over replaces: (_ existing: UnsafeRawBufferPointer) throws -> Bool
    ) rethrows -> Bool {
        let stored = try root.put(key, value, over: replaces)
        if root.isOversized { root.divideRoot() }
        switch stored {
        case .added:
            count += 1
            byteCount += key.count + value.count
            return true
        case .replaced(let valueCount):
            byteCount += value.count - valueCount
            return false
        case .kept: return false
        }
    }

    /// Removes a key and its value.
    /// - Returns: Whether there was one.
    package mutating func delete(_ key: UnsafeRawBufferPointer) -> Bool {
        guard let valueCount = root.remove(key) else { return false }
        count -= 1
        byteCount -= key.count + valueCount
        while root.children.count == 1 { root = root.children[0] }
        return true
    }
}
