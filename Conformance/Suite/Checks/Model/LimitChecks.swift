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
            let store = try context.store(.items)
            for character in ["x", "😀"] {
                guard let id = context.overlongID(of: character) else { return }
                try context.expectError(.invalidValue, "an id too long by one character", table: "TodoItem") {
                    try store.put(["id": .string(id)], into: "TodoItem")
                }
                let row = try store.row(in: "TodoItem", .string(id))
                try context.expect(row, is: nil, "the row of an id too long")
                let deleted = try store.delete(ids: [.string(id)], from: "TodoItem")
                try context.expect(deleted, is: 0, "the deletions of an id too long")
                let query = TableQuery("TodoItem").filter(.column("id") == .value(id))
                try context.expect(query, in: store, finds: [], "a condition on an id too long")
            }
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
        ) { context in
            for character in ["n", "ß", "😀"] {
                let name = String(repeating: character, count: 127)
                let schemas = ["a", "b"].map { end in
                    TableSchema(name + end, columns: [.int(name + "x"), .int(name + "y")], indexes: [[name + "x"]])
                }
                let folder = "store\(character.unicodeScalars.map(\.value))"
                let first = try context.store(schemas, in: folder)
                try first.write { writer in
                    for (number, schema) in schemas.enumerated() {
                        let row: Row = ["id": "1", name + "x": .int(Int64(number)), name + "y": 7]
                        try writer.upsert(row, into: schema.name)
                    }
                }
                let store = try context.reopened(first, in: folder)
                for (number, schema) in schemas.enumerated() {
                    let query = TableQuery(schema.name).filter(.column(name + "x") == .value(number))
                    try context.expect(query, in: store, finds: ["1"], "a table with a long name")
                    let row = try store.row(in: schema.name, "1")
                    try context.expect(row?[name + "y"], is: 7, "a column with a long name")
                }
            }
        },
        Check("MOD-015", "Names of 129 characters are refused, and nothing is defined") { context in
            let store = try context.open()
            let name = String(repeating: "n", count: 129)
            try context.expectError(.schemaMismatch, "a table with too long a name") {
                try store.define([.notes, TableSchema(name, columns: [.int("n")])])
            }
            try context.expectError(.schemaMismatch, "a column with too long a name", table: "T", column: name) {
                try store.define([.notes, TableSchema("T", columns: [.int(name)])])
            }
            try context.expect(store.tables(), is: [], "the tables after the refusals")
        },
        Check("MOD-016", "A table with the maximum number of columns stores a value in each") { context in
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
                    reader.rows(matching: query).rows, are: [["id": "a", "c998": 998]],
                    "one column of a wide table")
            }
        },
        Check("MOD-017", "A table with one column more than the maximum is refused") { context in
            let columns = (0...TableSchema.maximumColumnCount).map { ColumnSchema.int("c\($0)") }
            let store = try context.open()
            try context.expectError(.schemaMismatch, "a table with too many columns", table: "Wide") {
                try store.define([TableSchema("Wide", columns: columns, systemColumns: [])])
            }
            try context.expect(store.tables(), is: [], "the tables after the refusal")
        },
    ]
}

extension [Int64] {
    fileprivate func shuffledBySeed(_ seed: UInt64) -> [Int64] {
        var random = SplitMix64(seed: seed)
        return shuffled(using: &random)
    }
}
