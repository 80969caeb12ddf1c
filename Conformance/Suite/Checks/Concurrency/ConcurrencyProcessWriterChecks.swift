internal import TidelineStore
internal import TidelineSupport

extension Check {
    /// Several processes that write.
    static let concurrencyProcessWriters: [Check] = [
        Check(
            "CON-101", "Of processes that write at once every acknowledged row is there, and none is told busy",
            why: """
                A writer that finds another at work waits for it. One that gives up, or takes a lock for reading and \
                wants more later, fails under load; one that writes over what it read before loses the other's rows.
                """,
            tier: .stress, needs: [.sharedFiles, .process]
        ) { trial in
            let store = try trial.open()
            try store.define(PairedTransactions.tables)
            let writers = (0..<2).map { PairedTransactions(writer: "w\($0)", count: 30 * trial.rounds, rows: 3) }
            let own = PairedTransactions(writer: "own", count: 30 * trial.rounds, rows: 3)
            try trial.children(writers.map { [.open(try trial.opening()), .wait, .write($0), .close] }) { children in
                for number in own.numbers { try store.write { try own.apply(number, to: $0) } }
                for (child, writer) in zip(children, writers) {
                    let end = try child.finish()
                    try trial.expect(end.isWell, "a process that writes beside two others fails: \(end)")
                    try trial.expect(end.lines.count, is: writer.count, "the acknowledged commits")
                }
            }
            var expected = [own: own.count...own.count]
            for writer in writers { expected[writer] = writer.count...writer.count }
            try trial.expectPairs(expected, in: store, "after three processes wrote at once")
            try trial.expectPairs(expected, in: try trial.reopened(store), "after three processes wrote, opened again")
        },
        Check(
            "CON-102", "What one process reads in a write stays so until it commits: no update is lost to another",
            why: "Several processes count one number up. A write that reads before it has its lock counts too little.",
            tier: .stress, needs: [.sharedFiles, .process]
        ) { trial in
            let store = try trial.open()
            try store.define(PairedTransactions.tables)
            let times = 60 * trial.rounds
            let counting: [ChildStep] = [
                .open(try trial.opening()), .wait, .increment(PairedCounter(), times: times), .close,
            ]
            try trial.children([counting, counting]) { children in
                for _ in 0..<times { _ = try PairedCounter().increment(in: store) }
                for child in children {
                    let end = try child.finish()
                    try trial.expect(end.isWell, "a process that counts beside two others fails: \(end)")
                }
            }
            let row = try store.read { try $0.row(in: "left", id: "counter") }
            try trial.expect(row?["number"], is: .int(Int64(3 * times)), "what three processes counted to")
        },
        Check(
            "CON-103", "Processes that make one store at once make one",
            why: "Whoever comes second must find the first one's store, not put an empty one in its place.",
            tier: .stress, needs: [.sharedFiles, .process]
        ) { trial in
            for round in 0..<(2 * trial.rounds) {
                let name = "new\(round)"
                let writers = (0..<3).map { PairedTransactions(writer: "w\($0)", count: 4) }
                try trial.children(try writers.map { [.wait] + (try trial.writing($0, in: name)) + [.close] }) {
                    children in
                    for child in children {
                        let end = try child.finish()
                        try trial.expect(end.isWell, "one of three processes that make a store at once fails: \(end)")
                    }
                }
                let expected = Dictionary(uniqueKeysWithValues: writers.map { ($0, 4...4) })
                let store = try trial.open(name)
                try trial.expectPairs(expected, in: store, "after three processes made one store at once")
                try store.close()
            }
        },
        Check(
            "CON-104", "A writer that is killed holds up no store that is open",
            why: """
                The lock of a process that died must be free at once, and what it had not committed be gone, also for \
                those who never close the store.
                """,
            tier: .stress, needs: [.sharedFiles, .survivingDeath, .process]
        ) { trial in
            var random = SplitMix64(seed: trial.seed)
            let store = try trial.open()
            try store.define(PairedTransactions.tables)
            let own = PairedTransactions(writer: "own", count: trial.kills)
            var expected: [PairedTransactions: ClosedRange<Int>] = [:]
            for round in own.numbers {
                let other = PairedTransactions(writer: "r\(round)", count: 1_000_000, rows: 20)
                let acknowledged = try trial.killing(
                    try trial.writing(other), after: Int.random(in: 1...6, using: &random),
                    delay: Double.random(in: 0...1.2, using: &random))
                expected[other] = acknowledged...(acknowledged + 1)
                try store.write { try own.apply(round, to: $0) }
                expected[own] = (round + 1)...(round + 1)
                let totals = try trial.expectPairs(expected, in: store, "beside a process that was killed")
                expected = totals.mapValues { $0...$0 }
            }
        },
    ]
}

extension Trial {
    /// Starts several processes, lets all go on at once where they wait, and calls `body` with them.
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
