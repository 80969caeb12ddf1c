internal import TidelineStore

extension Check {
    /// Table definitions and their evolution.
    static let tables: [Check] = [
        tableDefinitions, undefinedTables, tableNames, tableRefusals, tableColumns, droppedColumns, tableIndexes,
        tableTransitions, tableRedefinitions, randomEvolutions, tableFixtures, tableIndexAmounts,
    ].flatMap { $0 }

    /// Tables with few and with many indexes.
    static let tableIndexAmounts: [Check] = [
        Check(
            "TAB-204", "Each of 1, 2, 17, and 101 tables is listed in the order of the bytes of its name",
            why: "Lists of definitions are compared; an order by locale or in UTF-16 differs between systems."
        ) { context in
            for count in [1, 2, 17, 101] {
                let others = ["z", "é", "Z", "\u{FF5E}", "😀", "ı", "I", "i"]
                let names = (0..<count).map { others[$0 % others.count] + "\($0 * 37 % count)" }
                let store = try context.open("tables \(count)")
                for name in names { try store.define([TableSchema(name, columns: [])]) }
                let sorted = names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
                try context.expect(store.tables().map(\.name), is: sorted, "the names of \(count) tables")
                let reopened = try context.reopened(store)
                try context.expect(reopened.tables().map(\.name), is: sorted, "the names of \(count) tables, reopened")
            }
        },
        Check(
            "TAB-203", "Each of 1, 2, 17, and 40 indexes of a table reflects inserts, merges, and deletions",
            why: "A list of indexes with a fixed capacity leaves the rest outdated."
        ) { context in
            for count in [1, 2, 17, 40] {
                let names = (0..<count).map { "c\($0)" }
                let schema = TableSchema(
                    "Indexes \(count)", columns: names.map { .int($0) }, systemColumns: [], indexes: names.map { [$0] })
                let store = try context.store(schema, in: "indexes \(count)")
                let row = { (number: Int, change: Int) -> Row in
                    var row: Row = ["id": .string("r\(number)")]
                    for (index, name) in names.enumerated() { row[name] = .int(Int64((number + index) % 5 + change)) }
                    return row
                }
                try store.put((0..<9).map { row($0, 0) }, into: schema.name)
                try store.write { writer in
                    try writer.upsert((3..<6).map { row($0, 3) }, into: schema.name)
                    try writer.delete(ids: ["r0", "r8"], from: schema.name)
                }
                let rows = (1..<8).map { row($0, (3..<6).contains($0) ? 3 : 0) }
                try store.read { reader in
                    try context.expectIndexes(
                        of: schema, in: reader, find: rows, formerly: [row(0, 0)], "\(count) indexes")
                }
            }
        },
    ]

    /// Defining tables and reading definitions.
    static let tableDefinitions: [Check] = [
        Check("TAB-001", "A table with columns of every type can be defined, filled, and read") { context in
            let schema = RandomRows.everyType("t")
            var random = context.randomRows()
            let rows = random.rows(20, of: schema, namesAllColumns: true)
            let store = try context.store(schema, holding: rows)
            try context.expectAnswers([TableQuery("t")], in: store, over: rows, of: schema)
        },
        Check(
            "TAB-002",
            "Definitions are returned as given: columns, indexes, references, id types, and all other properties",
            why: "The sync core and the tools read definitions from the store; omitted properties are lost."
        ) { context in
            let store = try context.store()
            try store.define(everything)
            try context.expect(store.tables(), is: everything, "the definitions")
        },
        Check("TAB-003", "Definitions are kept completely after reopening", needs: [.persistence]) { context in
            let store = try context.store()
            try store.define(everything)
            try context.expect(context.reopened(store).tables(), is: everything, "the definitions after reopening")
        },
        Check("TAB-004", "A changed definition is kept after reopening", needs: [.persistence]) { context in
            let store = try context.store(.t(.int("a"), .string("b"), indexes: [["a"]]))
            let last = TableSchema(
                "t", columns: [.bool("c"), .int("a", optional: false)], systemColumns: [.version],
                indexes: [["c", "a"]],
                references: [ForeignKey(column: "a", table: "other")], isSystem: true)
            try store.define([last])
            try context.expect(store.tables(), is: [last], "the definition")
            try context.expect(context.reopened(store).tables(), is: [last], "the definition after reopening")
        },
        Check("TAB-005", "Tables are listed in order of name, whatever the order of definition") { context in
            let store = try context.store()
            try store.define(["b", "Zeta", "a2"].map { TableSchema($0, columns: []) })
            try store.define(["a10", "alpha", "Beta"].map { TableSchema($0, columns: []) })
            let names = ["Beta", "Zeta", "a10", "a2", "alpha", "b"]
            try context.expect(store.tables().map(\.name), is: names, "the names")
            try context.expect(context.reopened(store).tables().map(\.name), is: names, "the names after reopening")
        },
        Check("TAB-006", "The definition of a table can be read in a read and in a write, as it was given") { context in
            let store = try context.store()
            try store.define(everything)
            for schema in everything {
                try context.expect(store.read { try $0.schema(of: schema.name) }, is: schema, "in a read")
                try context.expect(store.write { try $0.schema(of: schema.name) }, is: schema, "in a write")
            }
        },
        Check(
            "TAB-007", "The shape of a table's rows has the columns of its definition, in order",
            why: "Rows are packed by position; an outdated shape assigns values to the wrong columns."
        ) { context in
            let store = try context.store(.t(.int("a"), .string("b")))
            let later = TableSchema.t(.bool("c"), .string("b"), .int("a"), systemColumns: [.updatedAt])
            func expectShape(of schema: TableSchema, _ store: TracedStore, _ what: String) throws {
                let shapes = [try store.read { try $0.shape(of: "t") }, try store.write { try $0.shape(of: "t") }]
                for shape in shapes {
                    try context.expect(shape.columns, is: schema.allColumns, "the columns \(what)")
                    try context.expect(shape.idType, is: schema.idType, "the type of ids \(what)")
                }
            }
            try expectShape(of: .t(.int("a"), .string("b")), store, "at first")
            try store.define([later])
            try expectShape(of: later, store, "after another definition")
            try expectShape(of: later, context.reopened(store), "after reopening")
        },
        Check(
            "TAB-008", "Repeating the same definition changes nothing, even twice in one call",
            why: "An app defines its tables at each start: a store that recreates them loses all rows."
        ) { context in
            let rows: [Row] = [["id": "1", "text": "Milk", "priority": 1], ["id": "2"]]
            let store = try context.store(.items, holding: rows)
            try store.define([.items, .items])
            try store.define([])
            let reopened = try context.reopened(store)
            try reopened.define([.items])
            try context.expect(reopened.tables(), is: [.items], "the definitions")
            try context.expectAnswers(
                TableQuery.about("priority", like: 1, in: "TodoItem"), in: reopened, over: rows, of: .items)
        },
        Check("TAB-009", "Defining one table does not affect other tables and their rows") { context in
            let store = try context.store(.items, .notes)
            try store.put([["id": "1", "text": "Milk"]], into: "TodoItem")
            try store.define([TableSchema("Note", columns: [.string("text"), .bool("new")], indexes: [["text"]])])
            try store.define([.t(.int("a"))])
            try context.expect(store.tables().map(\.name), is: ["Note", "TodoItem", "t"], "the tables")
            let expected: [Row] = [["id": "1", "text": "Milk"]]
            try context.expectAnswers([TableQuery("TodoItem")], in: store, over: expected, of: .items)
        },
        Check("TAB-010", "A table may have no columns other than its id") { context in
            let store = try context.store(.t(systemColumns: []), holding: [["id": "b"], ["id": "a"]])
            try store.put([["id": "a"]], into: "t")
            try context.expectAnswers(
                [TableQuery("t")], in: store, over: [["id": "a"], ["id": "b"]], of: .t(systemColumns: []))
        },
        Check("TAB-011", "A table may have 1,000 columns") { context in try expectWidestTable(context) },
        Check(
            "TAB-012", "The definition of a table is returned as last given, whatever was read before",
            why: "A store with a cache may return an outdated definition, or the columns in order of creation."
        ) { context in
            let first = TableSchema.t(.int("b"), .string("c", optional: false), indexes: [["b"], ["c", "b"]])
            let last = TableSchema(
                "t", columns: [.bool("a"), .string("c", optional: false), .double("d", optional: false), .int("b")],
                systemColumns: [.version], indexes: [["c"], ["a", "b"]],
                references: [ForeignKey(column: "c", table: "other")])
            let store = try context.store()
            for schema in [first, last, first, last] {
                try store.define([schema])
                try expectSchema(schema, of: store, context, "after it was defined")
            }
            try expectSchema(last, of: context.reopened(store), context, "after reopening")
        },
    ]

    private static func expectSchema(
        _ schema: TableSchema, of store: TracedStore, _ context: CheckContext, _ when: String
    ) throws {
        let name = schema.name
        try context.expect(store.read { try $0.schema(of: name) }, is: schema, "the definition in a read \(when)")
        try context.expect(store.write { try $0.schema(of: name) }, is: schema, "the definition in a write \(when)")
        try context.expect(store.tables(), is: [schema], "the tables \(when)")
    }

    /// Tables that differ in every property of a definition, sorted by name.
    private static let everything = [
        TableSchema(
            "a", columns: ColumnType.allCases.map { ColumnSchema($0.rawValue, $0, isOptional: $0 != .json) },
            systemColumns: .all, idMatching: .exact,
            indexes: [["string", "int"], ["id"], ["updatedAt", "deleted", "timestamp"]],
            references: [ForeignKey(column: "string", table: "b"), ForeignKey(column: "int", table: "nowhere")]),
        TableSchema("b", columns: [.int("z"), .int("a"), .int("m")], systemColumns: [], idType: .int, isSystem: true),
        TableSchema("c", columns: [], systemColumns: [.version, .createdAt], references: []),
    ]
}
