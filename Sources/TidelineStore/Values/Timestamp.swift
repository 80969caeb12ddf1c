/// An instant in units of 100 ns since 1970-01-01T00:00:00Z, from year 1 to year 9999.
///
/// The protocol's servers stamp rows with a resolution of 100 ns. `Date`, a double of seconds, cannot represent that
/// for current dates, and instants truncated to milliseconds would make an incremental pull lose or repeat rows.
/// Therefore the instant is an integer.
public struct Timestamp: Sendable, Hashable, Comparable {
    /// Ticks of 100 ns since 1970-01-01T00:00:00Z; negative for earlier instants.
    public let ticks: Int64

    /// The number of ticks in one second.
    public static let ticksPerSecond: Int64 = 10_000_000
    /// The number of ticks in one millisecond.
    public static let ticksPerMillisecond: Int64 = 10_000

    /// 0001-01-01T00:00:00.0000000Z.
    public static let min = Timestamp(unchecked: leastTicks)
    /// 9999-12-31T23:59:59.9999999Z.
    public static let max = Timestamp(unchecked: greatestTicks)

    @inlinable
    static var leastTicks: Int64 { -621_355_968_000_000_000 }
    @inlinable
    static var greatestTicks: Int64 { 2_534_023_007_999_999_999 }

    /// Creates the instant `ticks` × 100 ns after 1970-01-01T00:00:00Z, or `nil` if it is outside the years 1 to 9999.
    public init?(ticks: Int64) {
        guard ticks >= Self.min.ticks, ticks <= Self.max.ticks else { return nil }
        self.ticks = ticks
    }

    /// Creates the instant this number of milliseconds after 1970-01-01T00:00:00Z, or `nil` if it is outside the years
    /// 1 to 9999.
    public init?(milliseconds: Int64) {
        let (ticks, overflow) = milliseconds.multipliedReportingOverflow(by: Self.ticksPerMillisecond)
        guard !overflow else { return nil }
        self.init(ticks: ticks)
    }

    /// Creates an instant from ticks that are known to be in range.
    init(unchecked ticks: Int64) { self.ticks = ticks }

    /// Creates the instant `ticks` × 100 ns after 1970, clamped to the years 1 to 9999.
    @inlinable
    public init(clampingTicks ticks: Int64) {
        self.ticks = Swift.min(Swift.max(ticks, Self.leastTicks), Self.greatestTicks)
    }

    /// Returns this instant moved by `ticks` × 100 ns, clamped to the years 1 to 9999.
    public func advanced(byTicks ticks: Int64) -> Timestamp {
        let (sum, overflow) = self.ticks.addingReportingOverflow(ticks)
        return Timestamp(clampingTicks: overflow ? (ticks < 0 ? .min : .max) : sum)
    }

    /// Returns this instant moved by a duration, which may be negative, clamped to the years 1 to 9999.
    public func advanced(by duration: Duration) -> Timestamp { advanced(byTicks: duration.ticks) }

    /// The number of whole milliseconds since 1970-01-01T00:00:00Z; negative for earlier instants.
    public var milliseconds: Int64 { ticks.flooredDivision(by: Self.ticksPerMillisecond) }

    /// The last whole millisecond at or before this instant.
    package var flooredToMillisecond: Timestamp { Timestamp(unchecked: milliseconds * Self.ticksPerMillisecond) }

    public static func < (a: Timestamp, b: Timestamp) -> Bool { a.ticks < b.ticks }
}

extension Duration {
    /// The duration in ticks of a ``Timestamp``, at most about 12,000 years in either direction.
    package var ticks: Int64 {
        // A longer duration exceeds the range of timestamps and would overflow.
        let limit = Duration.seconds(400_000_000_000)
        let parts = max(min(self, limit), .zero - limit).components
        return parts.seconds * Timestamp.ticksPerSecond + parts.attoseconds / 100_000_000_000
    }
}

// MARK: - Calendar

/// The components of an instant in the proleptic Gregorian calendar, in UTC.
package struct TimestampParts: Sendable, Hashable {
    /// The year, 1 to 9999.
    package var year: Int
    /// The month, 1 to 12.
    package var month: Int
    /// The day of the month, 1 to 31.
    package var day: Int
    /// The hour, 0 to 23.
    package var hour: Int
    /// The minute, 0 to 59.
    package var minute: Int
    /// The second, 0 to 59. Leap seconds are not supported.
    package var second: Int
    /// The units of 100 ns within the second, 0 to 9,999,999.
    package var fraction: Int

    package init(year: Int, month: Int, day: Int, hour: Int = 0, minute: Int = 0, second: Int = 0, fraction: Int = 0) {
        self.year = year
        self.month = month
        self.day = day
        self.hour = hour
        self.minute = minute
        self.second = second
        self.fraction = fraction
    }
}

extension Timestamp {
    /// The calendar components in UTC.
    package var parts: TimestampParts {
        let second = ticks.flooredDivision(by: Self.ticksPerSecond)
        let fraction = ticks - second * Self.ticksPerSecond
        let day = second.flooredDivision(by: 86_400)
        let inDay = Int(second - day * 86_400)
        // Days to civil date, after Howard Hinnant's "chrono-compatible low-level date algorithms".
        let z = Int(day) + 719_468
        let era = z / 146_097
        let dayOfEra = z - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shifted = (5 * dayOfYear + 2) / 153
        let month = shifted < 10 ? shifted + 3 : shifted - 9
        return TimestampParts(
            year: yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month: month,
            day: dayOfYear - (153 * shifted + 2) / 5 + 1, hour: inDay / 3600, minute: inDay / 60 % 60,
            second: inDay % 60, fraction: Int(fraction))
    }

    /// Creates the instant with these components in UTC, or `nil` if one is out of range (February 30, hour 24).
    package init?(_ parts: TimestampParts) {
        guard let day = Self.day(year: parts.year, month: parts.month, day: parts.day),
            (0...23).contains(parts.hour), (0...59).contains(parts.minute), (0...59).contains(parts.second),
            (0...9_999_999).contains(parts.fraction)
        else { return nil }
        let second = day * 86_400 + Int64(parts.hour * 3600 + parts.minute * 60 + parts.second)
        ticks = second * Self.ticksPerSecond + Int64(parts.fraction)
    }

    /// Returns the days from 1970-01-01 to a date, or `nil` if the date does not exist in the years 1 to 9999.
    @inlinable
    package static func day(year: Int, month: Int, day: Int) -> Int64? {
        guard year >= 1, year <= 9999, month >= 1, month <= 12, day >= 1,
            day <= 28 || day <= days(inMonth: month, of: year)
        else { return nil }
        // Years begin in March, so that a leap day is the last day of its year; after Howard Hinnant, as above.
        let shiftedYear = month <= 2 ? year &- 1 : year
        let dayOfYear = (153 &* (month &+ (month > 2 ? -3 : 9)) &+ 2) / 5 &+ day &- 1
        let leapDays = shiftedYear / 4 &- shiftedYear / 100 &+ shiftedYear / 400
        return Int64(shiftedYear &* 365 &+ leapDays &+ dayOfYear &- 719_468)
    }

    @inlinable
    package static func days(inMonth month: Int, of year: Int) -> Int {
        switch month {
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }
}

extension Int64 {
    /// Returns the quotient rounded down, also for a negative dividend. `divisor` must be positive.
    func flooredDivision(by divisor: Int64) -> Int64 {
        let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? quotient - 1 : quotient
    }
}
