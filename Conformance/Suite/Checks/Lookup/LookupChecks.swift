internal import TidelineStore

extension Check {
    /// Lookup and deletion.
    static let lookup: [Check] = [
        lookupRows, deletionsByID, deletionsByQuery, deletionWindows, lookupAmounts,
    ].flatMap { $0 }

    /// Looking up and deleting few and many rows.
    static let lookupAmounts: [Check] = [
        Check(
            "GET-038", "1, 2, 17, 1,001, and 5,000 ids are looked up and deleted by the table's id matching",
            why: "A long list of ids may use another code path than a short one, which must also ignore case."
        ) { context in
            let store = try context.store(Amounts.all.map(Amounts.schema))
            for count in Amounts.all {
                let table = Amounts.schema(count).name
                let ids = (0..<count).map { RowID.string("ROW-\(100_000 + $0)") }
                try store.put(Amounts.rows(count) + [["id": "stays"]], into: table)
                try store.read { reader in
                    for id in ids where try reader.row(in: table, id: id.text) == nil {
                        throw CheckFailure("of \(count) rows \(id.text) is not found by its id in another case")
                    }
                }
                try store.write { writer in
                    let deleted = try writer.delete(ids: ids + ids.prefix(1), from: table)
                    try context.expect(deleted, is: count, "the rows deleted by \(count) ids, one of them duplicated")
                }
                try context.expect(TableQuery(table), in: store, finds: ["stays"], "after the deletion of \(count)")
            }
        },
        Check(
            "GET-039", "A deletion by query with a limit of 1, 2, 17, 1,001, and 5,000 rows deletes exactly these",
            why: "A deletion in batches may apply skip and limit again to each batch, or end after the first."
        ) { context in
            let store = try context.store(Amounts.all.map(Amounts.schema))
            for count in Amounts.all {
                let table = Amounts.schema(count).name
                let rows = (0..<count + 2).map { ["id": .string(Amounts.id($0)), "m": .int(Int64($0))] as Row }
                try store.put(rows, into: table)
                let window = TableQuery(table).order(by: "m", descending: true).skip(1).limit(count)
                let deleted = try store.delete(matching: window)
                try context.expect(deleted, is: count, "the rows deleted by \(window.swiftSource)")
                let left = [0, count + 1].map { RowID.string(Amounts.id($0)) }
                try context.expect(TableQuery(table), in: store, finds: left, "after a limit of \(count)")
            }
        },
    ]
}
