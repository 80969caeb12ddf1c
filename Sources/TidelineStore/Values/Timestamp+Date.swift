#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension Timestamp {
    /// Creates the instant nearest to `date`, clamped to the years 1 to 9999.
    ///
    /// A current `Date` has a resolution of about 0.1 µs. If `date` is the ``date`` of an instant of whole
    /// microseconds, that is the instant: within 250 years of 2001, it is the same after both conversions. NaN becomes
    /// 1970.
    public init(_ date: Date) {
        // A date is a double of seconds since 2001. Since 1970, it would have fewer digits.
        let seconds = date.timeIntervalSinceReferenceDate
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
        let ticks = (base + Self.referenceSecond) * Self.ticksPerSecond + fraction
        let rounded = Timestamp(clampingTicks: (ticks + 5).flooredDivision(by: 10) * 10)
        self = rounded.date == date ? rounded : Timestamp(clampingTicks: ticks)
    }

    /// The instant as a `Date`, rounded to a double of seconds since 2001.
    public var date: Date {
        let second = ticks.flooredDivision(by: Self.ticksPerSecond)
        let fraction = Double(ticks - second * Self.ticksPerSecond) / Double(Self.ticksPerSecond)
        return Date(timeIntervalSinceReferenceDate: Double(second - Self.referenceSecond) + fraction)
    }

    /// The seconds from 1970 to the reference date of `Date`, 2001-01-01T00:00:00Z.
    private static var referenceSecond: Int64 { 978_307_200 }

    /// The current time of the system clock.
    public static var now: Timestamp { Timestamp(Date()) }
}
