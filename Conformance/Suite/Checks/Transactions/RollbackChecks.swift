internal import TidelineStore

extension Check {
    /// Atomicity.
    static let transactionRollback: [Check] = [
        Check("TRN-001", "A write that returns keeps its changes to all tables") { context in
            let store = try ThreeTables.store(context)
            try store.write { writer in
                try writer.upsert(["id": "e", "text": "Salt"], into: "TodoItem")
                try writer.delete(ids: ["b"], from: "Note")
                try writer.delete(matching: TableQuery("Tally").filter(.column("n") == 20))
            }
            try store.read { reader in
                try context.expect(
                    .items, in: reader, holds: ThreeTables.rows(.items) + [["id": "e", "text": "Salt"]],
                    "after the write")
                try context.expect(
                    .notes, in: reader, holds: ThreeTables.rows(.notes).filter { $0.idText != "b" }, "after the write")
                try context.expect(.tallies, in: reader, holds: [.tally(1, 10)], "after the write")
            }
        },
        Check("TRN-002", "A body that throws leaves none of its inserts behind") { context in
            let store = try ThreeTables.store(context)
            try store.rollBack { writer in
                try writer.upsert([["id": "0", "text": "new"], ["id": "z", "text": "new"]], into: "TodoItem")
            }
            try context.expectAsFilled(store, only: [.items], "after the throw")
        },
        Check(
            "TRN-003", "A body that throws leaves no changes in its second and third table either",
            why: "Sync keeps a row, its operation and its base copy together; a store with one transaction per table "
                + "keeps part of them."
        ) { context in
            let store = try ThreeTables.store(context)
            for last in ThreeTables.schemas {
                try store.rollBack { writer in
                    // Each table is the last changed one once, and the first one once.
                    for schema in ThreeTables.schemas.filter({ $0 != last }) + [last] {
                        try writer.upsert(newRow(of: schema), into: schema.name)
                    }
                }
                try context.expectAsFilled(store, "after the throw")
            }
        },
        Check("TRN-004", "A body that throws leaves merged rows unchanged, including their nulls") { context in
            let store = try ThreeTables.store(context)
            try store.rollBack { writer in
                try writer.upsert(
                    [["id": "a", "text": .null, "priority": 9], ["id": "d", "text": "was null"]], into: "TodoItem")
                try writer.upsert(["id": "a", "number": 9], into: "Note")
                try writer.upsert(.tally(1, 99), into: "Tally")
            }
            try context.expectAsFilled(store, "after the throw")
        },
        Check("TRN-005", "A body that throws leaves rows that it deleted by id") { context in
            let store = try ThreeTables.store(context)
            try store.rollBack { writer in
                try writer.delete(ids: ["a", "d"], from: "TodoItem")
                try writer.delete(ids: ["a", "b", "c"], from: "Note")
                try writer.delete(ids: [2], from: "Tally")
            }
            try context.expectAsFilled(store, "after the throw")
        },
        Check("TRN-006", "A body that throws leaves rows that it deleted by query") { context in
            let store = try ThreeTables.store(context)
            try store.rollBack { writer in
                try writer.delete(matching: TableQuery("TodoItem").filter(.column("complete") == true))
                try writer.delete(matching: TableQuery("Note"))
                try writer.delete(matching: TableQuery("Tally").order(by: "n").limit(2))
            }
            try context.expectAsFilled(store, "after the throw")
        },
        Check(
            "TRN-007", "A body that throws leaves none of 6,000 rows in three tables",
            why: "A store that passes a long transaction to its engine in batches has committed the first ones."
        ) { context in
            let store = try ThreeTables.store(context)
            try store.rollBack { writer in
                for schema in ThreeTables.schemas { try writer.upsert(manyRows(of: schema), into: schema.name) }
            }
            try context.expectAsFilled(store, "after the throw")
        },
        Check("TRN-008", "Rolled-back changes are not present after reopening", needs: [.persistence]) { context in
            let store = try ThreeTables.store(context)
            try store.rollBack { writer in
                for schema in ThreeTables.schemas {
                    try writer.upsert(newRow(of: schema), into: schema.name)
                    try writer.delete(ids: [ThreeTables.rows(schema)[0].id].compactMap { $0 }, from: schema.name)
                }
            }
            try context.expectAsFilled(context.reopened(store), "after the throw and reopening")
        },
        Check(
            "TRN-009", "A row whose insert was rolled back can be inserted as a new row",
            why: "A store that caches ids outside its engine must also roll back the cache."
        ) { context in
            let store = try ThreeTables.store(context)
            try store.rollBack { writer in
                try writer.upsert(["id": "NEW", "text": "lost", "priority": 7], into: "TodoItem")
                try writer.upsert(.tally(9, 90), into: "Tally")
            }
            try store.put(["id": "new", "text": "kept"], into: "TodoItem")
            let row = try store.row(in: "TodoItem", "New")
            try context.expect(
                row, is: TableSchema.items.completing([["id": "new", "text": "kept"]])[0], "the row inserted again")
            try context.expectError(.invalidValue, "an insert without its required column", column: "n") {
                try store.put(Row(id: 9), into: "Tally")
            }
        },
        Check("TRN-010", "Alternating transactions that commit and throw leave only the committed changes") { context in
            let store = try context.store(.tallies)
            for number in Int64(0)..<20 {
                try store.put(.tally(number, number), into: "Tally")
                try store.rollBack { writer in
                    try writer.upsert([.tally(number, -1), .tally(number + 1, -1)], into: "Tally")
                    try writer.delete(ids: [.int(number / 2)], from: "Tally")
                }
            }
            try store.read { reader in
                try context.expect(
                    .tallies, in: reader, holds: (0..<20).map { .tally($0, $0) }, "after 20 commits and 20 throws")
            }
        },
        Check(
            "TRN-064", "Data read in a write is not cached beyond its rollback",
            why: "A store that caches rows or counts may keep those of a transaction that was rolled back."
        ) { context in
            let store = try ThreeTables.store(context)
            try store.rollBack { writer in
                try writer.upsert(["id": "a", "number": 9], into: "Note")
                try writer.upsert(["id": "zz", "number": 10], into: "Note")
                for id in ["a", "zz", "b"] { _ = try writer.row(in: "Note", id: id) }
                _ = try writer.count(TableQuery("Note"))
                try writer.delete(ids: ["b"], from: "Note")
                _ = try writer.row(in: "Note", id: "b")
                _ = try writer.rows(matching: TableQuery("Note"))
            }
            try context.expectAsFilled(store, "after data read in a write was rolled back")
            let expected = ThreeTables.rows(.notes)
            try store.read { reader in
                for row in expected {
                    let found = try reader.row(in: "Note", id: row.idText)
                    try context.expect(found, is: row.completed(for: .notes), "row \(row.idText) after the rollback")
                }
                try context.expect(reader.row(in: "Note", id: "zz"), is: nil as Row?, "a row that was rolled back")
                try context.expect(reader.count(TableQuery("Note")), is: expected.count, "the count after the rollback")
            }
        },
    ]

    private static func newRow(of schema: TableSchema) -> Row {
        schema.idType == .int ? .tally(50, 50) : ["id": "new", "text": "new"]
    }

    private static func manyRows(of schema: TableSchema) -> [Row] {
        (0..<2_000).map { number in
            schema.idType == .int
                ? .tally(number, number) : ["id": .string("r\(number)"), "text": .string("text \(number)")]
        }
    }

    /// Index entries are part of the transaction of their rows.
    static let transactionIndexes: [Check] = [
        Check(
            "TRN-011", "No index finds a row whose insert was rolled back",
            why: "Entries written outside the transaction of their row refer to rows that do not exist."
        ) { context in
            let added: [Row] = [["id": "e", "priority": 2, "complete": false], ["id": "f", "priority": 7]]
            try expectIndexesAfterThrow(context, formerly: added) { try $0.upsert(added, into: "TodoItem") }
        },
        Check("TRN-012", "Every index finds a row by its old values after its change was rolled back") { context in
            let changed: [Row] = [["id": "a", "priority": 8, "complete": true], ["id": "b", "priority": .null]]
            try expectIndexesAfterThrow(context, formerly: changed) { try $0.upsert(changed, into: "TodoItem") }
        },
        Check("TRN-013", "Every index finds the rows whose deletion was rolled back") { context in
            try expectIndexesAfterThrow(context, formerly: []) { writer in
                try writer.delete(ids: ["a"], from: "TodoItem")
                try writer.delete(matching: TableQuery("TodoItem").filter(.column("priority") == 2))
            }
        },
        Check("TRN-014", "Every index finds a row once that was changed and changed back in one transaction") {
            context in
            let store = try ThreeTables.store(context)
            try store.write { writer in
                for priority: Value in [5, .null, 6, 1] {
                    try writer.upsert(["id": "a", "priority": priority], into: "TodoItem")
                }
                try writer.upsert([["id": "b", "priority": 9], ["id": "b", "priority": 2]], into: "TodoItem")
            }
            try store.read { reader in
                try context.expectIndexes(
                    of: .items, in: reader, find: ThreeTables.rows(.items),
                    formerly: [["priority": 5], ["priority": 6], ["priority": 9]], "after the write")
            }
        },
    ]

    private static func expectIndexesAfterThrow(
        _ context: CheckContext, formerly: [Row], _ changes: (TracedWriter) throws -> Void
    ) throws {
        let store = try ThreeTables.store(context)
        try store.rollBack(changes)
        try store.read { reader in
            try context.expectIndexes(
                of: .items, in: reader, find: ThreeTables.rows(.items), formerly: formerly, "after the throw")
        }
        // Rows deleted next must not leave an entry behind either.
        try store.delete(matching: TableQuery("TodoItem").filter(.column("priority") >= 0))
        try store.read { reader in
            let rest = ThreeTables.rows(.items).filter { $0["priority"]?.isNull ?? true }
            try context.expectIndexes(
                of: .items, in: reader, find: rest, formerly: ThreeTables.rows(.items) + formerly,
                "after the throw and a deletion")
        }
    }
}
