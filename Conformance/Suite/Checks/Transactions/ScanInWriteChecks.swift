internal import TidelineStore

extension Check {
    /// Scans whose bodies change the scanned rows.
    static let transactionScans: [Check] = [
        Check(
            "TRN-048", "A scan whose body deletes rows returns the rows that existed when it began",
            why: "A cursor whose row is deleted skips the next row, or ends."
        ) { context in
            try scanning(context) { writer, row, _ in
                try writer.delete(ids: [row.id].compactMap { $0 }, from: "TodoItem")
                try writer.delete(ids: ["r19", "r05"], from: "TodoItem")
            } after: { store in
                try context.expect(TableQuery("TodoItem"), in: store, finds: [], "after the scan")
            }
        },
        Check(
            "TRN-049", "A scan whose body inserts rows ends and returns none of them",
            why: "A cursor that reaches rows inserted ahead of it never ends."
        ) { context in
            try scanning(context) { writer, _, step in
                try writer.upsert(
                    [
                        ["id": .string("s\(step + 100)"), "priority": .int(Int64(step + 100)), "text": "z"],
                        ["id": .string("a\(step)"), "priority": -1, "text": "a"],
                    ], into: "TodoItem")
            } after: { store in
                try context.expect(store.count(TableQuery("TodoItem")), is: 60, "the rows after the scan")
            }
        },
        Check("TRN-050", "A scan whose body changes rows returns each row once, as it was when the scan began") {
            context in
            try scanning(context) { writer, row, step in
                let ahead = Row(id: .string("r\(19 - step % 20 < 10 ? "0" : "")\(19 - step % 20)"))
                let moved: Row = ["priority": .int(Int64(step + 100)), "text": "zz"]
                try writer.upsert(
                    [Row(id: row.id).merging(moved), ahead.merging(["text": "changed"])], into: "TodoItem")
            } after: { store in
                let texts = try store.read { try Set($0.allRows("TodoItem").map { $0["text"] ?? .null }) }
                try context.expect(texts.contains("old"), is: false, "whether a row is unchanged")
            }
        },
        Check(
            "TRN-051", "A row borrowed from a scan or lookup stays unchanged while the body changes and deletes it",
            why: "A view into the engine's page would show later writes."
        ) { context in
            for query in [TableQuery("TodoItem"), TableQuery("TodoItem").order(by: "text")] {
                let store = try filled(context, in: query.order.isEmpty ? "unordered" : "ordered")
                try store.write { writer in
                    var step = 0
                    try writer.scan(query) { row in
                        try overwrite(writer, row.idText)
                        try context.expect(row["text"], is: "old", "the text of the borrowed row after it was deleted")
                        try context.expect(row["priority"], is: .int(Int64(step)), "its priority")
                        step += 1
                        return step == 6 ? .stop : .next
                    }
                    try writer.withRow(in: "TodoItem", id: "r10") { row in
                        try overwrite(writer, "r10")
                        try context.expect(row["text"], is: "old", "the text of the row looked up after it was deleted")
                        try context.expect(row.idText, is: "r10", "its id")
                    }
                }
            }
        },
        Check("TRN-052", "Scans and lookups can be nested, and each stops independently") { context in
            let store = try filled(context)
            try store.read { reader in
                var pairs: [String] = []
                let total = try reader.scan(TableQuery("TodoItem", includesTotalCount: true)) { outer in
                    let (id, priority) = (outer.idText, outer["priority"])
                    try reader.scan(TableQuery("TodoItem").order(by: "priority", descending: true).limit(2)) { inner in
                        try reader.withRow(in: "TodoItem", id: inner.id) { pairs.append("\(id) \($0.idText)") }
                        return .next
                    }
                    try context.expect(outer.idText, is: id, "the outer row after the inner scan")
                    try context.expect(outer["priority"], is: priority, "the outer row's priority after the inner scan")
                    return id == "r02" ? .stop : .next
                }
                try context.expect(total, is: 20, "the total count of the scan that was stopped")
                try context.expect(
                    pairs, is: ["r00", "r01", "r02"].flatMap { ["\($0) r19", "\($0) r18"] }, "the pairs of two scans")
                try reader.withRow(in: "TodoItem", id: "r05") { outer in
                    try reader.scan(TableQuery("TodoItem").limit(2)) { _ in .next }
                    try context.expect(outer.idText, is: "r05", "the row of a lookup after a scan in its body")
                    try context.expect(outer["priority"], is: 5, "its priority")
                }
            }
        },
        Check("TRN-053", "A deletion by query in the body of a scan deletes its matches, and the scan continues") {
            context in
            try scanning(context) { writer, _, step in
                guard step == 3 else { return }
                let deleted = try writer.delete(
                    matching: TableQuery("TodoItem").filter(.column("priority") >= 2).order(by: "priority"))
                try context.expect(deleted, is: 18, "the rows deleted during the scan")
            } after: { store in
                try context.expect(TableQuery("TodoItem"), in: store, finds: ["r00", "r01"], "after the scan")
            }
        },
    ]

    /// Returns a store with twenty rows, `r00` to `r19`, with priorities 0 to 19.
    private static func filled(_ context: CheckContext, in name: String = "store") throws -> TracedStore {
        try context.store(.items, holding: rows, in: name)
    }

    private static let rows: [Row] = (0..<20).map { number in
        ["id": .string("r\(number < 10 ? "0" : "")\(number)"), "priority": .int(Int64(number)), "text": "old"]
    }

    /// Scans the table, an index, a predicate that an index serves, and a column without an index, each in its own
    /// store; fails unless each returns the rows that existed when it began.
    private static func scanning(
        _ context: CheckContext, _ change: (TracedWriter, borrowing RowView, Int) throws -> Void,
        after: (TracedStore) throws -> Void
    ) throws {
        let queries = [
            TableQuery("TodoItem"), TableQuery("TodoItem").order(by: "priority"),
            TableQuery("TodoItem").filter(.column("priority") >= 0), TableQuery("TodoItem").order(by: "text"),
        ]
        for (number, query) in queries.enumerated() {
            let store = try filled(context, in: "store\(number)")
            var found: [Row] = []
            try store.write { writer in
                _ = try writer.scan(query) { row in
                    found.append(row.owned())
                    try context.expect(
                        found.count <= 20, "\(query.swiftSource): the scan returns rows that its body inserted")
                    try change(writer, row, found.count)
                    return .next
                }
            }
            try context.expect(found, are: TableSchema.items.completing(rows), query.swiftSource)
            try after(store)
        }
    }

    private static func overwrite(_ writer: TracedWriter, _ id: String) throws {
        try writer.delete(ids: [.string(id)], from: "TodoItem")
        let text = Value.string(String(repeating: "z", count: 9_000))
        try writer.upsert([["id": .string("new \(id)"), "text": text], ["id": "zz", "text": text]], into: "TodoItem")
    }
}
