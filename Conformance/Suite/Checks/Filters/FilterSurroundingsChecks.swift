internal import TidelineStore

extension SampleTable {
    /// Columns whose names have a meaning in query languages.
    fileprivate static let names = SampleTable(
        .int("order"), .string("group"), .int("select"), .string("a b"), .string("it's"), .int("\"q\""), .int("x]"),
        .string("größe"), .bool("null"), .int("100%"), .int("rowid"),
        rows: [
            [
                "id": "a", "order": 1, "group": "g", "select": 2, "a b": "x", "it's": "q", "\"q\"": 1, "x]": 1,
                "größe": "L", "null": true, "100%": 1, "rowid": 5,
            ],
            ["id": "b", "order": 2, "group": "order", "a b": "a b", "\"q\"": 2, "null": false, "rowid": 1],
            ["id": "c"],
        ])

    fileprivate static let stamps = SampleTable(
        .int("n"),
        rows: [
            ["id": "a", "n": 1, "createdAt": .ticks(5), "updatedAt": .ticks(10), "version": "AAA="],
            ["id": "b", "n": 2, "createdAt": .ticks(5), "updatedAt": .ticks(11), "version": "aaa="],
            ["id": "c", "n": 3],
        ])
}

private let n = RowPredicate.column("n")

extension Check {
    /// Names, system columns, and answers while rows change.
    static let filterSurroundings: [Check] = [
        Check(
            "FIL-140", "Columns named like keywords of query languages work like others",
            why: "A name that is unquoted, or quoted wrongly, is a syntax error or another column.", over: .names
        ) { table in
            table.finds(.column("order") == 1, "a")
            table.finds(.column("group") == "order", "b")
            table.finds(.column("select") == .null, "b", "c")
            table.finds(.column("a b") == "a b", "b")
            table.finds(.column("it's") == "q", "a")
            table.finds(.column("\"q\"") > 1, "b")
            table.finds(.column("x]") == 1, "a")
            table.finds(.column("größe") == "L", "a")
            table.finds(!.column("null"), "b", "c")
            table.finds(.column("100%") == 1, "a")
            table.finds(.column("rowid") == 1, "b")
        },
        Check("FIL-141", "System columns can be used in conditions like other columns", over: .stamps) { table in
            table.finds(.column("updatedAt") >= .ticks(10), "a", "b")
            table.finds(.column("updatedAt") > .ticks(10), "b")
            table.finds(.column("version") == "AAA=", "a")
            table.finds(.column("version").isNull, "c")
            table.finds(.column("createdAt") == .ticks(5) && n > 1, "b")
        },
        Check(
            "FIL-142", "A condition over an empty table finds nothing and counts 0",
            over: SampleTable(.int("n"), rows: [])
        ) { table in
            table.gives(TableQuery("", includesTotalCount: true))
            table.gives(TableQuery("", predicate: n == 1, includesTotalCount: true))
            table.finds(n != 1)
            table.finds(.and([]))
        },
        Check(
            "FIL-143", "A row is found by its new value and no longer by its old one",
            why: "A stale index entry of the old value returns rows that no longer match."
        ) { context in
            let store = try context.store(.filtered, holding: [["id": "a", "n": 1], ["id": "b", "n": 2]])
            try store.put(["id": "a", "n": 5], into: "Filtered")
            try context.expect(TableQuery("Filtered", predicate: n == 1), in: store, finds: [], "the old value")
            try context.expect(TableQuery("Filtered", predicate: n == 5), in: store, finds: ["a"], "the new value")
            try context.expect(TableQuery("Filtered", predicate: n < 5), in: store, finds: ["b"], "a range without it")
            try store.put(["id": "a", "n": .null], into: "Filtered")
            try context.expect(TableQuery("Filtered", predicate: n == 5), in: store, finds: [], "after it was cleared")
            try context.expect(
                TableQuery("Filtered", predicate: n.isNull), in: store, finds: ["a"], "after it was cleared")
        },
        Check(
            "FIL-144", "A deleted row is found by no condition, and is found again when it is inserted again",
            why: "A stale index entry returns a row that does not exist, or fails."
        ) { context in
            let store = try context.store(.filtered, holding: [["id": "a", "n": 1], ["id": "b", "n": 1]])
            try store.delete(ids: ["a"], from: "Filtered")
            let query = TableQuery("Filtered", predicate: n == 1)
            try context.expect(query, in: store, finds: ["b"], "after the deletion")
            try context.expect(store.count(query), is: 1, "the count after the deletion")
            try store.put(["id": "a", "n": 1], into: "Filtered")
            try context.expect(query, in: store, finds: ["a", "b"], "after the row was inserted again")
        },
        Check("FIL-145", "Conditions within a write see its changes, and after a rollback none of them") { context in
            let store = try context.store(.filtered, holding: [["id": "a", "n": 1], ["id": "b", "n": 2]])
            let query = TableQuery("Filtered", predicate: n == 1)
            try store.rollBack { writer in
                try writer.upsert([["id": "a", "n": 2], ["id": "b", "n": 1], ["id": "c", "n": 1]], into: "Filtered")
                try context.expect(writer.ids(query), is: ["b", "c"], "within the write")
                try writer.delete(id: "b", from: "Filtered")
                try context.expect(writer.ids(query), is: ["c"], "after a deletion within the write")
                try context.expect(writer.count(query), is: 1, "the count after a deletion within the write")
            }
            try context.expect(query, in: store, finds: ["a"], "after the rollback")
        },
        Check("FIL-146", "An index that is added later finds the rows that already existed") { context in
            let rows: [Row] = (0..<50).map { ["id": .string("\($0)"), "m": .int($0 % 5)] }
            let store = try context.store(.filtered, holding: rows)
            let query = TableQuery("Filtered", predicate: .column("m") == 3)
            let ids: [RowID] = ["13", "18", "23", "28", "3", "33", "38", "43", "48", "8"]
            try context.expect(query, in: store, finds: ids, "before the index exists")
            var schema = TableSchema.filtered
            schema.indexes.append(["m"])
            try store.define([schema])
            try context.expect(query, in: store, finds: ids, "after an index was added")
            try context.expect(store.count(query), is: 10, "the count through the index")
        },
    ]
}

extension TableSchema {
    fileprivate static let filtered = TableSchema(
        "Filtered", columns: [.int("n"), .int("m")], indexes: [["n"], ["n", "m"]])
}
