internal import Foundation
internal import Histogram

/// Takes the times of single operations. It belongs to one thread.
public final class LatencySink {
    /// How many operations lie between two that are timed where one of many is taken.
    public static let sampling = 16

    /// An hour in nanoseconds; what takes longer counts as that.
    private static let longest: UInt64 = 3_600_000_000_000

    /// How many times are kept as they are before they are sorted in: as many as most work notes, so that the sorting, which
    /// takes several times as long, comes after the work. Memory is taken as they come.
    private static let room = 1 << 17

    private let noted = UnsafeMutablePointer<UInt64>.allocate(capacity: room)
    private var count = 0
    private var recorded = LatencySink.makeHistogram()

    /// An empty histogram, to which those of sinks can be added.
    static func makeHistogram() -> LatencyHistogram {
        LatencyHistogram(
            lowestDiscernibleValue: 1, highestTrackableValue: longest, numberOfSignificantValueDigits: .three)
    }

    /// An empty one.
    public init() {}

    deinit { noted.deallocate() }

    /// All that was noted.
    var histogram: LatencyHistogram {
        record()
        return recorded
    }

    /// Nanoseconds of a clock that only goes forward.
    public static var now: UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }

    /// Notes an operation that began at `start`, as ``now`` told it, and has just ended.
    public func note(since start: UInt64) { note(nanoseconds: Self.now - start) }

    /// Notes an operation of that length.
    public func note(nanoseconds: UInt64) {
        if count == Self.room { record() }
        noted[count] = nanoseconds
        count += 1
    }

    private func record() {
        for index in 0..<count { recorded.record(min(max(noted[index], 1), Self.longest)) }
        count = 0
    }
}

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
