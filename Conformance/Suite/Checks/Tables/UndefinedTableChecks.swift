internal import TidelineStore

extension Check {
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
