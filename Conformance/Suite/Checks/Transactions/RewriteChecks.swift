internal import TidelineStore

extension Check {
    /// Several changes to one id in one transaction.
    static let transactionRewrites: [Check] = [
        Check("TRN-029", "A row stored and deleted in one write does not exist afterwards") { context in
            try expectAfter(context, nil) { writer in
                try writer.upsert(["id": "n", "text": "put", "priority": 3], into: "TodoItem")
                try writer.delete(ids: ["n"], from: "TodoItem")
            }
        },
        Check(
            "TRN-030", "A row deleted and stored again in one write has only its new values",
            why: "A store that combines both into one merge restores the deleted columns."
        ) { context in
            try expectAfter(context, ["id": "a", "priority": 3]) { writer in
                try writer.delete(ids: ["a"], from: "TodoItem")
                try writer.upsert(["id": "a", "priority": 3], into: "TodoItem")
            }
        },
        Check("TRN-031", "A row stored, deleted, and stored again in one write has only its last values") { context in
            try expectAfter(context, ["id": "n", "score": 0.25]) { writer in
                try writer.upsert(["id": "n", "text": "first", "priority": 3], into: "TodoItem")
                try writer.delete(ids: ["n"], from: "TodoItem")
                try writer.upsert(["id": "n", "score": 0.25], into: "TodoItem")
            }
        },
        Check("TRN-032", "A row deleted, stored, and deleted in one write does not exist, and each deletion counts it")
        { context in
            try expectAfter(context, nil, id: "a") { writer in
                let first = try writer.delete(ids: ["a"], from: "TodoItem")
                let again = try writer.delete(ids: ["a"], from: "TodoItem")
                try writer.upsert(["id": "a", "text": "back"], into: "TodoItem")
                let second = try writer.delete(matching: TableQuery("TodoItem").filter(.column("id") == "a"))
                try context.expect([first, again, second], is: [1, 0, 1], "the counts of the three deletions")
            }
        },
        Check("TRN-033", "Merges of one row in one write accumulate") { context in
            let due = Value.timestamp(.init(clampingTicks: 10))
            try expectAfter(
                context, ["id": "a", "text": "Tea", "complete": true, "priority": 2, "score": 1.5, "due": due]
            ) { writer in
                try writer.upsert(["id": "a", "text": "Tea", "priority": 1], into: "TodoItem")
                try writer.upsert([["id": "a", "complete": true], ["id": "a", "score": 1.5]], into: "TodoItem")
                try writer.upsert(["id": "a", "priority": 2], into: "TodoItem")
            }
        },
        Check("TRN-034", "A table emptied and refilled in one write holds only the new rows") { context in
            let store = try ThreeTables.store(context)
            let rows: [Row] = [["id": "b", "priority": 1], ["id": "x", "priority": 2, "complete": true]]
            try store.write { writer in
                try writer.delete(matching: TableQuery("TodoItem"))
                try context.expect(writer.count(TableQuery("TodoItem")), is: 0, "count after all rows were deleted")
                try writer.upsert(rows, into: "TodoItem")
            }
            try store.read { reader in
                try context.expect(.items, in: reader, holds: rows, "after the write")
                try context.expectIndexes(
                    of: .items, in: reader, find: rows, formerly: ThreeTables.rows(.items), "after the write")
            }
        },
    ]

    /// Fails unless the row is as expected at the end of the write, after it, by the indexes, and after reopening.
    private static func expectAfter(
        _ context: CheckContext, _ row: Row?, id: String? = nil, _ changes: (TracedWriter) throws -> Void
    ) throws {
        let id = row?.idText ?? id ?? "n"
        let expected = row.map { $0.completed(for: .items) }
        let others = ThreeTables.rows(.items).filter { $0.idText != id }
        let store = try ThreeTables.store(context)
        try store.write { writer in
            try changes(writer)
            try context.expect(writer.row(in: "TodoItem", id: id), is: expected, "the row inside the write")
        }
        func look(_ store: TracedStore, _ place: String) throws {
            try store.read { reader in
                try context.expect(reader.row(in: "TodoItem", id: id), is: expected, "the row \(place)")
                try context.expectIndexes(
                    of: .items, in: reader, find: others + [expected].compactMap { $0 },
                    formerly: ThreeTables.rows(.items) + [["priority": 3]], place)
            }
        }
        try look(store, "after the write")
        try look(context.reopened(store), "after reopening")
    }
}
