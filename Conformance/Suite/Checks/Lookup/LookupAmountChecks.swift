internal import TidelineStore

extension Check {
    /// Looking up and deleting few and many.
    static let lookupAmounts: [Check] = [
        Check(
            "GET-038", "1, 2, 17, 1,001 and 5,000 ids are looked up and deleted by the rule of ids",
            why: "A long list of ids goes another way than a short one, and must fold their case there too."
        ) { trial in
            let store = try trial.open()
            try store.define(Amounts.all.map(Amounts.schema))
            for count in Amounts.all {
                let table = Amounts.schema(count).name
                let ids = (0..<count).map { RowID.string("ROW-\(100_000 + $0)") }
                try store.write { try $0.upsert(Amounts.rows(count) + [["id": "stays"]], into: table) }
                try store.read { reader in
                    for id in ids where try reader.row(in: table, id: id.text) == nil {
                        throw CheckFailure("of \(count) rows \(id.text) is not found, stored in another case")
                    }
                }
                try store.write { writer in
                    let deleted = try writer.delete(ids: ids + ids.prefix(1), from: table)
                    try trial.expect(deleted, is: count, "the rows deleted by \(count) ids and one of them again")
                }
                try trial.expect(Query(table), in: store, finds: ["stays"], "after the deletion of \(count)")
            }
        },
        Check(
            "GET-039", "A deletion by a window of 1, 2, 17, 1,001 and 5,000 rows deletes exactly these",
            why: "A deletion in portions starts the window again for each portion, or ends with the first."
        ) { trial in
            let store = try trial.open()
            try store.define(Amounts.all.map(Amounts.schema))
            for count in Amounts.all {
                let table = Amounts.schema(count).name
                let rows = (0..<count + 2).map { ["id": .string(Amounts.id($0)), "m": .int(Int64($0))] as Row }
                try store.write { try $0.upsert(rows, into: table) }
                let window = Query(table).order(by: "m", descending: true).skip(1).limit(count)
                let deleted = try store.write { try $0.delete(matching: window) }
                try trial.expect(deleted, is: count, "the rows deleted by \(window.swiftSource)")
                let left = [0, count + 1].map { RowID.string(Amounts.id($0)) }
                try trial.expect(Query(table), in: store, finds: left, "after a window of \(count)")
            }
        },
    ]
}
