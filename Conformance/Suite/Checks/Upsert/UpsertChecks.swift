internal import TidelineStore

extension Check {
    /// Inserting and merging rows.
    static let upsert: [Check] = [
        upsertMerging, upsertBatches, upsertShapes, upsertRefusals, upsertIndexes, upsertAmounts,
    ].flatMap { $0 }

    /// Rows with few and many columns, and batches that name an id twice.
    static let upsertAmounts: [Check] = [
        Check(
            "UPS-051",
            "Rows with 1, 2, 17, 65, and 257 columns are stored, merged, cleared, and found by their last column",
            why: "A bit set for the columns that a row names, or that are null, may end at 32, 64, or 256."
        ) { context in
            for count in [1, 2, 17, 65, 257] {
                let names = (0..<count).map { "c\($0)" }
                let schema = TableSchema("Wide \(count)", columns: names.map { .int($0) }, systemColumns: [])
                let store = try context.store(schema, in: "wide \(count)")
                var row: Row = ["id": "a"]
                for (index, name) in names.enumerated() { row[name] = .int(Int64(index)) }
                var change: Row = ["id": "a"]
                for (index, name) in names.enumerated() where index % 3 != 1 {
                    change[name] = index % 3 == 0 ? .int(Int64(-index - 1)) : .null
                }
                try store.put(row, into: schema.name)
                try store.put(change, into: schema.name)
                let merged = row.merging(change)
                let last = names[count - 1]
                let found = TableQuery(schema.name, predicate: .column(last) == .literal(merged[last] ?? .null))
                try context.expect(found, in: store, finds: ["a"], "a row of \(count) columns")
                let reopened = try context.reopened(store, in: "wide \(count)")
                try context.expect(reopened.row(in: schema.name, "a"), is: merged, "a row of \(count) columns")
                try context.expect(found, in: reopened, finds: ["a"], "a row of \(count) columns, after reopening")
            }
        },
        Check(
            "UPS-052", "Of two rows with one id, the last counts in a batch of 2, 4, 34, and 2,002 rows",
            why: "A batch that is sorted before it is stored needs a stable sort."
        ) { context in
            let store = try context.store(Amounts.all.map(Amounts.schema))
            for count in Amounts.all.dropLast() {
                let table = Amounts.schema(count).name
                let rows = Amounts.rows(count)
                let second = rows.map { ["id": $0.id.map(\.value) ?? .null, "m": 7] as Row }
                try store.put(rows + second, into: table)
                let sevens = TableQuery(table, predicate: .column("m") == 7)
                try store.read { reader in
                    try context.expect(reader.count(TableQuery(table)), is: count, "the rows of \(2 * count)")
                    try context.expect(reader.count(sevens), is: count, "the rows with the last value")
                }
            }
        },
    ]
}
