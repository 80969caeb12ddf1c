/// A node of the B+tree that an ``OrderedMap`` is.
///
/// A leaf has entries and no children. A branch has children, and between each two of them a separator, a key without
/// a value: keys before the separator are to its left, the separator itself and those after it to its right. All leaves
/// are equally deep. A branch has two children at least, and no leaf is empty but a lone one.
///
/// Nodes are values: their content is copied when it is changed while another map holds it, too. So what a snapshot
/// sees never changes, and a change copies the nodes from the root to one leaf at most. Of the children that a copied
/// branch shares with the original, one reference each is copied.
struct MapNode: Sendable {
    /// The bytes of keys and values beyond which a node is divided.
    static let maximumByteCount = 4096
    /// The number of entries or separators beyond which a node is divided.
    static let maximumCount = 128

    /// What nodes of several maps may share.
    ///
    /// `@unchecked Sendable`: it is changed by ``MapNode/entries`` and ``MapNode/children`` only, while one node alone refers
    /// to it. Unchecked for exclusive access, which the node sees to, of which it is a part.
    private final class Content: @unchecked Sendable {
        @exclusivity(unchecked) var entries: MapEntries
        @exclusivity(unchecked) var children: [MapNode]

        init(_ entries: MapEntries, _ children: [MapNode]) {
            self.entries = entries
            self.children = children
        }
    }

    private var content: Content

    private(set) var entries: MapEntries {
        _read { yield content.entries }
        _modify {
            makeOwn()
            yield &content.entries
        }
    }

    private(set) var children: [MapNode] {
        _read { yield content.children }
        _modify {
            makeOwn()
            yield &content.children
        }
    }

    private mutating func makeOwn() {
        if !isKnownUniquelyReferenced(&content) { content = Content(content.entries, content.children) }
    }

    var isLeaf: Bool { children.isEmpty }

    /// An empty leaf.
    init() { content = Content(MapEntries(), []) }

    private init(entries: MapEntries, children: [MapNode]) { content = Content(entries, children) }

    /// Makes this node a branch over two halves of what it was.
    mutating func divideRoot() {
        let root = self
        self = MapNode(entries: MapEntries(), children: [root])
        divideChild(at: 0)
    }

    // MARK: Reading

    func get<T>(_ key: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) throws -> T) rethrows -> T? {
        let (index, isFound) = entries.search(key)
        if isLeaf { return isFound ? try entries.withEntry(at: index) { _, value in try body(value) } : nil }
        return try children[isFound ? index + 1 : index].get(key, body)
    }

    /// Which entries of a leaf lie in a range that is not empty, or which children of a branch may have some that do.
    func indices(in range: KeyRange) -> Range<Int> {
        let (lower, isFound) = range.lower.withUnsafeBytes { entries.search($0) }
        let upper = range.upper.withUnsafeBytes { firstIndex(notBefore: $0, from: lower) }
        return isLeaf ? lower..<upper : (isFound ? lower + 1 : lower)..<upper + 1
    }

    /// Most ranges are short, so the first place is tried before the others are searched.
    private func firstIndex(notBefore key: UnsafeRawBufferPointer, from first: Int) -> Int {
        let isFirst =
            first == entries.count || entries.withEntry(at: first) { candidate, _ in candidate.compare(key) >= 0 }
        return isFirst ? first : entries.search(key, from: first + 1).index
    }

    // MARK: Storing

    /// What became of an entry that was to be stored.
    enum Stored {
        /// There was none with its key.
        case added
        /// It took the place of one whose value had so many bytes.
        case replaced(valueCount: Int)
        /// There was one already, which was to stay.
        case kept
    }

    /// Stores an entry, in the place of one there may be if `replaces` says so of its value; the node may be oversized then.
    mutating func put(
        _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer,
        over replaces: (_ existing: UnsafeRawBufferPointer) throws -> Bool
    ) rethrows -> Stored {
        let (index, isFound) = entries.search(key)
        if isLeaf {
            guard isFound else {
                entries.insert(key, value, at: index)
                return .added
            }
            guard try entries.withEntry(at: index, { try replaces($1) }) else { return .kept }
            let valueCount = entries.withEntry(at: index) { $1.count }
            entries.replaceValue(at: index, by: value)
            return .replaced(valueCount: valueCount)
        }
        let child = isFound ? index + 1 : index
        let stored = try children[child].put(key, value, over: replaces)
        if children[child].isOversized { divideChild(at: child) }
        return stored
    }

    /// Whether the node is to be divided and can be; a branch's separator goes up then.
    var isOversized: Bool {
        entries.count > MapNode.maximumCount
            || entries.byteCount > MapNode.maximumByteCount && entries.count > (isLeaf ? 1 : 2)
    }

    private mutating func divideChild(at index: Int) {
        let (left, separator, right) = children[index].halves()
        children[index] = left
        children.insert(right, at: index + 1)
        separator.withUnsafeBytes { entries.insert($0, UnsafeRawBufferPointer(start: nil, count: 0), at: index) }
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
        return (
            MapNode(entries: entries.part(0..<middle), children: Array(children[...middle])),
            entries.withEntry(at: middle) { key, _ in Array(key) },
            MapNode(entries: entries.part(middle + 1..<count), children: Array(children[(middle + 1)...]))
        )
    }

    /// The shortest key after that of one entry and not after that of the next: branches with short keys have room for
    /// more of them.
    private func shortestSeparator(before index: Int) -> [UInt8] {
        entries.withEntry(at: index - 1) { left, _ in
            entries.withEntry(at: index) { right, _ in
                var count = 0
                while count < left.count, left[count] == right[count] { count += 1 }
                return Array(right[...count])
            }
        }
    }

    // MARK: Removing

    /// Removes an entry; the node may be undersized then, and a branch may have one child only.
    /// - Returns: The bytes of its value, nil when there was none.
    mutating func remove(_ key: UnsafeRawBufferPointer) -> Int? {
        let (index, isFound) = entries.search(key)
        if isLeaf {
            guard isFound else { return nil }
            let valueCount = entries.withEntry(at: index) { $1.count }
            entries.remove(at: index)
            return valueCount
        }
        let child = isFound ? index + 1 : index
        let removed = children[child].remove(key)
        if removed != nil, children[child].isUndersized { joinChild(at: child) }
        return removed
    }

    private var isUndersized: Bool {
        entries.count == 0
            || entries.count < MapNode.maximumCount / 4 && entries.byteCount < MapNode.maximumByteCount / 4
    }

    /// Makes an undersized child part of a neighbour where there is room, and always when it cannot stay as it is.
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
        entries.count + other.entries.count < MapNode.maximumCount
            && entries.byteCount + other.entries.byteCount <= MapNode.maximumByteCount
    }

    /// Joins a child with the next one; of branches, the separator comes down between them.
    private mutating func joinChildren(at index: Int) {
        let right = children.remove(at: index + 1)
        if !right.isLeaf { children[index].entries.append(entries.part(index..<index + 1)) }
        entries.remove(at: index)
        children[index].entries.append(right.entries)
        children[index].children += right.children
    }
}
