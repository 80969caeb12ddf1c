internal import TidelineStore

extension Check {
    /// Indexes that are added and removed.
    static let tableIndexes: [Check] = [
        Check(
            "TAB-100", "A new index finds existing rows: equal ones, nulls, ranges, and in order",
            why: "An index that is not built from the stored rows returns only rows written afterwards."
        ) { context in
            let store = try context.store(plain, holding: rows(0..<60))
            try store.define([indexed])
            try context.expectAnswers(queries, in: store, over: rows(0..<60), of: indexed)
        },
        Check("TAB-101", "A new index finds old and new rows alike, after changes and deletions") { context in
            let store = try context.store(plain, holding: rows(0..<40))
            try store.define([indexed])
            try store.put(rows(40..<60), into: "t")
            let changes: [Row] = [["id": "r7", "a": .null, "b": "x"], ["id": "r8", "b": .null]]
            try store.put(changes, into: "t")
            try store.delete(ids: ["r1", "r50"], from: "t")
            let expected = rows(0..<60).merging(changes).filter { $0.idText != "r1" && $0.idText != "r50" }
            try context.expectAnswers(queries, in: store, over: expected, of: indexed)
        },
        Check("TAB-102", "A new index on a new column finds all rows as null, and then their written values") {
            context in
            let old: [Row] = (0..<10).map { ["id": .string("\($0)"), "a": .int($0 % 3)] }
            let store = try context.store(.t(.int("a")), holding: old)
            let wider = TableSchema.t(.string("b"), .int("a"), indexes: [["b"], ["a", "b"]])
            try store.define([wider])
            let again = try context.expectAnswers(queries, in: store, over: old, of: wider, "before a write")
            let written: [Row] = (0..<10).map { ["id": .string("\($0)"), "b": .string($0 % 2 == 0 ? "a" : "b")] }
            try again.put(written, into: "t")
            try context.expectAnswers(queries, in: again, over: old.merging(written), of: wider, "after a write")
        },
        Check("TAB-103", "After an index is removed, a query finds the same rows") { context in
            let indexed = TableSchema.t(.int("a"), .string("b"), indexes: [["a"], ["b", "a"], ["b"]])
            let store = try context.store(indexed, holding: rows(0..<40))
            try store.define([plain])
            try store.put(rows(40..<60), into: "t")
            try context.expectAnswers(queries, in: store, over: rows(0..<60), of: plain)
        },
        Check(
            "TAB-104", "An index that was removed and is defined again reflects the changes in between",
            why: "Entries left over from before refer to deleted or changed rows."
        ) { context in
            let store = try context.store(indexed, holding: rows(0..<40))
            try store.define([plain])
            try store.delete(matching: TableQuery("t").filter(.column("a") == 2))
            let changes: [Row] = [["id": "r0", "a": 2], ["id": "r3", "a": .null]] + rows(40..<50)
            try store.put(changes, into: "t")
            try store.define([indexed])
            let expected = rows(0..<40).filter { $0["a"] != 2 }.merging(changes)
            try context.expectAnswers(queries, in: store, over: expected, of: indexed)
        },
        Check("TAB-105", "An index may be defined on id and system columns, together with others") { context in
            let schema = TableSchema.t(
                .int("a"), .string("b"), systemColumns: .all,
                indexes: [["id"], ["a", "id"], ["updatedAt", "a"], ["deleted", "version"]])
            let store = try context.store(schema)
            var stored = rows(0..<20)
            for index in stored.indices {
                stored[index]["updatedAt"] = .timestamp(Timestamp(clampingTicks: Int64(index / 3)))
                stored[index]["deleted"] = .bool(index % 4 == 0)
            }
            try store.put(stored, into: "t")
            let more = TableQuery.about("updatedAt", like: .value(Timestamp(clampingTicks: 3)))
            let byID = [
                TableQuery("t").filter(.column("id") == "R7"),
                TableQuery("t").filter(.column("id") > "r3").order(by: "a"),
            ]
            let all = queries + more + byID + TableQuery.about("deleted", like: true)
            try context.expectAnswers(all, in: store, over: stored, of: schema)
        },
        Check("TAB-106", "The columns of an index may be reordered, and one index may be a prefix of another") {
            context in
            let store = try context.store(.t(.int("a"), .string("b"), indexes: [["a", "b"]]), holding: rows(0..<60))
            let other = TableSchema.t(.int("a"), .string("b"), indexes: [["b", "a"], ["b"], ["b", "id"]])
            try store.define([other])
            try context.expectAnswers(queries, in: store, over: rows(0..<60), of: other)
        },
        Check("TAB-107", "A table may have 20 indexes, all up to date") { context in
            try expectTwentyIndexes(context)
        },
        Check(
            "TAB-108", "An index over two columns follows a merge that names one of them, the first or the second",
            why: "The new entry needs a value that the merge does not set; without it, the old entry stays."
        ) { context in
            let schema = TableSchema.t(.int("a"), .string("b"), indexes: [["a", "b"], ["b", "id", "a"]])
            var stored = rows(0..<30)
            let store = try context.store(schema, holding: stored)
            for index in stored.indices where index % 3 != 0 {
                let column = index % 3 == 1 ? "a" : "b"
                let value: Value = column == "a" ? .int(Int64(index % 4)) : index % 2 == 0 ? .null : "ba"
                stored[index][column] = value
                try store.put([Row(id: stored[index].id).merging([column: value])], into: "t")
            }
            let pairs = Set((stored + rows(0..<30)).map { [$0["a"] ?? .null, $0["b"] ?? .null] })
            let exact = pairs.map { pair in
                TableQuery("t").filter(.column("a") == .literal(pair[0]) && .column("b") == .literal(pair[1]))
            }
            try context.expectAnswers(queries + exact, in: store, over: stored, of: schema)
        },
    ]

    private static let plain = TableSchema.t(.int("a"), .string("b"))
    private static let indexed = TableSchema.t(.int("a"), .string("b"), indexes: [["a"], ["b", "a"]])

    /// Returns rows with numbers 0 to 4 and texts of two letters, including nulls, in different orders.
    private static func rows(_ numbers: Range<Int>) -> [Row] {
        numbers.map { number in
            var row = Row(id: .string("r\(number)"))
            row["a"] = number % 6 == 5 ? .null : .int(Int64(number % 6))
            row["b"] = number % 7 == 6 ? .null : .string(["ab", "b", "", "a", "aB", "ba"][number % 7])
            return row
        }
    }

    private static let queries: [TableQuery] =
        TableQuery.about("a", like: 2) + TableQuery.about("b", like: "a")
        + [
            TableQuery("t").filter(.column("a") == 2 && .column("b") == "a"),
            TableQuery("t").filter(.column("b").hasPrefix("a")).order(by: "b").order(by: "a", descending: true),
            TableQuery("t").filter(.column("a").isBetween(1, and: 3)).order(by: "a").skip(3).limit(5)
                .includingTotalCount(),
            TableQuery("t").filter(.column("a").isIn([4, 0, .null])).order(by: "b", descending: true),
        ]
}
