/// The parts of keys from one on and before another.
struct KeyInterval: Hashable, Sendable {
    var lower: [UInt8]
    /// Nil when there is no end.
    var upper: [UInt8]?

    /// What lies in both; nil when nothing does.
    func intersection(_ other: KeyInterval) -> KeyInterval? {
        let lower = self.lower.precedes(other.lower) ? other.lower : self.lower
        let upper = self.ends(before: other) ? self.upper : other.upper
        if let upper, !lower.precedes(upper) { return nil }
        return KeyInterval(lower: lower, upper: upper)
    }

    /// Whether this ends where `other` still goes on.
    func ends(before other: KeyInterval) -> Bool {
        guard let upper else { return false }
        return other.upper.map { upper.precedes($0) } ?? true
    }
}

/// Intervals in their order, none of which reaches into the next: what a condition leaves of a column's values.
struct KeyIntervals: Hashable, Sendable {
    private(set) var intervals: [KeyInterval]

    static let none = KeyIntervals(intervals: [])

    private init(intervals: [KeyInterval]) { self.intervals = intervals }

    init(_ interval: KeyInterval) { intervals = [interval] }

    /// All that lies in one of these. Intervals that touch stay apart, so that neighbouring values stay single values.
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

    /// What lies in both.
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

    /// What lies in all of these; nil when there is none to say.
    static func intersection(of all: [KeyIntervals]) -> KeyIntervals? {
        guard all.count > 1 else { return all.first }
        // The smallest first: what remains is never more than they leave.
        let sorted = all.sorted { $0.count < $1.count }
        guard var result = sorted.first else { return nil }
        for intervals in sorted.dropFirst() where !result.isEmpty { result = result.intersection(intervals) }
        return result
    }
}

extension [UInt8] {
    /// Whether these bytes come before others as keys do.
    func precedes(_ other: [UInt8]) -> Bool { withUnsafeBytes { $0.precedes(other) } }
}
