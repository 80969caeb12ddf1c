internal import Foundation
internal import TidelineStore

extension Check {
    /// A store's use of memory, files, and disk space.
    static let scaleResources: [Check] = [
        Check(
            "SCA-008", "A scan of a large table does not hold multiple copies of it in memory",
            why: "Rows are borrowed one by one so that a table may be larger than the memory of a phone.",
            tier: .stress
        ) { context in
            let rows = ManyRows(context.settings.rows / 4, textLength: 1_000)
            let store = try rows.store(in: context)
            let scanned = try context.reopened(store)
            try expectMemory(of: "a scan of all rows", atMost: 2 * rows.byteCount + 16 << 20, context) { measure in
                var seen = 0
                try scanned.base.scan(TableQuery("Many")) { _ in
                    seen += 1
                    if seen % 512 == 0 { measure() }
                    return .next
                }
                try context.expect(seen, is: rows.count, "the rows scanned")
            }
        },
        Check("SCA-009", "A scan that is stopped early uses memory only for the rows that it returned", tier: .stress) {
            context in
            let rows = ManyRows(context.settings.rows / 4, textLength: 1_000)
            let store = try rows.store(in: context)
            let scanned = try context.reopened(store)
            // A copy of many rows exceeds it. That of few rows is less than what other work of the process takes.
            let limit = max(rows.byteCount / 2, 16 << 20)
            try expectMemory(of: "a scan of three rows", atMost: limit, context) { measure in
                var seen = 0
                try scanned.base.scan(TableQuery("Many")) { _ in
                    seen += 1
                    measure()
                    return seen < 3 ? .next : .stop
                }
                try context.expect(seen, is: min(3, rows.count), "the rows of a scan that was stopped after three")
            }
        },
        Check(
            "SCA-010", "The space of deleted rows, and of replaced ones, is reused",
            why: "A cache that is filled and emptied for years, or rows that each sync changes, fill the device.",
            tier: .stress, needs: [.persistence]
        ) { context in
            let rows = ManyRows(context.settings.rows / 100, textLength: 4_000)
            let store = try context.store(ManyRows.schema)
            try expectReuse(by: "filling a table and emptying it", of: rows, context) { _ in
                try rows.load(into: store)
                try store.delete(matching: TableQuery("Many"))
            }
            try rows.load(into: store)
            try expectReuse(by: "replacing the texts of all rows", of: rows, context) { number in
                try rows.load(into: store, version: number + 1)
            }
        },
        Check("SCA-011", "Opening and closing stores leaves no file open", tier: .stress, needs: [.persistence]) {
            context in
            try openOften(context, count: 300 * context.rounds)
            let open = ProcessState.openFiles(in: context.directory)
            try context.expect(open, is: [], "the open files after hundreds of openings")
        },
        Check("SCA-012", "Opening and closing stores does not accumulate memory", tier: .stress) { context in
            let count = 100 * context.rounds
            try openOften(context, count: 50)
            try expectMemory(of: "\(count) openings", atMost: count * 24 << 10, context) { measure in
                try openOften(context, count: count)
                measure()
            }
        },
        Check(
            "SCA-013",
            "Thousands of transactions, including failed ones, leave no file open and do not accumulate memory",
            tier: .stress
        ) { context in
            let store = try context.store(.items)
            try transact(store.base, count: 300)
            let open = ProcessState.openFiles(in: context.directory).count
            let count = 400 * context.rounds
            try expectMemory(of: "\(count) rounds of transactions", atMost: count * 8 << 10, context) { measure in
                try transact(store.base, count: count)
                measure()
            }
            try context.expect(ProcessState.openFiles(in: context.directory).count, is: open, "open files afterwards")
        },
    ]

    /// Fails if the files grow with each repetition of a change of all rows.
    private static func expectReuse(
        by what: String, of rows: ManyRows, _ context: CheckContext, _ change: (_ number: Int) throws -> Void
    ) throws {
        var sizes: [Int] = []
        for number in 0..<20 {
            try change(number)
            sizes.append(ProcessState.size(of: context.directory))
        }
        // The smallest of several sizes, because logs and merges let a file grow temporarily. On a busy machine, merges
        // in the background may end much later: they go on as long as the size changes.
        let limit = 4 * rows.byteCount + 32 << 20
        var (least, last, unchanged) = (sizes.suffix(6).min() ?? 0, 0, 0)
        while least > limit, unchanged < 300 {
            Thread.sleep(forTimeInterval: 0.1)
            let size = ProcessState.size(of: context.directory)
            unchanged = size == last ? unchanged + 1 : 0
            (least, last) = (min(least, size), size)
        }
        try context.expect(
            least <= limit,
            """
            after \(what) 20 times, with \(rows.byteCount) bytes each time, the files have at least \(least) bytes, \
            expected at most \(limit); after each time: \(sizes)
            """)
    }

    private static let attempts = 12

    /// Fails if the growth exceeds the limit in all attempts; concurrent checks allocate memory, but not always.
    private static func expectMemory(
        of what: String, atMost limit: Int, _ context: CheckContext, _ body: (_ measure: () -> Void) throws -> Void
    ) throws {
        var growths: [Int] = []
        for attempt in 0..<attempts {
            // Longer and longer, so that not all attempts are made beside the same work.
            Thread.sleep(forTimeInterval: 0.1 * Double(attempt))
            let before = try ProcessState.knownMemory()
            var peak = before
            try body { peak = max(peak, (try? ProcessState.knownMemory()) ?? 0) }
            growths.append(peak - before)
            if peak - before <= limit { return }
        }
        throw CheckFailure(
            """
            \(what) used at least \(growths.min() ?? 0) bytes of memory in each of \(attempts) attempts, expected at most \
            \(limit)
            """)
    }

    private static func openOften(_ context: CheckContext, count: Int) throws {
        for number in 0..<count {
            let opening = StoreOpening(directory: try context.folder("store"))
            let store = try context.harness.open(opening)
            if number % 10 == 0 {
                try store.define([.items])
                try store.put(["id": "1", "text": .string("\(number)")] as Row, into: "TodoItem")
            }
            _ = try store.tables()
            try store.close()
        }
    }

    /// Reads, writes, and fails in each of the ways in which a transaction can fail.
    private static func transact(_ store: any LocalStore, count: Int) throws {
        let invalid = try TableSchema.items.packed([Row(id: .string(""))])
        for number in 0..<count {
            let row: Row = ["id": .string("\(number % 5)"), "text": .string("text \(number)"), "priority": 1]
            try store.put(row, into: "TodoItem")
            try store.scan(TableQuery("TodoItem", predicate: .column("priority") == 1)) { _ in .stop }
            try? store.write { writer in
                try writer.upsert(row, into: "TodoItem")
                throw StoreError(.io, "the body throws")
            }
            try? store.put(invalid, into: "TodoItem")
            _ = try? store.count(TableQuery("none"))
        }
    }
}
