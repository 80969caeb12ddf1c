internal import TidelineStore
internal import TidelineSupport

extension Check {
    /// A process that is killed while it writes.
    static let durabilityKilledWriters: [Check] = [
        Check(
            "DUR-101", "Acknowledged commits are kept when the process is killed",
            why: "The system can end apps at any time. Commits in a buffer, or on a background thread, are lost.",
            tier: .stress
        ) { context in
            var random = SplitMix64(seed: context.seed)
            try context.killWriters { _ in
                (PairedTransactions(writer: "", count: 20_000), Int.random(in: 1...40, using: &random), 0)
            }
        },
        Check(
            "DUR-102", "A transaction interrupted by a kill leaves nothing behind",
            why: "Two tables get the same rows. A store that commits in parts leaves a part of the last transaction.",
            tier: .stress
        ) { context in
            var random = SplitMix64(seed: context.seed)
            try context.killWriters { _ in
                let large = PairedTransactions(writer: "", count: 1_000, rows: 120, length: 400)
                return (large, Int.random(in: 1...4, using: &random), Double.random(in: 0...1.2, using: &random))
            }
        },
        Check(
            "DUR-103", "Rows of earlier commits stay intact when a process that changes others is killed",
            why: "A store that rewrites its file, or moves old pages in place, may lack existing rows for a moment.",
            tier: .stress
        ) { context in
            var random = SplitMix64(seed: context.seed)
            let base = PairedTransactions(writer: "base", count: 3, rows: 150, length: 1_000)
            try context.killWriters(beside: base) { _ in
                let small = PairedTransactions(writer: "", count: 20_000)
                return (small, Int.random(in: 1...10, using: &random), Double.random(in: 0...1.5, using: &random))
            }
        },
        Check(
            "DUR-104", "A process killed during a transaction leaves none of its changes",
            why: "Changes that are written in place before the commit remain unless they are undone."
        ) { context in
            let committed = PairedTransactions(writer: "killed", count: 6, rows: 4)
            var open = PairedTransactions(writer: "killed", count: 12, rows: 100)
            open.first = 6
            for round in 0..<2 {
                try context.child(context.writing(committed) + [.writeAndWait(open)]) { child in
                    while let line = try child.next(), line != ChildLine.waiting {}
                    try child.killAndFinish()
                }
                let store = try context.open()
                try context.expectPairs([committed: 6...6], in: store, "after a kill within a transaction")
                try store.put(["id": .string("own\(round)")], into: "left")
                try store.delete(ids: [.string("own\(round)")], from: "left")
                try store.close()
            }
        },
    ].needing(.survivingDeath, .process)
}

extension CheckContext {
    /// Kills writers one after the other and, after each kill, checks the data that all of them left.
    ///
    /// - Parameters:
    ///   - base: The existing data.
    ///   - next: Returns the next writer's transactions, the number after which it is killed, and the additional delay
    ///     as a fraction of the duration of one.
    fileprivate func killWriters(
        beside base: PairedTransactions? = nil,
        _ next: (_ round: Int) -> (PairedTransactions, lines: Int, delay: Double)
    ) throws {
        var expected: [PairedTransactions: ClosedRange<Int>] = [:]
        for round in 0..<kills {
            // One store for every ten kills, so that the duration is proportional to their number.
            let name = "store\(round / 10)"
            if round % 10 == 0 {
                expected = [:]
                if let base {
                    try childFinishing(writing(base, in: name) + [.close])
                    expected[base] = base.count...base.count
                }
            }
            var (transactions, lines, delay) = next(round)
            transactions.writer = "r\(round)"
            let acknowledged = try killing(writing(transactions, in: name), after: lines, delay: delay)
            expected[transactions] = acknowledged...(acknowledged + 1)
            let store = try open(name)
            expected = try expectPairs(expected, in: store, "after kill \(round + 1)").mapValues { $0...$0 }
            try store.close()
        }
    }
}
