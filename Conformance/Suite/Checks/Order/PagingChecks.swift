internal import TidelineStore

extension SampleTable {
    /// Twelve rows with ties and nulls.
    fileprivate static let pages = SampleTable(
        .int("n"), .string("s"),
        rows: (0..<12).map { number in
            var row = Row(id: .string(number < 10 ? "0\(number)" : "\(number)"))
            row["n"] = number % 4 == 3 ? nil : .int(Int64(number % 4))
            row["s"] = .string(number % 2 == 0 ? "even" : "odd")
            return row
        })
}

private let n = RowPredicate.column("n")
private let s = RowPredicate.column("s")

extension Check {
    /// Skip and limit.
    static let orderPaging: [Check] = [
        Check("ORD-038", "A limit returns the first rows of the order", over: .pages) { table in
            table.gives(TableQuery("").limit(3), "00", "01", "02")
            table.gives(TableQuery("").order(by: "n", descending: true).limit(4), "02", "06", "10", "01")
            table.gives(TableQuery("").order(by: "n").limit(4), "03", "07", "11", "00")
            table.gives(TableQuery("", predicate: s == "odd").order(by: "n").limit(1), "03")
        },
        Check("ORD-039", "A skip omits the first rows of the order", over: .pages) { table in
            table.gives(TableQuery("").skip(9), "09", "10", "11")
            table.gives(TableQuery("").order(by: "n").skip(9), "02", "06", "10")
            table.gives(TableQuery("").order(by: "n", descending: true).skip(9), "03", "07", "11")
            table.gives(TableQuery("", predicate: n == 1).skip(1), "05", "09")
        },
        Check(
            "ORD-040", "Skip is applied before limit",
            why: "If the limit is applied first, nothing is left to skip: the second page is empty.", over: .pages
        ) { table in
            table.gives(TableQuery("").skip(2).limit(3), "02", "03", "04")
            table.gives(TableQuery("").skip(5).limit(3), "05", "06", "07")
            table.gives(TableQuery("").order(by: "s").skip(4).limit(4), "08", "10", "01", "03")
            table.gives(TableQuery("", predicate: n >= 1).skip(3).limit(2), "06", "09")
        },
        Check(
            "ORD-041", "Skip and limit are applied after the order and the condition",
            why: "Rows selected before sorting or filtering are arbitrary rows, not the first.", over: .pages
        ) { table in
            table.gives(TableQuery("", predicate: n == 2).order(by: "s").skip(1).limit(1), "06")
            table.gives(TableQuery("", predicate: s == "odd").order(by: "n", descending: true).limit(2), "01", "05")
            table.gives(
                TableQuery("", predicate: .id > "05" && n >= 0).order(by: "n").skip(1).limit(3), "09", "06", "10")
        },
        Check(
            "ORD-042", "A limit of 0 returns no rows",
            why: "0 may be mistaken for no limit if a missing one is stored as 0; the sync core uses it to count.",
            over: .pages
        ) { table in
            table.gives(TableQuery("").limit(0))
            table.gives(TableQuery("").order(by: "n").limit(0))
            table.gives(TableQuery("", predicate: n == 1).skip(1).limit(0))
            table.gives(TableQuery("", includesTotalCount: true).limit(0))
        },
        Check("ORD-043", "A skip to the end, past it, or of the maximum int returns no rows", over: .pages) { table in
            table.gives(TableQuery("").skip(11), "11")
            table.gives(TableQuery("").skip(12))
            table.gives(TableQuery("").skip(13).limit(5))
            table.gives(TableQuery("").order(by: "n").skip(1_000))
            table.gives(TableQuery("").skip(.max))
            table.gives(TableQuery("", predicate: n == 1).skip(3))
        },
        Check("ORD-044", "A limit beyond the number of rows, or of the maximum int, returns all rows", over: .pages) {
            table in
            table.gives(TableQuery("", predicate: n == 1).limit(100), "01", "05", "09")
            table.gives(TableQuery("").skip(10).limit(.max), "10", "11")
            table.gives(TableQuery("").order(by: "n").skip(11).limit(.max), "10")
            table.gives(TableQuery("").skip(.max).limit(.max))
        },
        Check(
            "ORD-045", "A negative skip or limit is refused with `unsupportedQuery`",
            why: "SQL treats a negative limit as none, and a deletion with it deletes everything."
        ) { context in
            let store = try context.store(.items, holding: [["id": "1", "text": "a"]])
            for query in [
                TableQuery("TodoItem").skip(-1), TableQuery("TodoItem").limit(-1), TableQuery("TodoItem").skip(.min),
                TableQuery("TodoItem").order(by: "text").skip(1).limit(-5),
            ] {
                try context.expectRefused(query, by: store, .unsupportedQuery)
                let what = "count of \(query.swiftSource)"
                try context.expectError(.unsupportedQuery, what) { _ = try store.count(query) }
            }
            try context.expect(TableQuery("TodoItem"), in: store, finds: ["1"], "after the errors")
        },
        Check(
            "ORD-046",
            "Every combination of skip and limit returns the correct rows, with and without an order and a condition",
            over: .pages, readOnly: true
        ) { table in
            for predicate in [nil, n >= 1] {
                for order in [[], [OrderTerm("n")], [OrderTerm("n", descending: true)]] {
                    for skip in [0, 1, 5, 6, 11, 12, 13] {
                        for limit in [nil, 0, 1, 6, 12, 13] {
                            let query = TableQuery("", predicate: predicate, order: order, skip: skip, limit: limit)
                            table.givesAsEvaluated(query)
                        }
                    }
                }
            }
        },
    ]

    /// Consecutive pages.
    static let orderPages: [Check] = [
        Check(
            "ORD-047", "Pages combined contain every row once, without an order",
            why: "A row that occurs twice, or not at all, between two pages is wrong for a caller that reads by page."
        ) { context in try expectPages(context, TableQuery("Paged")) },
        Check("ORD-048", "Pages combined contain every row once, in an order with many ties") { context in
            try expectPages(
                context, TableQuery("Paged").order(by: "n"), TableQuery("Paged").order(by: "none"),
                TableQuery("Paged").order(by: "s").order(by: "n", descending: true))
        },
        Check("ORD-049", "Pages combined contain every row once, in a descending order") { context in
            try expectPages(
                context, TableQuery("Paged").order(by: "n", descending: true),
                TableQuery("Paged").order(by: "id", descending: true))
        },
        Check("ORD-050", "Pages combined contain every matching row once, with a condition") { context in
            try expectPages(
                context, TableQuery("Paged", predicate: n.isIn([1, 3])),
                TableQuery("Paged", predicate: n > 0 && s != "2").order(by: "s"))
        },
    ]

    /// Fails unless the pages of queries over 97 rows, in several sizes, combine to the complete results.
    private static func expectPages(_ context: CheckContext, _ queries: TableQuery...) throws {
        let schema = TableSchema(
            "Paged", columns: [.int("n"), .string("s"), .int("none")], indexes: [["n"], ["s", "n"]])
        let rows: [Row] = (0..<97).map {
            ["id": .string("\($0)"), "n": .int(Int64($0 % 4)), "s": .string("\($0 % 3)")]
        }
        let store = try context.store(schema, holding: rows)
        let packed = try schema.packed(schema.completing(rows))
        for query in queries {
            let expected = try Answer.expected(query, schema, packed)
            try context.expect(query, in: store, finds: expected.rows.compactMap(\.id), "the complete result")
            for size in [1, 10, 96] {
                let pages = try stride(from: 0, through: expected.matching, by: size).flatMap { start in
                    try store.rows(matching: query.skip(start).limit(size)).rows
                }
                try context.expect(pages, are: expected.rows, "pages of \(size) of \(query.swiftSource) combined")
            }
        }
    }
}
