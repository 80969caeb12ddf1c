internal import TidelineStore

/// Notices that the last ids of pages, which should never come again, go in a circle of any length.
///
/// It remembers one id (Brent's cycle detection): the distance at which it takes a new one doubles, so that it is at
/// some time as long as the circle.
struct LoopDetector: Sendable {
    private var mark: RowID?
    private var steps = 0
    private var distance = 1
    private var repetitions = 0

    /// Notes the last id of a page.
    /// - Returns: How often it was seen to come again without another id between.
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
