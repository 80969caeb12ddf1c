internal import TidelineStore

extension SampleTable {
    fileprivate static let sums = SampleTable(
        .int("x"), .int("y"), .double("d"),
        values: [
            "a": [7, 2, 7.5], "b": [-7, 2, -7.5], "c": [7, -2, 0.5], "d": [.int(.max), 1, 1e308],
            "e": [.int(.min), -1, 2.5], "f": [.null, 0], "g": [5, 0, -0.5],
        ])
}

private let x = RowPredicate.column("x")
private let y = RowPredicate.column("y")
private let d = RowPredicate.column("d")

extension Check {
    /// Arithmetic and rounding.
    static let filterArithmetic: [Check] = [
        Check("FIL-105", "+, - and * of ints are exact, with negatives and beyond 2^53", over: .sums) { table in
            table.finds(x + y == 9, "a")
            table.finds(x + 1 == 8, "a", "c")
            table.finds(x - y == 5, "a", "g")
            table.finds(x * y == -14, "b", "c")
            table.finds(x - 1 == .literal(.int(.max - 1)), "d")
            table.finds(y - x == .literal(.int(.max)), "e")
            table.finds(1 - x == -6, "a", "c")
        },
        Check(
            "FIL-106", "Division of ints truncates toward zero",
            why: "Some engines round down or return a fraction: -7 / 2 is -3, not -4 and not -3.5.", over: .sums
        ) { table in
            table.finds(x / y == 3, "a")
            table.finds(x / y == -3, "b", "c")
            table.finds(x / 2 == 3, "a", "c")
            table.finds(x / 8 == 0, "a", "b", "c", "g")
            table.finds(x / 1 == .literal(.int(.max)), "d")
        },
        Check("FIL-107", "% of ints has the dividend's sign", over: .sums) { table in
            table.finds(x % y == 1, "a", "c")
            table.finds(x % y == -1, "b")
            table.finds(x % y == 0, "d", "e")
            table.finds(x % 5 == 2, "a", "c", "d")
            table.finds(x % -5 == -2, "b")
        },
        Check(
            "FIL-108", "Division by zero and % of zero are null, for ints and doubles",
            why: "It must not crash the process or result in an infinity that is greater than everything.", over: .sums
        ) { table in
            table.finds(x / y == .null, "f", "g")
            table.finds(x % y == .null, "f", "g")
            table.finds(d / y == .null, "f", "g")
            table.findsAll(x / 0 == .null)
            table.findsAll(d / 0.0 == .null)
            table.findsAll(d % 0.0 == .null)
            table.findsNothing(x / 0 > 0)
        },
        Check(
            "FIL-109", "An int result beyond 64 bits is a double",
            why: "It must neither wrap around nor crash; the smallest int divided by -1 is such a result.", over: .sums
        ) { table in
            table.finds(x + y == .literal(.double(0x1p63)), "d")
            table.finds(x + 1 > .literal(.int(.max)), "d")
            table.finds(x * 2 == .literal(.double(0x1p64)), "d")
            table.finds(x / y == .literal(.double(0x1p63)), "e")
            table.finds(x * -1 > .literal(.int(.max)), "e")
            table.finds(x - 1 < 0, "b", "e")
        },
        Check("FIL-110", "With a double operand, arithmetic uses doubles, and % is C's fmod", over: .sums) { table in
            table.finds(x + 0.5 == 7.5, "a", "c")
            table.finds(x / 2.0 == 3.5, "a", "c")
            table.finds(d * 2 == 15, "a")
            table.finds(d % 2 == 1.5, "a")
            table.finds(d % 2 == -1.5, "b")
            table.finds(d - x == 0.5, "a")
            table.finds(d - x == -0.5, "b")
        },
        Check("FIL-111", "A double result out of range is an infinity, and a NaN result is null", over: .sums) {
            table in
            table.finds(d * 10 == .literal(.double(.infinity)), "d")
            table.finds(d * -10 < -1e308, "d")
            table.finds(d * 10 - d * 10 == .null, "d", "f")
        },
        Check("FIL-112", "Arithmetic with null is null", over: .sums) { table in
            table.finds(x + 1 == .null, "f")
            table.finds(d * 0 == .null, "f")
            table.findsAll(x + .null == .null)
            table.finds(!(x + 1 > 0), "b", "e", "f")
        },
        Check(
            "FIL-113", "round rounds halves away from zero",
            why: "Banker's rounding rounds 2.5 to 2; adding a half and truncating rounds -0.5 to 0.", over: .sums
        ) { table in
            table.finds(d.rounded == 8, "a")
            table.finds(d.rounded == -8, "b")
            table.finds(d.rounded == 1, "c")
            table.finds(d.rounded == 3, "e")
            table.finds(d.rounded == -1, "g")
            table.findsAll(RowPredicate.literal(0.49999999999999994).rounded == 0)
            table.findsAll(RowPredicate.literal(4503599627370497.0).rounded == 4503599627370497.0)
        },
        Check("FIL-114", "floor rounds down and ceiling up, also for negative numbers", over: .sums) { table in
            table.finds(d.floor == 7, "a")
            table.finds(d.floor == -8, "b")
            table.finds(d.floor == 0, "c")
            table.finds(d.floor == -1, "g")
            table.finds(d.ceiling == 8, "a")
            table.finds(d.ceiling == -7, "b")
            table.finds(d.ceiling == 1, "c")
            table.finds(d.ceiling == 0, "g")
        },
        Check("FIL-115", "round, floor, and ceiling return an int, a large double, and null unchanged", over: .sums) {
            table in
            table.findsAll(x.rounded == x)
            table.finds(x.floor == .literal(.int(.max)), "d")
            table.finds(x.ceiling == .literal(.int(.min)), "e")
            table.finds(d.rounded == 1e308, "d")
            table.finds(d.floor == .null, "f")
        },
    ]
}
