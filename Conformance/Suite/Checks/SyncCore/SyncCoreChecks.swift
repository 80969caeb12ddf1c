internal import TidelineStore

extension Check {
    /// The requirements of the sync core: its tables, queries, and transactions.
    static let syncCore: [Check] = [
        syncTables, syncQueue, syncSettings, syncRows,
    ].flatMap { $0 }

    /// The tables of the sync core: names, ids, and values.
    static let syncTables: [Check] = [
        Check("SYN-001", "The tables of the sync core are defined beside the app's and returned as defined") {
            context in
            let store = try context.syncStore(.items)
            let found = try store.tables()
            let names = [
                "MS_TableConfig", "MS_TableDecisions", "MS_TableOperationErrors", "MS_TableOperations", "TodoItem",
            ]
            try context.expect(found.map(\.name), is: names, "the tables")
            let expected = (SystemRows.tables.schemas + [.items]).sorted { $0.name < $1.name }
            try context.expect(found, is: expected, "the definitions")
        },
        Check(
            "SYN-002", "Columns called table, key, value, order, group and select are stored, searched, and sorted by",
            why: "These are columns of the sync core and keywords of query languages: an unquoted name fails."
        ) { context in
            try expectColumns(["table", "key", "value", "order", "group", "select"], of: "index", context)
        },
        Check(
            "SYN-003", "A table with integer ids keeps every 64-bit id and finds its row",
            why: "An id converted to a double loses its last digits beyond 2^53."
        ) { context in
            let store = try context.syncStore()
            let ids: [Int64] = [.min, -1, 0, 1, 9_007_199_254_740_992, 9_007_199_254_740_993, .max - 1, .max]
            try store.put(ids.map { SystemRows.operation($0, "row \($0)") }, into: "MS_TableOperations")
            for id in ids {
                let found = try store.row(in: "MS_TableOperations", .int(id))
                try context.expect(found?.id, is: .int(id), "the id of the operation \(id)")
                try context.expect(found?["itemId"], is: .string("row \(id)"), "the row of the operation \(id)")
            }
        },
        Check("SYN-004", "In a table with exact ids, ids that differ in case belong to two rows") { context in
            let store = try context.syncStore()
            let settings = ["Key", "key", "KEY"].map { SystemRows.setting($0, "t", $0, value: $0) }
            try store.put(settings, into: "MS_TableConfig")
            for id in ["Key", "key", "KEY"] {
                let found = try store.row(in: "MS_TableConfig", .string(id))
                try context.expect(found?["value"], is: .string(id), "the setting \(id)")
            }
            try context.expect(store.row(in: "MS_TableConfig", "kEy") == nil, "kEy is found although it was not stored")
        },
        Check(
            "SYN-005", "In an app's table, ids that differ in ASCII case belong to one row, which keeps the first id",
            why: "Servers treat them as one row: two local rows would not match in push and pull."
        ) { context in
            let store = try context.syncStore(.items)
            try store.put([["id": "Abc", "text": "first"]], into: "TodoItem")
            try store.put([["id": "aBC", "priority": 2]], into: "TodoItem")
            let expected: Row = ["id": "Abc", "text": "first", "priority": 2]
            try context.expect(
                store.row(in: "TodoItem", "ABC"), is: expected.completed(for: .items),
                "the row by an id in another case"
            )
            try context.expect(store.count(TableQuery("TodoItem")), is: 1, "the number of rows")
        },
        Check(
            "SYN-006", "JSON is returned byte for byte: white space, escapes, member order, duplicate members",
            why: "The sync core compares stored JSON with the JSON that it sends. Parsing and rewriting changes it."
        ) { context in
            let store = try context.syncStore()
            let texts = [
                #"{ "b" : 1,  "a":1.10, "a":-0e0 , "c" : 12345678901234567890123 }"#, "[\n\t1 ,\r\n2 ]",
                #"{"\u0041":"\u00e9 é e\u0301 \ud83d\ude00 \/ \u0000"}"#, "{}", "[]", "[[[[[[[[[[]]]]]]]]]]",
                #"{"":null,"table":"'; DROP TABLE \"MS_TableOperations\"; --"}"#,
            ]
            let rows = texts.enumerated().map { SystemRows.operation(Int64($0), "\($0)", properties: $1) }
            try store.put(rows, into: "MS_TableOperations")
            let reopened = try context.reopened(store)
            for (index, text) in texts.enumerated() {
                let found = try reopened.row(in: "MS_TableOperations", .int(Int64(index)))?["properties"]
                try context.expect(found, is: .json(text), "the stored JSON")
            }
        },
        Check(
            "SYN-007", "A page whose rows have only some of the columns keeps the values of the others",
            why: "A server may send only some columns; the rows then have a narrower shape than the table."
        ) { context in
            let store = try context.syncStore(.items)
            try store.put([["id": "1", "text": "Milk", "priority": 1, "version": "v1"]], into: "TodoItem")
            let columns: [ColumnSchema] = [.string("version"), .bool("complete"), .int("priority")]
            var page = PackedRows(shape: RowShape(table: "TodoItem", columns: columns))
            try page.append(["id": "1", "complete": true, "version": "v2"])
            try page.append(["id": "2", "priority": 5])
            try store.put(page, into: "TodoItem")
            let expected: [Row] = [
                ["id": "1", "text": "Milk", "priority": 1, "version": "v2", "complete": true],
                ["id": "2", "priority": 5],
            ]
            let found = try store.allRows("TodoItem")
            try context.expect(found, are: TableSchema.items.completing(expected), "the rows after the page")
        },
    ]
}
