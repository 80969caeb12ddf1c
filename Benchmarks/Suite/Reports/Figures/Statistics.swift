internal import Foundation

/// The middle of some measurements, and how far they lie apart.
public struct Spread: Sendable, Hashable {
    /// How many there are.
    public let count: Int
    /// The one in the middle; of an even number, the mean of the two.
    public let median: Double
    /// What a quarter of them lies below, interpolated linearly between neighbours.
    public let lowerQuartile: Double
    /// What a quarter of them lies above.
    public let upperQuartile: Double
    /// The least.
    public let least: Double
    /// The greatest.
    public let greatest: Double
    /// The range in which the median of ever more measurements would come to lie, with a confidence of at least 95 %.
    ///
    /// Nothing is assumed of how the measurements are distributed: it reaches from the *k*th least to the *k*th greatest, and
    /// it misses the median only if fewer than *k* of them fall on one side of it, as of coins. Fewer than six give no such
    /// range; then it is all of them, for five with 94 %.
    public let interval: ClosedRange<Double>

    /// Of measurements, in any order; nil when there are none.
    public init?(_ values: some Sequence<Double>) {
        let sorted = values.sorted()
        guard let first = sorted.first, let last = sorted.last else { return nil }
        count = sorted.count
        median = Self.quantile(sorted, 0.5)
        lowerQuartile = Self.quantile(sorted, 0.25)
        upperQuartile = Self.quantile(sorted, 0.75)
        least = first
        greatest = last
        let left = Self.leftOut(of: sorted.count)
        interval = sorted[left]...sorted[sorted.count - 1 - left]
    }

    /// How far ``interval`` reaches from the median, on its longer side; nil for a single measurement, of which nothing is
    /// known.
    public var reach: Double? {
        count < 2 ? nil : max(interval.upperBound - median, median - interval.lowerBound)
    }

    private static func quantile(_ sorted: [Double], _ share: Double) -> Double {
        let place = share * Double(sorted.count - 1)
        let below = Int(place)
        let above = min(below + 1, sorted.count - 1)
        return sorted[below] + (sorted[above] - sorted[below]) * (place - Double(below))
    }

    /// How many measurements are left out on each side of ``interval``: as many as heads fall in fewer than 2.5 % of throws of
    /// so many coins.
    private static func leftOut(of count: Int) -> Int {
        // Of so many, the chance of a single one is less than a double can tell.
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

/// The test of Mann and Whitney, two-sided: whether two groups of measurements can be told apart, whatever their
/// distribution.
struct MannWhitney {
    /// Of groups of up to so many without ties, every order is counted; beyond, the normal distribution is near enough.
    private static let mostCounted = 20

    /// In how many pairs the first group's measurement is the greater; a tie counts half.
    let statistic: Double
    /// How likely groups of the same origin would differ as much as these or more.
    let probability: Double

    /// Tests two groups, neither of them empty.
    init(_ a: [Double], _ b: [Double]) {
        statistic = a.reduce(0) { sum, x in
            b.reduce(sum) { $0 + (x > $1 ? 1 : x == $1 ? 0.5 : 0) }
        }
        let greater = max(statistic, Double(a.count * b.count) - statistic)
        let ties = Dictionary(grouping: a + b) { $0 }.values.map { Double($0.count) }.filter { $0 > 1 }
        if ties.isEmpty, max(a.count, b.count) <= Self.mostCounted {
            probability = Self.counted(a.count, b.count, atLeast: Int(greater))
        } else {
            probability = Self.approximate(Double(a.count), Double(b.count), ties, greater)
        }
    }

    /// The least that two groups of these sizes can come to: when all of one lie beyond all of the other.
    static func leastProbability(_ a: Int, _ b: Int) -> Double {
        a <= mostCounted && b <= mostCounted
            ? counted(a, b, atLeast: a * b) : approximate(Double(a), Double(b), [], Double(a * b))
    }

    /// From the number of the orders of `a + b` measurements in which the statistic is as great.
    private static func counted(_ a: Int, _ b: Int, atLeast statistic: Int) -> Double {
        // ways[k][s]: in how many ways k of the ranks so far add up to s.
        let most = a * b + a * (a + 1) / 2
        var ways = Array(repeating: Array(repeating: 0.0, count: most + 1), count: a + 1)
        ways[0][0] = 1
        for rank in 1...(a + b) {
            for k in stride(from: min(a, rank), to: 0, by: -1) {
                for sum in stride(from: most, through: rank, by: -1) { ways[k][sum] += ways[k - 1][sum - rank] }
            }
        }
        let all = ways[a].reduce(0, +)
        let asGreat = ways[a][(statistic + a * (a + 1) / 2)...].reduce(0, +)
        return min(2 * asGreat / all, 1)
    }

    /// By the normal distribution, corrected for ties and for the statistic's being whole.
    private static func approximate(_ a: Double, _ b: Double, _ ties: [Double], _ statistic: Double) -> Double {
        let count = a + b
        let tied = ties.reduce(0) { $0 + ($1 * $1 * $1 - $1) } / (count * (count - 1))
        let deviation = (a * b / 12 * (count + 1 - tied)).squareRoot()
        guard deviation > 0 else { return 1 }
        return min(erfc((statistic - a * b / 2 - 0.5) / deviation / 2.0.squareRoot()), 1)
    }
}
