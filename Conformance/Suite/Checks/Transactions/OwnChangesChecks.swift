internal import TidelineStore

extension Check {
    /// A write sees its own changes.
    static let transactionOwnChanges: [Check] = [
        Check("TRN-022", "A write sees its own inserts and merges by id") { context in
            let store = try ThreeTables.store(context)
            try store.write { writer in
                try writer.upsert([["id": "e", "text": "Salt"], ["id": "a", "priority": 9]], into: "TodoItem")
                try writer.upsert([.tally(1, 11), .tally(4, 40)], into: "Tally")
                let merged = ThreeTables.rows(.items)[0].merging(["priority": 9])
                try context.expect(writer.row(in: "TodoItem", id: "a"), is: merged, "the row merged in this write")
                try context.expect(
                    writer.row(in: "TodoItem", id: "e"),
                    is: TableSchema.items.completing([["id": "e", "text": "Salt"]])[0], "the row inserted in this write"
                )
                try context.expect(writer.row(in: "Tally", id: 1)?["n"], is: 11, "the tally changed in this write")
                try context.expect(writer.row(in: "Tally", id: 4)?["n"], is: 40, "the tally inserted in this write")
            }
        },
        Check("TRN-023", "A write sees its own changes in a scan, in the correct order") { context in
            let store = try ThreeTables.store(context)
            try changing(store) { writer, rows in
                try context.expect(.items, in: writer, holds: rows, "inside the write")
                let byText = TableQuery("TodoItem").order(by: "text", descending: true)
                let expected = try Answer.expected(byText, .items, TableSchema.items.packed(rows)).rows
                try context.expect(
                    writer.rows(matching: byText).rows, are: expected, "inside the write, ordered by text")
            }
        },
        Check("TRN-024", "A write counts its own changes") { context in
            let store = try ThreeTables.store(context)
            try changing(store) { writer, rows in
                try context.expect(writer.count(TableQuery("TodoItem")), is: rows.count, "a write counts its changes")
                let open = TableQuery("TodoItem").filter(.column("complete") == false).limit(1).includingTotalCount()
                try context.expect(writer.rows(matching: open).totalCount, is: 3, "total count inside the write")
                try context.expect(writer.count(open), is: 3, "count of a condition inside the write")
            }
        },
        Check(
            "TRN-025", "A write finds its own changes through every index, and nothing by replaced values",
            why: "Indexes that are updated only at commit return outdated rows."
        ) { context in
            let store = try ThreeTables.store(context)
            try changing(store) { writer, rows in
                try context.expectIndexes(
                    of: .items, in: writer, find: rows, formerly: ThreeTables.rows(.items), "inside the write")
            }
        },
        Check("TRN-026", "A write does not see rows that it has deleted") { context in
            let store = try ThreeTables.store(context)
            try store.write { writer in
                try writer.delete(ids: ["b", "d"], from: "TodoItem")
                try writer.delete(matching: TableQuery("Tally").filter(.column("n") == 20))
                let rest = ThreeTables.rows(.items).filter { ["a", "c"].contains($0.idText) }
                try context.expect(writer.row(in: "TodoItem", id: "b"), is: nil, "the row deleted in this write")
                try context.expect(.items, in: writer, holds: rest, "inside the write")
                try context.expectIndexes(
                    of: .items, in: writer, find: rest, formerly: ThreeTables.rows(.items), "inside the write")
                try context.expect(.tallies, in: writer, holds: [.tally(1, 10)], "inside the write")
                try context.expect(writer.count(TableQuery("Tally")), is: 1, "count inside the write")
            }
        },
        Check("TRN-027", "A deletion by query finds and counts rows that the same write inserted and changed") {
            context in
            let store = try ThreeTables.store(context)
            try store.write { writer in
                try writer.upsert(
                    [["id": "e", "priority": 2], ["id": "a", "priority": 2], ["id": "b", "priority": 3]],
                    into: "TodoItem")
                let deleted = try writer.delete(matching: TableQuery("TodoItem").filter(.column("priority") == 2))
                try context.expect(deleted, is: 3, "the rows deleted: a and e of this write, c from before")
            }
            try context.expect(TableQuery("TodoItem"), in: store, finds: ["b", "d"], "after the write")
        },
        Check(
            "TRN-028", "Changes of a write with an id in different ASCII case apply to one row",
            why: "The buffer of uncommitted changes must compare ids like the table."
        ) { context in
            let store = try ThreeTables.store(context)
            try store.write { writer in
                try writer.upsert(["id": "Key", "text": "one"], into: "TodoItem")
                try writer.upsert(["id": "kEY", "priority": 4], into: "TodoItem")
                try writer.upsert(["id": "A", "priority": 5], into: "TodoItem")
                let row = try writer.row(in: "TodoItem", id: "KEY")
                try context.expect(
                    row, is: TableSchema.items.completing([["id": "Key", "text": "one", "priority": 4]])[0],
                    "the row stored with ids in two cases")
                try context.expect(writer.count(TableQuery("TodoItem")), is: 5, "count inside the write")
                try context.expect(writer.delete(ids: ["key"], from: "TodoItem"), is: 1, "deletions with a third case")
            }
            try context.expect(TableQuery("TodoItem"), in: store, finds: ["a", "b", "c", "d"], "after the write")
        },
    ]

    /// Inserts, merges, and deletes rows, and passes on the resulting rows.
    private static func changing(_ store: TracedStore, _ expect: (TracedWriter, [Row]) throws -> Void) throws {
        let inserted: [Row] = [
            ["id": "0", "text": "Apples", "complete": false, "priority": 2],
            ["id": "bb", "text": "Zucchini", "priority": 0],
        ]
        let change: Row = ["id": "b", "text": "Cake", "complete": false, "priority": 7]
        try store.write { writer in
            try writer.upsert(inserted + [change], into: "TodoItem")
            try writer.delete(ids: ["a"], from: "TodoItem")
            let old = ThreeTables.rows(.items)
            let rows = [inserted[0], old[1].merging(change), inserted[1], old[2], old[3]]
            try expect(writer, TableSchema.items.completing(rows))
        }
    }
}
