#if Commands
internal import Foundation
internal import Histogram

/// Collects the latencies of operations on one thread.
public final class LatencySink {
    /// The sampling interval for work with too many operations to time each: every 16th.
    public static let sampling = 16

    /// One hour in nanoseconds; longer latencies are recorded as this.
    private static let longest: UInt64 = 3_600_000_000_000

    /// The number of latencies that are buffered before they go into the histogram, which is several times slower. Most
    /// work fits, so the histogram is built after the work. The system allocates the pages of the buffer on first use.
    private static let capacity = 1 << 17

    private let noted = UnsafeMutablePointer<UInt64>.allocate(capacity: capacity)
    private var count = 0
    private var recorded = LatencySink.makeHistogram()

    /// Returns an empty histogram that can be added to those of sinks.
    static func makeHistogram() -> LatencyHistogram {
        LatencyHistogram(
            lowestDiscernibleValue: 1, highestTrackableValue: longest, numberOfSignificantValueDigits: .three)
    }

    /// Creates an empty sink.
    public init() {}

    deinit { noted.deallocate() }

    /// The histogram of all recorded latencies.
    var histogram: LatencyHistogram {
        record()
        return recorded
    }

    /// The current time of a monotonic clock, in nanoseconds.
    public static var now: UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }

    /// Records an operation that started at `start`, a value of ``now``, and has just ended.
    public func note(since start: UInt64) { note(nanoseconds: Self.now - start) }

    /// Records the latency of an operation.
    public func note(nanoseconds: UInt64) {
        if count == Self.capacity { record() }
        noted[count] = nanoseconds
        count += 1
    }

    /// Measures and records the time that `body` takes.
    @inlinable
    @inline(__always)
    public func time<T>(_ body: () throws -> T) rethrows -> T {
        let start = Self.now
        let result = try body()
        note(since: start)
        return result
    }

    /// Performs, times and records an operation for each element, and returns the sum of the answers.
    @inlinable
    @inline(__always)
    public func each<T>(_ parts: [T], _ body: (T) throws -> Answer) rethrows -> Answer {
        var answer = Answer()
        for part in parts { answer += try time { try body(part) } }
        return answer
    }
    private func record() {
        for index in 0..<count { recorded.record(min(max(noted[index], 1), Self.longest)) }
        count = 0
    }
}

/// A histogram of latencies in nanoseconds.
typealias LatencyHistogram = Histogram<UInt64>

extension LatencySummary {
    /// Creates a summary, or returns `nil` if the histogram is empty.
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

    /// The shares of a curve: four points each time the rest is halved, until the rest is less than one operation.
    private static func shares(count: Int) -> [Double] {
        let limit = 40
        var shares: [Double] = []
        var rest = 1.0
        while shares.count < limit, rest * Double(count) >= 1 {
            shares += (0..<4).map { 1 - rest * (1 - Double($0) / 8) }
            rest /= 2
        }
        return shares + [1]
    }
}
#endif
