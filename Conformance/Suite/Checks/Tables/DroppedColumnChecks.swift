internal import TidelineStore

extension Check {
    /// Columns that are removed from a definition, and columns that are defined again.
    static let droppedColumns: [Check] = [
        Check("TAB-080", "A removed column is hidden in rows, results, shapes, and definitions") { context in
            let store = try dropped(context)
            let narrow = TableSchema.t(.int("a"))
            try context.expect(store.tables(), is: [narrow], "the definition")
            let row: Row = ["id": "1", "a": 1]
            try context.expect(store.row(in: "t", "1"), is: row.completed(for: narrow), "the row by lookup")
            let rows: [Row] = [row, ["id": "2", "a": 2]]
            try context.expectAnswers(
                [TableQuery("t"), TableQuery("t").order(by: "a")], in: store, over: rows, of: narrow)
        },
        Check("TAB-081", "A removed column is unknown to upserts and queries, which name it in the error") { context in
            let store = try dropped(context)
            try context.expectError(.invalidValue, "an upsert that names it", table: "t", column: "b") {
                var rows = PackedRows(shape: RowShape(table: "t", columns: [.string("b")]))
                try rows.append(["id": "3", "b": "x"])
                try store.put(rows, into: "t")
            }
            let all = TableQuery("t")
            for query in [all.filter(.column("b") == "x"), all.order(by: "b"), all.select("b")] {
                try context.expectError(.invalidValue, query.swiftSource, column: "b") {
                    _ = try store.rows(matching: query)
                }
            }
        },
        Check(
            "TAB-082", "A restored column has its values again, also if the store was reopened in between",
            why: "An app that is downgraded to its previous version must find its data."
        ) { context in
            let store = try context.reopened(dropped(context))
            try store.define([both])
            let rows: [Row] = [["id": "1", "a": 1, "b": "one"], ["id": "2", "a": 2, "b": "two"]]
            try context.expectAnswers(queries, in: store, over: rows, of: both)
        },
        Check(
            "TAB-083", "A merge into a row keeps the values of hidden columns",
            why: "A store that rewrites the row from the columns it knows silently loses the others."
        ) { context in
            let store = try dropped(context)
            try store.put([["id": "1", "a": 10]], into: "t")
            try store.put([["id": "2", "a": .null]], into: "t")
            try store.define([both])
            let rows: [Row] = [["id": "1", "a": 10, "b": "one"], ["id": "2", "b": "two"]]
            try context.expectAnswers(queries, in: store, over: rows, of: both)
        },
        Check("TAB-084", "A row that was deleted and inserted again while a column was hidden is null in that column") {
            context in
            let store = try dropped(context)
            try store.delete(ids: ["1"], from: "t")
            try store.put([["id": "1", "a": 3], ["id": "3", "a": 4]], into: "t")
            try store.define([both])
            let rows: [Row] = [["id": "1", "a": 3], ["id": "2", "a": 2, "b": "two"], ["id": "3", "a": 4]]
            try context.expectAnswers(queries, in: store, over: rows, of: both)
        },
        Check(
            "TAB-085",
            "A hidden column cannot be restored with another type; the error names it, and its values are kept"
        ) { context in
            let store = try context.reopened(dropped(context))
            for type in ColumnType.allCases where type != .string {
                let schema = TableSchema.t(.int("a"), ColumnSchema("b", type))
                try context.expectRefused(schema, by: store, "b as \(type)", table: "t", column: "b")
            }
            try store.define([both])
            try context.expect(store.row(in: "t", "1")?["b"], is: "one", "the value of the column")
        },
        Check("TAB-086", "A hidden column cannot be restored in another ASCII case") { context in
            let store = try dropped(context)
            try context.expectRefused(.t(.int("a"), .string("B")), by: store, "B", table: "t", column: "B")
            try context.expectRefused(.t(.int("A")), by: store, "A, which is stored as a", table: "t", column: "A")
        },
        Check("TAB-087", "A required column that is hidden is not required in new rows") { context in
            let strict = TableSchema.t(.int("a"), .string("b", optional: false), indexes: [["b"]])
            let store = try context.store(strict, holding: [["id": "1", "a": 1, "b": "one"]])
            try store.define([.t(.int("a"))])
            try store.put([["id": "2", "a": 2]], into: "t")
            try store.define([strict])
            let rows: [Row] = [["id": "1", "a": 1, "b": "one"], ["id": "2", "a": 2]]
            try context.expectAnswers(queries, in: store, over: rows, of: strict)
        },
        Check(
            "TAB-088", "An index on a restored column reflects all changes made while it was hidden",
            why: "An index that was kept but not updated finds deleted rows and misses new ones."
        ) { context in
            let indexed = TableSchema.t(.int("a"), .string("b"), indexes: [["b"], ["b", "a"]])
            let store = try context.store(indexed)
            try store.put(
                (0..<20).map { ["id": .string("\($0)"), "a": .int($0), "b": .string("\($0 % 4)")] }, into: "t")
            try store.define([.t(.int("a"))])
            try store.delete(matching: TableQuery("t").filter(.column("a") < 7))
            try store.put([["id": "8", "a": 80], ["id": "new", "a": 9]], into: "t")
            try store.define([indexed])
            var rows: [Row] = (7..<20).map { ["id": .string("\($0)"), "a": .int($0), "b": .string("\($0 % 4)")] }
            rows[1]["a"] = 80
            rows.append(["id": "new", "a": 9])
            let ordered = TableQuery("t").order(by: "b").order(by: "a", descending: true)
            try context.expectAnswers(TableQuery.about("b", like: "3") + [ordered], in: store, over: rows, of: indexed)
        },
        Check("TAB-089", "All columns can be removed and restored") { context in
            let store = try dropped(context)
            try store.define([.t(systemColumns: [])])
            try context.expect(store.row(in: "t", "1"), is: ["id": "1"], "the row without columns")
            try store.put([["id": "3"]], into: "t")
            let reopened = try context.reopened(store)
            try reopened.define([both])
            let rows: [Row] = [["id": "1", "a": 1, "b": "one"], ["id": "2", "a": 2, "b": "two"], ["id": "3"]]
            try context.expectAnswers([TableQuery("t")], in: reopened, over: rows, of: both)
        },
    ]

    private static let both = TableSchema.t(.int("a"), .string("b"))
    private static let queries = TableQuery.about("b", like: "one") + [TableQuery("t")]

    /// Returns a table of two rows whose column `b` was removed.
    private static func dropped(_ context: CheckContext) throws -> TracedStore {
        let store = try context.store(both)
        try store.put([["id": "1", "a": 1, "b": "one"], ["id": "2", "a": 2, "b": "two"]], into: "t")
        try store.define([.t(.int("a"))])
        return store
    }
}
