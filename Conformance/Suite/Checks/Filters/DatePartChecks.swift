internal import TidelineStore

extension SampleTable {
    /// Instants at the boundaries of seconds, days, and years, and a row without an instant.
    fileprivate static let instants = SampleTable(
        .timestamp("at"),
        values: [
            "a": [.timestamp(.min)], "b": [.ticks(-1)], "c": [.ticks(0)],
            "d": [instant(2024, 2, 29, 12, 34, 56, 7_000_000)], "e": [.timestamp(.max)], "f": [],
            "g": [instant(1900, 2, 28, 23, 59, 59, 0)], "h": [instant(2000, 2, 29, 23, 30, 0, 1)],
            "i": [instant(1582, 10, 10, 5, 6, 7, 0)], "j": [.ticks(-10_000_000)],
        ])

    private static func instant(
        _ year: Int, _ month: Int, _ day: Int, _ hour: Int, _ minute: Int, _ second: Int, _ fraction: Int
    ) -> Value {
        let parts = TimestampParts(
            year: year, month: month, day: day, hour: hour, minute: minute, second: second, fraction: fraction)
        return Timestamp(parts).map { .timestamp($0) } ?? .null
    }
}

private let at = RowPredicate.column("at")

extension Check {
    /// Parts of instants.
    static let filterDateParts: [Check] = [
        Check(
            "FIL-116", "year is the year in UTC, from 1 to 9999",
            why: "100 ns before 1970 is in 1969; a division that truncates toward zero returns 1970.", over: .instants
        ) { table in
            table.finds(at.year == 1, "a")
            table.finds(at.year == 1969, "b", "j")
            table.finds(at.year == 1970, "c")
            table.finds(at.year == 9999, "e")
            table.finds(at.year < 1900, "a", "i")
            table.finds(at.year == 1582, "i")
        },
        Check("FIL-117", "month ranges from 1 to 12", over: .instants) { table in
            table.finds(at.month == 1, "a", "c")
            table.finds(at.month == 2, "d", "g", "h")
            table.finds(at.month == 12, "b", "e", "j")
            table.finds(at.month == 10, "i")
            table.findsNothing(at.month == 0)
        },
        Check("FIL-118", "day is the day of the month, including leap days", over: .instants) { table in
            table.finds(at.day == 29, "d", "h")
            table.finds(at.day == 28, "g")
            table.finds(at.day == 31, "b", "e", "j")
            table.finds(at.day == 1, "a", "c")
            table.finds(at.day == 10, "i")
        },
        Check(
            "FIL-119", "hour is the hour in UTC, whatever the device's time zone",
            why: "A calendar without an explicit time zone uses the device's, which may change.", over: .instants
        ) { table in
            table.finds(at.hour == 0, "a", "c")
            table.finds(at.hour == 23, "b", "e", "g", "h", "j")
            table.finds(at.hour == 12, "d")
            table.finds(at.hour == 5, "i")
        },
        Check("FIL-120", "minute and second are whole numbers without the fraction, also before 1970", over: .instants)
        { table in
            table.finds(at.minute == 59, "b", "e", "g", "j")
            table.finds(at.minute == 34, "d")
            table.finds(at.second == 59, "b", "e", "g", "j")
            table.finds(at.second == 56, "d")
            table.finds(at.second == 0, "a", "c", "h")
            table.finds(at.second == 7, "i")
        },
        Check("FIL-121", "The parts of null are null", over: .instants) { table in
            table.finds(at.year == .null, "f")
            table.finds(at.second == .null, "f")
            table.finds(at.year != 1970, "a", "b", "d", "e", "f", "g", "h", "i", "j")
            table.finds(!(at.hour >= 0), "f")
        },
        Check("FIL-122", "Parts of instants are ints that can be compared and used in arithmetic", over: .instants) {
            table in
            table.finds(at.year % 4 == 0 && at.month == 2, "d", "g", "h")
            table.finds(at.day == at.month, "a", "c", "f", "i")
            table.finds(at.hour * 60 + at.minute == 754, "d")
            table.finds(at.year.isIn([1970.0, 1582]), "c", "i")
        },
    ]
}
