internal import TidelineStore

extension Check {
    /// Changes of a write are visible to others only after its commit.
    static let transactionIsolation: [Check] = [
        Check(
            "TRN-035", "Another thread sees no changes of a write before it commits, and all of them afterwards",
            why: "A store that modifies data in place shows readers changes that may be rolled back.",
            needs: [.readersBesideWriter]
        ) { context in
            let store = try ThreeTables.store(context)
            try store.write { writer in
                try ThreeTables.change(writer)
                try context.elsewhere("a read beside a write") {
                    try context.expectAsFilled(store, "on another thread, before the commit")
                    try expectLookUps(context, store, changed: false)
                }
            }
            try context.elsewhere("a read after a write") { try expectLookUps(context, store, changed: true) }
        },
        Check(
            "TRN-036", "No index exposes entries of a write to another thread before it commits",
            needs: [.readersBesideWriter]
        ) { context in
            let store = try ThreeTables.store(context)
            try store.write { writer in
                try ThreeTables.change(writer)
                try context.elsewhere("a read beside a write") {
                    try store.read { reader in
                        try context.expectIndexes(
                            of: .items, in: reader, find: ThreeTables.rows(.items), formerly: [["priority": 9]],
                            "on another thread, before the commit")
                    }
                }
            }
        },
        Check(
            "TRN-037", "Another thread never sees changes of a write that is rolled back",
            needs: [.readersBesideWriter]
        ) { context in
            let store = try ThreeTables.store(context)
            try store.rollBack { writer in
                try ThreeTables.change(writer)
                try context.elsewhere("a read beside a write") {
                    try context.expectAsFilled(store, "on another thread, before the throw")
                }
            }
            try context.elsewhere("a read after a write") {
                try context.expectAsFilled(store, "on another thread, after the throw")
                try expectLookUps(context, store, changed: false)
            }
        },
        Check(
            "TRN-038", "A read within a write on the same thread sees the committed state, not the write's changes",
            why: "A body may call code that reads the store; it must see the same state as every reader.",
            needs: [.readersBesideWriter]
        ) { context in
            let store = try ThreeTables.store(context)
            try store.write { writer in
                try ThreeTables.change(writer)
                try context.expectAsFilled(store, "in a read within the write")
                try context.expect(writer.count(TableQuery("Note")), is: 1, "count by the writer after that read")
            }
            try expectLookUps(context, store, changed: true)
        },
        Check("TRN-039", "A read that begins after a write returned sees its changes, on every thread") { context in
            let store = try context.store(.tallies)
            for number in 1...10 {
                try store.put([.tally(1, Int64(number)), .tally(Int64(number), 0)], into: "Tally")
                try context.onThreads(3, "reads after a write") { _ in
                    let count = try store.count(TableQuery("Tally"))
                    try context.expect(count, is: number, "count after write \(number)")
                }
            }
        },
    ]

    private static func expectLookUps(_ context: CheckContext, _ store: TracedStore, changed: Bool) throws {
        let place = changed ? "after the commit" : "without the write's changes"
        try store.read { reader in
            let priority = try reader.row(in: "TodoItem", id: "a")?["priority"]
            try context.expect(priority, is: changed ? 9 : 1, "item a's priority \(place)")
            let isNew = try reader.row(in: "TodoItem", id: "new") != nil
            try context.expect(isNew, is: changed, "whether the new item is found by its id \(place)")
            let isThere = try reader.row(in: "TodoItem", id: "b") != nil
            try context.expect(isThere, is: !changed, "whether the deleted item is found by its id \(place)")
            try context.expect(reader.count(TableQuery("Note")), is: changed ? 1 : 3, "the notes \(place)")
            try context.expect(reader.row(in: "Tally", id: 1)?["n"], is: changed ? 99 : 10, "tally 1 \(place)")
        }
    }

    /// Transactions that read and then write, on several threads.
    static let transactionRaces: [Check] = [
        Check(
            "TRN-060", "No update is lost: counters transferred in a ring by four threads keep their sum",
            why: "Data read by a write must be valid when it commits; a store that writes back a copy loses updates.",
            tier: .stress
        ) { context in
            let store = try context.store(.tallies, holding: (0..<4).map { .tally($0, 100) })
            let steps = Int64(60 * context.rounds)
            try context.onThreads(4, "writers of a ring of counters") { thread in
                for step in 0..<steps {
                    let from = (Int64(thread) + step) % 4
                    try move(1, from: from, to: (from + 1) % 4, in: store)
                }
            }
            try store.read { reader in
                try context.expect(
                    .tallies, in: reader, holds: (0..<4).map { .tally($0, 100) },
                    "each counter was incremented and decremented equally")
            }
        },
        Check(
            "TRN-061",
            "No increment is lost: a counter incremented by four threads equals the acknowledged increments",
            tier: .stress
        ) { context in
            let store = try context.store(.tallies, holding: [.tally(1, 0)])
            let steps = Int64(60 * context.rounds)
            try context.onThreads(4, "writers of one counter") { _ in
                for _ in 0..<steps { try move(1, from: nil, to: 1, in: store) }
            }
            let count = try store.read { try $0.row(in: "Tally", id: 1)?["n"] }
            try context.expect(count, is: .int(4 * steps), "the counter")
        },
        Check(
            "TRN-062", "A transaction that throws does not affect concurrent ones",
            why: "Threads that share a buffer for uncommitted changes roll back each other's.", tier: .stress
        ) { context in
            let store = try context.store(.tallies)
            let steps = Int64(40 * context.rounds)
            try context.onThreads(4, "writers, half of which throw") { thread in
                for step in 0..<steps {
                    let row = Row.tally(step * 4 + Int64(thread), step)
                    if thread % 2 == 0 {
                        try store.put(row, into: "Tally")
                    } else {
                        try store.rollBack { try $0.upsert(row, into: "Tally") }
                    }
                }
            }
            let expected = (0..<steps).flatMap { [Row.tally($0 * 4, $0), .tally($0 * 4 + 2, $0)] }
            try store.read { try context.expect(.tallies, in: $0, holds: expected, "after all threads") }
        },
    ]

    private static func move(_ amount: Int64, from: Int64?, to: Int64, in store: TracedStore) throws {
        try store.write { writer in
            for (id, change) in [(from, -amount), (to, amount)] {
                guard let id else { continue }
                let count = try writer.row(in: "Tally", id: .int(id))?["n"]?.int ?? 0
                try writer.upsert(.tally(id, count + change), into: "Tally")
            }
        }
    }
}
