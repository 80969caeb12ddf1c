internal import TidelineStore

extension Check {
    /// What a store takes of memory, files and space.
    static let scaleResources: [Check] = [
        Check(
            "SCA-008", "A scan of a large table does not hold it in memory several times over",
            why: "Rows are lent one by one so that a table may be larger than the memory of a phone.",
            tier: .stress
        ) { trial in
            let rows = ManyRows(trial.settings.rows / 4, textLength: 1_000)
            let store = try trial.store(ManyRows.schema)
            try rows.load(into: store)
            let scanned = try trial.reopened(store)
            try expectMemory(of: "a scan of all rows", atMost: 2 * rows.byteCount + 16 << 20, trial) { measure in
                var seen = 0
                try scanned.base.read { reader in
                    _ = try reader.scan(Query("Many")) { _ in
                        seen += 1
                        if seen % 512 == 0 { measure() }
                        return .next
                    }
                }
                try trial.expect(seen, is: rows.count, "the rows scanned")
            }
        },
        Check("SCA-009", "A scan that is stopped early takes no more memory than the rows it lent need", tier: .stress)
        {
            trial in
            let rows = ManyRows(trial.settings.rows / 4, textLength: 1_000)
            let store = try trial.store(ManyRows.schema)
            try rows.load(into: store)
            let scanned = try trial.reopened(store)
            try expectMemory(of: "a scan of three rows", atMost: rows.byteCount + 16 << 20, trial) { measure in
                var seen = 0
                try scanned.base.read { reader in
                    _ = try reader.scan(Query("Many")) { _ in
                        seen += 1
                        measure()
                        return seen < 3 ? .next : .stop
                    }
                }
                try trial.expect(seen, is: 3, "the rows lent by a scan that was told to stop after three")
            }
        },
        Check(
            "SCA-010", "The space of deleted rows is used again",
            why: "A cache that is filled and emptied for years would fill the device.",
            tier: .stress, needs: [.persistence]
        ) { trial in
            let rows = ManyRows(trial.settings.rows / 100, textLength: 4_000)
            let store = try trial.store(ManyRows.schema)
            var sizes: [Int] = []
            for _ in 0..<24 {
                try rows.load(into: store)
                try store.write { _ = try $0.delete(matching: Query("Many")) }
                sizes.append(ProcessState.size(of: trial.directory))
            }
            // The least of several: logs and merges let a file grow for a while.
            let (least, limit) = (sizes.suffix(8).min() ?? 0, 4 * rows.byteCount + 32 << 20)
            try trial.expect(
                least <= limit,
                """
                after filling a table with \(rows.byteCount) bytes and emptying it 24 times, the files have \(least) \
                bytes or more, expected at most \(limit); after each time: \(sizes)
                """)
        },
        Check("SCA-011", "Stores that were opened and closed leave no file open", tier: .stress, needs: [.persistence])
        {
            trial in
            try openOften(trial, count: 300 * trial.rounds)
            let open = ProcessState.openFiles(in: trial.directory)
            try trial.expect(open, is: [], "the open files after hundreds of openings")
        },
        Check("SCA-012", "Stores that were opened and closed leave no memory taken", tier: .stress) { trial in
            let count = 100 * trial.rounds
            try openOften(trial, count: 50)
            try expectMemory(of: "\(count) openings", atMost: count * 24 << 10, trial) { measure in
                try openOften(trial, count: count)
                measure()
            }
        },
        Check(
            "SCA-013", "Thousands of transactions, failed ones too, leave no memory taken and no file open",
            tier: .stress
        ) { trial in
            let store = try trial.store(.items)
            try transact(store.base, count: 300)
            let open = ProcessState.openFiles(in: trial.directory).count
            let count = 400 * trial.rounds
            try expectMemory(of: "\(count) rounds of transactions", atMost: count * 8 << 10, trial) { measure in
                try transact(store.base, count: count)
                measure()
            }
            try trial.expect(ProcessState.openFiles(in: trial.directory).count, is: open, "the open files afterwards")
        },
    ]

    /// Fails when what `body` measures is too much more than there was before, every one of eight times: other checks
    /// run beside this one, and take memory too, but not all the time.
    private static func expectMemory(
        of what: String, atMost limit: Int, _ trial: Trial, _ body: (_ measure: () -> Void) throws -> Void
    ) throws {
        var growths: [Int] = []
        for _ in 0..<8 {
            let before = ProcessState.memory
            var peak = before
            try body { peak = max(peak, ProcessState.memory) }
            growths.append(peak - before)
            if peak - before <= limit { return }
        }
        throw CheckFailure(
            "\(what) took \(growths.min() ?? 0) bytes of memory or more, each of 8 times, expected at most \(limit)")
    }

    private static func openOften(_ trial: Trial, count: Int) throws {
        for number in 0..<count {
            let opening = StoreOpening(directory: try trial.folder("store"))
            let store = try trial.harness.open(opening)
            if number % 10 == 0 {
                try store.define([.items])
                try store.write { try $0.upsert(["id": "1", "text": .string("\(number)")] as Row, into: "TodoItem") }
            }
            _ = try store.tables()
            try store.close()
        }
    }

    /// Reads, writes, and fails in each of the ways that a transaction can.
    private static func transact(_ store: any LocalStore, count: Int) throws {
        let invalid = try TableSchema.items.packed([Row(id: .string(""))])
        for number in 0..<count {
            let row: Row = ["id": .string("\(number % 5)"), "text": .string("text \(number)"), "priority": 1]
            try store.write { try $0.upsert(row, into: "TodoItem") }
            _ = try store.read { reader in
                try reader.scan(Query("TodoItem", predicate: .column("priority") == 1)) { _ in .stop }
            }
            try? store.write { writer in
                try writer.upsert(row, into: "TodoItem")
                throw StoreError(.io, "the body throws")
            }
            try? store.write { try $0.upsert(invalid, into: "TodoItem") }
            _ = try? store.read { try $0.count(Query("none")) }
        }
    }
}
