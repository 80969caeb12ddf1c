internal import Synchronization
internal import TidelineStore

extension Check {
    /// Calls that must wait for others, and calls that must not.
    static let concurrencyWaiting: [Check] = [
        Check(
            "CON-012", "A long read does not block a writer's commit or later writes",
            needs: [.readersBesideWriter]
        ) { context in
            let store = try context.store(.notes, holding: [["id": "a"]])
            try store.read { reader in
                let before = try reader.count(TableQuery("Note"))
                try context.elsewhere("writes during a long read") {
                    for number in 0..<20 { try store.put(["id": .string("n\(number)")], into: "Note") }
                }
                try context.expect(reader.count(TableQuery("Note")), is: before, "the count in the long read")
            }
            try context.expect(store.count(TableQuery("Note")), is: 21, "the notes afterwards")
        },
        Check(
            "CON-013", "A writer does not block readers that begin while it writes",
            needs: [.readersBesideWriter]
        ) { context in
            let store = try context.store(.notes)
            try store.write { writer in
                try writer.upsert((0..<500).map { ["id": .string("n\($0)")] }, into: "Note")
                try context.onThreads(4, "readers during a long write") { _ in
                    for _ in 0..<5 {
                        try context.expect(store.count(TableQuery("Note")), is: 0, "the count of a reader")
                    }
                }
            }
        },
        Check("CON-014", "Two reads run at once, on two threads", needs: [.readersBesideWriter]) { context in
            let store = try context.store(.notes)
            let (first, second) = (Signal(), Signal())
            let team = ThreadTeam(context)
            for (mine, other) in [(first, second), (second, first)] {
                team.start {
                    try store.read { reader in
                        mine.send()
                        try other.wait(context, "a read waits for another one to end")
                        _ = try reader.count(TableQuery("Note"))
                    }
                }
            }
            try team.wait(for: "two reads at once")
        },
        Check(
            "CON-015", "Reads can be nested on one thread, also while a writer waits or commits",
            why: "If a lock prefers waiting writers, the inner read waits for the outer one to end."
        ) { context in
            let store = try context.store(.notes, holding: [["id": "a"]])
            let team = ThreadTeam(context)
            let isWriting = Signal()
            try store.read { outer in
                team.start {
                    isWriting.send()
                    try store.put(["id": "b"], into: "Note")
                }
                try isWriting.wait(context, "the writer's thread does not start")
                if context.capabilities.readersDoNotBlockWriters { try team.wait(for: "a write during a read") }
                for _ in 0..<20 {
                    let count = try store.count(TableQuery("Note"))
                    try context.expect((1...2).contains(count), "an inner read counts \(count) notes instead of 1 or 2")
                }
                try context.expect(nested(20, in: store) >= 1, "twenty nested reads find no note")
                try context.expect(outer.count(TableQuery("Note")), is: 1, "the outer read afterwards")
            }
            try team.wait(for: "the write")
        },
        Check(
            "CON-016", "A write to one store can be made inside a write to another",
            why: "A thread-local marker shared by all stores mistakes one store for the other."
        ) { context in
            let (first, second) = (try context.store(.notes, in: "first"), try context.store(.notes, in: "second"))
            try first.write { writer in
                try writer.upsert(["id": "a"], into: "Note")
                try second.write { inner in
                    try inner.upsert(["id": "b"], into: "Note")
                    try context.expect(writer.ids(TableQuery("Note")), is: ["a"], "the outer store's notes")
                    try context.expect(inner.ids(TableQuery("Note")), is: ["b"], "the inner store's notes")
                }
                try writer.upsert(["id": "c"], into: "Note")
                _ = try second.count(TableQuery("Note"))
            }
            try first.read { _ in try second.put(["id": "d"], into: "Note") }
            try context.expect(TableQuery("Note"), in: first, finds: ["a", "c"], "the first store")
            try context.expect(TableQuery("Note"), in: second, finds: ["b", "d"], "the second store")
        },
        Check(
            "CON-017", "Two threads that each read one store inside a write to the other do not deadlock",
            why: "An observer of one store may read another; that must not deadlock.",
            tier: .stress, needs: [.readersBesideWriter]
        ) { context in
            let stores = [try context.store(.notes, in: "first"), try context.store(.notes, in: "second")]
            try context.onThreads(2, "two stores that read each other") { thread in
                for step in 0..<(30 * context.rounds) {
                    try stores[thread].write { writer in
                        try writer.upsert(["id": .string("n\(step)")], into: "Note")
                        let own = try stores[thread].read { try $0.count(TableQuery("Note")) }
                        try context.expect(own, is: step, "the count of a read in the thread's own store")
                        _ = try stores[1 - thread].read { try $0.count(TableQuery("Note")) }
                    }
                }
            }
        },
        Check(
            "CON-018", "Reads and writes in flight while the store is closed complete or throw closed",
            why: "A close that does not wait closes the files in use by others."
        ) { context in
            for round in 0..<(5 * context.rounds) { try closing(context, "store\(round)") }
        },
        Check(
            "CON-019", "The store stays usable after three hundred threads have read, scanned in part, and ended",
            why: "A slot for each thread that is never released is eventually exhausted.", tier: .stress
        ) { context in
            let store = try context.store(.notes, holding: (0..<20).map { ["id": .string("n\($0)")] })
            for _ in 0..<(15 * context.rounds) {
                try context.onThreads(20, "threads that start and end") { _ in
                    try store.read { reader in
                        _ = try reader.scan(TableQuery("Note")) { $0.idText == "n11" ? .stop : .next }
                        _ = try? reader.scan(TableQuery("Note")) { _ in throw Abort() }
                        try context.expect(reader.count(TableQuery("Note")), is: 20, "the notes")
                    }
                }
            }
            try store.put(["id": "last"], into: "Note")
            try context.expect(store.count(TableQuery("Note")), is: 21, "the notes at the end")
        },
        Check(
            "CON-036", "Each of 1, 17, and 300 reads that begin at once on separate threads sees all rows",
            why: "Engines have a table of readers; a store that has used it up waits for an entry instead of failing.",
            tier: .stress
        ) { context in
            let store = try context.store(.notes, holding: (0..<20).map { ["id": .string("n\($0)")] })
            for count in [1, 17, 300] { try readAtOnce(count, store, context) }
        },
        Check(
            "CON-024", "A write that begins while another is in flight waits for it and is not refused",
            why: "Two concurrent writes based on the same version lose one of the changes."
        ) { context in
            let store = try context.store(.notes)
            let team = ThreadTeam(context)
            let (isBeginning, isInside) = (Signal(), Signal())
            try store.write { writer in
                team.start {
                    isBeginning.send()
                    try store.write { second in
                        isInside.send()
                        try second.upsert(["id": "b"], into: "Note")
                    }
                }
                try isBeginning.wait(context, "the second writer's thread does not start")
                try context.expect(
                    !isInside.comesTooEarly(after: isBeginning, context),
                    "the body of a second write runs during the first one")
                try writer.upsert(["id": "a"], into: "Note")
            }
            try team.wait(for: "a write that waits for another")
            try context.expect(store.ids(TableQuery("Note")), is: ["a", "b"], "the notes of both writes")
        },
    ]

    /// Begins reads on many threads at once and fails unless each sees all rows. Some may wait until others end.
    static func readAtOnce(_ count: Int, _ store: TracedStore, _ context: CheckContext) throws {
        let begun = Mutex(0)
        let (hasBegun, mayEnd) = (Signal(), Signal())
        let team = ThreadTeam(context)
        for _ in 0..<count {
            team.start {
                let isLast = begun.withLock { begun in
                    begun += 1
                    return begun == count
                }
                if isLast { hasBegun.send() }
                try store.base.read { reader in
                    try context.expect(reader.count(TableQuery("Note")), is: 20, "the count of one of \(count) readers")
                    try mayEnd.wait(context, "\(count) readers: some wait although others end")
                    try context.expect(reader.ids(TableQuery("Note")).count, is: 20, "rows of one of \(count) readers")
                }
            }
        }
        try hasBegun.wait(context, "\(count) threads do not start")
        for _ in 0..<count { mayEnd.send() }
        try team.wait(for: "\(count) reads at once")
    }

    private static func nested(_ depth: Int, in store: TracedStore) throws -> Int {
        try store.read { reader in
            try depth == 0 ? reader.count(TableQuery("Note")) : nested(depth - 1, in: store)
        }
    }

    /// Closes a store while others read and write; their results must be correct.
    private static func closing(_ context: CheckContext, _ name: String) throws {
        let store = try context.store(.notes, in: name)
        let acknowledged = Mutex(0)
        let team = ThreadTeam(context)
        let begun = Signal()
        team.start {
            try untilClosed { step in
                let rows = (0..<10).map { ["id": .string("\(step)-\($0)")] as Row }
                try store.put(rows, into: "Note")
                acknowledged.withLock { $0 += 10 }
                if step == 2 { begun.send() }
            }
        }
        for _ in 0..<2 {
            team.start {
                try untilClosed { _ in
                    let (count, rows) = try store.read {
                        (try $0.count(TableQuery("Note")), try $0.allRows("Note").count)
                    }
                    try context.expect(count % 10 == 0 && rows == count, "a read in close(): \(rows) of \(count) rows")
                }
            }
        }
        try begun.wait(context, "the writer makes no progress")
        try store.close()
        try team.wait(for: "readers and a writer of a store that was closed")
        guard context.capabilities.isPersistent else { return }
        let count = try context.open(name).read { try $0.count(TableQuery("Note")) }
        try context.expect(count, is: acknowledged.withLock { $0 }, "the rows acknowledged before the store was closed")
    }

    private static func untilClosed(_ call: (Int) throws -> Void) throws {
        for step in 0..<100_000 {
            do { try call(step) } catch let error as StoreError where error.code == .closed { return }
        }
    }
}
