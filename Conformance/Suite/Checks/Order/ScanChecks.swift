internal import TidelineStore

extension TableSchema {
    fileprivate static let scanned = TableSchema("Scanned", columns: [.int("n"), .string("s")], indexes: [["n"]])
}

/// An error by which a body ends a scan.
private struct Enough: Error {}

extension CheckContext {
    /// Returns a store with the rows `0` to `9`, whose numbers descend.
    fileprivate func scannedStore() throws -> TracedStore {
        let rows: [Row] = (0..<10).map { ["id": .string("\($0)"), "n": .int(Int64(9 - $0)), "s": .string("s\($0)")] }
        return try store(.scanned, holding: rows)
    }

    /// Queries that stores run in different ways: in order of id, along an index, and sorted.
    fileprivate static let scans: [TableQuery] = [
        TableQuery("Scanned"), TableQuery("Scanned").order(by: "n"),
        TableQuery("Scanned").order(by: "s", descending: true),
        TableQuery("Scanned", predicate: .column("n") > 2),
        TableQuery("Scanned", includesTotalCount: true).skip(1).limit(7),
    ]
}

extension Check {
    /// The rows passed to the body of a scan.
    static let orderScan: [Check] = [
        Check("ORD-059", "A scan calls its body once with each row, in the query's order") { context in
            let store = try context.scannedStore()
            let order = TableQuery("Scanned").order(by: "n")
            for (query, expected) in [
                (TableQuery("Scanned"), ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9"]),
                (order, ["9", "8", "7", "6", "5", "4", "3", "2", "1", "0"]),
                (order.skip(2).limit(3), ["7", "6", "5"]), (order.limit(0), []),
                (TableQuery("Scanned", predicate: .column("n") < 2), ["8", "9"]),
            ] {
                var seen: [String] = []
                try store.scan(query) { row in
                    seen.append(row.idText)
                    return .next
                }
                try context.expect(seen, is: expected, "the rows of \(query.swiftSource)")
            }
        },
        Check(
            "ORD-060", "A stopped scan does not call its body again",
            why: "A body that stops has enough rows: another call would process one row too many."
        ) { context in
            let store = try context.scannedStore()
            for query in CheckContext.scans {
                for stop in [2, 5] {
                    var calls = 0
                    try store.scan(query) { _ in
                        calls += 1
                        return calls < stop ? .next : .stop
                    }
                    try context.expect(calls, is: stop, "calls of the body of \(query.swiftSource)")
                }
            }
        },
        Check("ORD-061", "A scan can be stopped at the first row, in a read and in a write") { context in
            let store = try context.scannedStore()
            for query in CheckContext.scans {
                var seen: [String] = []
                try store.scan(query) { row in
                    seen.append(row.idText)
                    return .stop
                }
                let whole = try store.ids(query)
                try context.expect(seen, is: Array(whole.prefix(1)), "the rows of \(query.swiftSource), stopped")
                _ = try store.write { writer in
                    try writer.scan(query) { row in
                        seen.append(row.idText)
                        return .stop
                    }
                }
                try context.expect(seen.count, is: 2, "calls in a read and a write of \(query.swiftSource)")
            }
        },
        Check(
            "ORD-062", "An error of a scan's body ends the scan and is rethrown unchanged",
            why: "If an adapter wraps the error or continues, the caller cannot control the end of the scan."
        ) { context in
            let store = try context.scannedStore()
            for query in CheckContext.scans {
                var calls = 0
                do {
                    try store.scan(query) { _ in
                        calls += 1
                        throw Enough()
                    }
                    throw CheckFailure("\(query.swiftSource): the body's error was not rethrown")
                } catch is Enough {
                    try context.expect(calls, is: 1, "calls of the body of \(query.swiftSource)")
                }
            }
            try context.expect(store.count(TableQuery("Scanned")), is: 10, "the count afterwards")
        },
        Check("ORD-063", "After a scan was stopped or its body threw, the same reader still works") { context in
            let store = try context.scannedStore()
            for query in CheckContext.scans {
                let counts = try store.read { reader in
                    try reader.scan(query) { _ in .stop }
                    _ = try? reader.scan(query) { _ in throw Enough() }
                    return [try reader.count(TableQuery("Scanned")), try reader.ids(TableQuery("Scanned")).count]
                }
                try context.expect(counts, is: [10, 10], "count and rows after \(query.swiftSource)")
            }
        },
        Check(
            "ORD-064", "A row copied from a scan does not change when the scan continues and ends",
            why: "Rows are borrowed: an owned copy must not share the buffer into which the next row is read."
        ) { context in
            let store = try context.scannedStore()
            for query in CheckContext.scans {
                var kept: [Row] = []
                try store.scan(query) { row in
                    kept.append(row.owned())
                    return .next
                }
                let ids = kept.map(\.idText)
                let texts = kept.map { $0["s"]?.string ?? "" }
                try context.expect(texts, is: ids.map { "s\($0)" }, "the texts of \(query.swiftSource)")
            }
        },
    ]
}
