internal import TidelineStore
internal import TidelineSupport

extension Check {
    /// Values at a limit and just beyond it.
    static let modelLimits: [Check] = [
        Check(
            "MOD-011", "An id of the maximum length can be stored, found, merged into, and deleted",
            why: "An engine's key length limit is in bytes; a character may have four bytes."
        ) { context in
            let store = try context.store(.items)
            let length = min(context.capabilities.maximumIDLength, 10_000)
            for character in ["x", "é", "😀"] {
                let id = String(repeating: character, count: length)
                // The same except for its last character.
                let other = String(repeating: character, count: length - 1) + "y"
                try store.write {
                    try $0.upsert([["id": .string(id), "priority": 1], ["id": .string(other)]], into: "TodoItem")
                }
                try store.put(["id": .string(id), "text": "merged"], into: "TodoItem")
                let expected = TableSchema.items.completing([["id": .string(id), "priority": 1, "text": "merged"]])[0]
                try store.read { reader in
                    let found = try reader.row(in: "TodoItem", id: id)
                    try context.expect(found, is: expected, "the row of \(length) times \(character)")
                    let byIndex = try reader.ids(TableQuery("TodoItem").filter(.column("priority") == 1))
                    try context.expect(byIndex, is: [id], "the rows found through an index")
                    let byID = try reader.ids(TableQuery("TodoItem").filter(.column("id") == .value(id)))
                    try context.expect(byID, is: [id], "the rows found by a condition on the id")
                }
                let deleted = try store.delete(ids: [.string(id)], from: "TodoItem")
                try context.expect(deleted, is: 1, "the deletions of \(length) times \(character)")
                try context.expect(TableQuery("TodoItem"), in: store, finds: [.string(other)], "afterwards")
                try store.delete(ids: [.string(other)], from: "TodoItem")
            }
        },
        Check("MOD-012", "An id one character longer than the maximum is refused and finds nothing") { context in
            try expectOverlongIDsRefused(context)
        },
        Check("MOD-013", "Integer ids range from the smallest to the greatest, in numeric order") { context in
            let store = try context.store(.tallies)
            let ids: [Int64] = [.min, .min + 1, -256, -1, 0, 1, 255, 256, .max - 1, .max]
            try store.put(ids.shuffledBySeed(context.seed).map { .tally($0, 1) }, into: "Tally")
            try context.expect(TableQuery("Tally"), in: store, finds: ids.map { .int($0) }, "all")
            try context.expect(
                TableQuery("Tally").filter(.column("id") > .value(Int64.max - 1)), in: store, finds: [.int(.max)],
                "the last")
            try context.expect(
                TableQuery("Tally").filter(.column("id") < .value(Int64.min + 1)), in: store, finds: [.int(.min)],
                "the first")
            let deleted = try store.delete(ids: [.int(.min), .int(.max)], from: "Tally")
            try context.expect(deleted, is: 2, "the deletions of the smallest and the greatest")
        },
        Check(
            "MOD-014",
            "Names of tables and columns with 128 characters work, even if only the last character differs"
        ) { context in try expectLongNames(context) },
        Check("MOD-015", "Names of 129 characters are refused, and nothing is defined") { context in
            let store = try context.open()
            let name = String(repeating: "n", count: 129)
            try context.expectRefused(
                .notes, TableSchema(name, columns: [.int("n")]), by: store, "a table with too long a name")
            try context.expectRefused(
                .notes, TableSchema("T", columns: [.int(name)]), by: store, "a column with too long a name",
                table: "T", column: name)
        },
        Check("MOD-016", "A table with the maximum number of columns stores a value in each") { context in
            try expectWidestTable(context)
        },
        Check("MOD-017", "A table with one column more than the maximum is refused") { context in
            let columns = (0...TableSchema.maximumColumnCount).map { ColumnSchema.int("c\($0)") }
            let wide = TableSchema("Wide", columns: columns, systemColumns: [])
            try context.expectRefused(wide, by: context.open(), "a table with too many columns", table: "Wide")
        },
    ]

    /// Fails unless ids one character longer than the maximum are refused and find nothing.
    static func expectOverlongIDsRefused(_ context: CheckContext) throws {
        let store = try context.store(.items)
        for character in ["x", "é", "😀"] {
            guard let id = context.overlongID(of: character) else { return }
            let what = "an id of \(id.count) times \(character)"
            try context.expectError(.invalidValue, "an upsert with \(what)", table: "TodoItem", column: "id") {
                try store.put(["id": .string(id)], into: "TodoItem")
            }
            try context.expect(store.count(TableQuery("TodoItem")), is: 0, "the count after an upsert with \(what)")
            try context.expect(store.row(in: "TodoItem", .string(id)), is: nil, "the row of \(what)")
            let deleted = try store.delete(ids: [.string(id)], from: "TodoItem")
            try context.expect(deleted, is: 0, "the deletions of \(what)")
            let query = TableQuery("TodoItem").filter(.column("id") == .value(id))
            try context.expect(query, in: store, finds: [], "a condition on \(what)")
        }
    }

    /// Fails unless tables and columns whose names have 128 characters and differ in the last one are kept apart.
    static func expectLongNames(_ context: CheckContext) throws {
        let names = ["n", "ß", "😀"].flatMap { character in
            ["1", "2"].map { String(repeating: character, count: 127) + $0 }
        }
        let tables = names.map { TableSchema($0, columns: names.map { .string($0) }, indexes: names.map { [$0] }) }
        let rows = tables.map { table in
            names.reduce(into: Row(id: "1")) { $0[$1] = .string("\(table.name.last ?? "?")\($1)") }
        }
        let store = try context.store(tables)
        for (table, row) in zip(tables, rows) { try store.put(row, into: table.name) }
        let reopened = try context.reopened(store)
        for (table, row) in zip(tables, rows) {
            for name in names {
                let query = TableQuery(table.name).filter(.column(name) == .literal(row[name] ?? .null))
                try context.expect(query, in: reopened, finds: ["1"], "a column with a long name")
            }
            let found = try reopened.row(in: table.name, "1")
            try context.expect(found, is: row.completed(for: table), "a row of a table with a long name")
        }
    }

    /// Fails unless a table with the maximum number of columns keeps, finds, and returns the values of each.
    static func expectWidestTable(_ context: CheckContext) throws {
        let columns = (0..<TableSchema.maximumColumnCount).map { ColumnSchema.int("c\($0)") }
        let wide = TableSchema("Wide", columns: columns, systemColumns: [], indexes: [["c999"], ["c0", "c500"]])
        let store = try context.store(wide)
        let row = columns.enumerated().reduce(into: Row(id: "a")) {
            $0[$1.element.name] = .int(Int64($1.offset))
        }
        try store.write { writer in
            try writer.upsert(row, into: "Wide")
            try writer.upsert(["id": "b", "c999": 1], into: "Wide")
            try writer.upsert(["id": "a", "c500": -1], into: "Wide")
        }
        let expected = row.merging(["c500": -1])
        let reopened = try context.reopened(store)
        try reopened.read { reader in
            try context.expect(wide, in: reader, holds: [expected, ["id": "b", "c999": 1]], "a wide table")
            let query = TableQuery("Wide").filter(.column("c999") == 999).select("c998")
            try context.expect(
                reader.rows(matching: query).rows, are: [["id": "a", "c998": 998]], "one column of a wide table")
            let nulls = TableQuery("Wide").filter(.column("c999") == 1 && .column("c1").isNull)
            try context.expect(reader.ids(nulls), is: ["b"], "the row with nulls of a wide table")
        }
    }
}

extension [Int64] {
    fileprivate func shuffledBySeed(_ seed: UInt64) -> [Int64] {
        var random = SplitMix64(seed: seed)
        return shuffled(using: &random)
    }
}
