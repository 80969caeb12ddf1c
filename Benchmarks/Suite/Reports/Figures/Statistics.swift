#if Commands
internal import Foundation

/// The median and the spread of measurements.
package struct Spread: Sendable, Hashable {
    /// The number of measurements.
    package let count: Int
    /// The median.
    package let median: Double
    /// The confidence interval of the median, with a confidence of at least 95 %.
    ///
    /// It assumes no distribution: it reaches from the *k*th smallest to the *k*th largest value and misses the median
    /// only if fewer than *k* values lie on one side, with the probability of as many heads in coin tosses. Fewer than
    /// six values have no such interval; it then contains all of them, with 94 % confidence for five.
    package let interval: ClosedRange<Double>

    /// Creates the spread of measurements in any order, or returns `nil` if there are none.
    package init?(_ values: some Sequence<Double>) {
        let sorted = values.sorted()
        guard !sorted.isEmpty else { return nil }
        count = sorted.count
        let (low, high) = (sorted[(count - 1) / 2], sorted[count / 2])
        median = low + (high - low) / 2
        let left = Self.leftOut(of: count)
        interval = sorted[left]...sorted[count - 1 - left]
    }

    /// The distance from the median to the farther end of ``interval``; `nil` for a single measurement.
    package var reach: Double? {
        count < 2 ? nil : max(interval.upperBound - median, median - interval.lowerBound)
    }

    /// The number of values outside ``interval`` on each side: the most heads that occur in less than 2.5 % of series
    /// of `count` coin tosses.
    private static func leftOut(of count: Int) -> Int {
        // The probability of a single series underflows a double here, so use the normal approximation.
        guard count <= 1000 else { return Int((Double(count) - 1.96 * Double(count).squareRoot()) / 2) }
        var term = (0..<count).reduce(1.0) { chance, _ in chance / 2 }
        var (tail, heads) = (term, 0)
        while tail <= 0.025 {
            term *= Double(count - heads) / Double(heads + 1)
            tail += term
            heads += 1
        }
        return max(heads - 1, 0)
    }
}

/// The two-sided Mann-Whitney test: whether two groups of measurements differ, for any distribution.
struct MannWhitney {
    /// The largest group without ties for the exact distribution; above, the normal approximation is accurate.
    private static let maxExact = 20

    /// The number of pairs in which the value of the first group is greater; a tie counts half.
    let statistic: Double
    /// The probability of a difference at least this large if both groups have the same distribution.
    let probability: Double

    /// Tests two nonempty groups.
    init(_ a: [Double], _ b: [Double]) {
        statistic = a.reduce(0) { sum, x in
            b.reduce(sum) { $0 + (x > $1 ? 1 : x == $1 ? 0.5 : 0) }
        }
        let greater = max(statistic, Double(a.count * b.count) - statistic)
        let ties = Dictionary(grouping: a + b) { $0 }.values.map { Double($0.count) }.filter { $0 > 1 }
        if ties.isEmpty, max(a.count, b.count) <= Self.maxExact {
            probability = Self.exact(a.count, b.count, atLeast: Int(greater))
        } else {
            probability = Self.approximate(Double(a.count), Double(b.count), ties, greater)
        }
    }

    /// The smallest probability for groups of these sizes, which do not overlap.
    static func leastProbability(_ a: Int, _ b: Int) -> Double {
        a <= maxExact && b <= maxExact
            ? exact(a, b, atLeast: a * b) : approximate(Double(a), Double(b), [], Double(a * b))
    }

    /// Counts the orders of `a + b` measurements with at least this statistic.
    private static func exact(_ a: Int, _ b: Int, atLeast statistic: Int) -> Double {
        // ways[k][s] is the number of ways in which k of the ranks so far have the sum s.
        let maxSum = a * b + a * (a + 1) / 2
        var ways = Array(repeating: Array(repeating: 0.0, count: maxSum + 1), count: a + 1)
        ways[0][0] = 1
        for rank in 1...(a + b) {
            for k in stride(from: min(a, rank), to: 0, by: -1) {
                for sum in stride(from: maxSum, through: rank, by: -1) { ways[k][sum] += ways[k - 1][sum - rank] }
            }
        }
        let tail = ways[a][(statistic + a * (a + 1) / 2)...].reduce(0, +)
        return min(2 * tail / ways[a].reduce(0, +), 1)
    }

    /// Uses the normal distribution, with corrections for ties and for continuity.
    private static func approximate(_ a: Double, _ b: Double, _ ties: [Double], _ statistic: Double) -> Double {
        let count = a + b
        let tied = ties.reduce(0) { $0 + ($1 * $1 * $1 - $1) } / (count * (count - 1))
        let deviation = (a * b / 12 * (count + 1 - tied)).squareRoot()
        guard deviation > 0 else { return 1 }
        return min(erfc((statistic - a * b / 2 - 0.5) / deviation / 2.0.squareRoot()), 1)
    }
}
#endif
