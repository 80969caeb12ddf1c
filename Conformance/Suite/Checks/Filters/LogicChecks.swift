internal import TidelineStore

extension SampleTable {
    /// All combinations of three truth values. The id is the number with these bits.
    fileprivate static let truth = SampleTable(
        .bool("p"), .bool("q"), .bool("r"), .int("n"),
        rows: (0..<8).map(combination))

    /// Fewer rows, for conditions whose evaluation is slow.
    fileprivate static let few = SampleTable(.int("n"), values: ["3": [3], "5": [5], "6": [6]])

    private static func combination(_ number: Int) -> Row {
        var row = Row(id: .string("\(number)"))
        row["p"] = .bool(number & 4 != 0)
        row["q"] = .bool(number & 2 != 0)
        row["r"] = .bool(number & 1 != 0)
        row["n"] = .int(Int64(number))
        return row
    }
}

private let p = RowPredicate.column("p")
private let q = RowPredicate.column("q")
private let r = RowPredicate.column("r")
private let n = RowPredicate.column("n")

extension Check {
    /// And, or, and not, and their nesting.
    static let filterLogic: [Check] = [
        Check("FIL-039", "`and` holds if all of its conditions hold, `or` if one holds", over: .truth) { table in
            table.finds(p && q, "6", "7")
            table.finds(.and([p, q, r]), "7")
            table.finds(p || q, "2", "3", "4", "5", "6", "7")
            table.finds(.or([p, q, r]), "1", "2", "3", "4", "5", "6", "7")
            table.findsNothing(p && !p)
            table.findsAll(p || !p)
        },
        Check(
            "FIL-040", "The grouping of conditions is preserved",
            why: "If a tree is written without parentheses, the engine's precedence applies.", over: .truth
        ) { table in
            table.finds(.or([p, .and([q, r])]), "3", "4", "5", "6", "7")
            table.finds(.and([.or([p, q]), r]), "3", "5", "7")
            table.finds(.and([r, .or([p, q])]), "3", "5", "7")
            table.finds(.or([.and([p, q]), .and([!p, !q])]), "0", "1", "6", "7")
        },
        Check("FIL-041", "`not` negates the whole condition that follows", over: .truth) { table in
            table.finds(.not(.or([p, q])), "0", "1")
            table.finds(.not(.and([p, q])), "0", "1", "2", "3", "4", "5")
            table.finds(.and([.not(p), q]), "2", "3")
            table.finds(.not(.and([.not(p), .not(q)])), "2", "3", "4", "5", "6", "7")
            table.finds(.not(n == 3), "0", "1", "2", "4", "5", "6", "7")
        },
        Check(
            "FIL-042", "`and` of no conditions is true, `or` of no conditions is false",
            why: "If an empty group is omitted, a deletion of nothing becomes a deletion of everything.", over: .truth
        ) { table in
            table.findsAll(.and([]))
            table.findsNothing(.or([]))
            table.findsNothing(.not(.and([])))
            table.findsAll(.not(.or([])))
        },
        Check("FIL-043", "An empty group within another has its truth value", over: .truth) { table in
            table.finds(.and([p, .and([])]), "4", "5", "6", "7")
            table.finds(.or([p, .or([])]), "4", "5", "6", "7")
            table.findsNothing(.and([p, .or([])]))
            table.findsAll(.or([p, .and([])]))
        },
        Check("FIL-044", "A group of one condition equals that condition", over: .truth) { table in
            table.finds(.and([q]), "2", "3", "6", "7")
            table.finds(.or([q]), "2", "3", "6", "7")
            table.finds(.not(.and([.or([q])])), "0", "1", "4", "5")
            table.finds(.not(.not(q)), "2", "3", "6", "7")
        },
        Check("FIL-045", "A condition can be an operand: its truth value can be compared", over: .truth) { table in
            table.finds(p == q, "0", "1", "6", "7")
            table.finds((p && q) == r, "0", "2", "4", "7")
            table.finds((p || q) != true, "0", "1")
            table.finds((n > 3) == (n < 6), "4", "5")
            table.finds((n == 3) == false, "0", "1", "2", "4", "5", "6", "7")
            table.finds((n > 3).isIn([true]), "4", "5", "6", "7")
        },
        Check(
            "FIL-046", "Several conditions on one column apply together",
            why: "A store that plans by column may keep only the last or the first condition.", over: .truth
        ) { table in
            table.finds(n > 1 && n < 5, "2", "3", "4")
            table.finds(n > 1 && n > 4, "5", "6", "7")
            table.finds(n < 6 && n < 2, "0", "1")
            table.finds(.and([n != 2, n != 3, n >= 1, n <= 4]), "1", "4")
            table.finds(n == 3 && n > 1, "3")
            table.findsNothing(n == 3 && n == 4)
            table.findsNothing(n == 3 && n != 3)
            table.finds(n.isIn([1, 2, 3]) && n.isIn([3, 4]), "3")
        },
        Check("FIL-047", "Overlapping ranges under `or` return each row once", over: .truth) { table in
            table.finds(n < 5 || n > 2, "0", "1", "2", "3", "4", "5", "6", "7")
            table.finds(n == 3 || n == 3, "3")
            table.finds(.or([n.isBetween(1, and: 3), n.isBetween(2, and: 4), n == 2]), "1", "2", "3", "4")
            table.finds(n < 1 || n > 6, "0", "7")
        },
        Check("FIL-048", "Conditions on two columns apply together, whichever column is indexed", over: .truth) {
            table in
            table.finds(n > 2 && r, "3", "5", "7")
            table.finds(p == true && n <= 5, "4", "5")
            table.findsNothing(r == false && n == 3)
            table.finds(q == true && r == true && n > 3, "7")
            table.finds(n > 5 || r == true && p == false, "1", "3", "6", "7")
        },
    ]

    /// Large conditions.
    static let filterSize: [Check] = [
        Check(
            "FIL-049", "A condition may be nested 500 levels deep",
            why: "Generating a statement exceeds the engine's limit; recursion exceeds the stack.", over: .truth,
            isDeep: true
        ) { table in
            let nots = (0..<500).reduce(n == 3) { condition, _ in .not(condition) }
            table.finds(nots, "3")
            table.finds(.not(nots), "0", "1", "2", "4", "5", "6", "7")
            let groups = (0..<250).reduce(n == 3) { condition, _ in .or([n == 5, .and([condition, n != 6])]) }
            table.finds(groups, "3", "5")
            let compared = (0..<400).reduce(n == 3) { condition, _ in condition == true }
            table.finds(compared, "3")
        },
        Check(
            "FIL-050", "A condition may have 2,000 terms",
            why: "The sync core reads the rows of a page with one condition; engines limit a statement's terms.",
            over: .few, readOnly: true
        ) { table in
            let terms = (5..<2_005).map { n == .literal(.int($0)) }
            table.finds(.or(terms), "5", "6")
            table.finds(.and(terms.map { .not($0) }), "3")
            table.finds(.not(.or(terms)), "3")
        },
        Check(
            "FIL-051",
            "A condition too large for the store is refused with `unsupportedQuery`, and the store still works",
            why: "20,000 levels may exceed an engine's limit but must not crash the process.", over: .few,
            readOnly: true
        ) { table in
            table.mayBeRefused = true
            table.finds((0..<20_000).reduce(n == 3) { condition, _ in .not(condition) }, "3")
            table.finds((0..<3_000).reduce(n) { sum, _ in sum + 0 } == 3, "3")
            table.finds((0..<3_000).reduce(n) { sum, _ in 0 + sum } == 3, "3")
            table.mayBeRefused = false
            table.finds(n == 3, "3")
        },
    ]
}
