internal import TidelineStore

extension Check {
    /// Columns that are added, moved, or made required.
    static let tableColumns: [Check] = [
        Check("TAB-060", "A new column is null in existing rows, by lookup and by query") { context in
            let store = try context.store(.t(.int("a")), holding: [["id": "1", "a": 1], ["id": "2"]])
            let wider = TableSchema.t(.int("a"), .string("new"))
            try store.define([wider])
            let rows: [Row] = [["id": "1", "a": 1], ["id": "2"]]
            try context.expect(store.row(in: "t", "1"), is: rows[0].completed(for: wider), "the old row by lookup")
            try context.expectAnswers(
                [TableQuery("t"), TableQuery("t").select("new")], in: store, over: rows, of: wider)
        },
        Check(
            "TAB-061", "A new column is null in filters and sort orders over old and new rows",
            why: "Stored rows without the column may compare as neither true nor null, as an empty text, or as 0."
        ) { context in
            var store = try context.open()
            for type in ColumnType.allCases {
                let wider = TableSchema(
                    "\(type)", columns: [.int("a"), ColumnSchema("new", type)],
                    indexes: type == .string ? [["new"]] : [])
                let rows = try mixed(store, wider, context)
                let queries = TableQuery.about("new", like: .literal(rows[1]["new"] ?? .null), in: wider.name)
                store = try context.expectAnswers(queries, in: store, over: rows, of: wider, "\(type)")
            }
        },
        Check("TAB-062", "A new column can be written in old rows and found there") { context in
            let store = try context.store(.t(.int("a")), holding: [["id": "1", "a": 1], ["id": "2", "a": 2]])
            let wider = TableSchema.t(.int("a"), .string("new"))
            try store.define([wider])
            try store.put([["id": "1", "new": "x"]], into: "t")
            let rows: [Row] = [["id": "1", "a": 1, "new": "x"], ["id": "2", "a": 2]]
            try context.expectAnswers(
                TableQuery.about("new", like: "x") + [TableQuery("t")], in: store, over: rows, of: wider)
        },
        Check(
            "TAB-063", "When columns are inserted at the front or reordered, every column keeps its values",
            why: "A store that reads rows by position assigns each column its neighbor's values."
        ) { context in
            let row: Row = ["id": "1", "a": 1, "b": 2, "c": "three", "version": "v"]
            let store = try context.store(.t(.int("a"), .int("b"), .string("c")), holding: [row])
            let moved = TableSchema.t(.bool("new"), .string("c"), .int("b"), .int("other"), .int("a"))
            try store.define([moved])
            try context.expect(store.row(in: "t", "1"), is: row.completed(for: moved), "the row after the move")
            try store.read { try context.expectColumns(of: moved, in: $0, "after the move") }
            try store.put([["id": "2", "new": true, "c": "drei", "b": 20, "a": 10]], into: "t")
            let rows: [Row] = [row, ["id": "2", "new": true, "c": "drei", "b": 20, "a": 10]]
            try context.expectAnswers(
                [TableQuery("t"), TableQuery("t").order(by: "b", descending: true)], in: store, over: rows, of: moved)
        },
        Check("TAB-064", "A new required column is null in old rows, and new rows must name it") { context in
            let store = try context.store(.t(.int("a")), holding: [["id": "1", "a": 1]])
            let wider = TableSchema.t(.int("a"), .string("must", optional: false))
            try store.define([wider])
            try context.expect(TableQuery("t").filter(.column("must").isNull), in: store, finds: ["1"])
            try context.expectError(.invalidValue, "an insert without it", table: "t", column: "must", id: "2") {
                try store.put([["id": "2", "a": 2]], into: "t")
            }
            try store.put([["id": "2", "must": "x"], ["id": "1", "must": "y"]], into: "t")
            let rows: [Row] = [["id": "1", "a": 1, "must": "y"], ["id": "2", "must": "x"]]
            try context.expectAnswers([TableQuery("t")], in: store, over: rows, of: wider)
        },
        Check("TAB-065", "An optional column that becomes required keeps existing nulls, and rejects new ones") {
            context in
            let rows: [Row] = [["id": "1", "b": 1], ["id": "2", "a": "x"]]
            let store = try context.store(.t(.string("a"), .int("b")), holding: rows)
            let strict = TableSchema.t(.string("a", optional: false), .int("b"))
            try store.define([strict])
            let reopened = try context.expectAnswers(
                TableQuery.about("a", like: "x"), in: store, over: rows, of: strict)
            for row: Row in [["id": "3", "b": 1], ["id": "3", "a": .null], ["id": "2", "a": .null]] {
                try context.expectError(.invalidValue, "an upsert of \(row)", table: "t", column: "a") {
                    try reopened.put([row], into: "t")
                }
            }
            try context.expect(reopened.count(TableQuery("t")), is: 2, "rows afterwards")
        },
        Check("TAB-066", "A required column that becomes optional accepts null and rows that do not name it") {
            context in
            let store = try context.store(.t(.string("a", optional: false), indexes: [["a"]]))
            try store.put([["id": "1", "a": "x"], ["id": "2", "a": "y"]], into: "t")
            let loose = TableSchema.t(.string("a"), indexes: [["a"]])
            try store.define([loose])
            try store.put([["id": "1", "a": .null], ["id": "3"]], into: "t")
            let rows: [Row] = [["id": "1"], ["id": "2", "a": "y"], ["id": "3"]]
            try context.expectAnswers(TableQuery.about("a", like: "y"), in: store, over: rows, of: loose)
        },
        Check("TAB-067", "Columns can become required and optional again without a change to any row") { context in
            let loose = TableSchema.t(.string("a"), .int("b"))
            let strict = TableSchema.t(.string("a", optional: false), .int("b"))
            let rows: [Row] = [["id": "1", "b": 1], ["id": "2", "a": "x"]]
            var store = try context.store(loose, holding: rows)
            for schema in [strict, loose, strict, loose] {
                try store.define([schema])
                try context.expect(store.tables(), is: [schema], "the definition")
                store = try context.expectAnswers([TableQuery("t")], in: store, over: rows, of: schema)
            }
            try store.put([["id": "3"]], into: "t")
        },
        Check("TAB-068", "System columns can be added to a table and removed like other columns") { context in
            let row: Row = ["id": "1", "a": 1, "version": "v1"]
            let store = try context.store(.t(.int("a"), systemColumns: [.version]), holding: [row])
            let full = TableSchema.t(.int("a"), systemColumns: .all)
            try store.define([full])
            let queries = TableQuery.about("deleted", like: true)
            let reopened = try context.expectAnswers(queries, in: store, over: [row], of: full)
            let bare = TableSchema.t(.int("a"), systemColumns: [])
            try reopened.define([bare])
            try context.expect(reopened.row(in: "t", "1"), is: ["id": "1", "a": 1], "the row without them")
            try reopened.define([full])
            try context.expect(reopened.row(in: "t", "1"), is: row.completed(for: full), "the row with them again")
        },
        Check(
            "TAB-069", "Rows written under each of ten definitions, each with one more column, are all read correctly",
            why: "Rows of several versions coexist; a store that knows only the last definition misreads older rows."
        ) { context in
            var columns: [ColumnSchema] = []
            var rows: [Row] = []
            var store = try context.open()
            for age in 0..<10 {
                columns.insert(
                    ColumnSchema("c\(age)", ColumnType.allCases[age % 4]), at: age.isMultiple(of: 2) ? 0 : age)
                let schema = TableSchema("t", columns: columns, indexes: age > 4 ? [["c\(age - 3)"]] : [])
                try store.define([schema])
                var random = context.randomRows(offset: age)
                var row = random.rows(1, of: schema)[0]
                row.id = .string("\(age)")
                rows.append(row)
                try store.put([row], into: "t")
                let queries = columns.flatMap {
                    [TableQuery("t").order(by: $0.name), TableQuery("t").filter(.column($0.name).isNull)]
                }
                store = try context.expectAnswers(queries, in: store, over: rows, of: schema, "definition \(age)")
            }
        },
    ]

    /// Returns three rows written after a column was added, the first with null in it, and three written before.
    private static func mixed(_ store: TracedStore, _ wider: TableSchema, _ context: CheckContext) throws -> [Row] {
        try store.define([TableSchema(wider.name, columns: [.int("a")])])
        let old: [Row] = (0..<3).map { ["id": .string("old\($0)"), "a": .int($0)] }
        try store.put(old, into: wider.name)
        try store.define([wider])
        var random = context.randomRows(nullShare: 0)
        var new = random.rows(3, of: wider, namesAllColumns: true)
        for index in new.indices { new[index].id = .string("new\(index)") }
        new[0]["new"] = .null
        try store.put(new, into: wider.name)
        return new + old
    }
}
