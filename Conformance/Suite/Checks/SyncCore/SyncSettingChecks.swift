internal import TidelineStore

extension Check {
    /// Pull tokens and the operation counter.
    static let syncSettings: [Check] = [
        Check(
            "SYN-030", "A token is found by table, key and type, and tokens with similar names are not",
            why: "With the token of another query a pull starts too late: rows are missing without an error."
        ) { context in
            let store = try settings(context)
            try context.expect(SystemRows.token("TodoItem", "q"), in: store, finds: ["1"])
            try context.expect(SystemRows.token("TodoItem", "Q"), in: store, finds: ["2"])
            try context.expect(SystemRows.token("Note", "q"), in: store, finds: ["3"])
            try context.expect(SystemRows.token("TodoItem", "q", type: 2), in: store, finds: ["4"])
            try context.expect(SystemRows.token("TodoItem", "q "), in: store, finds: ["5"])
            for (table, key) in [("todoitem", "q"), ("TodoItem", ""), ("TodoItem", "%"), ("TodoItem", "qq")] {
                try context.expect(SystemRows.token(table, key), in: store, finds: [])
            }
        },
        Check("SYN-031", "A token that is saved again replaces the previous one and leaves the others unchanged") {
            context in
            let store = try settings(context)
            try store.put([["id": "1", "value": "later"]], into: "MS_TableConfig")
            let values = try store.allRows("MS_TableConfig").map { $0["value"] ?? .null }
            try context.expect(values, is: ["later", "two", "three", "four", "five"], "the values of all settings")
            try context.expect(SystemRows.token("TodoItem", "q").limit(1), in: store, finds: ["1"])
        },
        Check("SYN-032", "The tokens of one table are removed by table and type; counters and other tables remain") {
            context in
            let store = try settings(context)
            let count = try store.delete(matching: SystemRows.token("TodoItem"))
            try context.expect(count, is: 3, "the number of tokens removed")
            try context.expect(
                TableQuery("MS_TableConfig"), in: store, finds: ["3", "4"], "the settings that are left")
        },
        Check("SYN-033", "The token of one query is removed by table, key and type; the table's other tokens remain") {
            context in
            let store = try settings(context)
            let count = try store.delete(matching: SystemRows.token("TodoItem", "q"))
            try context.expect(count, is: 1, "the number of tokens removed")
            try context.expect(
                TableQuery("MS_TableConfig"), in: store, finds: ["2", "3", "4", "5"], "the settings left")
        },
        Check(
            "SYN-034", "A counter is read, advanced, and read again within one transaction",
            why: "Each change takes a number; a write that does not see its own changes assigns one twice."
        ) { context in
            let store = try context.syncStore(.items)
            try store.write { writer in
                for expected in 1...3 {
                    let last = try writer.row(in: "MS_TableConfig", id: "last")?["value"]?.string
                    let next = (last.flatMap { Int($0) } ?? 0) + 1
                    try context.expect(next, is: expected, "the next number")
                    try writer.upsert(
                        SystemRows.setting("last", "", "last", type: 2, value: "\(next)"), into: "MS_TableConfig")
                }
            }
            let stored = try store.row(in: "MS_TableConfig", "last")?["value"]
            try context.expect(stored, is: "3", "the counter after the commit")
        },
        Check("SYN-035", "An operation that was just queued is the newest one within the same transaction") { context in
            let store = try context.syncStore(.items)
            let newest = TableQuery("MS_TableOperations").order(by: "id", descending: true).limit(1)
            try store.write { writer in
                for number: Int64 in 1...12 {
                    try writer.upsert(SystemRows.operation(number, "a\(number)"), into: "MS_TableOperations")
                    let found = try writer.rows(matching: newest).rows.first?.id
                    try context.expect(found, is: .int(number), "the newest operation inside the write")
                }
                let ofRow = try writer.ids(SystemRows.operations(of: "TodoItem", key: "a7"))
                try context.expect(ofRow, is: ["7"], "the operations of a row inside the write")
            }
        },
        Check("SYN-036", "Settings, queue, and errors are kept after reopening", needs: [.persistence]) { context in
            let store = try settings(context)
            try store.put([SystemRows.operation(7, "a")], into: "MS_TableOperations")
            try store.put([SystemRows.error(7)], into: "MS_TableOperationErrors")
            let reopened = try context.reopened(store)
            try context.expect(SystemRows.token("TodoItem", "Q"), in: reopened, finds: ["2"])
            try context.expect(SystemRows.operations(of: "TodoItem", key: "a"), in: reopened, finds: [7])
            let error = try reopened.row(in: "MS_TableOperationErrors", "7")
            try context.expect(
                error, is: SystemRows.error(7).completed(for: SystemRows.tables.errorsSchema), "the error")
        },
    ]

    private static func settings(_ context: CheckContext) throws -> TracedStore {
        let store = try context.syncStore(.items, .notes)
        let rows = [
            SystemRows.setting("1", "TodoItem", "q", value: "one"),
            SystemRows.setting("2", "TodoItem", "Q", value: "two"),
            SystemRows.setting("3", "Note", "q", value: "three"),
            SystemRows.setting("4", "TodoItem", "q", type: 2, value: "four"),
            SystemRows.setting("5", "TodoItem", "q ", value: "five"),
        ]
        try store.put(rows, into: "MS_TableConfig")
        return store
    }
}
