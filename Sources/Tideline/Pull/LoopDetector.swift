internal import TidelineStore

/// Detects a cycle of any length in the last identifiers of pages, which should never repeat.
///
/// It stores one identifier (Brent's cycle detection). The distance after which it stores a new one doubles, so that it
/// eventually reaches the length of the cycle.
struct LoopDetector: Sendable {
    private var mark: RowID?
    private var steps = 0
    private var distance = 1
    private var repetitions = 0

    /// Records the last identifier of a page.
    /// - Returns: The number of consecutive repetitions of the stored identifier.
    mutating func note(_ id: String?) -> Int {
        let id = id.map { RowID.string($0) }
        if id == mark {
            repetitions += 1
            return repetitions
        }
        repetitions = 0
        steps += 1
        if steps == distance {
            mark = id
            steps = 0
            distance *= 2
        }
        return 0
    }
}
