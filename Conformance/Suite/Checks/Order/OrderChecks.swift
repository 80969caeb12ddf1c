internal import TidelineStore

extension Check {
    /// Sorting, paging, counting, and column selection.
    static let order: [Check] = [
        orderKeys, orderWithConditions, orderTypes, orderIDs, orderPaging, orderPages, orderCount, orderScan,
        orderSelection, orderAmounts,
    ].flatMap { $0 }

    /// Orders of few and many rows and terms.
    static let orderAmounts: [Check] = [
        Check(
            "ORD-075", "An order of 1, 2, 17, 1,001, and 5,000 rows is correct, including ties by id",
            why: "Rows are sorted in parts and merged. A merge that compares only terms, not the id, mixes equal rows."
        ) { context in
            let store = try context.store(Amounts.all.map(Amounts.schema))
            for count in Amounts.all {
                let (schema, rows) = (Amounts.schema(count), Amounts.rows(count))
                try store.put(rows, into: schema.name)
                let packed = try schema.packed(schema.completing(rows))
                for query in orders(of: schema, count) {
                    try store.read { try context.expect(query, in: $0, over: packed, of: schema, "\(count) rows") }
                }
            }
        },
        Check(
            "ORD-076", "An order of 1, 2, and 17 terms applies all of them",
            why: "A sort key of a fixed size silently omits the last terms."
        ) { context in
            let names = (0..<17).map { "c\($0)" }
            let schema = TableSchema("Terms", columns: names.map { .int($0) }, systemColumns: [])
            let store = try context.store(schema)
            // All rows are equal in every column of an order except the last.
            for count in [1, 2, 17] {
                try store.write { writer in
                    for number in 0..<20 {
                        var row: Row = ["id": .string(Amounts.id(number))]
                        for name in names { row[name] = 1 }
                        row[names[count - 1]] = .int(Int64(number * 7 % 20))
                        try writer.upsert(row, into: schema.name)
                    }
                }
                let numbers = (0..<20).sorted { $0 * 7 % 20 < $1 * 7 % 20 }
                for descending in [false, true] {
                    let order = names.prefix(count).map { OrderTerm($0, descending: descending) }
                    let expected = (descending ? numbers.reversed() : numbers).map { RowID.string(Amounts.id($0)) }
                    try context.expect(
                        TableQuery(schema.name, order: order, selection: []), in: store, finds: expected,
                        "\(count) terms")
                }
            }
        },
    ]

    private static func orders(of schema: TableSchema, _ count: Int) -> [TableQuery] {
        let all = TableQuery(schema.name, selection: [])
        return [
            all, all.order(by: "n"), all.order(by: "n", descending: true), all.order(by: "s"),
            all.order(by: "m").order(by: "n", descending: true).skip(count / 2).limit(100),
            all.filter(.column("n") == 3).order(by: "m", descending: true).includingTotalCount(),
        ]
    }
}

extension SampleTable {
    /// Ties, nulls and negatives, in two columns.
    fileprivate static let ties = SampleTable(
        .int("n"), .int("m"), .string("s"),
        values: [
            "a": [2, 1, "x"], "b": [1, 2, "x"], "c": [.null, 1], "d": [2, 2, "x"], "e": [1, .null, "w"],
            "f": [.null, .null, "w"], "g": [-5, 1, "w"],
        ])
}

private let n = RowPredicate.column("n")
private let m = RowPredicate.column("m")

extension TableQuery {
    /// Orders by columns; a minus before a name means descending.
    fileprivate init(by columns: String..., where predicate: RowPredicate? = nil) {
        let order = columns.map {
            OrderTerm($0.hasPrefix("-") ? String($0.dropFirst()) : $0, descending: $0.hasPrefix("-"))
        }
        self.init("", predicate: predicate, order: order)
    }
}

extension Check {
    /// The terms of an order.
    static let orderKeys: [Check] = [
        Check(
            "ORD-001", "Without an order, rows are in ascending order of id",
            why: "The order of insertion, or that of an index, differs from store to store.", over: .ties
        ) { table in
            table.gives(TableQuery(""), "a", "b", "c", "d", "e", "f", "g")
            table.gives(TableQuery("", predicate: n >= 1), "a", "b", "d", "e")
            table.gives(TableQuery("", predicate: n.isIn([2, 1])), "a", "b", "d", "e")
            table.gives(TableQuery("", predicate: n < 2 || m == 1), "a", "b", "c", "e", "g")
        },
        Check(
            "ORD-002", "An ascending order starts with the smallest, negative numbers before positive ones", over: .ties
        ) { table in
            table.gives(TableQuery(by: "n", where: n.isNotNull), "g", "b", "e", "a", "d")
        },
        Check("ORD-003", "A descending order starts with the greatest", over: .ties) { table in
            table.gives(TableQuery(by: "-n", where: n.isNotNull), "a", "d", "b", "e", "g")
        },
        Check("ORD-004", "Rows that are equal in an ascending order are in ascending order of id", over: .ties) {
            table in
            table.gives(TableQuery(by: "s", where: n > 0), "e", "a", "b", "d")
            table.gives(TableQuery(by: "m", where: m == 1), "a", "c", "g")
        },
        Check(
            "ORD-005", "Rows that are equal in a descending order are also in ascending order of id",
            why: "A backward index scan also returns the ids backward; pages overlap if stores differ.", over: .ties
        ) { table in
            table.gives(TableQuery(by: "-s", where: n > 0), "a", "b", "d", "e")
            table.gives(TableQuery(by: "-m", where: m == 1), "a", "c", "g")
            table.gives(TableQuery(by: "-n", where: n == 2), "a", "d")
        },
        Check(
            "ORD-006", "In ascending order, rows without a value come first",
            why: "Engines differ in the position of null: first, last, or as declared for the index.", over: .ties
        ) { table in
            table.gives(TableQuery(by: "n"), "c", "f", "g", "b", "e", "a", "d")
            table.gives(TableQuery(by: "s"), "c", "e", "f", "g", "a", "b", "d")
        },
        Check("ORD-007", "In descending order, rows without a value come last", over: .ties) { table in
            table.gives(TableQuery(by: "-n"), "a", "d", "b", "e", "g", "c", "f")
            table.gives(TableQuery(by: "-m"), "b", "d", "a", "c", "g", "e", "f")
        },
        Check("ORD-008", "A second term orders the rows that are equal in the first", over: .ties) { table in
            table.gives(TableQuery(by: "n", "m"), "f", "c", "g", "e", "b", "a", "d")
            table.gives(TableQuery(by: "m", "n"), "f", "e", "c", "g", "a", "b", "d")
        },
        Check(
            "ORD-009", "Each term has its own direction",
            why: "An index serves two terms in one direction only; using the first one's for both is wrong.",
            over: .ties
        ) { table in
            table.gives(TableQuery(by: "n", "-m"), "c", "f", "g", "b", "e", "d", "a")
            table.gives(TableQuery(by: "-n", "m"), "a", "d", "e", "b", "g", "f", "c")
            table.gives(TableQuery(by: "-n", "-m"), "d", "a", "b", "e", "g", "c", "f")
        },
        Check("ORD-010", "Three terms are applied one after the other", over: .ties) { table in
            table.gives(TableQuery(by: "s", "n", "m"), "c", "f", "g", "e", "b", "a", "d")
            table.gives(TableQuery(by: "s", "-m", "n"), "c", "g", "f", "e", "b", "d", "a")
            table.gives(TableQuery(by: "-s", "-n", "-m"), "d", "a", "b", "e", "g", "f", "c")
        },
        Check("ORD-011", "A column that occurs twice in an order counts at its first position", over: .ties) { table in
            table.gives(TableQuery(by: "n", "-n"), "c", "f", "g", "b", "e", "a", "d")
            table.gives(TableQuery(by: "-n", "n", "m"), "a", "d", "e", "b", "g", "f", "c")
        },
    ]

    /// An order with a condition, which an index may or may not serve.
    static let orderWithConditions: [Check] = [
        Check("ORD-012", "A condition on one column and an order by another apply together", over: .ties) { table in
            table.gives(TableQuery(by: "-n", where: m == 1), "a", "g", "c")
            table.gives(TableQuery(by: "n", where: m == 1), "c", "g", "a")
            table.gives(TableQuery(by: "m", where: n == 1), "e", "b")
            table.gives(TableQuery(by: "-m", where: n.isNull), "c", "f")
        },
        Check(
            "ORD-013", "A range of a column and an order by that column apply together, in both directions", over: .ties
        ) { table in
            table.gives(TableQuery(by: "n", where: n >= 1), "b", "e", "a", "d")
            table.gives(TableQuery(by: "-n", where: n >= 1), "a", "d", "b", "e")
            table.gives(TableQuery(by: "-n", where: n < 2), "b", "e", "g")
            table.gives(TableQuery(by: "n", where: n != 1), "c", "f", "g", "a", "d")
        },
        Check(
            "ORD-014", "A membership does not affect the order: rows are in the query's order",
            why: "A store that looks up one value after the other returns rows in the order of the list.", over: .ties
        ) { table in
            table.gives(TableQuery(by: "n", where: n.isIn([2, 1])), "b", "e", "a", "d")
            table.gives(TableQuery(by: "-n", where: n.isIn([1, 2])), "a", "d", "b", "e")
            table.gives(TableQuery(by: "m", where: n.isIn([2, .null, 1])), "e", "f", "a", "c", "b", "d")
        },
        Check("ORD-015", "Rows found by `or` occur once, in the query's order", over: .ties) { table in
            table.gives(TableQuery(by: "n", where: n == 2 || m == 2), "b", "a", "d")
            table.gives(TableQuery(by: "-n", where: n < 0 || m == 1), "a", "g", "c")
        },
        Check("ORD-016", "An order by a column that is not selected is applied", over: .ties) { table in
            var query = TableQuery(by: "-n", "m")
            query.selection = ["s"]
            table.gives(query, "a", "d", "e", "b", "g", "f", "c")
            query.selection = []
            table.gives(query, "a", "d", "e", "b", "g", "f", "c")
        },
        Check("ORD-017", "A row that changes moves to its new position in the order") { context in
            let schema = TableSchema("Moved", columns: [.int("n")], indexes: [["n"]])
            let store = try context.store(schema, holding: (1...4).map { ["id": .string("r\($0)"), "n": .int($0)] })
            try store.put([["id": "r1", "n": 9], ["id": "r4", "n": .null]], into: "Moved")
            let ascending = TableQuery("Moved").order(by: "n")
            try context.expect(ascending, in: store, finds: ["r4", "r2", "r3", "r1"])
            try context.expect(
                TableQuery("Moved").order(by: "n", descending: true), in: store, finds: ["r1", "r3", "r2", "r4"])
            try context.expect(ascending, in: context.reopened(store), finds: ["r4", "r2", "r3", "r1"], "reopened")
        },
        Check(
            "ORD-018", "An order by a column that the table does not define is an error, naming the column",
            why: "SQL treats an unknown quoted name as a text and does not order by it."
        ) { context in
            let store = try context.store(.items)
            for query in [
                TableQuery("TodoItem").order(by: "nope"), TableQuery("TodoItem").order(by: "text").order(by: "nope"),
                TableQuery("TodoItem", predicate: .or([])).order(by: "nope", descending: true),
            ] {
                try context.expectRefused(query, by: store, .invalidValue, column: "nope")
            }
        },
    ]
}
