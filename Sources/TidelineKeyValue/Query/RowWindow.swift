internal import TidelineStore

/// The range of ordered rows that the query returns, given by its skip and limit.
struct RowWindow {
    private var toSkip: Int
    private var toPass: Int
    private let countsMatches: Bool
    /// The number of matches so far.
    private(set) var count = 0

    init(_ query: TableQuery, countsMatches: Bool) {
        toSkip = query.skip
        toPass = query.limit ?? .max
        self.countsMatches = countsMatches
    }

    /// Whether all rows of the window were returned. Only the number of further rows may still be needed.
    var isComplete: Bool { toPass == 0 }

    /// Whether all rows are returned and their number is not needed.
    var isEverything: Bool { toSkip == 0 && toPass == .max && !countsMatches }

    /// Whether no further rows are needed.
    var isDone: Bool { isComplete && !countsMatches }

    /// Returns whether the next match belongs to the window. Call it once for each match.
    mutating func admitsNext() -> Bool {
        count += 1
        guard !isComplete else { return false }
        guard toSkip == 0 else {
            toSkip -= 1
            return false
        }
        toPass -= 1
        return true
    }

    /// Whether the next match does not belong to the window, so that its content is not needed.
    var skipsNext: Bool { isComplete || toSkip > 0 }

    /// Ends the window, so that no more rows are returned.
    mutating func complete() { toPass = 0 }
}
