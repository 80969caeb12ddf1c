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

private let n = Predicate.column("n")
private let s = Predicate.column("s")

extension Check {
    /// Skip and limit.
    static let orderPaging: [Check] = [
        Check("ORD-038", "A limit gives the first rows of the order") { trial in
            try trial.expectAnswers(over: .pages) { table in
                table.gives(Query("").limit(3), "00", "01", "02")
                table.gives(Query("").order(by: "n", descending: true).limit(4), "02", "06", "10", "01")
                table.gives(Query("").order(by: "n").limit(4), "03", "07", "11", "00")
                table.gives(Query("", predicate: s == "odd").order(by: "n").limit(1), "03")
            }
        },
        Check("ORD-039", "A skip leaves out the first rows of the order") { trial in
            try trial.expectAnswers(over: .pages) { table in
                table.gives(Query("").skip(9), "09", "10", "11")
                table.gives(Query("").order(by: "n").skip(9), "02", "06", "10")
                table.gives(Query("").order(by: "n", descending: true).skip(9), "03", "07", "11")
                table.gives(Query("", predicate: n == 1).skip(1), "05", "09")
            }
        },
        Check(
            "ORD-040", "A skip comes before the limit",
            why: "A limit that is applied first leaves nothing to skip to: the second page is empty."
        ) { trial in
            try trial.expectAnswers(over: .pages) { table in
                table.gives(Query("").skip(2).limit(3), "02", "03", "04")
                table.gives(Query("").skip(5).limit(3), "05", "06", "07")
                table.gives(Query("").order(by: "s").skip(4).limit(4), "08", "10", "01", "03")
                table.gives(Query("", predicate: n >= 1).skip(3).limit(2), "06", "09")
            }
        },
        Check(
            "ORD-041", "Skip and limit come after the order, and after the condition",
            why: "Rows that are cut before they are ordered or tested are some rows, but not the first."
        ) { trial in
            try trial.expectAnswers(over: .pages) { table in
                table.gives(Query("", predicate: n == 2).order(by: "s").skip(1).limit(1), "06")
                table.gives(Query("", predicate: s == "odd").order(by: "n", descending: true).limit(2), "01", "05")
                table.gives(
                    Query("", predicate: .id > "05" && n >= 0).order(by: "n").skip(1).limit(3), "09", "06", "10")
            }
        },
        Check(
            "ORD-042", "A limit of 0 gives no row",
            why: "0 is taken for 'no limit' where a missing one is kept as 0; the sync core asks so for a count."
        ) { trial in
            try trial.expectAnswers(over: .pages) { table in
                table.gives(Query("").limit(0))
                table.gives(Query("").order(by: "n").limit(0))
                table.gives(Query("", predicate: n == 1).skip(1).limit(0))
                table.gives(Query("", includesTotalCount: true).limit(0))
            }
        },
        Check("ORD-043", "A skip to the end, past it, or as far as an int goes gives no row") { trial in
            try trial.expectAnswers(over: .pages) { table in
                table.gives(Query("").skip(11), "11")
                table.gives(Query("").skip(12))
                table.gives(Query("").skip(13).limit(5))
                table.gives(Query("").order(by: "n").skip(1_000))
                table.gives(Query("").skip(.max))
                table.gives(Query("", predicate: n == 1).skip(3))
            }
        },
        Check("ORD-044", "A limit beyond the rows, or as far as an int goes, gives all that there are") { trial in
            try trial.expectAnswers(over: .pages) { table in
                table.gives(Query("", predicate: n == 1).limit(100), "01", "05", "09")
                table.gives(Query("").skip(10).limit(.max), "10", "11")
                table.gives(Query("").order(by: "n").skip(11).limit(.max), "10")
                table.gives(Query("").skip(.max).limit(.max))
            }
        },
        Check(
            "ORD-045", "A negative skip or limit is refused with `unsupportedQuery`",
            why: "SQL takes a negative limit for none, and a deletion by it takes everything."
        ) { trial in
            let store = try trial.store(.items)
            try store.write { try $0.upsert(["id": "1", "text": "a"], into: "TodoItem") }
            for query in [
                Query("TodoItem").skip(-1), Query("TodoItem").limit(-1), Query("TodoItem").skip(.min),
                Query("TodoItem").order(by: "text").skip(1).limit(-5),
            ] {
                let what = query.swiftSource
                try trial.expectError(.unsupportedQuery, what, table: "TodoItem") {
                    _ = try store.read { try $0.rows(matching: query) }
                }
                try trial.expectError(.unsupportedQuery, "count of \(what)") {
                    _ = try store.read { try $0.count(query) }
                }
                try trial.expectError(.unsupportedQuery, "deletion by \(what)") {
                    _ = try store.write { try $0.delete(matching: query) }
                }
            }
            try trial.expect(Query("TodoItem"), in: store, finds: ["1"], "after the errors")
        },
        Check("ORD-046", "Every skip with every limit gives its window, with and without an order and a condition") {
            trial in
            try trial.expectAnswers(over: .pages, readOnly: true) { table in
                for predicate in [nil, n >= 1] {
                    for order in [[], [OrderTerm("n")], [OrderTerm("n", descending: true)]] {
                        for skip in [0, 1, 5, 6, 11, 12, 13] {
                            for limit in [nil, 0, 1, 6, 12, 13] {
                                let query = Query("", predicate: predicate, order: order, skip: skip, limit: limit)
                                table.givesAsEvaluated(query)
                            }
                        }
                    }
                }
            }
        },
    ]

    /// Pages after each other.
    static let orderPages: [Check] = [
        Check(
            "ORD-047", "Pages put together are the whole, without an order",
            why: "A row that comes twice or never between two pages is lost to who reads page by page."
        ) { trial in try expectPages(trial, [Query("Paged")]) },
        Check("ORD-048", "Pages put together are the whole in an order with many ties") { trial in
            try expectPages(
                trial,
                [
                    Query("Paged").order(by: "n"), Query("Paged").order(by: "none"),
                    Query("Paged").order(by: "s").order(by: "n", descending: true),
                ])
        },
        Check("ORD-049", "Pages put together are the whole in a descending order") { trial in
            try expectPages(
                trial,
                [Query("Paged").order(by: "n", descending: true), Query("Paged").order(by: "id", descending: true)])
        },
        Check("ORD-050", "Pages put together are the whole of what a condition finds") { trial in
            try expectPages(
                trial,
                [
                    Query("Paged", predicate: n.isIn([1, 3])),
                    Query("Paged", predicate: n > 0 && s != "2").order(by: "s"),
                ]
            )
        },
    ]

    /// Fails unless the pages of queries over 97 rows, in several sizes, are what the queries give as a whole.
    private static func expectPages(_ trial: Trial, _ queries: [Query]) throws {
        let schema = TableSchema(
            "Paged", columns: [.int("n"), .string("s"), .int("none")], indexes: [["n"], ["s", "n"]])
        let rows: [Row] = (0..<97).map {
            ["id": .string("\($0)"), "n": .int(Int64($0 % 4)), "s": .string("\($0 % 3)")]
        }
        let store = try trial.store(schema)
        try store.write { try $0.upsert(rows, into: "Paged") }
        let packed = try schema.packed(schema.completing(rows))
        for query in queries {
            let expected = try Answer.expected(query, schema, packed)
            try trial.expect(query, in: store, finds: expected.rows.compactMap(\.key), "the whole")
            for size in [1, 10, 96] {
                let pages = try pages(of: query, size: size, count: expected.matching, in: store)
                try trial.expect(pages, are: expected.rows, "pages of \(size) of \(query.swiftSource) put together")
            }
        }
    }

    private static func pages(of query: Query, size: Int, count: Int, in store: TracedStore) throws -> [Row] {
        try stride(from: 0, through: count, by: size).flatMap { start in
            try store.read { try $0.rows(matching: query.skip(start).limit(size)) }.rows
        }
    }
}
