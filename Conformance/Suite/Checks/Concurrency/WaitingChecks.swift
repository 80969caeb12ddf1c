internal import Synchronization
internal import TidelineStore

extension Check {
    /// Calls that must wait for others, and calls that must not.
    static let concurrencyWaiting: [Check] = [
        Check(
            "CON-012", "A long read does not block a writer's commit or later writes",
            needs: [.readersBesideWriter]
        ) { trial in
            let store = try trial.store(.notes)
            try store.write { try $0.upsert(["id": "a"], into: "Note") }
            try store.read { reader in
                let before = try reader.count(Query("Note"))
                try trial.elsewhere("writes during a long read") {
                    for number in 0..<20 {
                        try store.write { try $0.upsert(["id": .string("n\(number)")], into: "Note") }
                    }
                }
                try trial.expect(try reader.count(Query("Note")), is: before, "the count in the long read")
            }
            try trial.expect(try store.read { try $0.count(Query("Note")) }, is: 21, "the notes afterwards")
        },
        Check(
            "CON-013", "A writer does not block readers that begin while it writes",
            needs: [.readersBesideWriter]
        ) { trial in
            let store = try trial.store(.notes)
            try store.write { writer in
                try writer.upsert((0..<500).map { ["id": .string("n\($0)")] }, into: "Note")
                try trial.onThreads(4, "readers during a long write") { _ in
                    for _ in 0..<5 {
                        try trial.expect(try store.read { try $0.count(Query("Note")) }, is: 0, "the count of a reader")
                    }
                }
            }
        },
        Check("CON-014", "Two reads run at once, on two threads", needs: [.readersBesideWriter]) { trial in
            let store = try trial.store(.notes)
            let (first, second) = (Signal(), Signal())
            let team = ThreadTeam(trial)
            for (mine, other) in [(first, second), (second, first)] {
                team.start {
                    try store.read { reader in
                        mine.send()
                        try other.wait(trial, "a read waits for another one to end")
                        _ = try reader.count(Query("Note"))
                    }
                }
            }
            try team.wait(for: "two reads at once")
        },
        Check(
            "CON-015", "Reads can be nested on one thread, also while a writer waits or commits",
            why: "If a lock prefers waiting writers, the inner read waits for the outer one to end."
        ) { trial in
            let store = try trial.store(.notes)
            try store.write { try $0.upsert(["id": "a"], into: "Note") }
            let team = ThreadTeam(trial)
            let isWriting = Signal()
            try store.read { outer in
                team.start {
                    isWriting.send()
                    try store.write { try $0.upsert(["id": "b"], into: "Note") }
                }
                try isWriting.wait(trial, "the writer's thread does not start")
                if trial.capabilities.readersDoNotBlockWriters { try team.wait(for: "a write during a read") }
                for _ in 0..<20 {
                    let count = try store.read { try $0.count(Query("Note")) }
                    try trial.expect((1...2).contains(count), "an inner read counts \(count) notes instead of 1 or 2")
                }
                try trial.expect(try nested(20, in: store) >= 1, "twenty nested reads find no note")
                try trial.expect(try outer.count(Query("Note")), is: 1, "the outer read afterwards")
            }
            try team.wait(for: "the write")
        },
        Check(
            "CON-016", "A write to one store can be made inside a write to another",
            why: "A thread-local marker shared by all stores mistakes one store for the other."
        ) { trial in
            let (first, second) = (try trial.store(.notes, in: "first"), try trial.store(.notes, in: "second"))
            try first.write { writer in
                try writer.upsert(["id": "a"], into: "Note")
                try second.write { inner in
                    try inner.upsert(["id": "b"], into: "Note")
                    try trial.expect(try writer.ids(Query("Note")), is: ["a"], "the outer store's notes")
                    try trial.expect(try inner.ids(Query("Note")), is: ["b"], "the inner store's notes")
                }
                try writer.upsert(["id": "c"], into: "Note")
                _ = try second.read { try $0.count(Query("Note")) }
            }
            try first.read { _ in try second.write { try $0.upsert(["id": "d"], into: "Note") } }
            try trial.expect(Query("Note"), in: first, finds: ["a", "c"], "the first store")
            try trial.expect(Query("Note"), in: second, finds: ["b", "d"], "the second store")
        },
        Check(
            "CON-017", "Two threads that each read one store inside a write to the other do not deadlock",
            why: "An observer of one store may read another; that must not deadlock.",
            tier: .stress, needs: [.readersBesideWriter]
        ) { trial in
            let stores = [try trial.store(.notes, in: "first"), try trial.store(.notes, in: "second")]
            try trial.onThreads(2, "two stores that read each other") { thread in
                for step in 0..<(30 * trial.rounds) {
                    try stores[thread].write { writer in
                        try writer.upsert(["id": .string("n\(step)")], into: "Note")
                        let own = try stores[thread].read { try $0.count(Query("Note")) }
                        try trial.expect(own, is: step, "the count of a read in the thread's own store")
                        _ = try stores[1 - thread].read { try $0.count(Query("Note")) }
                    }
                }
            }
        },
        Check(
            "CON-018", "Reads and writes in flight while the store is closed complete or throw closed",
            why: "A close that does not wait closes the files in use by others."
        ) { trial in
            for round in 0..<(5 * trial.rounds) { try closing(trial, "store\(round)") }
        },
        Check(
            "CON-019", "The store stays usable after three hundred threads have read, scanned in part, and ended",
            why: "A slot for each thread that is never released is eventually exhausted.", tier: .stress
        ) { trial in
            let store = try trial.store(.notes)
            try store.write { try $0.upsert((0..<20).map { ["id": .string("n\($0)")] }, into: "Note") }
            for _ in 0..<(15 * trial.rounds) {
                try trial.onThreads(20, "threads that start and end") { _ in
                    try store.read { reader in
                        _ = try reader.scan(Query("Note")) { $0.id == "n11" ? .stop : .next }
                        _ = try? reader.scan(Query("Note")) { _ in throw Abort() }
                        try trial.expect(try reader.count(Query("Note")), is: 20, "the notes")
                    }
                }
            }
            try store.write { try $0.upsert(["id": "last"], into: "Note") }
            try trial.expect(try store.read { try $0.count(Query("Note")) }, is: 21, "the notes at the end")
        },
        Check(
            "CON-024", "A write that begins while another is in flight waits for it and is not refused",
            why: "Two concurrent writes based on the same version lose one of the changes."
        ) { trial in
            let store = try trial.store(.notes)
            let team = ThreadTeam(trial)
            let (isBeginning, isInside) = (Signal(), Signal())
            try store.write { writer in
                team.start {
                    isBeginning.send()
                    try store.write { second in
                        isInside.send()
                        try second.upsert(["id": "b"], into: "Note")
                    }
                }
                try isBeginning.wait(trial, "the second writer's thread does not start")
                try trial.expect(!isInside.comesTooEarly(), "the body of a second write runs during the first one")
                try writer.upsert(["id": "a"], into: "Note")
            }
            try team.wait(for: "a write that waits for another")
            try trial.expect(try store.read { try $0.ids(Query("Note")) }, is: ["a", "b"], "the notes of both writes")
        },
    ]

    private static func nested(_ depth: Int, in store: TracedStore) throws -> Int {
        try store.read { reader in
            try depth == 0 ? reader.count(Query("Note")) : nested(depth - 1, in: store)
        }
    }

    /// Closes a store while others read and write; their results must be correct.
    private static func closing(_ trial: Trial, _ name: String) throws {
        let store = try trial.store(.notes, in: name)
        let acknowledged = Mutex(0)
        let team = ThreadTeam(trial)
        let begun = Signal()
        team.start {
            try untilClosed { step in
                let rows = (0..<10).map { ["id": .string("\(step)-\($0)")] as Row }
                try store.write { try $0.upsert(rows, into: "Note") }
                acknowledged.withLock { $0 += 10 }
                if step == 2 { begun.send() }
            }
        }
        for _ in 0..<2 {
            team.start {
                try untilClosed { _ in
                    let (count, rows) = try store.read { (try $0.count(Query("Note")), try $0.allRows("Note").count) }
                    try trial.expect(
                        count % 10 == 0 && rows == count, "a read during close(): \(rows) of \(count) rows")
                }
            }
        }
        try begun.wait(trial, "the writer makes no progress")
        try store.close()
        try team.wait(for: "readers and a writer of a store that was closed")
        guard trial.capabilities.isPersistent else { return }
        let count = try trial.open(name).read { try $0.count(Query("Note")) }
        try trial.expect(count, is: acknowledged.withLock { $0 }, "the rows acknowledged before the store was closed")
    }

    private static func untilClosed(_ call: (Int) throws -> Void) throws {
        for step in 0..<100_000 {
            do { try call(step) } catch let error as StoreError where error.code == .closed { return }
        }
    }
}
