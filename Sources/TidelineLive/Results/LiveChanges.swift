/// The difference between two snapshots of a live query, as positions in both.
///
/// Removals and the origins of moves are positions in the earlier snapshot; insertions, updates, and the destinations
/// of moves are positions in the later one. This is the form that list views use. All positions are in ascending order,
/// moves by their destination.
public struct LiveChanges: Sendable, Hashable {
    /// A row that changed its place among the rows that stay, and whose content changed.
    public struct Move: Sendable, Hashable {
        /// The position in the earlier snapshot.
        public var from: Int
        /// The position in the later snapshot.
        public var to: Int

        /// Creates a move.
        public init(from: Int, to: Int) {
            self.from = from
            self.to = to
        }
    }

    /// The positions in the earlier snapshot of the rows that are gone.
    public var removed: [Int]
    /// The positions in the later snapshot of the rows that are new.
    public var inserted: [Int]
    /// The rows that moved.
    public var moved: [Move]
    /// The positions in the later snapshot of the rows whose content changed in place.
    public var updated: [Int]

    /// Creates a difference from positions in ascending order.
    public init(removed: [Int] = [], inserted: [Int] = [], moved: [Move] = [], updated: [Int] = []) {
        self.removed = removed
        self.inserted = inserted
        self.moved = moved
        self.updated = updated
    }

    /// Whether the snapshots have the same rows.
    public var isEmpty: Bool { removed.isEmpty && inserted.isEmpty && moved.isEmpty && updated.isEmpty }
}

extension LiveChanges {
    /// A row that is in both snapshots and changed.
    struct Pair {
        let from: Int
        let to: Int
    }

    /// Separates the rows that moved from those that kept their place among the others.
    init(removed: [Int], inserted: [Int], changed: [Pair]) {
        self.removed = removed.sorted()
        self.inserted = inserted.sorted()
        (moved, updated) = ([], [])
        let changed = changed.sorted { $0.to < $1.to }
        let (origins, destinations) = (changed.map(\.from).sorted(), changed.map(\.to))
        var lastKept = -1
        for pair in changed {
            // The number of unchanged rows before the row. A row keeps its place if that number is the same, and the
            // row follows the rows that kept their place before it.
            let before = pair.from - self.removed.count(below: pair.from) - origins.count(below: pair.from)
            let after = pair.to - self.inserted.count(below: pair.to) - destinations.count(below: pair.to)
            if before == after, pair.from > lastKept {
                lastKept = pair.from
                updated.append(pair.to)
            } else {
                moved.append(Move(from: pair.from, to: pair.to))
            }
        }
    }
}

extension [Int] {
    /// Returns how many elements of this ascending array are less than a value.
    fileprivate func count(below value: Int) -> Int { partitioningIndex { $0 >= value } }
}
