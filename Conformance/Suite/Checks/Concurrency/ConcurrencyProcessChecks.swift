internal import TidelineStore
internal import TidelineSupport

extension Check {
    /// Several processes that write.
    static let concurrencyProcessWriters: [Check] = [
        Check(
            "CON-101",
            "When several processes write at once, every acknowledged row is stored, and no write throws busy",
            why: "A writer that does not wait fails under load; one that writes data read before its lock loses rows.",
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
            try context.expectPairs(expected, in: context.reopened(store), "three processes wrote at once, reopened")
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
            try context.expect(row?["number"], is: .int(Int64(3 * times)), "the sum of increments of three processes")
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
            why: "A dead process's lock and uncommitted changes must be gone at once, also in stores that stay open.",
            tier: .stress, needs: [.sharedFiles, .survivingDeath, .process]
        ) { context in
            var random = SplitMix64(seed: context.seed)
            let store = try context.store(PairedTransactions.tables)
            let own = PairedTransactions(writer: "own", count: context.kills)
            var expected: [PairedTransactions: ClosedRange<Int>] = [:]
            for round in own.numbers {
                let other = PairedTransactions(writer: "r\(round)", count: 2_000, rows: 20)
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

    /// Visibility of one process's changes in another.
    static let concurrencyProcessReaders: [Check] = [
        Check(
            "CON-105", "Commits of another process are visible to the next read and the next write",
            why: "Cached data, such as a page, a row, or a row count, may be outdated by then."
        ) { context in
            let store = try context.store(PairedTransactions.tables)
            let find = ChildStep.find(table: "left", column: "number", value: 7)
            let other = PairedTransactions(writer: "other", count: 3)
            try context.child([
                .open(context.opening()), find, .wait, find, .write(other), .wait,
            ]) { child in
                try child.expect("")
                try child.expect(ChildLine.waiting)
                try context.expectPairs([:], in: store, "before any process wrote")
                try store.put(["id": "own", "number": 7], into: "left")
                try store.put(["id": "own", "number": 7], into: "right")
                child.proceed()
                try child.expect("own")
                try context.expectNumbers(0..<3, from: child)
                try context.expectPairs([other: 3...3], in: store, "after another process wrote")
                let count = try store.write {
                    try $0.count(TableQuery("left", predicate: .column("writer") == "other"))
                }
                try context.expect(count, is: other.rows(after: 3).count, "the other process's rows, seen from a write")
            }
        },
        Check(
            "CON-106", "Tables and columns that another process defines can be used immediately",
            why: "Definitions that a store read at opening may have changed since."
        ) { context in
            let store = try context.store(.notes, holding: [["id": "1", "text": "old"]])
            var notes = TableSchema.notes
            notes.columns.append(.string("colour"))
            try context.childFinishing([.open(context.opening()), .redefine([notes, .items]), .close])
            try context.expect(store.tables(), is: [notes, .items], "the tables after another process defined them")
            try store.put(["id": "2", "text": "new", "colour": "red"], into: "Note")
            try store.put(["id": "1", "text": "Milk"], into: "TodoItem")
            let row = try store.row(in: "Note", "1")
            let old: Row = ["id": "1", "text": "old"]
            try context.expect(row, is: old.completed(for: notes), "an existing row with the new column")
            let red = TableQuery("Note", predicate: .column("colour") == "red")
            try context.expect(red, in: store, finds: [.string("2")], "by the new column")
        },
        Check(
            "CON-107", "An index that another process defines is updated by the next write",
            why: "A store that read the indexes at opening writes no entries into new ones, so queries miss rows."
        ) { context in
            let store = try context.store(.notes, holding: [["id": "1", "number": 7]])
            try store.put(["id": "2", "number": 8], into: "Note")
            var notes = TableSchema.notes
            notes.indexes = [["number"]]
            let find = ChildStep.find(table: "Note", column: "number", value: 7)
            try context.child([.open(context.opening()), .define([notes]), find, .wait, find, .wait]) { child in
                try child.expect("1")
                try child.expect(ChildLine.waiting)
                try store.write { writer in
                    try writer.upsert(["id": "1", "number": 8], into: "Note")
                    try writer.upsert(["id": "2", "number": 7], into: "Note")
                    try writer.upsert(["id": "3", "number": 7], into: "Note")
                }
                child.proceed()
                try child.expect("2 3")
                let query = TableQuery("Note", predicate: .column("number") == 7)
                try context.expect(query, in: store, finds: ["2", "3"].map { .string($0) })
            }
        },
        Check(
            "CON-108", "A transaction of another process is visible after its commit, and completely",
            needs: [.readersBesideWriter]
        ) { context in
            let store = try context.store(PairedTransactions.tables)
            let other = PairedTransactions(writer: "other", count: 4, rows: 30)
            try context.child([.open(context.opening()), .writeAndWait(other), .say("committed"), .wait]) { child in
                try child.expect(ChildLine.waiting)
                try context.expectPairs([other: 0...0], in: store, "before another process's write is committed")
                child.proceed()
                try child.expect("committed")
                try context.expectPairs([other: 4...4], in: store, "after another process's write was committed")
            }
        },
        Check(
            "CON-109", "A read sees one snapshot while another process commits",
            needs: [.readersBesideWriter]
        ) { context in
            let store = try context.store(PairedTransactions.tables)
            let before = PairedTransactions(writer: "other", count: 2, rows: 10)
            var after = before
            after.first = 2
            after.count = 6
            let steps = try context.writing(before) + [.wait, .write(after), .say(ChildLine.end), .wait]
            try context.child(steps) { child in
                try context.expectNumbers(0..<2, from: child)
                try child.expect(ChildLine.waiting)
                try store.read { reader in
                    let first = try reader.allRows("left")
                    child.proceed()
                    try context.expectNumbers(2..<8, from: child)
                    try child.expect(ChildLine.end)
                    try context.expect(reader.allRows("left"), are: first, "rows read twice in one read")
                    try context.expect(reader.allRows("right"), are: first, "a table first read after the commits")
                }
                try context.expectPairs([after: 8...8], in: store, "in the next read")
            }
        },
        Check(
            "CON-110", "Every read concurrent with a writing process sees complete transactions",
            tier: .stress
        ) { context in
            let store = try context.store(PairedTransactions.tables)
            let other = PairedTransactions(writer: "other", count: 30 * context.rounds, rows: 4)
            try context.child(context.writing(other) + [.close]) { child in
                var seen = 0
                while try child.next() != nil {
                    let totals = try context.expectPairs(
                        [other: seen...other.count], in: store, "during another process's writes")
                    seen = totals[other] ?? 0
                }
                try context.finish(child, "a process that writes while another reads")
            }
            try context.expectPairs([other: other.count...other.count], in: store, "after the writer")
        },
    ].needing(.sharedFiles, .process)
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
