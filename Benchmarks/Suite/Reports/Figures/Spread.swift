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
