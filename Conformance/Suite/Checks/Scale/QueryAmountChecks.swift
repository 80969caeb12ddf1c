internal import TidelineStore

extension Check {
    /// Many consecutive queries.
    static let scaleQueries: [Check] = [
        Check(
            "SCA-018", "Thousands of different queries do not accumulate memory",
            why: "A cache of compiled queries without a limit grows with every search that a user enters.",
            tier: .stress, needs: [.process]
        ) { context in
            // Not run where memory is unknown, which only this process can report.
            _ = try ProcessState.knownMemory()
            // Measured in a separate process, because other checks allocate and free memory in this one.
            let lines = try context.childFinishing([.open(context.opening()), .askDifferentQueries, .close])
            guard let growth = lines.first.flatMap({ Int($0) }) else {
                throw HarnessError("the second process does not report its memory")
            }
            let limit = 4 << 20
            try context.expect(
                growth <= limit, "1,000 different queries took \(growth) bytes of memory, expected at most \(limit)")
        },
        Check(
            "SCA-019", "A query run 1, 2, 17, and 1,001 times reflects the changes in between",
            why: "An answer that is cached must not be used after rows have changed."
        ) { context in
            let store = try context.store(.notes)
            let query = TableQuery("Note", predicate: .column("number") >= 0, order: [OrderTerm("text")])
            var count = 0
            for time in 1...1_001 {
                if [1, 2, 17, 1_001].contains(time) {
                    try store.put(["id": .string("n\(time)"), "number": 1], into: "Note")
                    count += 1
                }
                try store.base.read { reader in
                    try context.expect(reader.ids(query).count, is: count, "the rows found in run \(time)")
                    try context.expect(reader.count(query), is: count, "the count in run \(time)")
                }
            }
        },
        Check(
            "SCA-020",
            "A limit on the time of queries ends them with timeLimit, or not at all, and ends with its reader",
            why: "A limit on a server's queries that stays on a connection ends the queries and writes of others."
        ) { context in
            let rows = (0..<2_000).map { ["id": .string("\($0)"), "number": .int($0)] as Row }
            let store = try context.store(.notes, holding: rows)
            let query = TableQuery("Note", predicate: .column("number") >= 0, order: [OrderTerm("text")])
            let hasLimit = try store.read { $0.limitTime != nil }
            try context.expect(
                hasLimit, is: context.capabilities.limitsQueryTime,
                "whether a reader has a limit on the time of queries")
            for limit in [Duration.zero, .milliseconds(1), .seconds(60)] {
                let found: Int?
                do {
                    found = try store.read { reader in
                        try reader.limitTime?(limit)
                        return try reader.ids(query).count
                    }
                } catch let error as StoreError where error.code == .timeLimit && limit < .seconds(60) {
                    found = nil
                }
                if let found { try context.expect(found, is: rows.count, "the rows found with a time limit") }
                for _ in 0..<3 {
                    let (ids, count) = try store.read { (try $0.ids(query).count, try $0.count(query)) }
                    try context.expect(ids, is: rows.count, "the rows found by the next reader")
                    try context.expect(count, is: rows.count, "the count of the next reader")
                }
                try store.put(rows, into: "Note")
            }
        },
        Check(
            "SCA-032", "A limit on the time of queries applies to all queries of its reader together, scans and counts",
            why: "A client of a server that sends a thousand quick queries takes as much time as one slow query."
        ) { context in
            let rows = (0..<2_000).map { ["id": .string("\($0)"), "number": .int($0)] as Row }
            let store = try context.store(.notes, holding: rows)
            let query = TableQuery("Note", predicate: .column("number") >= 0, order: [OrderTerm("text")])
            let calls: [(String, (any StoreReader) throws -> Void)] = [
                ("scans", { _ = try $0.ids(query) }), ("counts", { _ = try $0.count(query) }),
            ]
            let isLimited = context.capabilities.limitsQueryTime
            let limited = try isLimited ? calls : calls.filter { try Self.limitsTime(store, $0.1) }
            for (what, call) in limited {
                let start = ContinuousClock.now
                // Many times the limit, so that a slow machine does not fail.
                let end = Duration.seconds(10)
                try context.expectError(.timeLimit, "\(what) in one reader for \(end), with a limit of 50 ms") {
                    try store.base.read { reader in
                        try reader.limitTime?(.milliseconds(50))
                        while ContinuousClock.now - start < end { try call(reader) }
                    }
                }
            }
        },
    ]

    /// Whether a store ends queries by their time.
    private static func limitsTime(_ store: TracedStore, _ call: (any StoreReader) throws -> Void) throws -> Bool {
        do {
            try store.read { reader in
                try reader.limitTime?(.zero)
                try call(reader)
            }
            return false
        } catch let error as StoreError where error.code == .timeLimit {
            return true
        }
    }
}

/// Queries that all differ in their structure and values.
enum DifferentQueries {
    /// Returns the growth of this process in bytes while a store answers a thousand of them, after 300 others.
    static func growth(of store: any LocalStore) throws -> Int {
        try store.define([.notes])
        try store.put([["id": "a", "number": 1], ["id": "b", "number": 2]], into: "Note")
        try ask(0..<300, store)
        let before = try ProcessState.knownMemory()
        try ask(300..<1_300, store)
        return try ProcessState.knownMemory() - before
    }

    private static func ask(_ numbers: Range<Int>, _ store: any LocalStore) throws {
        for number in numbers {
            let ids = try store.ids(query(number))
            guard ids == ["a", "b"] else { throw CheckFailure("query \(number) finds \(ids), expected [a, b]") }
        }
    }

    /// Returns a query that matches every note.
    private static func query(_ number: Int) -> TableQuery {
        let terms = (0..<14).map { bit in
            let bound = RowPredicate.literal(.int(Int64(-bit)))
            return number >> bit & 1 == 0 ? .column("number") >= bound : .column("number") > bound
        }
        let text = "\(number) " + String(repeating: "x", count: 8_000)
        return TableQuery("Note", predicate: .and(terms + [.column("text") != .literal(.string(text))]))
    }
}
