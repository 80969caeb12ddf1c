internal import TidelineStore

extension Check {
    /// Rows that do not fit their table.
    static let upsertRefusals: [Check] = [
        Check(
            "UPS-029", "A column that the table does not define is refused, naming table, column, and id",
            why: "A value that cannot be stored would be silently lost."
        ) { context in
            let store = try context.typedStore([.typed("7")])
            for name in ["unknown", "String", "string ", "ID", "deleted", "rowid"] {
                try expectRefusal(of: ["id": "7", name: 1], column: name, in: store, context)
            }
        },
        Check(
            "UPS-030", "A value whose type is not its column's is refused, naming table, column, and id",
            why: "An engine that converts, such as 1 to true or \"1\" to 1, returns a value that was never stored."
        ) { context in
            let store = try context.typedStore([.typed("7")])
            for column in TableSchema.allTypes.columns {
                for (name, value) in Row.typed("7").values where name != column.name {
                    try expectRefusal(of: ["id": "7", column.name: value], column: column.name, in: store, context)
                }
            }
        },
        Check("UPS-031", "A new row without a required column is refused, naming the column") { context in
            for row in [["id": "1"], ["id": "1", "may": 1]] as [Row] { try expectRequired(row, context) }
        },
        Check("UPS-032", "Null in a required column is refused in a new row, naming the column") { context in
            try expectRequired(["id": "1", "must": .null], context)
        },
        Check("UPS-033", "Null in a required column is refused in a merge, which leaves the row unchanged") { context in
            try expectRequired(
                ["id": "1", "may": 2, "must": .null], over: ["id": "1", "must": "x", "may": 1], context)
        },
        Check("UPS-034", "A merge may omit required columns and keeps their values") { context in
            let store = try context.store(.demanding, holding: [["id": "1", "must": "x", "may": 1]])
            try context.expect(.demanding, of: store, holds: [["id": "1", "must": "x", "may": 2]]) {
                try $0.upsert([["id": "1"], ["id": "1", "may": 2]], into: "Demanding")
            }
        },
        Check("UPS-035", "A row without an id, or with an empty one, is refused, naming the column id") { context in
            let store = try context.store(.notes)
            try context.expectError(.invalidValue, "an upsert of a row without an id", column: "id") {
                try store.put(["text": "no id"] as Row, into: "Note")
            }
            let packed = try TableSchema.notes.packed([Row(id: .string(""))])
            try context.expectError(.invalidValue, "an upsert of an empty id", table: "Note", column: "id") {
                try store.put(packed, into: "Note")
            }
            try context.expect(store.count(TableQuery("Note")), is: 0, "the count afterwards")
        },
        Check("UPS-036", "An id whose type is not the table's is refused, naming the column id") { context in
            let numbered = TableSchema("Numbered", columns: [], idType: .int)
            let store = try context.store(.notes, numbered)
            let number = try numbered.packed([Row(id: 1)])
            let text = try TableSchema.notes.packed([Row(id: "1")])
            try context.expectError(.invalidValue, "an integer id among texts", table: "Note", column: "id") {
                try store.put(number, into: "Note")
            }
            try context.expectError(.invalidValue, "a text among integer ids", table: "Numbered", column: "id") {
                try store.put(text, into: "Numbered")
            }
        },
        Check(
            "UPS-037", "An error in any row, including the last one, rolls back the whole batch",
            why: "A page of a pull is stored completely or pulled again; the rest of a partial page is never pulled."
        ) { context in
            for position in [0, 50, 99] {
                try expectNothing(ofBatchWithErrorAt: position, context) { writer, batch in
                    try writer.upsert(batch, into: "Note")
                }
            }
        },
        Check(
            "UPS-038", "An error that the body catches still rolls back the transaction, and the write throws",
            why: "A write that returns has stored everything; after an error in a batch, this is impossible."
        ) { context in
            try expectNothing(ofBatchWithErrorAt: 99, context) { writer, batch in
                try writer.upsert(["id": "before"] as Row, into: "Note")
                try? writer.upsert(batch, into: "Note")
            }
        },
        Check("UPS-039", "The store works after a batch was refused") { context in
            let store = try context.store(.notes)
            let (batch, error) = (numbered(100), "an upsert with an empty id at its end")
            for _ in 0..<20 {
                try context.expectError(.invalidValue, error) {
                    let packed = try TableSchema.notes.packed(batch + [Row(id: .string(""))])
                    try store.put(packed, into: "Note")
                }
            }
            try context.expect(.notes, of: store, holds: batch) { try $0.upsert(batch, into: "Note") }
        },
        Check(
            "UPS-050", "No rows of a batch remain after any kind of refusal, even if the body catches the error",
            why: "A store that checks some rules row by row while writing has already stored earlier rows."
        ) { context in
            let schema = TableSchema("Strict", columns: [.int("n"), .string("must", optional: false)])
            let store = try context.store(schema)
            let refused: [(rule: String, row: Row)] = [
                ("an unknown column", ["id": "2", "must": "x", "other": 1]),
                ("a value of another type", ["id": "2", "must": "x", "n": "1"]),
                ("null in a required column", ["id": "2", "must": .null]),
                ("a required column that is missing", ["id": "2", "n": 1]),
                ("an empty id", ["id": "", "must": "x"]),
                ("an id that is too long", ["id": .string(String(repeating: "i", count: 70_000)), "must": "x"]),
            ]
            for (rule, row) in refused {
                _ = try? store.write { writer in
                    try? writer.upsert([["id": "1", "must": "x", "n": 1], row], into: "Strict")
                }
                try context.expect(store.count(TableQuery("Strict")), is: 0, "rows after \(rule)")
            }
            try store.put(["id": "1", "must": "x"], into: "Strict")
            try context.expect(TableQuery("Strict"), in: store, finds: ["1"], "after the refusals")
        },
    ]

    /// Expects a refusal of a row packed for a matching definition, which only the store itself can validate.
    private static func expectRefusal(
        of row: Row, column: String, in store: TracedStore, _ context: CheckContext
    ) throws {
        let value = row[column] ?? .null
        let other = TableSchema("Other", columns: [ColumnSchema(column, value.type ?? .int)], systemColumns: [])
        let packed = try other.packed([["id": "1"], row])
        let table = TableSchema.allTypes.name
        try context.expectError(
            .invalidValue, "an upsert of \(CheckContext.text(row))", table: table, column: column, id: "7"
        ) {
            try store.put(packed, into: table)
        }
        try store.read { try context.expect(.allTypes, in: $0, holds: [.typed("7")], "after the refusal") }
    }

    private static func expectRequired(_ row: Row, over stored: Row? = nil, _ context: CheckContext) throws {
        let store = try context.store(.demanding, in: "demanding \(row.values.count)")
        let rows = stored.map { [$0] } ?? []
        try store.put(rows, into: "Demanding")
        try context.expectError(
            .invalidValue, "an upsert of \(CheckContext.text(row))", table: "Demanding", column: "must", id: "1"
        ) {
            try store.put(row, into: "Demanding")
        }
        try store.read { try context.expect(.demanding, in: $0, holds: rows, "after the refusal") }
    }

    private static func expectNothing(
        ofBatchWithErrorAt position: Int, _ context: CheckContext,
        _ write: (TracedWriter, _ batch: borrowing PackedRows) throws -> Void
    ) throws {
        let store = try context.store(.notes, in: "error at \(position)")
        let stored: [Row] = [["id": "3", "text": "as it was"], ["id": "z"]]
        try store.put(stored, into: "Note")
        var rows = numbered(99)
        rows.insert(Row(id: .string("")), at: position)
        let packed = try TableSchema.notes.packed(rows)
        let what = "a batch of 100 rows, of which row \(position) has no id"
        do {
            try store.write { try write($0, packed) }
            throw CheckFailure("\(what): the write should throw, but it returned")
        } catch is StoreError {
            // Another check covers which error it is.
        }
        try store.read { try context.expect(.notes, in: $0, holds: stored, "after \(what)") }
    }

    private static func numbered(_ count: Int64) -> [Row] {
        (0..<count).map { ["id": .string("\($0)"), "text": "new", "number": .int($0)] }
    }
}

extension TableSchema {
    /// A table with one required and one optional column.
    fileprivate static let demanding = TableSchema(
        "Demanding", columns: [.string("must", optional: false), .int("may")], indexes: [["must"]])
}
