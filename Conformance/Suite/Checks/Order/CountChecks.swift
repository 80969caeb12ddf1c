internal import TidelineStore

extension TableSchema {
    fileprivate static let counted = TableSchema("Counted", columns: [.int("n"), .string("s")], indexes: [["n"]])
}

private let n = RowPredicate.column("n")
private let total = TableQuery("Counted", includesTotalCount: true)

extension CheckContext {
    /// Returns a store with 20 rows, five with each of the numbers 0 to 2 and five without one.
    fileprivate func countedStore() throws -> TracedStore {
        let rows: [Row] = (0..<20).map { ["id": .string("r\($0)"), "n": $0 % 4 == 3 ? .null : .int(Int64($0 % 4))] }
        return try store(.counted, holding: rows)
    }

    /// Fails unless a query's total count has the given value, in a read and in a write.
    fileprivate func expectTotal(_ query: TableQuery, in store: TracedStore, is expected: Int?) throws {
        let inRead = try store.read { try $0.rows(matching: query).totalCount }
        try expect(inRead, is: expected, "the total count of \(query.swiftSource)")
        let inWrite = try store.write { try $0.rows(matching: query).totalCount }
        try expect(inWrite, is: expected, "the total count of \(query.swiftSource) in a write")
    }
}

extension Check {
    /// Counts.
    static let orderCount: [Check] = [
        Check(
            "ORD-051", "The total count includes all matching rows, whatever skip and limit",
            why: "A count of the rows on the page suggests that there is no second page."
        ) { context in
            let store = try context.countedStore()
            try context.expectTotal(total, in: store, is: 20)
            try context.expectTotal(total.limit(3), in: store, is: 20)
            try context.expectTotal(total.skip(18), in: store, is: 20)
            try context.expectTotal(total.skip(5).limit(5), in: store, is: 20)
            try context.expectTotal(total.order(by: "n").limit(1), in: store, is: 20)
        },
        Check("ORD-052", "The total count respects the condition") { context in
            let store = try context.countedStore()
            try context.expectTotal(total.filter(n == 1), in: store, is: 5)
            try context.expectTotal(total.filter(n != 1).limit(2), in: store, is: 15)
            try context.expectTotal(total.filter(n.isNull).skip(1).limit(1), in: store, is: 5)
            try context.expectTotal(total.filter(n > 0 && .id < "r2").order(by: "n").limit(1), in: store, is: 6)
        },
        Check(
            "ORD-053", "The total count is present with a limit of 0 and with a skip past the end",
            why: "A store that reads no row for a limit of 0 must still count."
        ) { context in
            let store = try context.countedStore()
            try context.expectTotal(total.limit(0), in: store, is: 20)
            try context.expectTotal(total.filter(n == 1).limit(0), in: store, is: 5)
            try context.expectTotal(total.order(by: "n").limit(0), in: store, is: 20)
            try context.expectTotal(total.skip(100), in: store, is: 20)
            try context.expectTotal(total.skip(.max).limit(.max), in: store, is: 20)
        },
        Check("ORD-054", "A requested total count is 0 if nothing matches, not nil") { context in
            let store = try context.countedStore()
            try context.expectTotal(total.filter(n == 9), in: store, is: 0)
            try context.expectTotal(total.filter(.or([])).limit(0), in: store, is: 0)
        },
        Check("ORD-055", "A total count that was not requested is nil") { context in
            let store = try context.countedStore()
            try context.expectTotal(TableQuery("Counted"), in: store, is: nil)
            try context.expectTotal(TableQuery("Counted").limit(3), in: store, is: nil)
            try context.expectTotal(TableQuery("Counted", predicate: n == 1).skip(1).limit(0), in: store, is: nil)
        },
        Check(
            "ORD-056", "The total count is complete if the scan was stopped",
            why: "A store that counts during the scan has counted only the rows that were read."
        ) { context in
            let store = try context.countedStore()
            for query in [total, total.order(by: "n"), total.skip(2).limit(9)] {
                for stop in [1, 3] {
                    var seen = 0
                    let count = try store.scan(query) { _ in
                        seen += 1
                        return seen < stop ? .next : .stop
                    }
                    try context.expect(count, is: 20, "\(query.swiftSource) stopped after \(stop) rows: total count")
                }
            }
        },
        Check("ORD-057", "count(_:) ignores skip, limit, order, and selection") { context in
            let store = try context.countedStore()
            for (query, expected) in [
                (TableQuery("Counted"), 20), (TableQuery("Counted").limit(0), 20),
                (TableQuery("Counted").skip(19).limit(5), 20),
                (TableQuery("Counted", predicate: n == 1).limit(1), 5),
                (TableQuery("Counted", predicate: n == 1).order(by: "s").skip(4).select("s"), 5),
                (TableQuery("Counted", predicate: n == 9), 0),
                (TableQuery("Counted", predicate: !(n == 9)).skip(.max), 20),
            ] {
                try context.expect(store.count(query), is: expected, "count(\(query.swiftSource))")
                try context.expect(
                    store.write { try $0.count(query) }, is: expected, "count(\(query.swiftSource)) in a write")
            }
        },
        Check("ORD-058", "Counts reflect inserts and deletions, within a write and after it") { context in
            let store = try context.countedStore()
            let ones = TableQuery("Counted", predicate: n == 1)
            try store.write { writer in
                try writer.upsert(
                    [["id": "new", "n": 1], ["id": "r0", "n": 1], ["id": "r1", "n": 2]], into: "Counted")
                try writer.delete(ids: ["r5", "r2"], from: "Counted")
                try context.expect(writer.count(ones), is: 5, "the count of n == 1 within the write")
                try context.expect(writer.count(TableQuery("Counted")), is: 19, "the count of all within the write")
            }
            try context.expect(store.count(ones), is: 5, "the count of n == 1 after the write")
            try context.expectTotal(total.limit(1), in: store, is: 19)
        },
        Check(
            "ORD-074", "Counts and total counts of several thousand rows are exact",
            why: "A store that reads in batches may count only the first, or stop at the end of its own page."
        ) { context in
            let rows: [Row] = (0..<2_600).map { ["id": .string("r\($0)"), "n": .int(Int64($0 % 2)), "s": "x"] }
            let store = try context.store(.counted, holding: rows)
            for (query, expected) in [
                (TableQuery("Counted"), 2_600), (TableQuery("Counted", predicate: n == 1), 1_300),
                (TableQuery("Counted", predicate: .column("s") == "x").order(by: "s"), 2_600),
                (TableQuery("Counted", predicate: n >= 0).order(by: "n", descending: true), 2_600),
            ] {
                let counted = query.includingTotalCount()
                for paged in [counted, counted.limit(10), counted.skip(1_050).limit(1_100), counted.limit(0)] {
                    try context.expectTotal(paged, in: store, is: expected)
                }
                try context.expect(store.count(query), is: expected, "count(\(query.swiftSource))")
            }
        },
    ]
}
