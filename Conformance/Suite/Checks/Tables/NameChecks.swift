internal import TidelineStore

extension Check {
    /// Names of tables and columns.
    static let tableNames: [Check] = [
        Check(
            "TAB-030", "A table with any valid name can be defined, filled, searched, and listed",
            why: "Names are used in statements, keys, and file names: an unquoted name fails or is executed."
        ) { context in
            let store = try context.store()
            for name in hostile {
                let schema = TableSchema(name, columns: [.string("text")], indexes: [["text"]])
                try store.define([schema])
                // The second one updates the row, with a statement that may name the table twice.
                for text in ["before", "in \(name)"] {
                    try store.put([["id": .string(name), "text": .string(text)]], into: name)
                }
            }
            let reopened = try context.reopened(store)
            try context.expect(Set(reopened.tables().map(\.name)), is: Set(hostile), "the names of the tables")
            for name in hostile {
                let query = TableQuery(name).filter(.column("text") == .value("in \(name)"))
                try context.expect(query.order(by: "text"), in: reopened, finds: [.string(name)])
            }
        },
        Check("TAB-031", "Columns with any valid names can be stored, searched, sorted by, selected, and indexed") {
            context in
            try expectColumns(hostile, of: "t", context)
        },
        Check("TAB-032", "A name that contains a statement is only a name: other tables are unchanged") { context in
            let store = try context.store(.items, holding: [["id": "1"]])
            let names = [
                "x'; DROP TABLE TodoItem; --", "x\"; DELETE FROM \"TodoItem\"; --", "TodoItem\" (id); --",
                "') OR 1=1 --",
            ]
            for name in names {
                let schema = TableSchema(name, columns: [.string(name)], indexes: [[name]])
                try store.define([schema])
                try store.put([["id": "1", name: "x"], ["id": "2", name: "y"]], into: name)
                try store.delete(matching: TableQuery(name).filter(.column(name) == "x"))
                try context.expect(TableQuery(name), in: store, finds: ["2"])
            }
            try context.expect(store.count(TableQuery("TodoItem")), is: 1, "rows of the table named in those names")
        },
        Check(
            "TAB-033", "Names of 128 characters that differ only in the last one are different names",
            why: "An engine that truncates names at 63 or 127 bytes treats two names as one."
        ) { context in try expectLongNames(context) },
        Check("TAB-034", "Names that differ in the case of a non-ASCII letter are different names") { context in
            let names = ["größe", "grÖße", "ω", "Ω"]
            let store = try context.store()
            try store.define(names.map { TableSchema($0, columns: [.string("ä"), .string("Ä")]) })
            for name in names { try store.put([["id": .string(name), "ä": "small", "Ä": "large"]], into: name) }
            let reopened = try context.reopened(store)
            for name in names {
                let query = TableQuery(name).filter(.column("ä") == "small" && .column("Ä") == "large")
                try context.expect(query, in: reopened, finds: [.string(name)])
            }
        },
        Check(
            "TAB-035", "Tables and indexes whose concatenated names are equal are kept apart",
            why: "For an index named after its table and columns, `a_b` over `c` and `a` over `b_c` are equal."
        ) { context in
            let tables = [
                TableSchema(
                    "a", columns: [.int("b_c"), .int("b"), .int("c")], indexes: [["b_c"], ["b", "c"], ["c", "b"]]),
                TableSchema("a_b", columns: [.int("c"), .int("c_")], indexes: [["c"], ["c_"]]),
                TableSchema("a_b_c", columns: [.int("index")], indexes: [["index"]]),
                TableSchema("a,b", columns: [.int("c,d"), .int("c"), .int("d")], indexes: [["c,d"], ["c", "d"]]),
                TableSchema("a.b", columns: [.int("1"), .int("0")], indexes: [["1"], ["0"], ["0", "1"]]),
            ]
            let store = try context.store()
            try store.define(tables)
            for schema in tables { try store.put(numbered(schema), into: schema.name) }
            _ = try tables.reduce(into: store) { store, schema in
                let queries = schema.columns.flatMap { TableQuery.about($0.name, like: 1, in: schema.name) }
                store = try context.expectAnswers(queries, in: store, over: numbered(schema), of: schema)
            }
        },
        Check(
            "TAB-036", "Names are in Unicode's normalization form C, and a name in another form finds what it equals",
            why: "Swift's `==` takes \"é\" and \"e\" with an accent for equal; by bytes they are two tables, or none."
        ) { context in
            let (name, other) = ("caf\u{E9}", "cafe\u{301}")
            let store = try context.store(.items)
            try context.expectRefused(TableSchema(other, columns: []), by: store, "a table", table: other)
            try context.expectRefused(.t(.int(other)), by: store, "a column", table: "t", column: other)
            try context.expectRefused(
                .t(.int(name), indexes: [[other]]), by: store, "an index over a column", table: "t", column: other)
            let schema = TableSchema(name, columns: [.int(name), .int("n")], indexes: [[name]])
            try store.define([schema])
            try store.put([["id": "1", name: 1, "n": 1], ["id": "2", other: 2]], into: name)
            var batch = PackedRows(shape: RowShape(table: other, columns: [.int("n"), .int(other)]))
            for number: Int64 in 3...4 {
                try batch.append(["id": .string("\(number)"), name: .int(number), "n": .int(number)])
            }
            try store.put(batch, into: other)
            try store.put([["id": "1", other: 5]], into: other)
            try store.delete(matching: TableQuery(other).filter(.column(other) == 3))
            let reopened = try context.reopened(store)
            let query = TableQuery(other).filter(.column(other) > 1).order(by: other, descending: true).select(other)
            try context.expect(query, in: reopened, finds: ["1", "4", "2"])
            let rows = try reopened.read { [try $0.rows(matching: query).rows.first, try $0.row(in: other, id: "1")] }
            let names = rows.map { Array(($0?.columnNames.first ?? "").utf8) }
            try context.expect(names, is: [Array(name.utf8), Array(name.utf8)], "the bytes of the column's name")
        },
    ]

    private static let hostile = [
        "'", "\"", "a\"b", "''", "x'; DROP TABLE y; --", "select", "table", "index", "order", "main", "temp", "rowid",
        "_rowid_", "größe", "日本 語", "😀", "a.b", "[x]", "`y`", "%_\\", "null", "1", "?1", ":a", "@a", "$a", " ", "a b ",
        "/", "excluded",
        "..", "-", "_", "x_", "{}", "a,b", "(", ")",
        // Characters of several scalars, of which one is a quotation mark.
        "a\"\u{301}b", "a\u{600}\"b", "x\"\u{301} \"\u{301}", "a'\u{301}b", "[a]\u{301}",
    ]

    /// Fails unless columns with these names can be stored, searched, sorted by, selected, and indexed.
    static func expectColumns(_ names: [String], of table: String, _ context: CheckContext) throws {
        let schema = TableSchema(
            table, columns: names.map { .string($0) }, indexes: names.map { [$0] } + [IndexSchema(names)])
        let store = try context.store(schema)
        let rows = ["b", "a"].map { id in
            names.reduce(into: Row(id: .string(id))) { $0[$1] = .string("\($1) of \(id)") }
        }
        try store.put(rows, into: table)
        let all = TableQuery(table)
        let queries = names.flatMap { name -> [TableQuery] in
            [
                all.filter(.column(name) == .value("\(name) of b")).select(name), all.order(by: name),
                all.filter(.column(name).hasPrefix(.value(name))).order(by: name, descending: true),
            ]
        }
        let reopened = try context.expectAnswers(queries, in: store, over: rows, of: schema)
        try context.expect(reopened.row(in: table, "a"), is: rows[1].completed(for: schema), "a row with these columns")
    }

    /// Returns rows with small numbers and nulls in all columns, different in each.
    private static func numbered(_ schema: TableSchema) -> [Row] {
        (0..<12).map { number in
            var row = Row(id: .string("\(number)"))
            for (index, column) in schema.columns.enumerated() {
                let value = Int64((number * (index + 3) + index) % 5)
                row[column.name] = value == 4 ? .null : .int(value)
            }
            return row
        }
    }
}
