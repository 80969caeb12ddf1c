internal import TidelineStore

extension Check {
    /// Deleting rows by their ids.
    static let deletionsByID: [Check] = [
        Check("GET-010", "A deletion by id removes that row and no other, and returns 1") { context in
            try context.expectRows(from: Row.typed(0..<12), become: Row.typed(0..<12).filter { $0.idText != "1" }) {
                try expectDeleted(1, of: ["1"], $0, $1, context)
            }
        },
        Check("GET-011", "Absent ids are ignored and not counted") { context in
            let kept = Row.typed(0..<6).filter { $0.idText != "0" && $0.idText != "4" }
            try context.expectRows(from: Row.typed(0..<6), become: kept) { writer, table in
                try expectDeleted(0, of: ["x", "00", "1 "], writer, table, context)
                try expectDeleted(2, of: ["x", "4", "y", "0", "z"], writer, table, context)
            }
        },
        Check("GET-012", "A duplicate id is counted once") { context in
            let kept = Row.typed(0..<4).filter { $0.idText != "1" }
            try context.expectRows(from: Row.typed(0..<4) + [.typed("a", 7)], become: kept) {
                try expectDeleted(2, of: ["1", "a", "1", "A", "a", "1"], $0, $1, context)
            }
        },
        Check(
            "GET-013", "A deletion of no ids deletes nothing",
            why: "If `DELETE … WHERE id IN ()` is built without its condition, it deletes everything."
        ) { context in
            try context.expectRows(from: Row.typed(0..<4), become: Row.typed(0..<4)) {
                try expectDeleted(0, of: [], $0, $1, context)
            }
        },
        Check("GET-014", "Ids of another type, empty or too long, are ignored in a deletion") { context in
            let long = context.overlongID() ?? ""
            let ids: [RowID] = [.int(1), .int(0x31), .string(""), .string(long), "2"]
            try context.expectRows(from: Row.typed(0..<4), become: Row.typed(0..<4).filter { $0.idText != "2" }) {
                try expectDeleted(1, of: ids, $0, $1, context)
            }
        },
        Check(
            "GET-015", "5,000 ids can be deleted in one call",
            why: "They exceed the number of values that an engine can bind to one statement."
        ) { context in
            let ids = (0..<5_000).map { RowID.string("id \($0)") }
            try context.apply(to: context.store(.items)) { writer in
                let rows = ids.map { Row(id: $0).merging(["complete": true]) }
                try writer.upsert(rows + [["id": "stays"]], into: "TodoItem")
                try expectDeleted(5_000, of: ids, writer, "TodoItem", context)
            } thenLook: { reader, place in
                try context.expect(.items, in: reader, holds: [["id": "stays"]], place)
                let complete = TableQuery("TodoItem", predicate: .column("complete") == true)
                try context.expect(complete, in: reader, finds: [], place)
            }
        },
        Check("GET-016", "A deletion does not affect other tables, not even rows with the same id") { context in
            let names = ["t", "t2", "t 2", "tt", "s"]
            let tables = names.map { TableSchema($0, columns: [.int("int")], indexes: [["int"]]) }
            let store = try context.store(tables)
            let rows: [Row] = ["1", "2", "21", "a"].map { ["id": .string($0), "int": 1] }
            try store.write { writer in for name in names { try writer.upsert(rows, into: name) } }
            try context.apply(to: store) { writer in
                try expectDeleted(2, of: ["1", "a"], writer, "t", context)
                try context.expect(writer.delete(matching: TableQuery("tt")), is: 4, "rows deleted from tt")
            } thenLook: { reader, place in
                for table in tables {
                    let left = table.name == "t" ? Array(rows[1...2]) : table.name == "tt" ? [] : rows
                    try context.expect(table, in: reader, holds: left, place)
                }
            }
        },
        Check("GET-017", "A deletion repeated ten times has the same result as one") { context in
            let store = try context.typedStore(Row.typed(0..<6))
            for repetition in 0..<10 {
                try store.write { writer in
                    for table in TableSchema.typedTables {
                        try expectDeleted(repetition == 0 ? 2 : 0, of: ["1", "3"], writer, table.name, context)
                    }
                }
                try store.read { reader in
                    let left = Row.typed(0..<6).filter { $0.idText != "1" && $0.idText != "3" }
                    for table in TableSchema.typedTables {
                        try context.expect(table, in: reader, holds: left, "after \(repetition + 1) deletions")
                    }
                }
            }
        },
        Check("GET-018", "A deleted row is removed from every index") { context in
            let rows = Row.typed(0..<8) { $0 / 2 } + [["id": "none"]]
            try context.expectIndexes(from: rows, follow: rows.filter { !["0", "none", "5"].contains($0.idText) }) {
                try expectDeleted(3, of: ["0", "none", "5"], $0, $1, context)
            }
        },
        Check(
            "GET-019", "A row deleted and inserted again has only its new values",
            why: "The insert must not be merged into the deleted row, in the same write or in a later one."
        ) { context in
            let change = { (writer: TracedWriter, table: String) in
                try writer.upsert(.typed("within", 4), into: table)
                try expectDeleted(2, of: ["within", "BEFORE"], writer, table, context)
                try writer.upsert([["id": "within", "int": 2], ["id": "Before"]], into: table)
            }
            let expected: [Row] = [["id": "within", "int": 2], ["id": "Before"]]
            try context.expectRows(from: [.typed("before", 3)], become: expected, after: change)
            try context.expectIndexes(from: [.typed("before", 3)], follow: expected, after: change)
        },
        Check("GET-020", "A row inserted and deleted in one write does not exist afterwards") { context in
            let change = { (writer: TracedWriter, table: String) in
                try writer.upsert([.typed("new", 5), .typed("1", 6)], into: table)
                try expectDeleted(1, of: ["new"], writer, table, context)
            }
            let expected: [Row] = [.typed("0", 0), .typed("1", 6)]
            try context.expectRows(from: Row.typed(0..<2), become: expected, after: change)
            try context.expectIndexes(from: Row.typed(0..<2), follow: expected, after: change)
        },
        Check("GET-021", "After all rows were deleted, the table can be filled again") { context in
            let store = try context.typedStore(Row.typed(0..<50))
            for table in TableSchema.typedTables {
                try store.write { writer in
                    try expectDeleted(50, of: (0..<50).map { .string("\($0)") }, writer, table.name, context)
                }
                try store.read { try context.expect(table, in: $0, holds: [], "after the deletion") }
            }
            try context.apply(to: store) { writer in
                for table in TableSchema.typedTables { try writer.upsert(Row.typed(20..<40), into: table.name) }
            } thenLook: { reader, place in
                for table in TableSchema.typedTables {
                    try context.expect(table, in: reader, holds: Row.typed(20..<40), place)
                }
            }
        },
    ]

    /// Deletes rows and expects the given number of deleted rows.
    private static func expectDeleted(
        _ count: Int, of ids: [RowID], _ writer: TracedWriter, _ table: String, _ context: CheckContext
    ) throws {
        let deleted = try writer.delete(ids: ids, from: table)
        try context.expect(deleted, is: count, "rows deleted from \(table) of the ids \(CheckContext.text(ids))")
    }
}
