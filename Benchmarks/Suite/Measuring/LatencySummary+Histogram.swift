internal import Histogram

/// The times of operations, as they are counted.
typealias LatencyHistogram = Histogram<UInt64>

extension LatencySummary {
    /// The summary of what was noted; nil when nothing was.
    init?(_ histogram: LatencyHistogram) {
        guard histogram.totalCount > 0 else { return nil }
        func time(_ percentile: Double) -> UInt64 { histogram.valueAtPercentile(percentile) }
        self.init(
            count: Int(histogram.totalCount), p50: time(50), p90: time(90), p99: time(99), p999: time(99.9),
            max: time(100),
            curve: Self.shares(count: Int(histogram.totalCount)).map { share in
                Point(share: share, nanoseconds: time(share * 100))
            })
    }

    /// The shares of a curve: each time the rest is halved it has four points, until the rest is less than one operation.
    private static func shares(count: Int) -> [Double] {
        let most = 40
        var shares: [Double] = []
        var rest = 1.0
        while shares.count < most, rest * Double(count) >= 1 {
            shares += (0..<4).map { 1 - rest * (1 - Double($0) / 8) }
            rest /= 2
        }
        return shares + [1]
    }
}
