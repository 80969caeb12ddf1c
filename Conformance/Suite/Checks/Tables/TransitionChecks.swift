internal import TidelineStore

extension Check {
    /// Changes that a definition may not make, and the atomicity of `define`.
    static let tableTransitions: [Check] = [
        Check(
            "TAB-120", "A changed column type is refused, naming table and column, and nothing is lost",
            why: "A store that accepts the new type misreads or discards the old values."
        ) { context in
            let schema = RandomRows.everyType("t")
            var random = context.randomRows(nullShare: 0)
            let rows = random.rows(3, of: schema, namesAllColumns: true)
            let store = try context.store(schema, holding: rows)
            for (index, column) in schema.columns.enumerated() {
                for type in ColumnType.allCases where type != column.type {
                    var changed = schema
                    changed.columns[index].type = type
                    let what = "\(column.name) as \(type)"
                    try context.expectRefused(changed, by: store, what, table: "t", column: column.name)
                }
            }
            try context.expectAnswers([TableQuery("t")], in: store, over: rows, of: schema)
        },
        Check("TAB-121", "A changed type is also refused after the store was reopened", needs: [.persistence]) {
            context in
            let store = try context.reopened(context.store(.t(.int("a"))))
            try context.expectRefused(.t(.double("a")), by: store, "a as double", table: "t", column: "a")
            try store.define([.t(.int("a"))])
        },
        Check("TAB-122", "A table without rows also keeps the types of its columns") { context in
            let store = try context.store(.t(.int("a"), .string("b")), holding: [["id": "1", "a": 1]])
            try store.delete(matching: TableQuery("t"))
            try context.expectRefused(.t(.int("a"), .int("b")), by: store, "b as int", table: "t", column: "b")
        },
        Check("TAB-123", "A changed id type is refused, naming the table") { context in
            let store = try context.store(.t(), TableSchema("numbered", columns: [], idType: .int))
            try context.expectRefused(TableSchema("t", columns: [], idType: .int), by: store, "ids as int", table: "t")
            try context.expectRefused(TableSchema("numbered", columns: []), by: store, "ids as text", table: "numbered")
        },
        Check("TAB-124", "A changed id matching is refused, naming the table") { context in
            let store = try context.store(.t(), TableSchema("exact", columns: [], idMatching: .exact))
            try store.put([["id": "a"], ["id": "A"]], into: "exact")
            try context.expectRefused(
                TableSchema("exact", columns: []), by: store, "ids made case-insensitive", table: "exact")
            try context.expectRefused(
                TableSchema("t", columns: [], idMatching: .exact), by: store, "ids made case-sensitive", table: "t")
            try context.expect(TableQuery("exact"), in: store, finds: ["A", "a"])
        },
        Check("TAB-125", "If one definition of a call is refused, no new table of the call is created") { context in
            let store = try context.store(.t(.int("a")))
            let bad = TableSchema.t(.string("a"))
            let good = TableSchema("good", columns: [.int("x")], indexes: [["x"]])
            let other = TableSchema("other", columns: [])
            try context.expectRefused(good, bad, other, by: store, "a bad one in the middle", table: "t", column: "a")
            try context.expectRefused(bad, good, by: store, "a bad one first", table: "t", column: "a")
            let reopened = try context.reopened(store)
            for name in ["good", "other"] {
                try context.expectError(.noSuchTable, "the table \(name)", table: name) {
                    _ = try reopened.count(TableQuery(name))
                }
            }
            try reopened.define([good, other])
        },
        Check(
            "TAB-126", "If one definition of a call is refused, no column or index of the others is added",
            why: "A store that applies one definition after another stops halfway."
        ) { context in
            let store = try context.store(.t(.int("a")), .notes)
            try store.put([["id": "1", "a": 1]], into: "t")
            let wider = TableSchema.t(.bool("new"), .int("a", optional: false), indexes: [["a"]])
            let bad = TableSchema("Note", columns: [.int("text")])
            try context.expectRefused(wider, bad, by: store, "Note with another type", table: "Note", column: "text")
            try context.expectError(.invalidValue, "a query for the column that was not added", column: "new") {
                _ = try store.rows(matching: TableQuery("t").filter(.column("new").isNull))
            }
            try store.put([["id": "2"]], into: "t")
            let rows: [Row] = [["id": "1", "a": 1], ["id": "2"]]
            let queries = TableQuery.about("a", like: 1)
            let reopened = try context.expectAnswers(queries, in: store, over: rows, of: .t(.int("a")))
            try reopened.define([.t(.int("new"), .int("a"))])
        },
        Check("TAB-127", "A call that defines a table in two ways is refused") { context in
            let store = try context.store(.items)
            try context.expectRefused(.t(.int("a")), .t(.string("a")), by: store, "a as int and as string", table: "t")
        },
        Check("TAB-128", "A column that differs only in ASCII case from a stored one is refused, naming the column") {
            context in
            let store = try context.store(.t(.int("a"), .string("größe")))
            try context.expectRefused(.t(.int("A")), by: store, "A", table: "t", column: "A")
            try context.expectRefused(
                .t(.int("a"), .string("größe"), .int("GRößE")), by: store, "GRößE", table: "t", column: "GRößE")
        },
        Check("TAB-129", "After a refused definition the store works and accepts a correct one") { context in
            let store = try context.store(.t(.int("a")))
            try? store.define([.t(.string("a"))])
            try? store.define([.t(.int("a"), .int("a"))])
            try store.put([["id": "1", "a": 1]], into: "t")
            let right = TableSchema.t(.int("a"), .string("b"), indexes: [["b"]])
            try store.define([right])
            try store.put([["id": "1", "b": "x"]], into: "t")
            try context.expectAnswers(
                TableQuery.about("b", like: "x"), in: store, over: [["id": "1", "a": 1, "b": "x"]], of: right)
        },
        Check("TAB-130", "A table can become a system table and an app table again, with its rows") { context in
            let own = TableSchema.t(.int("a"))
            var system = own
            system.isSystem = true
            let store = try context.store(own, .items)
            try store.put([["id": "1", "a": 1]], into: "t")
            for schema in [system, own, system] {
                try store.define([schema])
                let names = schema.isSystem ? ["TodoItem"] : ["TodoItem", "t"]
                try context.expect(store.appTables().map(\.name), is: names, "the app's tables")
                try context.expect(store.count(TableQuery("t")), is: 1, "its rows")
            }
            try context.expect(context.reopened(store).appTables(), is: [.items], "the app's tables after reopening")
        },
    ]
}
