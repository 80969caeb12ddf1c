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
