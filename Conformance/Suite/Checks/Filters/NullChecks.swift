internal import TidelineStore

extension SampleTable {
    /// Every pairing of a value and null.
    fileprivate static let nulls = SampleTable(
        .int("x"), .int("y"), .bool("flag"),
        values: [
            "a": [1, 1, true], "b": [1, .null, false], "c": [], "d": [.null, 2, true], "e": [2, 1],
        ])
}

private let x = RowPredicate.column("x")
private let y = RowPredicate.column("y")
private let flag = RowPredicate.column("flag")

extension Check {
    /// The meaning of null in a condition.
    static let filterNulls: [Check] = [
        Check(
            "FIL-018", "== null finds the rows without a value, != null those with one",
            why: "In SQL `x = NULL` holds for no row; a store that passes the comparison on finds nothing.",
            over: .nulls
        ) { table in
            table.finds(x == .null, "c", "d")
            table.finds(x != .null, "a", "b", "e")
            table.finds(.null == y, "b", "c")
            table.finds(flag == .null, "c", "e")
            table.finds(flag != .null, "a", "b", "d")
        },
        Check(
            "FIL-019", "!= also finds the rows without a value",
            why: "Two-valued logic: a value that is not equal is different. In SQL `x <> 1` omits every null.",
            over: .nulls
        ) { table in
            table.finds(x != 1, "c", "d", "e")
            table.finds(y != 1, "b", "c", "d")
            table.finds(flag != true, "b", "c", "e")
        },
        Check(
            "FIL-020", "The negation of an equality also finds the rows without a value",
            why: "SQL's NOT of unknown is unknown and omits the row.", over: .nulls
        ) { table in
            table.finds(!(x == 1), "c", "d", "e")
            table.finds(!(x != 1), "a", "b")
            table.finds(!(x == .null), "a", "b", "e")
            table.finds(!(!(x == 1)), "a", "b")
        },
        Check(
            "FIL-021", "< <= > >= hold for no row without a value, and their negations hold for all of these rows",
            over: .nulls
        ) { table in
            table.finds(x < 5, "a", "b", "e")
            table.finds(x <= 1, "a", "b")
            table.finds(x > -5, "a", "b", "e")
            table.finds(x >= 2, "e")
            table.finds(!(x < 5), "c", "d")
            table.finds(!(x >= 2), "a", "b", "c", "d")
        },
        Check("FIL-022", "< <= > >= with the literal null hold for no row, null or not", over: .nulls) { table in
            table.findsNothing(x < .null)
            table.findsNothing(x <= .null)
            table.findsNothing(x > .null)
            table.findsNothing(.null >= x)
            table.findsAll(!(x <= .null))
        },
        Check("FIL-023", "A null on one side of `or` does not affect the other side", over: .nulls) { table in
            table.finds(x == 1 || y > 1, "a", "b", "d")
            table.finds(x > 1 || y > 1, "d", "e")
            table.finds(!(x > 1 || y > 1), "a", "b", "c")
            table.finds(x == 2 || y == .null, "b", "c", "e")
        },
        Check("FIL-024", "A null on one side of `and` makes it false and its negation true", over: .nulls) { table in
            table.finds(x > 0 && y > 0, "a", "e")
            table.finds(!(x > 0 && y > 0), "b", "c", "d")
            table.finds(x == .null && y > 0, "d")
            table.finds(x != 1 && y != 1, "c", "d")
        },
        Check(
            "FIL-025", "A bool column is a condition, and false if it has no value",
            why: "`not flag` is how an app finds open items; rows that never had the flag are open.", over: .nulls
        ) { table in
            table.finds(flag, "a", "d")
            table.finds(!flag, "b", "c", "e")
            table.finds(flag && x == 1, "a")
            table.finds(flag || x == 2, "a", "d", "e")
            table.finds(!(!flag), "a", "d")
        },
        Check("FIL-026", "Two columns that are both null are equal; a null and a value are different", over: .nulls) {
            table in
            table.finds(x == y, "a", "c")
            table.finds(x != y, "b", "d", "e")
            table.finds(x <= y, "a")
            table.finds(!(x <= y), "b", "c", "d", "e")
        },
        Check("FIL-027", "The literal null is a false condition and equals itself", over: .nulls) { table in
            table.findsNothing(.null)
            table.findsAll(!.null)
            table.findsAll(.null == .null)
            table.findsNothing(.null != .null)
            table.findsAll(.null != 1)
            table.findsNothing(.and([.null]))
            table.finds(.or([.null, flag]), "a", "d")
        },
    ]
}
