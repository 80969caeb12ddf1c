import Testing

@testable import TidelineKeyValue

extension OrderedMap {
    /// Checks the invariants of the tree; see ``MapNode``.
    func requireInvariants(sourceLocation: SourceLocation = #_sourceLocation) throws {
        var cursor = cursor()
        var previous: [UInt8]?
        var entries = 0
        var bytes = 0
        while !cursor.isAtEnd {
            let (key, valueCount) = cursor.withEntry { (Array($0), $1.count) }
            if let previous {
                try #require(previous.lexicographicallyPrecedes(key), "keys ascend", sourceLocation: sourceLocation)
            }
            previous = key
            entries += 1
            bytes += key.count + valueCount
            cursor.advance()
        }
        try #require(count == entries, sourceLocation: sourceLocation)
        try #require(byteCount == bytes, sourceLocation: sourceLocation)
        try root.requireInvariants(isRoot: true, from: nil, to: nil, sourceLocation: sourceLocation)
    }
}

extension MapNode {
    /// Checks the node and its descendants, whose keys lie between two separators.
    /// - Returns: The depth of the node.
    @discardableResult
    func requireInvariants(
        isRoot: Bool = false, from lower: [UInt8]?, to upper: [UInt8]?, sourceLocation: SourceLocation
    ) throws -> Int {
        let keys = entries.keys
        let isSorted = zip(keys, keys.dropFirst()).allSatisfy { $0.lexicographicallyPrecedes($1) }
        try #require(isSorted, sourceLocation: sourceLocation)
        if let lower, let first = keys.first {
            try #require(!first.lexicographicallyPrecedes(lower), sourceLocation: sourceLocation)
        }
        if let upper, let last = keys.last {
            try #require(last.lexicographicallyPrecedes(upper), sourceLocation: sourceLocation)
        }
        let maximumCount = isLeaf ? MapNode.maximumCount : MapNode.maximumBranchCount
        try #require(keys.count <= maximumCount, sourceLocation: sourceLocation)
        try requireSize(keys, sourceLocation)
        guard !isLeaf else {
            try #require(isRoot || !keys.isEmpty, "no leaf is empty", sourceLocation: sourceLocation)
            return 0
        }
        try #require(children.count == keys.count + 1 && children.count > 1, sourceLocation: sourceLocation)
        let fences = [lower] + keys.map(Optional.some) + [upper]
        let depths = try children.indices.map {
            try children[$0].requireInvariants(from: fences[$0], to: fences[$0 + 1], sourceLocation: sourceLocation)
        }
        try #require(Set(depths).count == 1, "all leaves are equally deep", sourceLocation: sourceLocation)
        return (depths.first ?? 0) + 1
    }

    /// The size of a leaf is bounded except for one entry, which may have any size. The size of the holes is bounded
    /// too.
    private func requireSize(_ keys: [[UInt8]], _ sourceLocation: SourceLocation) throws {
        let sizes = (0..<entries.count).map { entries.withEntry(at: $0) { $0.count + $1.count } }
        try #require(entries.byteCount == sizes.reduce(0, +), sourceLocation: sourceLocation)
        try #require(entries.holeByteCount <= MapNode.maximumByteCount, sourceLocation: sourceLocation)
        if isLeaf {
            let most = MapNode.maximumByteCount + (sizes.max() ?? 0)
            try #require(entries.byteCount <= most, sourceLocation: sourceLocation)
        }
    }

    /// The depth of the tree below this node.
    var depth: Int { (children.first.map { $0.depth + 1 }) ?? 0 }
}

extension MapEntries {
    var keys: [[UInt8]] { (0..<count).map { withEntry(at: $0) { key, _ in Array(key) } } }
}
