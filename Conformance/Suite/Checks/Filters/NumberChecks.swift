internal import TidelineStore

extension SampleTable {
    fileprivate static let numbers = SampleTable(
        .int("n"), .double("d"),
        values: [
            "a": [11, 11.0], "b": [12, -0.0], "c": [.int(1 << 53 + 1), .double(0x1p53)], "d": [.int(.min), 0.0],
            "e": [], "f": [.int(.max), .double(0x1p63)], "g": [-11, .double(.leastNonzeroMagnitude)],
        ])

    fileprivate static let infinities = SampleTable(
        .double("d"),
        values: [
            "a": [.double(.infinity)], "b": [.double(-.infinity)], "c": [.double(.greatestFiniteMagnitude)], "d": [],
            "e": [1.0],
        ])

    fileprivate static let nans = SampleTable(
        .double("d"), .int("n"),
        values: [
            "a": [.double(.nan), 1], "b": [1.0, 1], "c": [.null, 1], "d": [-1.0],
        ])
}

private let n = RowPredicate.column("n")
private let d = RowPredicate.column("d")

extension Check {
    /// Comparisons of ints and doubles.
    static let filterNumbers: [Check] = [
        Check("FIL-067", "An int column equals a double of the same value and no other", over: .numbers) { table in
            table.finds(n == 11.0, "a")
            table.findsNothing(n == 11.1)
            table.finds(n != 11.1, "a", "b", "c", "d", "e", "f", "g")
            table.finds(d == 11, "a")
            table.findsNothing(d == 12)
        },
        Check(
            "FIL-068", "A range of an int column uses a double bound without rounding it",
            why: "If the literal 11.1 is truncated to 11, the value 11 is found above it, or not found below it.",
            over: .numbers
        ) { table in
            table.finds(n > 11.1, "b", "c", "f")
            table.finds(n >= 11.1, "b", "c", "f")
            table.finds(n < 11.9, "a", "d", "g")
            table.finds(n <= 11.0, "a", "d", "g")
            table.finds(n > -11.5, "a", "b", "c", "f", "g")
            table.finds(n < -10.5, "d", "g")
            table.finds(n.isBetween(10.5, and: 11.5), "a")
        },
        Check(
            "FIL-069", "Ints beyond 2^53 compare with doubles by exact value",
            why: "As doubles, 2^53 + 1 becomes 2^53, and the greatest int becomes 2^63, which is not an int.",
            over: .numbers
        ) { table in
            table.findsNothing(n == .literal(.double(0x1p53)))
            table.finds(n > .literal(.double(0x1p53)), "c", "f")
            table.finds(n < .literal(.double(0x1p53 + 2)), "a", "b", "c", "d", "g")
            table.finds(d == .literal(.int(1 << 53)), "c")
            table.findsNothing(d == .literal(.int(1 << 53 + 1)))
            table.finds(d < .literal(.int(1 << 53 + 1)) && d > 11, "c")
        },
        Check("FIL-070", "Ints compare with doubles beyond the range of ints", over: .numbers) { table in
            table.finds(n < .literal(.double(0x1p63)), "a", "b", "c", "d", "f", "g")
            table.findsNothing(n == .literal(.double(0x1p63)))
            table.finds(n == .literal(.double(-0x1p63)), "d")
            table.findsNothing(n < .literal(.double(-0x1p63)))
            table.finds(n >= -1e300, "a", "b", "c", "d", "f", "g")
            table.finds(d > .literal(.int(.max)), "f")
            table.findsNothing(n > 1e19)
        },
        Check("FIL-071", "Ints compare with infinities and NaN as literals", over: .numbers) { table in
            table.finds(n < .literal(.double(.infinity)), "a", "b", "c", "d", "f", "g")
            table.finds(n > .literal(.double(-.infinity)), "a", "b", "c", "d", "f", "g")
            table.findsNothing(n >= .literal(.double(.infinity)))
            table.findsNothing(n == .literal(.double(.nan)))
            table.findsNothing(n > .literal(.double(.nan)))
            table.findsAll(n != .literal(.double(.nan)))
        },
        Check(
            "FIL-072", "-0.0 equals 0.0 and is not less",
            why: "Their bits differ: an index with bitwise keys finds only one of them.", over: .numbers
        ) { table in
            table.finds(d == 0.0, "b", "d")
            table.finds(d == .literal(.double(-0.0)), "b", "d")
            table.finds(d == 0, "b", "d")
            table.findsNothing(d < 0.0)
            table.finds(d >= .literal(.double(-0.0)), "a", "b", "c", "d", "f", "g")
            table.finds(d > .literal(.double(-0.0)), "a", "c", "f", "g")
            table.finds(d.isIn([.double(-0.0)]), "b", "d")
            table.finds(d != 0.0, "a", "c", "e", "f", "g")
        },
        Check("FIL-073", "The smallest double above zero is not zero", over: .numbers) { table in
            table.finds(d == .literal(.double(.leastNonzeroMagnitude)), "g")
            table.finds(d > 0 && d < 1e-300, "g")
            table.findsNothing(d > 0 && d < .literal(.double(.leastNonzeroMagnitude)))
        },
        Check("FIL-074", "A comparison of doubles with NaN holds for no row, and != for every row", over: .numbers) {
            table in
            let nan = RowPredicate.literal(.double(.nan))
            table.findsNothing(d == nan)
            table.findsAll(d != nan)
            table.findsNothing(d < nan)
            table.findsNothing(d <= nan)
            table.findsNothing(d > nan)
            table.findsNothing(nan <= d)
            table.findsNothing(d.isIn([.double(.nan)]))
            table.findsAll(!(d < nan))
            table.findsNothing(nan == nan)
        },
        Check(
            "FIL-075", "A stored NaN equals nothing, is less than nothing, and is not null", needs: [.nan], over: .nans
        ) { table in
            table.findsNothing(d == .literal(.double(.nan)))
            table.finds(d == d, "b", "c", "d")
            table.finds(d != d, "a")
            table.finds(d < 5, "b", "d")
            table.finds(d > -5, "b", "d")
            table.finds(d > 0.5, "b")
            table.finds(d <= 1.5, "b", "d")
            table.finds(d.isNull, "c")
            table.finds(d != 1.0, "a", "c", "d")
            table.finds(!(d < 5), "a", "c")
            table.finds(n == 1 && d >= -5, "b")
        },
        Check("FIL-076", "Stored infinities are beyond all other numbers", needs: [.infinity], over: .infinities) {
            table in
            table.finds(d == .literal(.double(.infinity)), "a")
            table.finds(d == .literal(.double(-.infinity)), "b")
            table.finds(d > .literal(.double(.greatestFiniteMagnitude)), "a")
            table.finds(d < -1e308, "b")
            table.finds(d < .literal(.double(.infinity)), "b", "c", "e")
            table.finds(d > .literal(.int(.max)), "a", "c")
        },
    ]
}
