internal import TidelineStore

extension Check {
    /// Queries at the limits of numbers and sizes.
    static let modelQueryLimits: [Check] = [
        Check("MOD-018", "The maximum limit returns all rows, with and without an index") { context in
            let store = try ThreeTables.store(context)
            for query in variants(limit: .max) { try context.expect(query, in: store, over: rows, of: .items) }
        },
        Check("MOD-019", "The maximum skip returns no rows, with and without an index") { context in
            let store = try ThreeTables.store(context)
            for query in variants(skip: .max) { try context.expect(query, in: store, over: rows, of: .items) }
        },
        Check(
            "MOD-020", "Skip and limit are applied correctly even if their sum exceeds 64 bits",
            why: "Computing the end of the range overflows."
        ) { context in
            let store = try ThreeTables.store(context)
            for (skip, limit) in [(1, Int.max), (3, Int.max - 1), (Int.max, Int.max), (Int.max - 1, 2)] {
                for query in variants(skip: skip, limit: limit) {
                    try context.expect(query, in: store, over: rows, of: .items)
                }
            }
        },
        Check("MOD-021", "A deletion with the maximum skip or limit deletes exactly the selected rows") { context in
            let store = try ThreeTables.store(context)
            let beyond = TableQuery("TodoItem", skip: .max, limit: .max)
            try context.expect(store.delete(matching: beyond), is: 0, "deletions beyond the end")
            let rest = TableQuery("TodoItem").order(by: "priority").skip(1).limit(.max)
            try context.expect(store.delete(matching: rest), is: 3, "deletions of all but the first")
            try context.expect(TableQuery("TodoItem"), in: store, finds: ["d"], "after the deletions")
        },
        Check(
            "MOD-022", "A membership list of 33,000 values is answered like the evaluator does, or refused",
            why: "Engines limit the number of parameters and the length of a statement; a longer list must not be "
                + "truncated."
        ) { context in
            let store = try ThreeTables.store(context)
            // Only the last value occurs in a row.
            let values = (0..<33_000).map { Value.int(Int64(100_000 - $0)) } + [2]
            let query = TableQuery("TodoItem").filter(.column("priority").isIn(values))
            try store.read { try context.expectAnswerOrRefusal(query, in: $0, over: rows, of: .items) }
        },
        Check("MOD-023", "A filter with a text of 100,000 characters is answered like the evaluator does, or refused") {
            context in
            let store = try ThreeTables.store(context)
            let long = String(repeating: "Milk", count: 25_000)
            try store.put(["id": "a", "text": .string(long)], into: "TodoItem")
            var stored = rows
            stored[0]["text"] = .string(long)
            let text = RowPredicate.column("text")
            for condition in [text == .value(long), text.contains(.value(long)), text < .value(long + "a")] {
                let query = TableQuery("TodoItem").filter(condition)
                try store.read { try context.expectAnswerOrRefusal(query, in: $0, over: stored, of: .items) }
            }
        },
        Check(
            "MOD-024",
            "A store holds two hundred tables with rows and an index each, or the maximum that it declares, beyond which "
                + "it throws tooManyTables"
        ) { context in
            let schemas = (0..<context.tableCount(200)).map {
                TableSchema("T\($0)", columns: [.int("n")], systemColumns: [], indexes: [["n"]])
            }
            let first = try context.store(schemas)
            try first.write { writer in
                for (number, schema) in schemas.enumerated() {
                    try writer.upsert(["id": .string("r\(number)"), "n": .int(Int64(number % 7))], into: schema.name)
                }
            }
            let store = try context.reopened(first)
            let names = schemas.map(\.name).sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
            try context.expect(store.tables().map(\.name), is: names, "the names of the tables")
            try store.read { reader in
                for (number, schema) in schemas.enumerated() {
                    let query = TableQuery(schema.name).filter(.column("n") == .value(number % 7))
                    try context.expect(reader.ids(query), is: ["r\(number)"], query.swiftSource)
                }
            }
            guard let limit = context.capabilities.maximumTablesAndIndexes, limit < 10_000 else { return }
            try expectTableLimit(limit, in: store, holding: schemas.count, context)
        },
        Check("MOD-025", "A table can have twenty indexes, each correct after changes") { context in
            try expectTwentyIndexes(context)
        },
    ]

    private static let rows = ThreeTables.rows(.items)

    /// Skip and limit over all rows, along an index, with a condition on one, and along a column without one.
    private static func variants(skip: Int = 0, limit: Int? = nil) -> [TableQuery] {
        [
            TableQuery("TodoItem"), TableQuery("TodoItem").order(by: "priority", descending: true),
            TableQuery("TodoItem").filter(.column("priority") >= 1), TableQuery("TodoItem").order(by: "text"),
            TableQuery("TodoItem").filter(.column("text") != "Eggs").order(by: "complete"),
        ].map { query in
            var copy = query.includingTotalCount()
            (copy.skip, copy.limit) = (skip, limit)
            return copy
        }
    }

    /// Fails unless twenty indexes of a table follow inserts, merges, and deletions, also after reopening.
    static func expectTwentyIndexes(_ context: CheckContext) throws {
        let columns = (0..<10).map { ColumnSchema.int("c\($0)") }
        let indexes =
            (0..<10).map { IndexSchema(["c\($0)"]) }
            + (0..<10).map { IndexSchema(["c\($0)", "c\(($0 + 3) % 10)"]) }
        let wide = TableSchema("Wide", columns: columns, systemColumns: [], indexes: indexes)
        let store = try context.store(wide)
        let all = (0..<20).map { number in
            columns.enumerated().reduce(into: Row(id: .string("r\(number + 10)"))) { row, column in
                row[column.element.name] = .int(Int64(number * (column.offset + 1) % 5))
            }
        }
        try store.write { writer in
            try writer.upsert(all, into: "Wide")
            try writer.upsert(["id": "r10", "c0": 9, "c5": .null], into: "Wide")
            try writer.delete(ids: ["r11"], from: "Wide")
            let deleted = try writer.delete(matching: TableQuery("Wide").filter(.column("c5") == 4))
            try context.expect(deleted, is: 4, "the number of rows deleted")
        }
        let expected = [all[0].merging(["c0": 9, "c5": .null])] + all[2...].filter { $0["c5"] != 4 }
        func look(_ store: TracedStore, _ place: String) throws {
            try store.read { reader in
                try context.expectIndexes(of: wide, in: reader, find: expected, formerly: [all[1], all[4]], place)
            }
        }
        try look(store, "of twenty indexes")
        try look(context.reopened(store), "of twenty indexes, after reopening")
    }

    /// Fails unless a store that holds tables with an index each has room up to its limit, and for no table more.
    private static func expectTableLimit(
        _ limit: Int, in store: TracedStore, holding count: Int, _ context: CheckContext
    ) throws {
        let rest = stride(from: 2 * count, to: limit, by: 64).map { start -> TableSchema in
            let names = (1..<min(64, limit - start)).map { "c\($0)" }
            return TableSchema(
                "Rest\(start)", columns: names.map { .int($0) }, systemColumns: [], indexes: names.map { [$0] })
        }
        try store.base.define(rest)
        try context.expectError(.tooManyTables, "a table beyond the \(limit) tables and indexes", table: "More") {
            try store.define([TableSchema("More", columns: [], systemColumns: [])])
        }
        try context.expect(store.tables().count, is: count + rest.count, "the number of tables after the refusal")
    }
}
