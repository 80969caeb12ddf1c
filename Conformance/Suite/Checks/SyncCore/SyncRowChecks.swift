internal import TidelineStore

extension Check {
    /// The app's rows as used by pull and push, and transactions over all tables.
    static let syncRows: [Check] = [
        Check(
            "SYN-040", "updatedAt >= t finds a row with exactly that instant, to 100 ns, also after reopening",
            why: "A pull continues from the watermark. Instants truncated to milliseconds repeat or lose rows."
        ) { context in
            let store = try context.syncStore(.items)
            let base = Timestamp(clampingTicks: 17_000_000_000_000_003)
            let rows = (0..<4).map { step -> Row in
                ["id": .string("\(step)"), "updatedAt": .timestamp(base.advanced(byTicks: Int64(step)))]
            }
            try store.put(rows, into: "TodoItem")
            func expectInstants(_ store: TracedStore, _ when: String) throws {
                let row = try store.row(in: "TodoItem", "2")
                try context.expect(row?["updatedAt"], is: rows[2]["updatedAt"], "updatedAt \(when) reopening")
                let since = TableQuery("TodoItem").filter(.column("updatedAt") >= .value(base.advanced(byTicks: 2)))
                try context.expect(since.order(by: "updatedAt"), in: store, finds: ["2", "3"], "\(when) reopening")
            }
            try expectInstants(store, "before")
            try expectInstants(context.reopened(store), "after")
        },
        Check(
            "SYN-041", "A row, its operation and a token are committed in one transaction",
            why: "A row without its operation is a change that is never pushed."
        ) { context in
            let store = try context.syncStore(.items)
            try store.write { try change($0) }
            let reopened = try context.reopened(store)
            for (table, id) in [("TodoItem", "a"), ("MS_TableConfig", "c")] {
                try context.expect(reopened.row(in: table, .string(id)) != nil, "\(table) has no row \(id)")
            }
            try context.expect(SystemRows.operations(of: "TodoItem", key: "a"), in: reopened, finds: [1])
        },
        Check(
            "SYN-042", "If the body throws, neither row nor operation nor token is stored",
            why: "A rollback that omits one of the tables sends changes that were never made."
        ) { context in
            let store = try context.syncStore(.items)
            try store.rollBack(change)
            for table in ["TodoItem", "MS_TableOperations", "MS_TableConfig"] {
                try context.expect(store.count(TableQuery(table)), is: 0, "rows of \(table) after the rollback")
            }
            try context.expect(SystemRows.operations(of: "TodoItem", key: "a"), in: store, finds: [])
            try context.expect(SystemRows.token("TodoItem", "q"), in: store, finds: [])
        },
        Check("SYN-043", "A row's version is read from the borrowed row, and the body is not called for an absent row")
        { context in
            let store = try context.syncStore(.items)
            try store.put([["id": "a", "text": "x", "version": "\"7\""]], into: "TodoItem")
            let version = try store.read { reader in
                try reader.withRow(in: "TodoItem", id: "a") { $0["version"]?.string }
            }
            try context.expect(version ?? nil, is: "\"7\"", "the version in the borrowed row")
            var calls = 0
            _ = try store.read { reader in try reader.withRow(in: "TodoItem", id: "b") { _ in calls += 1 } }
            try context.expect(calls, is: 0, "the number of calls of the body for an absent row")
        },
        Check("SYN-044", "A query with limit 1 distinguishes an empty table from one with rows") { context in
            let store = try context.syncStore(.items)
            let any = TableQuery("TodoItem").limit(1)
            try context.expect(any, in: store, finds: [])
            try store.put([["id": "b"], ["id": "a"]], into: "TodoItem")
            try context.expect(any, in: store, finds: ["a"])
        },
        Check("SYN-045", "A purge deletes all rows of the table that match the query, and none of another table") {
            context in
            let store = try context.syncStore(.items, .notes)
            try store.put([["id": "a"], ["id": "b", "complete": true], ["id": "c"]], into: "TodoItem")
            try store.put([["id": "a"]], into: "Note")
            let counts = try store.write { writer in
                let some = try writer.delete(matching: TableQuery("TodoItem").filter(.column("complete") == true))
                return [some, try writer.delete(matching: TableQuery("TodoItem"))]
            }
            try context.expect(counts, is: [1, 2], "the numbers of rows deleted")
            try context.expect(store.count(TableQuery("TodoItem")), is: 0, "rows left in the purged table")
            try context.expect(store.count(TableQuery("Note")), is: 1, "rows of the other table")
        },
        Check("SYN-046", "Rows deleted on the server are removed by id, in any ASCII case; absent ids are ignored") {
            context in
            let store = try context.syncStore(.items)
            try store.put([["id": "Abc"], ["id": "x"], ["id": "y"]], into: "TodoItem")
            let count = try store.delete(ids: ["aBC", "none", "y"], from: "TodoItem")
            try context.expect(count, is: 2, "the number of rows deleted")
            try context.expect(TableQuery("TodoItem"), in: store, finds: ["x"])
        },
        Check("SYN-047", "The definition of a table can be read within a transaction; an unknown table is noSuchTable")
        { context in
            let store = try context.syncStore(.items)
            let found = try store.write { try $0.schema(of: "TodoItem") }
            try context.expect(found, is: .items, "the definition inside a write")
            try context.expectError(.noSuchTable, "the definition of an unknown table", table: "Nothing") {
                _ = try store.read { try $0.schema(of: "Nothing") }
            }
        },
        Check("SYN-048", "A queue of 300 operations can be stored, read page by page, and emptied") { context in
            let store = try context.syncStore(.items)
            for start in stride(from: 0, to: 300, by: 50) {
                try store.write { writer in
                    for number in start..<(start + 50) {
                        try writer.upsert(
                            SystemRows.operation(Int64(number), "i\(number % 7)"), into: "MS_TableOperations")
                    }
                }
            }
            var seen: [Int64] = []
            let next = TableQuery("MS_TableOperations").order(by: "id").limit(64)
            while true {
                let query = next.filter(.column("id") > .value(seen.last ?? -1))
                let page = try store.rows(matching: query).rows.compactMap { $0.id?.value.int }
                if page.isEmpty { break }
                seen += page
                try store.delete(ids: page.map { .int($0) }, from: "MS_TableOperations")
            }
            try context.expect(seen, is: Array(0..<300), "the numbers in the order of insertion")
            try context.expect(store.count(next), is: 0, "operations left")
        },
    ]

    private static func change(_ writer: TracedWriter) throws {
        try writer.upsert(["id": "a", "text": "Milk"], into: "TodoItem")
        try writer.upsert(SystemRows.operation(1, "a"), into: "MS_TableOperations")
        try writer.upsert(SystemRows.setting("c", "TodoItem", "q", value: "t"), into: "MS_TableConfig")
    }
}
