#if Commands
internal import Foundation

/// The format of figures in all reports.
enum FigureFormat {
    /// A number with thousands separators.
    static func count(_ count: Int) -> String {
        let digits = String(count.magnitude)
        let parts = stride(from: digits.count, to: 0, by: -3).map { end in
            String(digits.prefix(end).suffix(3))
        }
        return (count < 0 ? "-" : "") + parts.reversed().joined(separator: ",")
    }

    /// A number with three significant digits, or all its integer digits.
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

    /// A time with a suitable unit.
    static func time(_ seconds: Double) -> String {
        let unit = TimeUnit.fitting(seconds)
        return "\(number(seconds / unit.seconds)) \(unit.rawValue)"
    }

    /// A rate, in thousands or millions if it is large.
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

    /// The margin of error of a ratio, with the decimals of ``ratio(_:)``.
    static func reach(of ratio: Spread) -> String? {
        guard let reach = ratio.reach else { return nil }
        let decimals = ratio.median < 0.0995 ? 3 : ratio.median < 9.995 ? 2 : ratio.median < 99.95 ? 1 : 0
        return "±" + String(format: "%.\(decimals)f", reach)
    }

    /// The text for a ratio whose margin of error is more than a third of it.
    static let unclear = "unclear"

    /// Whether the margin of error of a ratio or time is more than a third of it.
    static func isUnclear(_ figure: Spread) -> Bool { figure.reach.map { $0 > figure.median / 3 } ?? false }

    /// A ratio to the bare engine with its margin of error, such as `0.97 ±0.03 ×C`, or ``unclear``.
    static func speed(_ ratio: Spread) -> String {
        if isUnclear(ratio) { return "×C \(unclear)" }
        return [self.ratio(ratio.median), reach(of: ratio), "×C"].compactMap { $0 }.joined(separator: " ")
    }

    /// The plural of a unit, such as `rows`.
    static func plural(_ unit: String) -> String { unit.hasSuffix("y") ? unit.dropLast() + "ies" : unit + "s" }
}

/// A unit of time.
enum TimeUnit: String, CaseIterable {
    case nanoseconds = "ns"
    case microseconds = "µs"
    case milliseconds = "ms"
    case seconds = "s"

    /// The length in seconds.
    var seconds: Double {
        switch self {
        case .nanoseconds: 1e-9
        case .microseconds: 1e-6
        case .milliseconds: 1e-3
        case .seconds: 1
        }
    }

    /// The greatest unit that is not longer than a time.
    static func fitting(_ seconds: Double) -> TimeUnit {
        allCases.last { seconds >= $0.seconds * 0.9995 } ?? .nanoseconds
    }

    /// The unit for several times: it fits their median.
    static func fitting(all times: [Double]) -> TimeUnit {
        times.isEmpty ? .microseconds : fitting(times.sorted()[(times.count - 1) / 2])
    }
}
#endif
