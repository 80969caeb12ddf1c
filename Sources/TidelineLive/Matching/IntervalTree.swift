internal import TidelineStore

/// Live queries by an interval of words: a treap ordered by the intervals, in which each node knows the greatest upper
/// end below it.
struct IntervalTree {
    private final class Node {
        let interval: WordInterval
        let priority: UInt64
        var queries = QuerySet()
        var left: Node?
        var right: Node?
        var greatestEnd: Int64

        init(_ interval: WordInterval, priority: UInt64) {
            self.interval = interval
            self.priority = priority
            greatestEnd = interval.upper
        }

        func update() {
            greatestEnd = max(interval.upper, left?.greatestEnd ?? .min, right?.greatestEnd ?? .min)
        }
    }

    private var root: Node?
    private var random = SystemRandomNumberGenerator()

    var isEmpty: Bool { root == nil }

    mutating func insert(_ query: LiveRegistration, _ interval: WordInterval) {
        guard !interval.isEmpty else { return }
        root = Self.insert(query, interval, into: root, priority: random.next())
    }

    mutating func remove(_ query: LiveRegistration, _ interval: WordInterval) {
        root = Self.remove(query, interval, from: root)
    }

    /// Calls `body` with the queries of each interval that contains the word.
    func forEach(containing word: Int64, _ body: (QuerySet) -> Void) {
        var pending = root.map { [$0] } ?? []
        while let node = pending.popLast() {
            guard node.greatestEnd >= word else { continue }
            if let left = node.left { pending.append(left) }
            guard node.interval.lower <= word else { continue }
            if node.interval.contains(word) { body(node.queries) }
            if let right = node.right { pending.append(right) }
        }
    }

    private static func insert(
        _ query: LiveRegistration, _ interval: WordInterval, into node: Node?, priority: UInt64
    ) -> Node {
        guard let node else {
            let node = Node(interval, priority: priority)
            node.queries.insert(query)
            return node
        }
        if interval == node.interval {
            node.queries.insert(query)
        } else if interval.precedes(node.interval) {
            let left = insert(query, interval, into: node.left, priority: priority)
            node.left = left
            if left.priority > node.priority { return rotateRight(node, left) }
        } else {
            let right = insert(query, interval, into: node.right, priority: priority)
            node.right = right
            if right.priority > node.priority { return rotateLeft(node, right) }
        }
        node.update()
        return node
    }

    private static func remove(_ query: LiveRegistration, _ interval: WordInterval, from node: Node?) -> Node? {
        guard let node else { return nil }
        if interval == node.interval {
            node.queries.remove(query)
            if node.queries.isEmpty { return join(node.left, node.right) }
        } else if interval.precedes(node.interval) {
            node.left = remove(query, interval, from: node.left)
        } else {
            node.right = remove(query, interval, from: node.right)
        }
        node.update()
        return node
    }

    /// Returns one tree of two, of which all intervals of the first precede those of the second.
    private static func join(_ left: Node?, _ right: Node?) -> Node? {
        guard let left, let right else { return left ?? right }
        if left.priority > right.priority {
            left.right = join(left.right, right)
            left.update()
            return left
        }
        right.left = join(left, right.left)
        right.update()
        return right
    }

    private static func rotateRight(_ node: Node, _ left: Node) -> Node {
        node.left = left.right
        left.right = node
        node.update()
        left.update()
        return left
    }

    private static func rotateLeft(_ node: Node, _ right: Node) -> Node {
        node.right = right.left
        right.left = node
        node.update()
        right.update()
        return right
    }
}

extension WordInterval {
    fileprivate func precedes(_ other: WordInterval) -> Bool { (lower, upper) < (other.lower, other.upper) }
}
