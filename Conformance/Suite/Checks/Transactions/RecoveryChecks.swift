internal import TidelineStore

extension Check {
    /// The store works after failures.
    static let transactionRecovery: [Check] = [
        Check("TRN-054", "After a body threw, the store still reads and writes") { context in
            let store = try ThreeTables.store(context)
            for _ in 0..<3 { try store.rollBack { try $0.delete(matching: TableQuery("TodoItem")) } }
            try expectUsable(context, store, "after throws")
        },
        Check("TRN-055", "After a batch was refused, its transaction leaves nothing behind and the store works") {
            context in
            let store = try ThreeTables.store(context)
            try context.expectError(.invalidValue, "a batch with a bad row", id: "7") {
                try store.write { writer in
                    try writer.delete(matching: TableQuery("Note"))
                    try writer.upsert(["id": "e"], into: "TodoItem")
                    try writer.upsert(badBatch, into: "Tally")
                }
            }
            try context.expectAsFilled(store, "after the refusal")
            try expectUsable(context, store, "after the refusal")
        },
        Check(
            "TRN-056", "A write whose body catches the refusal of a batch fails and leaves nothing behind",
            why: "Part of the batch may be stored; committing the body's other changes would commit that part."
        ) { context in
            let store = try ThreeTables.store(context)
            try expectFailure(context) {
                try store.write { writer in
                    try writer.upsert(["id": "before"], into: "Note")
                    try? writer.upsert(badBatch, into: "Tally")
                }
            }
            try context.expectAsFilled(store, "after a write that caught a refusal")
            try expectUsable(context, store, "after a write that caught a refusal")
        },
        Check("TRN-057", "No changes made by a write after a refused batch are kept") { context in
            let store = try ThreeTables.store(context)
            try expectFailure(context) {
                try store.write { writer in
                    try? writer.upsert(badBatch, into: "Tally")
                    try? writer.upsert(["id": "after"], into: "Note")
                    _ = try? writer.delete(ids: ["a"], from: "TodoItem")
                    _ = try? writer.delete(matching: TableQuery("Note").filter(.column("number") == 1))
                }
            }
            try context.expectAsFilled(store, "after a write that continued after a refusal")
        },
        Check(
            "TRN-058",
            "A query that is refused inside a write and caught does not affect the write's changes",
            why: "A refused query changes nothing, so the changes need not be lost."
        ) { context in
            let store = try ThreeTables.store(context)
            try store.write { writer in
                try writer.upsert(["id": "d", "number": 4], into: "Note")
                try context.expectError(.invalidValue, "a query of an unknown column", column: "nothing") {
                    _ = try writer.rows(matching: TableQuery("Note").filter(.column("nothing") == 1))
                }
                try context.expectError(.noSuchTable, "a count of an unknown table") {
                    _ = try writer.count(TableQuery("Nothing"))
                }
                try writer.upsert(["id": "e", "number": 5], into: "Note")
            }
            try context.expect(TableQuery("Note"), in: store, finds: ["a", "b", "c", "d", "e"], "after the write")
        },
        Check(
            "TRN-059",
            "A write of a cancelled task commits or throws cancelled and changes nothing, and the store works"
        ) { context in
            let store = try ThreeTables.store(context)
            let result = try inTask(context) { task in
                task.cancel()
                try store.write { writer in
                    for table in ["TodoItem", "Note"] { try writer.upsert(["id": "e"], into: table) }
                }
            }
            if case .failure(let error) = result {
                try expectCancelled(error)
                try context.expectAsFilled(store, "after a cancelled write")
            } else {
                try context.expect(TableQuery("Note"), in: store, finds: ["a", "b", "c", "e"], "after a write")
                try context.expect(
                    TableQuery("TodoItem"), in: store, finds: ["a", "b", "c", "d", "e"], "after it returned")
                try store.write { writer in
                    for table in ["TodoItem", "Note"] { try writer.delete(ids: ["e"], from: table) }
                }
            }
            try expectUsable(context, store, "after a cancelled write")
        },
    ]

    /// Valid rows and one that lacks a required column.
    private static let badBatch: [Row] = [.tally(4, 40), .tally(1, 11), Row(id: 7), .tally(8, 80)]

    private static func expectFailure(_ context: CheckContext, _ write: () throws -> Void) throws {
        do {
            try write()
        } catch is StoreError {
            return
        }
        throw CheckFailure("a write returned although a batch of it was refused: it can only be rolled back")
    }

    /// Fails unless reads and writes of all tables work and their results are kept after reopening.
    private static func expectUsable(_ context: CheckContext, _ store: TracedStore, _ place: String) throws {
        try context.expectAsFilled(store, place)
        try store.write { writer in
            try writer.upsert(["id": "e", "priority": 5], into: "TodoItem")
            try writer.delete(ids: ["a"], from: "Note")
            try writer.upsert(.tally(1, 11), into: "Tally")
        }
        let reopened = try context.reopened(store)
        try reopened.read { reader in
            let items = TableSchema.items.completing(ThreeTables.rows(.items) + [["id": "e", "priority": 5]])
            try context.expect(.items, in: reader, holds: items, "after the next write, \(place)")
            try context.expectIndexes(of: .items, in: reader, find: items, "after the next write, \(place)")
            try context.expect(
                .notes, in: reader, holds: Array(ThreeTables.rows(.notes).dropFirst()), "after the next write, \(place)"
            )
            try context.expect(
                .tallies, in: reader, holds: [.tally(1, 11), .tally(2, 20), .tally(3, 20)],
                "after the next write, \(place)")
        }
    }
}
