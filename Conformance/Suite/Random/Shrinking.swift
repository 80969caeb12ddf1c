/// Shrinks a failing value as long as a smaller value also fails.
///
/// - Parameters:
///   - attempts: The maximum number of smaller values to try.
///   - smaller: Returns the smaller variants of a value, largest reduction first; each is created when it is tried.
///   - fails: Returns whether a value fails.
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
    /// Variants of this array without a run of its elements: every half, every quarter, down to single elements.
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
