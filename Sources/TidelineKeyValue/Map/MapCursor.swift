/// A cursor that moves through a range of an ``OrderedMap`` in one direction.
///
/// It retains the nodes that it needs, so changes of the map do not affect it.
package struct MapCursor: Sendable {
    private let range: KeyRange?
    private let descending: Bool
    /// The branches from the root down, each with the range of its children that are still to be visited.
    private var path: [(children: [MapNode], pending: Range<Int>)] = []
    private var leaf = MapEntries()
    /// The entries of the leaf that are still to be visited.
    private var pending = 0..<0

    /// Creates a cursor at the first entry of a range, or of the whole map.
    init(_ root: MapNode, _ range: KeyRange?, descending: Bool) {
        self.range = range
        self.descending = descending
        guard range?.isEmpty != true else { return }
        enter(root)
        if pending.isEmpty { enterNextLeaf() }
    }

    /// Whether the cursor has passed all entries.
    package var isAtEnd: Bool { pending.isEmpty }

    /// Calls `body` with the current entry. The cursor must not be at its end.
    @inline(__always)
    package func withEntry<T>(
        _ body: (_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws -> T
    ) rethrows -> T {
        try unsafe leaf.withEntry(at: descending ? pending.upperBound - 1 : pending.lowerBound, body)
    }

    /// Moves to the next entry. The cursor must not be at its end.
    @inline(__always)
    package mutating func advance() {
        _ = MapCursor.takeNext(&pending, descending)
        if pending.isEmpty { enterNextLeaf() }
    }

    private mutating func enterNextLeaf() {
        while pending.isEmpty, let last = path.indices.last {
            if path[last].pending.isEmpty {
                path.removeLast()
            } else {
                let next = MapCursor.takeNext(&path[last].pending, descending)
                enter(path[last].children[next])
            }
        }
    }

    /// Descends from a node to the first leaf that may have entries of the range.
    private mutating func enter(_ node: MapNode) {
        var node = node
        while !node.isLeaf {
            var children = indices(of: node)
            let next = MapCursor.takeNext(&children, descending)
            if !children.isEmpty { path.append((node.children, children)) }
            node = node.children[next]
        }
        leaf = node.entries
        pending = indices(of: node)
    }

    private func indices(of node: MapNode) -> Range<Int> {
        range.map(node.indices) ?? 0..<(node.isLeaf ? node.entries.count : node.children.count)
    }

    /// Removes and returns the next index of a range that is not empty.
    @inline(__always)
    private static func takeNext(_ range: inout Range<Int>, _ descending: Bool) -> Int {
        if descending {
            range = range.lowerBound..<range.upperBound - 1
            return range.upperBound
        }
        range = range.lowerBound + 1..<range.upperBound
        return range.lowerBound - 1
    }
}
