internal import TidelineStore

extension SampleTable {
    fileprivate static let members = SampleTable(
        .string("s"), .int("n"), .double("d"),
        values: [
            "Item-A": ["Item-A", 1, 1.5], "item-b": ["Item-B", 2, 2.0], "Z": ["z", .null, -0.0],
        ])

    /// A text of each length in characters, and two more that follow it.
    fileprivate static let longTexts = SampleTable(
        .string("s"),
        rows: Amounts.all.map { count -> Row in
            ["id": .string("t\(count)"), "s": .string(String(repeating: "\u{E9}", count: count) + "\u{3A9}!")]
        }
        .sorted { $0.idText < $1.idText })
}

private let s = RowPredicate.column("s")
private let n = RowPredicate.column("n")
private let d = RowPredicate.column("d")

extension Check {
    /// Query predicates.
    static let filters: [Check] = [
        filterEquality, filterOperands, filterNulls, filterMembership, filterLogic, filterSize, filterRanges,
        filterTextRanges, filterNumbers, filterTextSearch, filterTextMatching, filterTextFunctions, filterArithmetic,
        filterDateParts, filterEnvironments, filterIDs, filterErrors, filterSurroundings, filterAmounts,
    ].flatMap { $0 }

    /// Short and long lists and texts.
    static let filterAmounts: [Check] = [
        Check(
            "FIL-150", "A membership of 1, 2, 17, 1,001, and 5,000 values follows the same rules",
            why: "Long lists may use a set or a table, which must compare ids, texts, numbers, and null the same way.",
            over: .members, readOnly: true
        ) { table in
            for count in Amounts.all {
                let texts = (1..<count).map { Value.string("v\($0)") }
                let numbers = (1..<count).map { Value.int(Int64(1_000 + $0)) }
                table.finds(.id.isIn(texts + ["ITEM-a"]), "Item-A")
                table.finds(!.id.isIn(["ITEM-B"] + texts), "Item-A", "Z")
                table.finds(.id.isIn(["z"] + texts) && n.isNull, "Z")
                table.finds(s.isIn(texts + ["Item-A"]), "Item-A")
                table.findsNothing(s.isIn(texts + ["item-a"]))
                table.finds(n.isIn(numbers + [2.0]), "item-b")
                table.finds(n.isIn(numbers + [.null]), "Z")
                table.finds(!n.isIn(numbers + [1]), "item-b", "Z")
                table.finds(d.isIn(numbers + [.double(0)]), "Z")
            }
        },
        Check(
            "FIL-151", "Functions process the whole of texts with 1, 2, 17, 1,001, and 5,000 characters",
            why: "A long text may be stored in parts, or indexed only by its beginning.", over: .longTexts
        ) { table in
            table.findsAll(s.contains("\u{3A9}!"))
            table.findsAll(s.hasSuffix("\u{E9}\u{3A9}!"))
            table.findsAll(s.replacing("\u{E9}", with: "") == "\u{3A9}!")
            for count in Amounts.all {
                let id = RowID.string("t\(count)")
                let text = String(repeating: "\u{E9}", count: count)
                table.finds(s.index(of: "\u{3A9}") == .literal(.int(Int64(count))), id)
                table.finds(s.length == .literal(.int(Int64(count + 2))), id)
                table.finds(s.substring(from: .literal(.int(Int64(count)))) == "\u{3A9}!", id)
                table.finds(s == .literal(.string(text + "\u{3A9}!")), id)
                table.finds(s.hasPrefix(.literal(.string(text + "\u{3A9}"))), id)
                table.findsNothing(s == .literal(.string(text + "\u{3A9}?")))
            }
        },
    ]
}
