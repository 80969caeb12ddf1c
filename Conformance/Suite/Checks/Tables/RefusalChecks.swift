internal import TidelineStore

extension Check {
    /// Definitions that are refused and leave nothing behind.
    static let tableRefusals: [Check] = [
        Check("TAB-040", "A table name that is empty, too long, has control characters or begins with __ is refused") {
            context in
            let store = try context.store(.items)
            for name in invalid {
                try context.expectRefused(
                    TableSchema(name, columns: []), by: store, "the table name \(name.debugDescription)", table: name)
            }
        },
        Check("TAB-041", "A column name that is empty, too long, has control characters or begins with __ is refused") {
            context in
            let store = try context.store(.items)
            for name in invalid {
                let what = "the column name \(name.debugDescription)"
                try context.expectRefused(.t(.int("a"), .int(name)), by: store, what, table: "t", column: name)
            }
        },
        Check("TAB-042", "Table names that begin with sqlite_ or tideline_, in any case, are refused") { context in
            let store = try context.store(.items)
            for name in [
                "sqlite_", "sqlite_master", "SQLite_x", "tideline_meta", "Tideline_tables", "TIDELINE_",
                "sqlite_\u{301}t",
            ] {
                try context.expectRefused(TableSchema(name, columns: []), by: store, "the table \(name)", table: name)
            }
            try store.define(["sqlite", "tideline", "x_sqlite_", "sqlit_e"].map { TableSchema($0, columns: []) })
        },
        Check("TAB-043", "A column named id or like a system column, in any case, is refused") { context in
            let store = try context.store(.items)
            let names = ["id", "ID", "Id", "createdAt", "updatedat", "VERSION", "version", "Deleted"]
            for name in names {
                let schema = TableSchema.t(.int("a"), .string(name), systemColumns: [])
                try context.expectRefused(schema, by: store, "a column \(name)", table: "t", column: name)
            }
        },
        Check("TAB-044", "Duplicate columns, including names that differ in ASCII case, are refused") { context in
            let store = try context.store(.items)
            for (first, second) in [("a", "a"), ("a", "A"), ("größe", "GRößE"), ("A b", "a B")] {
                let schema = TableSchema.t(.int(first), .bool("x"), .int(second))
                try context.expectRefused(schema, by: store, "\(first) and \(second)", table: "t", column: second)
            }
        },
        Check("TAB-045", "An index on a column that the table does not define is refused, naming the column") {
            context in
            let store = try context.store(.items)
            for index: IndexSchema in [["b"], ["a", "b"], ["b", "a"]] {
                let schema = TableSchema.t(.int("a"), indexes: [["a"], index])
                try context.expectRefused(schema, by: store, "the index \(index.columns)", table: "t", column: "b")
            }
            let retired = TableSchema.t(.int("a"), systemColumns: [], indexes: [["updatedAt"]])
            try context.expectRefused(
                retired, by: store, "an index over a system column that the table does not keep", table: "t",
                column: "updatedAt")
        },
        Check("TAB-046", "An index without columns, or with a duplicate column, is refused") { context in
            let store = try context.store(.items)
            try context.expectRefused(.t(.int("a"), indexes: [[]]), by: store, "an index without columns", table: "t")
            try context.expectRefused(.t(.int("a"), indexes: [["a", "a"]]), by: store, "a column twice", table: "t")
        },
        Check("TAB-047", "A reference on a column that the table does not define is refused, naming the column") {
            context in
            let store = try context.store(.items)
            let schema = TableSchema(
                "t", columns: [.string("a")], references: [ForeignKey(column: "b", table: "TodoItem")])
            try context.expectRefused(schema, by: store, "a reference over b", table: "t", column: "b")
        },
        Check("TAB-048", "A table with more than 1,000 columns is refused") { context in
            let store = try context.store(.items)
            let columns = (0...TableSchema.maximumColumnCount).map { ColumnSchema.int("c\($0)") }
            try context.expectRefused(
                TableSchema("t", columns: columns, systemColumns: []), by: store, "1,001 columns", table: "t")
        },
        Check(
            "TAB-049",
            "Tables whose names differ only in ASCII case are refused, in one call and in separate calls",
            why: "Not every engine distinguishes them; if names are file names, both tables are the same."
        ) { context in
            let store = try context.store(.items, holding: [["id": "1", "text": "x"]])
            try context.expectRefused(
                TableSchema("todoitem", columns: [.string("text")]), by: store, "todoitem beside TodoItem",
                table: "todoitem")
            try context.expectRefused(.t(), TableSchema("T", columns: []), by: store, "t and T in one call")
            try context.expect(store.row(in: "TodoItem", "1")?["text"], is: "x", "the existing row")
        },
    ]

    private static let invalid = [
        "", "a\0b", "\0", "a\nb", "\u{1F}", "a\u{7F}", "\u{9F}", "__", "__x", String(repeating: "a", count: 129),
        String(repeating: "😀", count: 129),
    ]

    /// Tables that were never defined.
    static let undefinedTables: [Check] = [
        Check("TAB-020", "Reading from an undefined table is noSuchTable, naming the table") { context in
            let store = try context.store(.items)
            for name in strangers { try expectNoRows(context, store, name) }
        },
        Check("TAB-021", "Inserting into an undefined table is noSuchTable, naming the table") { context in
            let store = try context.store(.items)
            for name in strangers {
                try context.expectError(.noSuchTable, "an upsert into \(name.debugDescription)", table: name) {
                    var rows = PackedRows(shape: TableSchema.items.makeShape())
                    try rows.append(["id": "1", "text": "x"])
                    try store.put(rows, into: name)
                }
            }
            try context.expect(store.tables(), is: [.items], "the tables afterwards")
        },
        Check("TAB-022", "Deleting from an undefined table is noSuchTable, naming the table") { context in
            let store = try context.store(.items, holding: [["id": "1"]])
            for name in strangers {
                try context.expectError(.noSuchTable, "a delete by id", table: name) {
                    try store.delete(ids: ["1"], from: name)
                }
                try context.expectError(.noSuchTable, "a delete by query", table: name) {
                    try store.delete(matching: TableQuery(name))
                }
            }
            try context.expect(store.count(TableQuery("TodoItem")), is: 1, "rows of the table that is defined")
        },
        Check(
            "TAB-023", "The internal tables of the store and the engine are neither listed nor readable",
            why: "A caller that can read them could also write them and corrupt the store."
        ) { context in
            let store = try context.store(.items)
            try context.expect(store.tables(), is: [.items], "the tables")
            for name in ["sqlite_master", "sqlite_schema", "tideline_meta", "tideline_tables", "main", "__tables"] {
                try expectNoRows(context, store, name)
            }
        },
        Check("TAB-024", "A write or read that failed on an undefined table can be retried correctly") { context in
            let store = try context.store(.items)
            _ = try? store.delete(matching: TableQuery("Nothing"))
            _ = try? store.count(TableQuery("Nothing"))
            try store.put([["id": "1"]], into: "TodoItem")
            try context.expect(store.count(TableQuery("TodoItem")), is: 1, "rows afterwards")
        },
        Check(
            "TAB-025", "An undefined table is noSuchTable even if there is nothing to do: no rows, no ids, limit 0",
            why: "A store that returns early hides a misspelled name until there is something to do."
        ) { context in
            let store = try context.store(.items)
            let writes: [(String, (TracedWriter) throws -> Void)] = [
                ("an upsert of no rows", { try $0.upsert(TableSchema.items.packed([]), into: "Nothing") }),
                ("a delete of no ids", { _ = try $0.delete(ids: [], from: "Nothing") }),
                ("a delete with the limit 0", { _ = try $0.delete(matching: TableQuery("Nothing").limit(0)) }),
                ("a lookup of an empty id", { _ = try $0.row(in: "Nothing", id: "") }),
                ("a lookup of an id that no row has", { _ = try $0.row(in: "Nothing", id: .int(1)) }),
                ("a query with the limit 0", { _ = try $0.rows(matching: TableQuery("Nothing").limit(0)) }),
                ("a query that nothing matches", { _ = try $0.rows(matching: TableQuery("Nothing").filter(.or([]))) }),
                ("a count without matches", { _ = try $0.count(TableQuery("Nothing").filter(.or([]))) }),
            ]
            for (what, call) in writes {
                try context.expectError(.noSuchTable, what, table: "Nothing") { try store.write(call) }
            }
        },
    ]

    /// Names similar to `TodoItem`: another case, a prefix, an extension, an empty name, and injected statements.
    private static let strangers = [
        "Other", "todoitem", "TODOITEM", "TodoIte", "TodoItem2", "TodoItem ", " TodoItem", "TodoItem\0", "", "%", "*",
        "\"TodoItem\"", "\"; drop table \"TodoItem\"; --", "TodoItem; --",
    ]

    private static func expectNoRows(_ context: CheckContext, _ store: TracedStore, _ name: String) throws {
        let calls: [(String, (TracedReader) throws -> Void)] = [
            ("schema(of:)", { _ = try $0.schema(of: name) }), ("shape(of:)", { _ = try $0.shape(of: name) }),
            ("a lookup", { _ = try $0.row(in: name, id: "1") }),
            ("a query", { _ = try $0.rows(matching: TableQuery(name)) }),
            ("a count", { _ = try $0.count(TableQuery(name)) }),
        ]
        for (what, call) in calls {
            try context.expectError(.noSuchTable, "\(what) in \(name.debugDescription)", table: name) {
                try store.read(call)
            }
        }
    }
}
