#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension Timestamp {
    /// Creates the instant nearest to `date`, clamped to the years 1 to 9999.
    ///
    /// A current `Date` has a resolution of about 0.1 µs. NaN becomes 1970.
    public init(_ date: Date) {
        let seconds = date.timeIntervalSince1970
        guard !seconds.isNaN else {
            self.init(unchecked: 0)
            return
        }
        let whole = seconds.rounded(.down)
        guard let base = Int64(exactly: whole), base.magnitude < 1 << 39 else {
            self = seconds < 0 ? .min : .max
            return
        }
        let fraction = Int64(((seconds - whole) * Double(Self.ticksPerSecond)).rounded())
        self.init(clampingTicks: base * Self.ticksPerSecond + fraction)
    }

    /// The instant as a `Date`, rounded to a double of seconds since 2001.
    public var date: Date {
        let second = ticks.flooredDivision(by: Self.ticksPerSecond)
        let fraction = Double(ticks - second * Self.ticksPerSecond) / Double(Self.ticksPerSecond)
        return Date(timeIntervalSince1970: Double(second) + fraction)
    }

    /// The current time of the system clock.
    public static var now: Timestamp { Timestamp(Date()) }
}
