package import TidelineStore

/// An ordered map of byte strings to byte strings with copy-on-write.
///
/// It is a B+tree of values (``MapNode``). A copy is a snapshot that shares all nodes with the original until either is
/// changed. Copies may be used on several threads concurrently, each by one thread at a time.
package struct OrderedMap: Sendable {
    private(set) var root = MapNode()
    /// The number of entries.
    package private(set) var count = 0
    /// The number of bytes of all keys and values.
    package private(set) var byteCount = 0

    /// Creates an empty map.
    package init() {}

    /// Calls `body` with the value for a key, or returns `nil` if there is none.
    package func get<T>(
        _ key: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) throws -> T
    ) rethrows -> T? {
        try unsafe root.get(key, body)
    }

    /// Returns a cursor at the first entry of a range, or of the whole map.
    package func cursor(in range: KeyRange? = nil, descending: Bool = false) -> MapCursor {
        MapCursor(root, range, descending: descending)
    }

    /// Calls `body` with each entry of a range in key order, until it returns ``ScanStep/stop``.
    package func scan(
        _ range: KeyRange, descending: Bool,
        _ body: (_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws -> ScanStep
    ) rethrows {
        var cursor = cursor(in: range, descending: descending)
        while !cursor.isAtEnd {
            guard case .next = try unsafe cursor.withEntry(body) else { return }
            cursor.advance()
        }
    }

    /// Stores a value for a key, replacing an existing one.
    package mutating func put(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) {
        _ = unsafe put(key, value, over: { _ in true })
    }

    /// Stores a value for a key, replacing an existing one only if `replaces` returns `true` for it.
    /// - Returns: Whether the key is new.
    package mutating func put(
        _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer,
        over replaces: (_ existing: UnsafeRawBufferPointer) throws -> Bool
    ) rethrows -> Bool {
        let stored = try unsafe root.put(key, value, over: replaces)
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
    /// - Returns: Whether the key existed.
    package mutating func delete(_ key: UnsafeRawBufferPointer) -> Bool {
        guard let valueCount = unsafe root.remove(key) else { return false }
        count -= 1
        byteCount -= key.count + valueCount
        while root.children.count == 1 { root = root.children[0] }
        return true
    }
}
