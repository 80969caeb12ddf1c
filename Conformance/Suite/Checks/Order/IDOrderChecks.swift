internal import TidelineStore

extension SampleTable {
    private static let mixedIDs: [Row] = ["b", "A", "c", "B2", "a1", "\u{C9}", "Z", "_", "2", "12"].map { id in
        ["id": .string(id), "n": 1]
    }
    fileprivate static let folded = SampleTable(.int("n"), idMatching: .asciiCaseInsensitive, rows: mixedIDs)
    fileprivate static let exact = SampleTable(.int("n"), idMatching: .exact, rows: mixedIDs + [["id": "a", "n": 1]])
    fileprivate static let numbered = SampleTable(
        .int("n"), idType: .int,
        values: [
            2: [1], 10: [1], -1: [1], .int(.min): [1], .int(.max): [1], .int(1 << 53 + 1): [1], .int(1 << 53): [1],
            0: [1],
        ])
}

extension Check {
    /// The order of ids.
    static let orderIDs: [Check] = [
        Check(
            "ORD-031", "If ids are case-insensitive, so is their order",
            why: "In byte order 'Z' sorts before 'a'; an order must be consistent with equality.", over: .folded
        ) { table in
            table.gives(TableQuery(""), "12", "2", "_", "A", "a1", "b", "B2", "c", "Z", "\u{C9}")
            table.gives(TableQuery("").order(by: "id"), "12", "2", "_", "A", "a1", "b", "B2", "c", "Z", "\u{C9}")
        },
        Check("ORD-032", "If ids match exactly, they are ordered by their bytes", over: .exact) { table in
            table.gives(TableQuery(""), "12", "2", "A", "B2", "Z", "_", "a", "a1", "b", "c", "\u{C9}")
            table.gives(TableQuery("").order(by: "id"), "12", "2", "A", "B2", "Z", "_", "a", "a1", "b", "c", "\u{C9}")
        },
        Check("ORD-033", "A descending order by id is the reverse", over: .folded) { table in
            let query = TableQuery("").order(by: "id", descending: true)
            table.gives(query, "\u{C9}", "Z", "c", "B2", "b", "a1", "A", "_", "2", "12")
            table.gives(query.order(by: "n"), "\u{C9}", "Z", "c", "B2", "b", "a1", "A", "_", "2", "12")
        },
        Check("ORD-034", "Ties are broken by id according to the table's id matching", over: .folded) { table in
            table.gives(TableQuery("").order(by: "n"), "12", "2", "_", "A", "a1", "b", "B2", "c", "Z", "\u{C9}")
            table.gives(
                TableQuery("").order(by: "n", descending: true), "12", "2", "_", "A", "a1", "b", "B2", "c", "Z",
                "\u{C9}"
            )
        },
        Check("ORD-035", "Ties are broken by descending id if the order says so", over: .folded) { table in
            table.gives(
                TableQuery("").order(by: "n").order(by: "id", descending: true), "\u{C9}", "Z", "c", "B2", "b", "a1",
                "A", "_", "2", "12")
        },
        Check(
            "ORD-036", "Int ids are ordered numerically, also for ties",
            why: "As text, 10 sorts before 2, and negative ids by their digits; the queue depends on this order.",
            over: .numbered
        ) { table in
            for query in [
                TableQuery(""), TableQuery("").order(by: "id"), TableQuery("").order(by: "n"),
                TableQuery("").order(by: "n", descending: true),
            ] {
                table.gives(query, .int(.min), -1, 0, 2, 10, .int(1 << 53), .int(1 << 53 + 1), .int(.max))
            }
        },
        Check("ORD-037", "Int ids in descending order start with the greatest", over: .numbered) { table in
            let query = TableQuery("").order(by: "id", descending: true)
            table.gives(query, .int(.max), .int(1 << 53 + 1), .int(1 << 53), 10, 2, 0, -1, .int(.min))
            table.gives(query.limit(1), .int(.max))
            table.gives(query.filter(.id < 10).limit(2), 2, 0)
        },
    ]
}
