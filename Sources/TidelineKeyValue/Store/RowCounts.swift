internal import TidelineStore

/// The known row counts, and which of them a transaction changed.
///
/// They stay valid from one transaction to the next if nothing else writes in between.
struct RowCounts {
    private var counts: [(rows: KeySpace, count: Int, isChanged: Bool)] = []

    /// Returns the number of rows in a key space, if it is known.
    subscript(rows: KeySpace) -> Int? {
        for known in counts where known.rows == rows { return known.count }
        return nil
    }

    /// Moves the counts out of this value. A changed value must have a single owner, or it is copied first.
    mutating func take() -> RowCounts {
        let taken = self
        self = RowCounts()
        return taken
    }

    /// Records the number of rows after a change by a transaction.
    mutating func change(_ rows: KeySpace, to count: Int) {
        for index in counts.indices where counts[index].rows == rows {
            counts[index].count = count
            counts[index].isChanged = true
            return
        }
        counts.append((rows, count, true))
    }

    /// Calls `body` with each count that the transaction changed and marks it as written.
    mutating func writeChanged(_ body: (_ rows: KeySpace, _ count: Int) throws -> Void) rethrows {
        for index in counts.indices where counts[index].isChanged {
            try body(counts[index].rows, counts[index].count)
            counts[index].isChanged = false
        }
    }
}
