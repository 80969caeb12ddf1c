internal import TidelineStore

/// A node of the B+tree that implements an ``OrderedMap``.
///
/// A leaf has entries and no children. A branch has children and, between adjacent children, a separator: a key without
/// a value. Keys less than the separator are to its left; the separator and greater keys are to its right. All leaves
/// have the same depth. A branch has at least two children, and only the root may be an empty leaf.
///
/// Nodes are values with copy-on-write: their content is copied when it is changed while another map shares it.
/// Therefore a snapshot never changes, and a change copies at most the nodes from the root to one leaf. For the
/// children that a copied branch shares with the original, only references are copied.
struct MapNode: Sendable {
    /// The number of bytes of keys and values above which a node is split.
    static let maximumByteCount = 4096
    /// The number of entries above which a leaf is split.
    static let maximumCount = 128
    /// The number of separators above which a branch is split. A transaction copies each branch that it changes, with a
    /// reference to each child, so branches are smaller than leaves.
    static let maximumBranchCount = 32

    /// The content of a node, which several maps may share.
    ///
    /// `@unchecked Sendable`: only ``MapNode/entries`` and ``MapNode/children`` change it, and only while a single node
    /// refers to it. The exclusivity check is unnecessary because the node that contains the reference is itself
    /// accessed exclusively.
    private final class Content: @unchecked Sendable {
        @exclusivity(unchecked) var entries: MapEntries
        @exclusivity(unchecked) var children: [MapNode]

        init(_ entries: MapEntries, _ children: [MapNode]) {
            unsafe self.entries = entries
            unsafe self.children = children
        }
    }

    private var content: Content

    private(set) var entries: MapEntries {
        _read { yield unsafe content.entries }
        _modify {
            makeOwn()
            yield unsafe &content.entries
        }
    }

    private(set) var children: [MapNode] {
        _read { yield unsafe content.children }
        _modify {
            makeOwn()
            yield unsafe &content.children
        }
    }

    private mutating func makeOwn() {
        if !isKnownUniquelyReferenced(&content) { content = unsafe Content(content.entries, content.children) }
    }

    var isLeaf: Bool { children.isEmpty }

    private var greatestCount: Int { isLeaf ? Self.maximumCount : Self.maximumBranchCount }

    /// Creates an empty leaf.
    init() { content = Content(MapEntries(), []) }

    private init(entries: MapEntries, children: [MapNode]) { content = Content(entries, children) }

    /// Splits this node, which becomes a branch over both halves.
    mutating func divideRoot() {
        let root = self
        self = MapNode(entries: MapEntries(), children: [root])
        divideChild(at: 0)
    }

    // MARK: Reading

    func get<T>(_ key: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) throws -> T) rethrows -> T? {
        let (index, isFound) = unsafe entries.search(key)
        if isLeaf {
            return unsafe isFound ? try entries.withEntry(at: index) { _, value in try unsafe body(value) } : nil
        }
        return try unsafe children[isFound ? index + 1 : index].get(key, body)
    }

    /// Returns the indices of a leaf's entries in a range that is not empty, or of a branch's children that may contain
    /// some.
    func indices(in range: KeyRange) -> Range<Int> {
        let (lower, isFound) = unsafe range.lower.withUnsafeBytes { unsafe entries.search($0) }
        let upper = unsafe range.upper.withUnsafeBytes { unsafe firstIndex(notBefore: $0, from: lower) }
        return isLeaf ? lower..<upper : (isFound ? lower + 1 : lower)..<upper + 1
    }

    /// Returns the index of the first key at or after `key`. Most ranges are short, so the first index is tried before
    /// a search.
    private func firstIndex(notBefore key: UnsafeRawBufferPointer, from first: Int) -> Int {
        let isFirst =
            unsafe first == entries.count
            || entries.withEntry(at: first) { candidate, _ in unsafe candidate.compare(key) >= 0 }
        return unsafe isFirst ? first : entries.search(key, from: first + 1).index
    }

    // MARK: Storing

    /// The outcome of storing an entry.
    enum Stored {
        /// There was no entry with the key.
        case added
        /// The entry replaced one whose value had the given number of bytes.
        case replaced(valueCount: Int)
        /// The existing entry was kept.
        case kept
    }

    /// Stores an entry, replacing an existing one only if `replaces` returns `true` for its value. The node may then be
    /// oversized.
    mutating func put(
        _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer,
        over replaces: (_ existing: UnsafeRawBufferPointer) throws -> Bool
    ) rethrows -> Stored {
        let (index, isFound) = unsafe entries.search(key)
        if isLeaf {
            guard isFound else {
                unsafe entries.insert(key, value, at: index)
                return .added
            }
            guard try unsafe entries.withEntry(at: index, { try unsafe replaces($1) }) else { return .kept }
            let valueCount = unsafe entries.withEntry(at: index) { $1.count }
            unsafe entries.replaceValue(at: index, by: value)
            return .replaced(valueCount: valueCount)
        }
        let child = isFound ? index + 1 : index
        let stored = try unsafe children[child].put(key, value, over: replaces)
        if children[child].isOversized { divideChild(at: child) }
        return stored
    }

    /// Whether the node has to be split and can be. Splitting a branch moves a separator to its parent.
    var isOversized: Bool {
        entries.count > greatestCount
            || entries.byteCount > MapNode.maximumByteCount && entries.count > (isLeaf ? 1 : 2)
    }

    private mutating func divideChild(at index: Int) {
        let (left, separator, right) = children[index].halves()
        children[index] = left
        children.insert(right, at: index + 1)
        unsafe separator.withUnsafeBytes {
            unsafe entries.insert($0, UnsafeRawBufferPointer(start: nil, count: 0), at: index)
        }
    }

    private func halves() -> (MapNode, separator: [UInt8], MapNode) {
        let count = entries.count
        guard !isLeaf else {
            let middle = entries.evenDivision
            return (
                MapNode(entries: entries.part(0..<middle), children: []), shortestSeparator(before: middle),
                MapNode(entries: entries.part(middle..<count), children: [])
            )
        }
        let middle = count / 2
        return unsafe (
            MapNode(entries: entries.part(0..<middle), children: Array(children[...middle])),
            entries.withEntry(at: middle) { key, _ in unsafe Array(key) },
            MapNode(entries: entries.part(middle + 1..<count), children: Array(children[(middle + 1)...]))
        )
    }

    /// Returns the shortest key that is greater than the key of one entry and not greater than that of the next.
    ///
    /// Short separators allow a branch to contain more of them.
    private func shortestSeparator(before index: Int) -> [UInt8] {
        unsafe entries.withEntry(at: index - 1) { left, _ in
            unsafe entries.withEntry(at: index) { right, _ in
                var count = 0
                while count < left.count, unsafe left[count] == right[count] { count += 1 }
                return unsafe Array(right[...count])
            }
        }
    }

    // MARK: Removing

    /// Removes an entry. The node may then be undersized, and a branch may have only one child.
    /// - Returns: The number of bytes of the value, or `nil` if there was no entry.
    mutating func remove(_ key: UnsafeRawBufferPointer) -> Int? {
        let (index, isFound) = unsafe entries.search(key)
        if isLeaf {
            guard isFound else { return nil }
            let valueCount = unsafe entries.withEntry(at: index) { $1.count }
            entries.remove(at: index)
            return valueCount
        }
        let child = isFound ? index + 1 : index
        let removed = unsafe children[child].remove(key)
        if removed != nil, children[child].isUndersized { joinChild(at: child) }
        return removed
    }

    private var isUndersized: Bool {
        entries.count == 0
            || entries.count < greatestCount / 4 && entries.byteCount < MapNode.maximumByteCount / 4
    }

    /// Merges an undersized child with a sibling if there is room, and always if the child is empty.
    private mutating func joinChild(at index: Int) {
        let left = max(index - 1, 0)
        let mustGo = children[index].entries.count == 0
        if mustGo, children[index].isLeaf {
            children.remove(at: index)
            entries.remove(at: left)
        } else if mustGo || children[left].hasRoom(for: children[left + 1]) {
            joinChildren(at: left)
            if children[left].isOversized { divideChild(at: left) }
        }
    }

    private func hasRoom(for other: MapNode) -> Bool {
        entries.count + other.entries.count < greatestCount
            && entries.byteCount + other.entries.byteCount <= MapNode.maximumByteCount
    }

    /// Merges a child with the next one. For branches, the separator moves down between them.
    private mutating func joinChildren(at index: Int) {
        let right = children.remove(at: index + 1)
        if !right.isLeaf { children[index].entries.append(entries.part(index..<index + 1)) }
        entries.remove(at: index)
        children[index].entries.append(right.entries)
        children[index].children += right.children
    }
}
