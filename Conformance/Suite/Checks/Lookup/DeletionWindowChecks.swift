internal import TidelineStore

extension Check {
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
        try context.expectRows(
            from: stored,
            after: { writer, table in
                let query = window(TableQuery(table))
                let count = try writer.delete(matching: query)
                try context.expect(count, is: found.count, "rows deleted by \(query.swiftSource)")
            }, are: stored.filter { !found.contains($0.id) })
    }
}
