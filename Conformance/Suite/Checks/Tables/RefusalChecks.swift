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
}
