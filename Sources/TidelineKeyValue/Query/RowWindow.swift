internal import TidelineStore

/// Which of the rows that come in order belong to the query's window.
struct RowWindow {
    private var toSkip: Int
    private var toPass: Int
    private let countsMatches: Bool
    /// How many rows matched so far.
    private(set) var count = 0

    init(_ query: Query, countsMatches: Bool) {
        toSkip = query.skip
        toPass = query.limit ?? .max
        self.countsMatches = countsMatches
    }

    /// Whether all rows were passed on that are to be; only their number is of concern from then on.
    var isComplete: Bool { toPass == 0 }

    /// Whether all rows are passed on, and their number is of no concern.
    var isEverything: Bool { toSkip == 0 && toPass == .max && !countsMatches }

    /// Whether nothing more is to be had of the rows to come.
    var isDone: Bool { isComplete && !countsMatches }

    /// Whether the next match belongs to the window, which it is to be asked of each once.
    mutating func takesNext() -> Bool {
        count += 1
        guard !isComplete else { return false }
        guard toSkip == 0 else {
            toSkip -= 1
            return false
        }
        toPass -= 1
        return true
    }

    /// Whether the next match does not belong to the window, so that what it holds is of no concern.
    var passesOverNext: Bool { isComplete || toSkip > 0 }

    /// No more rows are wanted.
    mutating func complete() { toPass = 0 }
}
