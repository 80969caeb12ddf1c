internal import TidelineStore

extension Check {
    /// Transactions that read and then write, on several threads.
    static let transactionRaces: [Check] = [
        Check(
            "TRN-060", "No update is lost: counters transferred in a ring by four threads keep their sum",
            why:
                "Data read by a write must still be valid when it commits; a store that writes back a copy loses updates.",
            tier: .stress
        ) { context in
            let store = try context.store(.tallies)
            try store.put((0..<4).map { .tally($0, 100) }, into: "Tally")
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
