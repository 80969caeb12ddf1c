internal import Foundation

/// How reports of the benchmark say figures, alike in every form.
enum BenchmarkWords {
    /// A number with commas between its thousands.
    static func count(_ count: Int) -> String {
        let digits = String(count.magnitude)
        let parts = stride(from: digits.count, to: 0, by: -3).map { end in
            String(digits.prefix(end).suffix(3))
        }
        return (count < 0 ? "-" : "") + parts.reversed().joined(separator: ",")
    }

    /// A number with three digits that count, or more where it is greater.
    static func number(_ value: Double) -> String {
        switch value {
        case ..<0.0009995: String(format: "%.1e", value)
        case ..<0.9995: String(format: "%.3f", value)
        case ..<9.995: String(format: "%.2f", value)
        case ..<99.95: String(format: "%.1f", value)
        case ..<1e15: count(Int(value.rounded()))
        default: String(format: "%.1e", value)
        }
    }

    /// A time with the unit that fits it.
    static func time(_ seconds: Double) -> String {
        let unit = TimeUnit.fitting(seconds)
        return "\(number(seconds / unit.seconds)) \(unit.rawValue)"
    }

    /// How many in a second, in thousands or millions where they are many.
    static func rate(_ rate: Double) -> String {
        switch rate {
        case ..<9_995: number(rate)
        case ..<999_500: number(rate / 1e3) + "k"
        default: number(rate / 1e6) + "M"
        }
    }

    /// A number of bytes.
    static func bytes(_ bytes: Int) -> String {
        let units: [(String, Double)] = [("GB", 1e9), ("MB", 1e6), ("kB", 1e3)]
        guard let (name, size) = units.first(where: { Double(bytes.magnitude) >= $0.1 * 0.9995 }) else {
            return "\(bytes) B"
        }
        return "\(number(Double(bytes) / size)) \(name)"
    }

    /// A ratio to the bare engine.
    static func ratio(_ value: Double) -> String {
        switch value {
        case ..<0.0995: String(format: "%.3f", value)
        case ..<9.995: String(format: "%.2f", value)
        default: number(value)
        }
    }

    /// How far a ratio may be off, with as many decimals as ``ratio(_:)`` gives it.
    static func reach(of ratio: Spread) -> String? {
        guard let reach = ratio.reach else { return nil }
        let decimals = ratio.median < 0.0995 ? 3 : ratio.median < 9.995 ? 2 : ratio.median < 99.95 ? 1 : 0
        return "±" + String(format: "%.\(decimals)f", reach)
    }

    /// The word in place of a ratio that may be off by more than a third of itself.
    static let unclear = "unclear"

    /// Whether a ratio may be off by more than a third of itself, so that it means nothing.
    static func isUnclear(_ ratio: Spread) -> Bool { ratio.reach.map { $0 > ratio.median / 3 } ?? false }

    /// A ratio to the bare engine with its spread, such as `0.97 ±0.03 ×C`.
    static func speed(_ ratio: Spread) -> String {
        isUnclear(ratio) ? "×C \(unclear)" : "\(self.ratio(ratio)) ×C"
    }

    /// A ratio with its spread, such as `0.97 ±0.03`; ``unclear`` where the spread is too large.
    static func ratio(_ ratio: Spread) -> String {
        isUnclear(ratio)
            ? unclear : [self.ratio(ratio.median), reach(of: ratio)].compactMap { $0 }.joined(separator: " ")
    }

    /// Several of something, such as `rows`.
    static func plural(_ unit: String) -> String { unit.hasSuffix("y") ? unit.dropLast() + "ies" : unit + "s" }
}

/// A unit of time.
enum TimeUnit: String, CaseIterable {
    case nanoseconds = "ns"
    case microseconds = "µs"
    case milliseconds = "ms"
    case seconds = "s"

    /// How long it is.
    var seconds: Double {
        switch self {
        case .nanoseconds: 1e-9
        case .microseconds: 1e-6
        case .milliseconds: 1e-3
        case .seconds: 1
        }
    }

    /// The greatest that goes into a time at least once.
    static func fitting(_ seconds: Double) -> TimeUnit {
        allCases.last { seconds >= $0.seconds * 0.9995 } ?? .nanoseconds
    }

    /// One for several times beside each other: it fits the one in the middle, so that a single very small or great one
    /// does not make all others long.
    static func fitting(all times: [Double]) -> TimeUnit {
        times.isEmpty ? .microseconds : fitting(times.sorted()[(times.count - 1) / 2])
    }
}
