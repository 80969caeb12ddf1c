internal import Synchronization
internal import TidelineStore

extension Check {
    /// Several writers.
    static let concurrencyWriters: [Check] = [
        Check(
            "CON-007", "When six writers run at once, every acknowledged row is stored, and no write throws busy",
            why: "Writers wait for each other; a lock attempted only once makes concurrent writes fail.",
            tier: .stress
        ) { context in
            let store = try context.store(.items, .notes)
            let acknowledged = Mutex<[String]>([])
            let steps = 30 * context.rounds
            try context.onThreads(6, "six writers") { thread in
                for step in 0..<steps {
                    let id = "\(thread)-\(step)"
                    try store.put(["id": .string(id)], into: thread % 2 == 0 ? "TodoItem" : "Note")
                    acknowledged.withLock { $0.append(id) }
                }
            }
            let reopened = try context.reopened(store)
            let found = try reopened.read { try $0.ids(TableQuery("TodoItem")) + $0.ids(TableQuery("Note")) }
            try context.expect(found.sorted(), is: acknowledged.withLock { $0 }.sorted(), "the stored rows")
        },
        Check("CON-008", "Concurrent writers of one id create one row, whatever its case", tier: .stress) { context in
            let store = try context.store(.items)
            let spellings = ["same", "Same", "sAME", "SAME"]
            let steps = 15 * context.rounds
            try context.onThreads(6, "writers of one id") { thread in
                for step in 0..<steps {
                    let id = spellings[(thread + step) % spellings.count]
                    let row: Row = ["id": .string(id), "priority": .int(Int64(step)), "text": .string("\(thread)")]
                    try store.put(row, into: "TodoItem")
                }
            }
            try store.read { reader in
                let rows = try reader.allRows("TodoItem")
                try context.expect(rows.count, is: 1, "the rows of one id: \(rows.map(\.idText))")
                try context.expect(rows[0]["priority"], is: .int(Int64(steps - 1)), "the value of the last writers")
                try context.expectIndexes(of: .items, in: reader, find: rows, formerly: [["priority": 0]], "afterwards")
            }
        },
        Check(
            "CON-009", "Concurrent merges of different columns of one row are all kept",
            why: "A store that reads the row before it locks writes old values over new ones.",
            tier: .stress
        ) { context in
            let columns = (0..<4).map { ColumnSchema.int("c\($0)") }
            let wide = TableSchema("Wide", columns: columns, indexes: [["c0"], ["c3"]])
            let store = try context.store(wide)
            let steps = 40 * context.rounds
            try context.onThreads(4, "writers of one row") { thread in
                for step in 0..<steps { try store.put(["id": "a", "c\(thread)": .int(Int64(step))], into: "Wide") }
            }
            let last = columns.reduce(into: ["id": "a"] as Row) { $0[$1.name] = .int(Int64(steps - 1)) }
            try store.read { reader in
                try context.expect(wide, in: reader, holds: [last], "after each thread wrote its column")
                try context.expectIndexes(of: wide, in: reader, find: [last], formerly: [["c0": 0]], "afterwards")
            }
        },
        Check("CON-010", "When several threads delete the same rows, each row is counted by one of them", tier: .stress)
        { context in
            let count = 200 * context.rounds
            let rows = (0..<count).map { ["id": .string("r\($0)"), "priority": .int(Int64($0 % 10))] as Row }
            let store = try context.store(.items, holding: rows)
            let deleted = Mutex(0)
            try context.onThreads(4, "threads that delete") { thread in
                for start in stride(from: 0, to: count, by: 20) {
                    let number = try store.write { writer in
                        guard thread == 0 else {
                            return try writer.delete(
                                ids: (start..<min(start + 25, count)).map { .string("r\($0)") }, from: "TodoItem")
                        }
                        let low = TableQuery("TodoItem").filter(
                            .column("priority") == .literal(.int(Int64(start / 20 % 10))))
                        return try writer.delete(matching: low.limit(15))
                    }
                    deleted.withLock { $0 += number }
                }
            }
            try context.expect(deleted.withLock { $0 }, is: count, "the sum of the counts of the deletions")
            try context.expect(TableQuery("TodoItem"), in: store, finds: [], "after all rows were deleted")
        },
        Check(
            "CON-011", "A lookup and a dependent insert, made by several threads, insert each row once",
            why: "A caller that inserts a row only if it is absent relies on the transaction.", tier: .stress
        ) { context in
            let store = try context.store(.notes)
            let inserted = Mutex(0)
            try context.onThreads(4, "threads that insert missing rows") { _ in
                for step in 0..<(40 * context.rounds) {
                    let isMine = try store.write { writer in
                        guard try writer.row(in: "Note", id: "n\(step)") == nil else { return false }
                        try writer.upsert(["id": .string("n\(step)")], into: "Note")
                        return true
                    }
                    if isMine { inserted.withLock { $0 += 1 } }
                }
            }
            try context.expect(
                inserted.withLock { $0 }, is: 40 * context.rounds, "the number of threads that found a row missing")
        },
    ]
}
