/// Makes what fails smaller, as long as something smaller fails too.
///
/// - Parameters:
///   - attempts: How many smaller ones to try at most.
///   - smaller: What can be made of one by leaving something out, the boldest first; each is made when it is tried.
///   - fails: Whether one still fails.
package func shrink<T>(
    _ failing: T, attempts: Int = 600, smaller: (T) -> [() -> T], fails: (T) -> Bool
) -> T {
    var best = failing
    var attempt = 0
    search: while true {
        for make in smaller(best) {
            attempt += 1
            guard attempt <= attempts else { return best }
            let candidate = make()
            if fails(candidate) {
                best = candidate
                continue search
            }
        }
        return best
    }
}

extension Array {
    /// This array without a run of its elements, for every run of half of them, of a quarter, down to single ones.
    package var withoutRuns: [() -> [Element]] {
        var made: [() -> [Element]] = []
        var length = Swift.max(count / 2, 1)
        while length > 0, !isEmpty {
            for start in stride(from: 0, to: count, by: length) {
                let end = Swift.min(start + length, count)
                made.append { Array(self[..<start] + self[end...]) }
            }
            length /= 2
        }
        return made
    }
}
