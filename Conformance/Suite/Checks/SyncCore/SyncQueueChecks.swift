internal import TidelineStore

extension Check {
    /// The queue of operations and their errors.
    static let syncQueue: [Check] = [
        Check(
            "SYN-010", "The operations of one row are found by table and key, oldest first",
            why: "A change is coalesced with the pending operations of its row: if one is missing, a change is lost."
        ) { context in
            let store = try queue(context)
            try context.expect(SystemRows.operations(of: "TodoItem", key: "a"), in: store, finds: [2, 10])
            try context.expect(SystemRows.operations(of: "Note", key: "a"), in: store, finds: [9])
            try context.expect(SystemRows.operations(of: "TodoItem", key: "A"), in: store, finds: [])
            try context.expect(SystemRows.operations(of: "TodoIte", key: "a"), in: store, finds: [])
        },
        Check("SYN-011", "The operations of one row are found by table and id, ignoring ASCII case") { context in
            let store = try queue(context)
            let ofItem = TableQuery("MS_TableOperations").order(by: "id")
                .filter(.column("table") == "TodoItem" && .column("itemId").equalsIgnoringCase("A"))
            try context.expect(ofItem, in: store, finds: [2, 10])
            try context.expect(
                ofItem.filter(.column("itemId").equalsIgnoringCase("a\u{301}")), in: store, finds: [],
                "another letter with an accent")
        },
        Check(
            "SYN-012", "The next operation is the one with the smallest number in a range, in numeric order",
            why: "Numbers sorted as text put 10 before 9; a push would send changes out of order."
        ) { context in
            let store = try queue(context)
            let steps: [(after: Int64, last: Int64, next: [RowID])] = [
                (0, 1000, [2]), (2, 1000, [9]), (9, 1000, [10]), (10, 1000, [100]), (10, 100, [100]), (10, 99, []),
                (100, 1000, []), (-5, 0, []),
            ]
            for (after, last, next) in steps {
                let query = TableQuery("MS_TableOperations").order(by: "id").limit(1)
                    .filter(.column("id") > .value(after) && .column("id") <= .value(last))
                try context.expect(query, in: store, finds: next)
            }
        },
        Check("SYN-013", "The newest operation is the first in descending numeric order of id") { context in
            let store = try queue(context)
            let newest = TableQuery("MS_TableOperations").order(by: "id", descending: true).limit(1)
            try context.expect(newest, in: store, finds: [100])
            let beyond: Int64 = 9_007_199_254_740_993
            try store.put(
                [SystemRows.operation(beyond, "x"), SystemRows.operation(beyond - 1, "y")], into: newest.table)
            try context.expect(newest, in: store, finds: [.int(beyond)], "beyond 2^53")
            try store.delete(matching: TableQuery(newest.table))
            try context.expect(newest, in: store, finds: [], "an empty queue")
        },
        Check("SYN-014", "An operation is found by an equality predicate on its number") { context in
            let store = try queue(context)
            for number: Int64 in [2, 9, 10, 100] {
                let query = TableQuery("MS_TableOperations").filter(.column("id") == .value(number))
                try context.expect(query, in: store, finds: [.int(number)])
            }
            try context.expect(TableQuery("MS_TableOperations").filter(.column("id") == 1), in: store, finds: [])
        },
        Check("SYN-015", "The whole queue is read in order of number, whatever the order of insertion") { context in
            let store = try queue(context)
            let all = TableQuery("MS_TableOperations").order(by: "id")
            try context.expect(all, in: store, finds: [2, 9, 10, 100])
            try context.expect(all.filter(.column("table") == "TodoItem"), in: store, finds: [2, 10, 100])
            try context.expect(all, in: context.reopened(store), finds: [2, 9, 10, 100], "after reopening")
        },
        Check(
            "SYN-016", "A query with limit 0 and a total count returns no rows and counts all matches",
            why: "The original SDK counts pending operations this way. A count taken after the limit is 0."
        ) { context in
            let store = try queue(context)
            let all = TableQuery("MS_TableOperations").limit(0).includingTotalCount()
            let ofTable = all.filter(.column("table") == "TodoItem")
            for (query, count) in [(all, 4), (ofTable, 3), (all.filter(.column("table") == "x"), 0)] {
                let result = try store.rows(matching: query)
                try context.expect(result.rows, are: [], "the rows of \(query.swiftSource)")
                try context.expect(result.totalCount, is: count, "the total count of \(query.swiftSource)")
            }
        },
        Check("SYN-017", "Pending operations are counted, for all tables or for one") { context in
            let store = try queue(context)
            let all = TableQuery("MS_TableOperations")
            try context.expect(store.count(all), is: 4, "pending operations")
            try context.expect(store.count(all.filter(.column("table") == "Note")), is: 1, "operations of Note")
            try context.expect(store.count(all.filter(.column("table") == "note")), is: 0, "operations of note")
        },
        Check(
            "SYN-018", "A removed operation is not found by number, by row, or in the queue",
            why: "A stale index entry of a deleted row would send a change twice."
        ) { context in
            let store = try queue(context)
            let count = try store.delete(ids: [.int(10), .int(11)], from: "MS_TableOperations")
            try context.expect(count, is: 1, "the number of rows that were deleted")
            try context.expect(store.row(in: "MS_TableOperations", .int(10)) == nil, "the operation is found by id")
            try context.expect(SystemRows.operations(of: "TodoItem", key: "a"), in: store, finds: [2])
            try context.expect(TableQuery("MS_TableOperations"), in: store, finds: [2, 9, 100])
        },
        Check(
            "SYN-019", "An operation that is stored again has its new values, and null for cleared columns",
            why: "A retried operation increments its attempts: its columns are replaced, and cleared ones become null."
        ) { context in
            let store = try queue(context)
            var row = SystemRows.operation(9, "a", of: "Note", kind: 2, properties: #"{"id":"a"}"#)
            row["lastError"] = "no network"
            try store.put([row], into: "MS_TableOperations")
            row["lastError"] = .null
            row["attempts"] = 1
            try store.put([row], into: "MS_TableOperations")
            let expected = row.completed(for: SystemRows.tables.operationsSchema)
            try context.expect(store.row(in: "MS_TableOperations", .int(9)), is: expected, "the operation")
            try context.expect(SystemRows.operations(of: "Note", key: "a"), in: store, finds: [9])
        },
        Check("SYN-020", "Errors are deleted by a query for the number of their operation, and no others") { context in
            let store = try errors(context)
            let ofOperation = TableQuery("MS_TableOperationErrors").filter(.column("operationId") == 2)
            try context.expect(store.delete(matching: ofOperation), is: 1, "the number of errors deleted")
            let all = TableQuery("MS_TableOperationErrors").order(by: "operationId")
            try context.expect(all, in: store, finds: ["1", "10", "20"])
        },
        Check("SYN-021", "The operations and errors of a table are deleted by a query for the table, and no others") {
            context in
            let store = try errors(context)
            for table in ["MS_TableOperations", "MS_TableOperationErrors"] {
                let count = try store.write { writer in
                    try writer.delete(matching: TableQuery(table).filter(.column("table") == "TodoItem"))
                }
                try context.expect(count, is: table == "MS_TableOperations" ? 3 : 2, "rows deleted from \(table)")
            }
            try context.expect(TableQuery("MS_TableOperations").order(by: "id"), in: store, finds: [9])
            try context.expect(
                TableQuery("MS_TableOperationErrors").order(by: "operationId"), in: store, finds: ["1", "10"])
        },
    ]

    /// Returns operations of two tables, stored out of order; two belong to one row, with ids in different case.
    private static func queue(_ context: CheckContext) throws -> TracedStore {
        let store = try context.syncStore(.items, .notes)
        let rows = [
            SystemRows.operation(10, "A", kind: 1), SystemRows.operation(9, "a", of: "Note"),
            SystemRows.operation(100, "b"), SystemRows.operation(2, "a"),
        ]
        try store.put(rows, into: "MS_TableOperations")
        return store
    }

    private static func errors(_ context: CheckContext) throws -> TracedStore {
        let store = try queue(context)
        let rows = [
            SystemRows.error(20), SystemRows.error(2), SystemRows.error(1, "Note"), SystemRows.error(10, "Note"),
        ]
        try store.put(rows, into: "MS_TableOperationErrors")
        return store
    }
}
