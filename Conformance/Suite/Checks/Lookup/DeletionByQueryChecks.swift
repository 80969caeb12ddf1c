internal import TidelineStore

extension Check {
    /// Deleting the rows that match a query.
    static let deletionsByQuery: [Check] = [
        Check("GET-022", "A deletion by a query without a predicate deletes all rows and returns their number") {
            context in
            try context.expectRows(
                from: Row.typed(0..<10),
                after: { writer, table in
                    try expectDeleted(10, by: TableQuery(table), writer, context)
                    try expectDeleted(0, by: TableQuery(table), writer, context)
                }, are: [])
        },
        Check("GET-023", "A deletion by a predicate deletes the matching rows and no others") { context in
            let conditions: [RowPredicate] = [
                .column("int") >= 3, .column("string") == "text 2", .column("bool") == false, .column("id") == "5",
                .column("double").isIn([1.5, 2.5, .null]), .column("string").hasSuffix("4"),
                .column("timestamp") < Timestamp(clampingTicks: 20_000_000),
                !(.column("json") == .literal(.json("{\"n\":3}"))),
                .column("bytes") == .null, .and([]),
            ]
            for condition in conditions {
                try expectDeletion(of: TableQuery("", predicate: condition), context)
            }
        },
        Check("GET-024", "A deletion by a query without matches deletes nothing and returns 0") { context in
            let conditions: [RowPredicate] = [
                .column("int") > 100, .column("string") == "", .column("id").isIn([]), .or([]), .not(.and([])),
                .column("bool") == .null,
            ]
            try context.expectRows(
                from: Row.typed(0..<6),
                after: { writer, table in
                    for condition in conditions {
                        try expectDeleted(0, by: TableQuery(table, predicate: condition), writer, context)
                    }
                }, are: Row.typed(0..<6))
        },
        Check("GET-025", "A deletion by query sees the earlier changes of the same write") { context in
            try context.expectRows(
                from: Row.typed(0..<4),
                after: { writer, table in
                    try writer.upsert([.typed("new", 9), .typed("0", 9), ["id": "1", "int": 2]], into: table)
                    let query = TableQuery(table, predicate: .column("int").isIn([9, 1]))
                    try expectDeleted(2, by: query, writer, context)
                }, are: [Row.typed("1").merging(["int": 2]), .typed("2", 2), .typed("3", 3)])
        },
        Check(
            "GET-026", "Rows deleted by query are removed from every index",
            why: "The index that finds them and the other indexes each have entries for them."
        ) { context in
            let rows = Row.typed(0..<8) { $0 / 2 } + [["id": "none"]]
            for column in ["int", "string", "id", "json"] {
                let value = rows[3][column] ?? .null
                let condition = RowPredicate.column(column) == .literal(value)
                try context.expectIndexes(
                    from: rows,
                    after: { try $0.delete(matching: TableQuery($1, predicate: condition || .column("int").isNull)) },
                    follow: rows.filter { $0[column] != value && $0.idText != "none" })
            }
        },
        Check("GET-027", "Selection and total count of a query do not affect its deletion") { context in
            try context.expectRows(
                from: Row.typed(0..<6),
                after: { writer, table in
                    let query = TableQuery(table).order(by: "int").limit(2).select("bool").includingTotalCount()
                    try expectDeleted(2, by: query, writer, context)
                }, are: Row.typed(2..<6))
        },
        Check("GET-028", "A deletion by query of thousands of rows keeps the thousands that do not match") { context in
            let rows = (0..<4_000).map { ["id": .string("\($0)"), "priority": .int($0 % 2)] as Row }
            try context.apply(to: context.store(.items)) { writer in
                try writer.upsert(rows, into: "TodoItem")
                let odd = TableQuery("TodoItem", predicate: .column("priority") == 1)
                try expectDeleted(2_000, by: odd, writer, context)
            } thenLook: { reader, place in
                let even = rows.filter { $0["priority"] == 0 }
                try context.expect(.items, in: reader, holds: even, place)
            }
        },
        Check("GET-029", "A deletion by an invalid query is refused and deletes nothing") { context in
            let store = try context.typedStore(Row.typed(0..<3))
            let (name, what) = (TableSchema.allTypes.name, "a deletion")
            let unknown = TableQuery(name, predicate: .column("unknown") == 1)
            try context.expectError(.invalidValue, "\(what) by an unknown column", column: "unknown") {
                try store.delete(matching: unknown)
            }
            try context.expectError(.invalidValue, "\(what) in order of an unknown column", column: "nowhere") {
                try store.delete(matching: TableQuery(name).order(by: "nowhere"))
            }
            for query in [
                TableQuery(name).skip(-1), TableQuery(name).limit(-1), TableQuery(name, predicate: .column("int")),
            ] {
                try context.expectError(.unsupportedQuery, "\(what) by \(query.swiftSource)") {
                    try store.delete(matching: query)
                }
            }
            try store.read { try context.expect(.allTypes, in: $0, holds: Row.typed(0..<3), "after the refusals") }
        },
        Check("GET-030", "A deletion by query repeated ten times has the same result as one") { context in
            let store = try context.typedStore(Row.typed(0..<8))
            for repetition in 0..<10 {
                for table in TableSchema.typedTables {
                    try store.write { writer in
                        let query = TableQuery(table.name, predicate: .column("int") < 5).order(by: "int")
                        try expectDeleted(repetition == 0 ? 5 : 0, by: query, writer, context)
                    }
                    try store.read {
                        let place = "after \(repetition + 1) deletions"
                        try context.expect(table, in: $0, holds: Row.typed(5..<8), place)
                    }
                }
            }
        },
    ]

    /// Expects a deletion by query to delete the rows that the evaluator finds.
    private static func expectDeletion(of query: TableQuery, _ context: CheckContext) throws {
        let rows = Row.typed(0..<8) + [["id": "none"]]
        var query = query
        query.table = TableSchema.allTypes.name
        let matching = try Answer.expected(query, .allTypes, TableSchema.allTypes.packed(rows)).rows.map(\.id)
        try context.expectRows(
            from: rows,
            after: { writer, table in
                query.table = table
                try expectDeleted(matching.count, by: query, writer, context)
            }, are: rows.filter { !matching.contains($0.id) })
    }

    private static func expectDeleted(
        _ count: Int, by query: TableQuery, _ writer: TracedWriter, _ context: CheckContext
    )
        throws
    {
        try context.expect(writer.delete(matching: query), is: count, "rows deleted by \(query.swiftSource)")
    }
}
