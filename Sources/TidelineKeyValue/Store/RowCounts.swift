internal import TidelineStore

/// The numbers of rows that are known, and which of them a transaction changed.
///
/// They are known from one transaction to the next as long as nobody else writes in between.
struct RowCounts {
    private var counts: [(rows: KeySpace, count: Int, isChanged: Bool)] = []

    /// The number of rows in a key space, if it is known.
    subscript(rows: KeySpace) -> Int? {
        for known in counts where known.rows == rows { return known.count }
        return nil
    }

    /// Gives them away: what is changed must have one owner, or it is copied first.
    mutating func take() -> RowCounts {
        let taken = self
        self = RowCounts()
        return taken
    }

    /// Notes the number of rows that a transaction leaves.
    mutating func change(_ rows: KeySpace, to count: Int) {
        for index in counts.indices where counts[index].rows == rows {
            counts[index].count = count
            counts[index].isChanged = true
            return
        }
        counts.append((rows, count, true))
    }

    /// Calls `body` with each number that the transaction changed, and takes it as written.
    mutating func writeChanged(_ body: (_ rows: KeySpace, _ count: Int) throws -> Void) rethrows {
        for index in counts.indices where counts[index].isChanged {
            try body(counts[index].rows, counts[index].count)
            counts[index].isChanged = false
        }
    }
}
