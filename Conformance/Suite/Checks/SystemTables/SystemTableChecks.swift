internal import TidelineStore

extension Check {
    /// The sync core's own tables.
    static let systemTables: [Check] = [
        systemDefinitions, systemRows,
    ].flatMap { $0 }

    /// Names of the system tables, and their separation from the app's tables.
    static let systemDefinitions: [Check] = [
        Check(
            "SYS-001",
            "System tables are not listed as app tables but are listed among all tables, also after reopening"
        ) { context in
            let store = try context.syncStore(.items)
            func expectLists(_ store: TracedStore, _ when: String) throws {
                try context.expect(store.appTables(), is: [.items], "the app's tables \(when)")
                let names = SystemRows.tables.schemas.map(\.name).sorted() + ["TodoItem"]
                try context.expect(store.tables().map(\.name), is: names, "all tables \(when)")
            }
            try expectLists(store, "at first")
            try store.define([.items])
            try expectLists(context.reopened(store), "after reopening")
        },
        Check("SYS-002", "System tables may have custom names with any characters") { context in
            let names = SystemTables(operations: "Queue", errors: "Queue errors", config: "State'\"; --")
            let store = try context.store(.items)
            try store.define(names.schemas)
            try store.put([SystemRows.operation(1, "a")], into: "Queue")
            try store.put([SystemRows.error(1)], into: "Queue errors")
            try store.put([SystemRows.setting("1", "TodoItem", "q", value: "v")], into: "State'\"; --")
            let reopened = try context.reopened(store)
            for name in [names.operations, names.errors, names.config] {
                try context.expect(reopened.count(TableQuery(name)), is: 1, "rows of \(name)")
            }
            try context.expect(reopened.appTables(), is: [.items], "the app's tables")
        },
        Check("SYS-003", "If the system tables have other names, the default names are available for app tables") {
            context in
            let store = try context.store()
            try store.define(SystemTables(operations: "Q", errors: "E", config: "C").schemas)
            let own = TableSchema("MS_TableConfig", columns: [.double("table"), .bool("mine")])
            try store.define([own])
            try store.put([["id": "1", "table": 1.5, "mine": true]], into: "MS_TableConfig")
            try context.expect(store.appTables(), is: [own], "the app's tables")
            try context.expect(store.count(TableQuery("C")), is: 0, "rows of the system table")
        },
        Check("SYS-004", "Two sets of system tables in one store are independent") { context in
            let store = try context.syncStore(.items)
            let other = SystemTables(operations: "Q2", errors: "E2", config: "C2")
            try store.define(other.schemas)
            try store.put([SystemRows.operation(1, "a")], into: "MS_TableOperations")
            try store.put([SystemRows.operation(1, "b"), SystemRows.operation(2, "b")], into: "Q2")
            try store.delete(ids: [.int(2)], from: "MS_TableOperations")
            try context.expect(store.row(in: "MS_TableOperations", .int(1))?["itemId"], is: "a", "the first's row")
            try context.expect(TableQuery("Q2").order(by: "id"), in: store, finds: [1, 2], "the second's queue")
        },
        Check("SYS-005", "An app table with a system table's name and other columns is refused") { context in
            let store = try context.syncStore()
            try store.put([SystemRows.operation(1, "a")], into: "MS_TableOperations")
            for name in ["MS_TableOperations", "ms_tableoperations"] {
                let own = TableSchema(name, columns: [.int("table")])
                try context.expectRefused(own, by: store, "a table \(name)", table: name)
            }
            try context.expect(store.row(in: "MS_TableOperations", .int(1))?["itemId"], is: "a", "the operation")
        },
        Check("SYS-006", "Defining the system tables at each start keeps their rows") { context in
            var store = try context.syncStore(.items)
            for number: Int64 in 1...4 {
                try store.put([SystemRows.operation(number, "a")], into: "MS_TableOperations")
                store = try context.reopened(store)
                try store.define(SystemRows.tables.schemas + [.items])
            }
            try context.expect(TableQuery("MS_TableOperations").order(by: "id"), in: store, finds: [1, 2, 3, 4])
        },
        Check(
            "SYS-007", "A queue with an earlier definition gains the columns of a later one and keeps its operations",
            why: "A new version of the library adds columns to the queue of an app with pending changes."
        ) { context in
            var early = SystemRows.tables.operationsSchema
            early.columns.removeAll {
                ["itemKey", "sent", "lastError", "restores", "revision", "attempts"].contains($0.name)
            }
            early.indexes = []
            let store = try context.store(early)
            let rows: [Row] = (1...5).map {
                ["id": .int(Int64($0)), "table": "t", "itemId": .string("i\($0 % 2)"), "tableKind": 1]
            }
            try store.put(rows, into: early.name)
            let later = SystemRows.tables.operationsSchema
            try store.define([later])
            let queries =
                TableQuery.about("itemKey", like: "i1", in: early.name)
                + TableQuery.about("attempts", like: 0, in: early.name)
                + [TableQuery(early.name).order(by: "id", descending: true).limit(1)]
            try context.expectAnswers(queries, in: store, over: rows, of: later)
        },
        Check("SYS-008", "Deleting all rows of the app's tables does not affect queue, errors, and settings") {
            context in
            let store = try context.syncStore(.items)
            try store.put([["id": "a"], ["id": "b"]], into: "TodoItem")
            try store.put([SystemRows.operation(1, "a")], into: "MS_TableOperations")
            try store.put([SystemRows.setting("1", "TodoItem", "q", value: "v")], into: "MS_TableConfig")
            let count = try store.delete(matching: TableQuery("TodoItem"))
            try context.expect(count, is: 2, "the number of rows deleted")
            try context.expect(store.count(TableQuery("MS_TableOperations")), is: 1, "operations")
            try context.expect(store.count(TableQuery("MS_TableConfig")), is: 1, "settings")
        },
    ]
}
