internal import TidelineStore

extension Check {
    /// A read sees one snapshot while other threads commit.
    static let transactionSnapshots: [Check] = [
        Check(
            "TRN-040", "Repeated lookups in one read return the same row although another thread changed or deleted it"
        ) { context in
            try whileAnotherCommits(context) { reader in
                try ["a", "b", "new"].map { try reader.row(in: "TodoItem", id: $0).map { [$0] } ?? [] }.flatMap { $0 }
            }
        },
        Check("TRN-041", "Repeated scans in one read return the same rows although another thread commits") { context in
            try whileAnotherCommits(context) { try $0.allRows("TodoItem") }
        },
        Check("TRN-042", "Repeated counts in one read are the same although another thread commits") { context in
            try whileAnotherCommits(context) { reader in
                let total = try reader.rows(matching: TableQuery("TodoItem").limit(0).includingTotalCount()).totalCount
                let counts = [
                    try reader.count(TableQuery("TodoItem")), total ?? -1,
                    try reader.count(TableQuery("TodoItem").filter(.column("priority") == 9)),
                ]
                return counts.map { ["count": .int(Int64($0))] as Row }
            }
        },
        Check(
            "TRN-043",
            "Repeated queries through an index in one read return the same rows although another thread commits",
            why: "A snapshot must include the indexes; a live index refers to rows that differ in the snapshot."
        ) { context in
            try whileAnotherCommits(context) { reader in
                try reader.rows(matching: TableQuery("TodoItem").filter(.column("priority") == 9)).rows
                    + reader.rows(matching: TableQuery("TodoItem").filter(.column("priority") == 1)).rows
                    + reader.rows(matching: TableQuery("TodoItem").order(by: "priority", descending: true)).rows
            }
        },
        Check(
            "TRN-044", "Data first read after another thread's commit belongs to the snapshot of the read's beginning",
            why: "Separate snapshots for each table or each call mix two versions."
        ) { context in
            let store = try ThreeTables.store(context)
            try store.read { reader in
                // This read fixes the snapshot; the rest is read for the first time afterwards.
                try context.expect(reader.row(in: "Note", id: "c")?["number"], is: 3, "note c at first")
                try commitElsewhere(context, store)
                for schema in ThreeTables.schemas.reversed() {
                    try context.expect(schema, in: reader, holds: ThreeTables.rows(schema), "read after the commit")
                    try context.expectIndexes(
                        of: schema, in: reader, find: ThreeTables.rows(schema),
                        formerly: [["priority": 9], ["n": 99]], "first read after the commit")
                }
                let row = try reader.row(in: "TodoItem", id: "new")
                try context.expect(row, is: nil, "a row that was committed after the read began")
            }
        },
        Check("TRN-045", "A scan continues in its snapshot although another thread commits during the scan") {
            context in
            let rows = (0..<300).map { ["id": .string("r\(1_000 + $0)"), "priority": .int($0)] as Row }
            let store = try context.store(.items, holding: rows)
            for query in [TableQuery("TodoItem"), TableQuery("TodoItem").order(by: "priority")] {
                var found: [Row] = []
                try store.scan(query) { row in
                    found.append(row.owned())
                    if found.count == 5 { try replaceElsewhere(context, store) }
                    return .next
                }
                try context.expect(
                    found, are: TableSchema.items.completing(rows), "the scan during which all rows were replaced")
                try store.write { writer in
                    try writer.delete(matching: TableQuery("TodoItem"))
                    try writer.upsert(rows, into: "TodoItem")
                }
            }
        },
        Check(
            "TRN-046", "The next read sees the new state, on the thread whose read saw the old one",
            why: "A reader cached for the thread must be renewed."
        ) { context in
            let store = try ThreeTables.store(context)
            for round in 1...5 {
                let before = try store.read { reader in
                    let before = try reader.count(TableQuery("Note"))
                    try context.elsewhere("a write beside a read") {
                        try store.put(["id": .string("n\(round)")], into: "Note")
                    }
                    return before
                }
                try context.expect(before, is: 2 + round, "the notes in read \(round)")
                let after = try store.count(TableQuery("Note"))
                try context.expect(after, is: 3 + round, "the notes in the read after read \(round)")
            }
        },
        Check("TRN-047", "A read within a read that began before a commit also sees one snapshot") { context in
            let store = try ThreeTables.store(context)
            try store.read { outer in
                let before = try outer.allRows("TodoItem")
                try commitElsewhere(context, store)
                try store.read { inner in
                    // Either the outer snapshot or the new one, but consistently.
                    let isNew = try inner.row(in: "TodoItem", id: "new") != nil
                    try context.expect(inner.count(TableQuery("Note")), is: isNew ? 1 : 3, "notes in the inner read")
                    let tally = try inner.row(in: "Tally", id: 1)?["n"]
                    try context.expect(tally, is: isNew ? 99 : 10, "tally 1 in the inner read")
                }
                try context.expect(outer.allRows("TodoItem"), are: before, "the outer read after the inner one")
            }
        },
    ].needing(.readersBesideWriter)

    /// Fails unless `look` returns the same rows before and after another thread has committed.
    private static func whileAnotherCommits(_ context: CheckContext, _ look: (TracedReader) throws -> [Row]) throws {
        let store = try ThreeTables.store(context)
        try store.read { reader in
            let before = try look(reader)
            try commitElsewhere(context, store)
            try context.expect(look(reader), are: before, "the same read again after another thread's commit")
        }
        let after = try store.read { try look($0) }
        let before = try ThreeTables.store(context, in: "untouched").read { try look($0) }
        try context.expect(RowDifference(found: after, expected: before) != nil, "the next read shows the old state")
    }

    private static func commitElsewhere(_ context: CheckContext, _ store: TracedStore) throws {
        try context.elsewhere("a write beside a read") { try store.write { try ThreeTables.change($0) } }
    }

    private static func replaceElsewhere(_ context: CheckContext, _ store: TracedStore) throws {
        try context.elsewhere("a write beside a scan") {
            try store.write { writer in
                try writer.delete(matching: TableQuery("TodoItem").filter(.column("priority") < 200))
                try writer.upsert(
                    (0..<300).map { ["id": .string("r\(1_100 + $0)"), "priority": .int(-$0)] }, into: "TodoItem")
            }
        }
    }
}
