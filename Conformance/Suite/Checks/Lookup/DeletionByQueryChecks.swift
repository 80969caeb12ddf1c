internal import TidelineStore

extension Check {
    /// Deleting the rows that match a query.
    static let deletionsByQuery: [Check] = [
        Check("GET-022", "A deletion by a query without a predicate deletes all rows and returns their number") {
            context in
            try context.expectRows(from: Row.typed(0..<10), become: []) { writer, table in
                try expectDeleted(10, by: TableQuery(table), writer, context)
                try expectDeleted(0, by: TableQuery(table), writer, context)
            }
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
            try context.expectRows(from: Row.typed(0..<6), become: Row.typed(0..<6)) { writer, table in
                for condition in conditions {
                    try expectDeleted(0, by: TableQuery(table, predicate: condition), writer, context)
                }
            }
        },
        Check("GET-025", "A deletion by query sees the earlier changes of the same write") { context in
            let kept: [Row] = [Row.typed("1").merging(["int": 2]), .typed("2", 2), .typed("3", 3)]
            try context.expectRows(from: Row.typed(0..<4), become: kept) { writer, table in
                try writer.upsert([.typed("new", 9), .typed("0", 9), ["id": "1", "int": 2]], into: table)
                let query = TableQuery(table, predicate: .column("int").isIn([9, 1]))
                try expectDeleted(2, by: query, writer, context)
            }
        },
        Check(
            "GET-026", "Rows deleted by query are removed from every index",
            why: "The index that finds them and the other indexes each have entries for them."
        ) { context in
            let rows = Row.typed(0..<8) { $0 / 2 } + [["id": "none"]]
            for column in ["int", "string", "id", "json"] {
                let value = rows[3][column] ?? .null
                let condition = RowPredicate.column(column) == .literal(value)
                let kept = rows.filter { $0[column] != value && $0.idText != "none" }
                try context.expectIndexes(from: rows, follow: kept) {
                    try $0.delete(matching: TableQuery($1, predicate: condition || .column("int").isNull))
                }
            }
        },
        Check("GET-027", "Selection and total count of a query do not affect its deletion") { context in
            try context.expectRows(from: Row.typed(0..<6), become: Row.typed(2..<6)) { writer, table in
                let query = TableQuery(table).order(by: "int").limit(2).select("bool").includingTotalCount()
                try expectDeleted(2, by: query, writer, context)
            }
        },
        Check("GET-028", "A deletion by query of thousands of rows keeps the thousands that do not match") { context in
            let rows = (0..<4_000).map { ["id": .string("\($0)"), "priority": .int($0 % 2)] as Row }
            let even = rows.filter { $0["priority"] == 0 }
            try context.expect(.items, of: context.store(.items), holds: even) { writer in
                try writer.upsert(rows, into: "TodoItem")
                let odd = TableQuery("TodoItem", predicate: .column("priority") == 1)
                try expectDeleted(2_000, by: odd, writer, context)
            }
        },
        Check("GET-029", "A deletion by an invalid query is refused and deletes nothing") { context in
            let store = try context.typedStore(Row.typed(0..<3))
            let all = TableQuery(TableSchema.allTypes.name)
            let unknown = all.filter(.column("unknown") == 1)
            try context.expectRefused(unknown, by: store, .invalidValue, column: "unknown")
            try context.expectRefused(all.order(by: "nowhere"), by: store, .invalidValue, column: "nowhere")
            for query in [all.skip(-1), all.limit(-1), all.filter(.column("int"))] {
                try context.expectRefused(query, by: store, .unsupportedQuery)
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
        try context.expectRows(from: rows, become: rows.filter { !matching.contains($0.id) }) { writer, table in
            query.table = table
            try expectDeleted(matching.count, by: query, writer, context)
        }
    }

    private static func expectDeleted(
        _ count: Int, by query: TableQuery, _ writer: TracedWriter, _ context: CheckContext
    ) throws {
        try context.expect(writer.delete(matching: query), is: count, "rows deleted by \(query.swiftSource)")
    }

    /// The order, skip, and limit of a deletion by query.
    static let deletionWindows: [Check] = [
        Check(
            "GET-031", "A deletion by query with a limit deletes at most that many rows, the first in its order",
            why: "If the limit is ignored, rows are deleted that the caller never saw."
        ) { context in
            for limit in [0, 1, 4, 8, 9, 100] { try expectWindow(context) { $0.order(by: "int").limit(limit) } }
        },
        Check("GET-032", "A deletion by query with a skip keeps that many rows, the first in its order") { context in
            for skip in [0, 1, 7, 9, 100] { try expectWindow(context) { $0.order(by: "string").skip(skip) } }
        },
        Check("GET-033", "A deletion by query with skip and limit deletes exactly the rows between them") { context in
            for (skip, limit) in [(0, 3), (2, 3), (5, 100), (8, 1), (3, 0), (9, 2)] {
                try expectWindow(context) { query in
                    query.filter(.column("int") >= 1).order(by: "int", descending: true).skip(skip).limit(limit)
                }
            }
        },
        Check("GET-034", "Skip and limit of a deletion without an order apply in ascending order of id") { context in
            for (skip, limit) in [(0, 2), (3, 4), (8, 2)] {
                try expectWindow(context) { $0.skip(skip).limit(limit) }
                try expectWindow(context) { $0.filter(.column("bool") == true).skip(skip / 2).limit(limit) }
            }
        },
        Check("GET-035", "Skip and limit of a deletion break ties of its order by ascending id") { context in
            for descending in [false, true] {
                for limit in [1, 3, 4] {
                    try expectWindow(context) { $0.order(by: "bool", descending: descending).limit(limit) }
                }
            }
        },
        Check("GET-036", "Skip and limit of a deletion count nulls first, or last in descending order") { context in
            for descending in [false, true] {
                try expectWindow(context) { $0.order(by: "double", descending: descending).limit(2) }
                try expectWindow(context) { $0.order(by: "timestamp", descending: descending).skip(2) }
            }
        },
        Check("GET-037", "Repeated deletions with a limit empty the table") { context in
            let store = try context.typedStore(Row.typed(0..<25))
            for table in TableSchema.typedTables {
                let query = TableQuery(table.name).order(by: "int", descending: true).limit(10)
                var counts: [Int] = []
                for _ in 0..<4 { counts.append(try store.delete(matching: query)) }
                try context.expect(counts, is: [10, 10, 5, 0], "rows deleted from \(table.name), ten at a time")
            }
        },
    ]

    /// Expects a deletion by query to delete exactly the rows between the query's skip and limit.
    private static func expectWindow(_ context: CheckContext, _ window: (TableQuery) -> TableQuery) throws {
        let numbers: [Int64] = [4, 7, 1, 6, 3, 0, 5, 2]
        let rows = zip(numbers, ["b", "A", "d", "c", "10", "9", "é", "a2"]).map { Row.typed(.string($1), $0) }
        let stored = rows + [["id": "none"]]
        let query = window(TableQuery(TableSchema.allTypes.name))
        let found = try Answer.expected(query, .allTypes, TableSchema.allTypes.packed(stored)).rows.map(\.id)
        try context.expectRows(from: stored, become: stored.filter { !found.contains($0.id) }) { writer, table in
            let query = window(TableQuery(table))
            let count = try writer.delete(matching: query)
            try context.expect(count, is: found.count, "rows deleted by \(query.swiftSource)")
        }
    }
}
