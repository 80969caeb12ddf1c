internal import TidelineStore
internal import TidelineSupport

extension Check {
    /// Several processes that write.
    static let concurrencyProcessWriters: [Check] = [
        Check(
            "CON-101",
            "When several processes write at once, every acknowledged row is stored, and no write throws busy",
            why: """
                A writer waits for other writers. A writer that does not wait, or that upgrades a read lock, fails \
                under load; one that overwrites data read before its lock loses other writers' rows.
                """,
            tier: .stress, needs: [.sharedFiles, .process]
        ) { context in
            let store = try context.store(PairedTransactions.tables)
            let writers = (0..<2).map { PairedTransactions(writer: "w\($0)", count: 30 * context.rounds, rows: 3) }
            let own = PairedTransactions(writer: "own", count: 30 * context.rounds, rows: 3)
            try context.children(writers.map { [.open(try context.opening()), .wait, .write($0), .close] }) {
                children in
                for number in own.numbers { try store.write { try own.apply(number, to: $0) } }
                for (child, writer) in zip(children, writers) {
                    let end = try context.finish(child, "a process that writes concurrently with two others")
                    try context.expect(end.lines.count, is: writer.count, "the acknowledged commits")
                }
            }
            var expected = [own: own.count...own.count]
            for writer in writers { expected[writer] = writer.count...writer.count }
            try context.expectPairs(expected, in: store, "after three processes wrote at once")
            try context.expectPairs(
                expected, in: context.reopened(store), "after three processes wrote at once, reopened")
        },
        Check(
            "CON-102", "Data read in a write stays valid until its commit: no update is lost to another process",
            why: "Several processes increment one number. A write that reads before it locks loses increments.",
            tier: .stress, needs: [.sharedFiles, .process]
        ) { context in
            let store = try context.store(PairedTransactions.tables)
            let times = 60 * context.rounds
            let counting: [ChildStep] = [
                .open(try context.opening()), .wait, .increment(PairedCounter(), times: times), .close,
            ]
            try context.children([counting, counting]) { children in
                for _ in 0..<times { _ = try PairedCounter().increment(in: store) }
                for child in children {
                    try context.finish(child, "a process that increments concurrently with two others")
                }
            }
            let row = try store.row(in: "left", "counter")
            try context.expect(
                row?["number"], is: .int(Int64(3 * times)), "the sum of the increments of three processes")
        },
        Check(
            "CON-103", "Processes that create one store at once create a single store",
            why: "The second process must find the first one's store instead of replacing it with an empty one.",
            tier: .stress, needs: [.sharedFiles, .process]
        ) { context in
            for round in 0..<(2 * context.rounds) {
                let name = "new\(round)"
                let writers = (0..<3).map { PairedTransactions(writer: "w\($0)", count: 4) }
                try context.children(writers.map { [.wait] + (try context.writing($0, in: name)) + [.close] }) {
                    children in
                    for child in children {
                        try context.finish(child, "one of three processes that create a store at once")
                    }
                }
                let expected = Dictionary(uniqueKeysWithValues: writers.map { ($0, 4...4) })
                let store = try context.open(name)
                try context.expectPairs(expected, in: store, "after three processes created one store at once")
                try store.close()
            }
        },
        Check(
            "CON-104", "A killed writer does not block any open store",
            why: """
                The lock of a dead process must be released immediately and its uncommitted changes must be gone, also \
                for processes that never close the store.
                """,
            tier: .stress, needs: [.sharedFiles, .survivingDeath, .process]
        ) { context in
            var random = SplitMix64(seed: context.seed)
            let store = try context.store(PairedTransactions.tables)
            let own = PairedTransactions(writer: "own", count: context.kills)
            var expected: [PairedTransactions: ClosedRange<Int>] = [:]
            for round in own.numbers {
                let other = PairedTransactions(writer: "r\(round)", count: 1_000_000, rows: 20)
                let acknowledged = try context.killing(
                    context.writing(other), after: Int.random(in: 1...6, using: &random),
                    delay: Double.random(in: 0...1.2, using: &random))
                expected[other] = acknowledged...(acknowledged + 1)
                try store.write { try own.apply(round, to: $0) }
                expected[own] = (round + 1)...(round + 1)
                let totals = try context.expectPairs(expected, in: store, "after a concurrent process was killed")
                expected = totals.mapValues { $0...$0 }
            }
        },
    ]
}

extension CheckContext {
    /// Starts several processes, lets all continue at once from their waits, and calls `body` with them.
    fileprivate func children(_ jobs: [[ChildStep]], body: ([ChildProcess]) throws -> Void) throws {
        func start(_ index: Int, _ started: [ChildProcess]) throws {
            guard index < jobs.count else {
                for child in started { try child.expect(ChildLine.waiting) }
                for child in started { child.proceed() }
                return try body(started)
            }
            try child(jobs[index]) { try start(index + 1, started + [$0]) }
        }
        try start(0, [])
    }
}
