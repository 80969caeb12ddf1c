internal import TidelineStore

extension Check {
    /// Threads and processes.
    static let concurrency: [Check] = [
        concurrencyReaders, concurrencyWriters, concurrencyWaiting, concurrencyDefinitions, concurrencyProcessWriters,
        concurrencyProcessReaders,
    ].flatMap { $0 }

    /// Readers concurrent with a writer.
    static let concurrencyReaders: [Check] = [
        Check(
            "CON-001", "Three readers concurrent with a writer see no torn rows",
            why: "A row read while it is overwritten may consist of parts of both versions.", tier: .stress
        ) { context in
            let store = try context.store(.items)
            let write = { (number: Int) in try store.put(agreeing(number), into: "TodoItem") }
            try write(0)
            try context.beside(readers: 3, first: Int64(0)) { last in
                let row = try store.row(in: "TodoItem", "a")
                let number = row?["priority"]?.int ?? -1
                try context.expect(row, is: agreeing(Int(number)).completed(for: .items), "a row whose columns agree")
                try context.expect(number >= last, "version \(number) came after version \(last)")
                return number
            } _: {
                for number in 1...(150 * context.rounds) { try write(number) }
            }
        },
        Check(
            "CON-002", "Three readers concurrent with a writer see no partial transaction over two tables",
            why: "Two tables read one after the other must belong to one snapshot.", tier: .stress
        ) { context in
            let store = try context.store(.tallies, .notes)
            let write = { (number: Int) in
                try store.write { writer in
                    try writer.upsert(.tally(1, Int64(number)), into: "Tally")
                    try writer.upsert(["id": "a", "number": .int(Int64(number))], into: "Note")
                }
            }
            try write(0)
            try context.beside(readers: 3, first: Int64(0)) { last in
                let (tally, note) = try store.read { reader in
                    (try reader.row(in: "Tally", id: 1)?["n"]?.int, try reader.row(in: "Note", id: "a")?["number"]?.int)
                }
                try context.expect(tally, is: note, "the numbers in the two tables")
                try context.expect(tally ?? -1 >= last, "version \(tally ?? -1) came after version \(last)")
                return tally ?? last
            } _: {
                for number in 1...(150 * context.rounds) { try write(number) }
            }
        },
        Check(
            "CON-003", "Readers concurrent with a writer find every index consistent with the rows of the same read",
            tier: .stress
        ) { context in
            let store = try context.store(.items)
            let ids: [Value] = ["a", "b", "c", "d", "e"]
            let write = { (number: Int) in
                try store.write { writer in
                    let rows = ids.map { ["id": $0, "priority": .int(Int64(number)), "complete": true] as Row }
                    if number % 3 == 2 { try writer.delete(ids: ["b", "d"], from: "TodoItem") }
                    try writer.upsert(number % 3 == 2 ? [rows[0], rows[2], rows[4]] : rows, into: "TodoItem")
                }
            }
            try write(0)
            try context.beside(readers: 3, first: ()) { _ in
                try store.read { reader in
                    let rows = try reader.allRows("TodoItem")
                    let priorities = Set(rows.map { $0["priority"] ?? .null })
                    try context.expect(priorities.count, is: 1, "number of versions that a read sees: \(priorities)")
                    let value = RowPredicate.literal(priorities.first ?? .null)
                    let query = TableQuery("TodoItem").filter(.column("priority") == value)
                    try context.expect(reader.rows(matching: query).rows, are: rows, "the rows found through the index")
                    try context.expect(reader.count(query), is: rows.count, "the count through the index")
                    let old = TableQuery("TodoItem").filter(.column("priority") < value)
                    try context.expect(reader.count(old), is: 0, "entries of former versions in the index")
                }
            } _: {
                for number in 1...(120 * context.rounds) { try write(number) }
            }
        },
        Check(
            "CON-004", "Readers concurrent with a writer see a batch of 300 rows completely or not at all",
            tier: .stress
        ) { context in
            let store = try context.store(.notes)
            try context.beside(readers: 2, first: 0) { last in
                let (count, scanned) = try store.read { reader in
                    (try reader.count(TableQuery("Note")), try reader.allRows("Note").count)
                }
                try context.expect(count % 300, is: 0, "the remainder of \(count) rows divided into batches of 300")
                try context.expect(scanned, is: count, "the number of scanned rows and the count in one read")
                try context.expect(count >= last, "\(count) rows came after \(last)")
                return count
            } _: {
                for batch in 0..<(6 * context.rounds) {
                    let rows = (0..<300).map { ["id": .string("\(batch)-\($0)"), "number": .int($0)] as Row }
                    try store.put(rows, into: "Note")
                }
            }
        },
        Check(
            "CON-005", "Readers concurrent with a writer that replaces all rows always see a full table",
            why: "A store that deletes and inserts in two steps exposes an empty table in between.", tier: .stress
        ) { context in
            let store = try context.store(.notes)
            let replace = { (number: Int) in
                try store.write { writer in
                    try writer.delete(matching: TableQuery("Note"))
                    try writer.upsert(
                        (0..<50).map { ["id": .string("\(number)-\($0)"), "number": .int(Int64(number))] }, into: "Note"
                    )
                }
            }
            try replace(0)
            try context.beside(readers: 3, first: ()) { _ in
                let rows = try store.allRows("Note")
                try context.expect(rows.count, is: 50, "the rows of a table that is replaced")
                let versions = Set(rows.map { $0["number"] ?? .null })
                try context.expect(versions.count, is: 1, "the number of versions that one read sees")
            } _: {
                for number in 1...(60 * context.rounds) { try replace(number) }
            }
        },
        Check("CON-006", "Pages read one after the other in one read belong to one snapshot", tier: .stress) {
            context in
            let store = try context.store(.items)
            let write = { (number: Int64) in
                try store.write { writer in
                    // The rows move through the order, so pages of two versions would miss or repeat some.
                    let rows = (Int64(0)..<40).map { id in
                        ["id": .string("r\(id)"), "priority": .int((id * 7 + number * 11) % 40)] as Row
                    }
                    try writer.upsert(rows, into: "TodoItem")
                }
            }
            try write(0)
            try context.beside(readers: 2, first: ()) { _ in
                let pages = try store.read { reader in
                    try (0..<4).flatMap { page in
                        try reader.ids(TableQuery("TodoItem").order(by: "priority").skip(page * 10).limit(10))
                    }
                }
                try context.expect(Set(pages).count, is: 40, "the number of distinct rows on four pages of ten")
            } _: {
                for number in 1...(Int64(60) * Int64(context.rounds)) { try write(number) }
            }
        },
    ]

    /// Returns a row whose columns all represent one number, some of them with long values.
    private static func agreeing(_ number: Int) -> Row {
        let text = String(repeating: "\(number) ", count: 200 + number % 7 * 300)
        return [
            "id": "a", "text": .string(text), "complete": .bool(number % 2 == 0), "priority": .int(Int64(number)),
            "score": .double(Double(number)), "due": .timestamp(.init(clampingTicks: Int64(number))),
        ]
    }
}
