/// A half-open interval of key parts.
struct KeyInterval: Hashable, Sendable {
    var lower: [UInt8]
    /// The upper bound, or `nil` if there is no upper bound.
    var upper: [UInt8]?

    /// Returns the intersection of both intervals, or `nil` if it is empty.
    func intersection(_ other: KeyInterval) -> KeyInterval? {
        let lower = self.lower.precedes(other.lower) ? other.lower : self.lower
        let upper = self.ends(before: other) ? self.upper : other.upper
        if let upper, !lower.precedes(upper) { return nil }
        return KeyInterval(lower: lower, upper: upper)
    }

    /// Returns whether this interval ends before the other one ends.
    func ends(before other: KeyInterval) -> Bool {
        guard let upper else { return false }
        return other.upper.map { upper.precedes($0) } ?? true
    }
}

/// Disjoint intervals in ascending order: the values of a column that satisfy a condition.
struct KeyIntervals: Hashable, Sendable {
    private(set) var intervals: [KeyInterval]

    private init(intervals: [KeyInterval]) { self.intervals = intervals }

    /// Creates the union of the given intervals. Adjacent intervals are not merged, so that adjacent values stay single
    /// values.
    init(union: [KeyInterval]) {
        guard union.count > 1 else {
            intervals = union
            return
        }
        intervals = []
        intervals.reserveCapacity(union.count)
        for interval in union.sorted(by: { $0.lower.precedes($1.lower) }) {
            guard let last = intervals.last, last.upper.map({ interval.lower.precedes($0) }) ?? true else {
                intervals.append(interval)
                continue
            }
            if last.ends(before: interval) { intervals[intervals.count - 1].upper = interval.upper }
        }
    }

    var isEmpty: Bool { intervals.isEmpty }
    var count: Int { intervals.count }

    func intersection(_ other: KeyIntervals) -> KeyIntervals {
        var result: [KeyInterval] = []
        var (a, b) = (0, 0)
        while a < count, b < other.count {
            let (x, y) = (intervals[a], other.intervals[b])
            if let common = x.intersection(y) { result.append(common) }
            if x.ends(before: y) { a += 1 } else { b += 1 }
        }
        return KeyIntervals(intervals: result)
    }

    /// Returns the intersection of all elements, or `nil` if there are no elements.
    static func intersection(of all: [KeyIntervals]) -> KeyIntervals? {
        guard all.count > 1 else { return all.first }
        // The smallest first, because the result is never larger.
        let sorted = all.sorted { $0.count < $1.count }
        guard var result = sorted.first else { return nil }
        for intervals in sorted.dropFirst() where !result.isEmpty { result = result.intersection(intervals) }
        return result
    }
}

extension [UInt8] {
    /// Whether these bytes are ordered before others in key order.
    func precedes(_ other: [UInt8]) -> Bool { unsafe withUnsafeBytes { unsafe $0.precedes(other) } }
}
