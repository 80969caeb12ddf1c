internal import TidelineStore

extension Check {
    /// Transactions and snapshots.
    static let transactions: [Check] = [
        transactionRollback, transactionIndexes, transactionBodies, transactionOwnChanges, transactionRewrites,
        transactionIsolation, transactionSnapshots, transactionScans, transactionRecovery, transactionRaces,
        transactionAmounts,
    ].flatMap { $0 }

    /// Transactions over few and many tables and rows.
    static let transactionAmounts: [Check] = [
        Check(
            "TRN-065",
            "A body that throws leaves no changes in any of the 1, 2, 11, 17, and 101 tables that it changed",
            why: "A store may record the tables to restore in a list with a fixed capacity."
        ) { context in
            let store = try manyTables(context)
            let most = context.tableCount(101)
            for count in [1, 2, 11, 17].filter({ $0 < most }) + [most] {
                try store.rollBack { writer in
                    for table in manyTables.prefix(count) {
                        try writer.upsert([["id": "a", "n": 9], ["id": "b", "n": 9]], into: table.name)
                    }
                }
                try expectCounts(Array(repeating: 1, count: most), in: store, "after \(count) tables", context)
            }
        },
        Check("TRN-066", "A body that returns keeps its changes to each of 1, 2, 11, 17, and 101 tables") { context in
            var store = try manyTables(context)
            let most = context.tableCount(101)
            var counts = Array(repeating: 1, count: most)
            for count in [1, 2, 11, 17].filter({ $0 < most }) + [most] {
                try store.write { writer in
                    for table in manyTables.prefix(count) {
                        try writer.upsert(["id": .string("c\(count)"), "n": 1], into: table.name)
                    }
                }
                for index in 0..<count { counts[index] += 1 }
                try expectCounts(counts, in: store, "after \(count) tables", context)
            }
            store = try context.reopened(store)
            try expectCounts(counts, in: store, "after reopening", context)
        },
        Check(
            "TRN-067",
            "Of 1, 2, 17, 1,001, and 5,000 changes in one transaction all are kept, and the last one of a row counts"
        ) { context in
            let store = try context.store(Amounts.all.map(Amounts.schema))
            for count in Amounts.all {
                let table = Amounts.schema(count).name
                try store.write { writer in
                    for number in 0..<count {
                        try writer.upsert(["id": "same", "n": .int(Int64(number))], into: table)
                        try writer.upsert(["id": .string(Amounts.id(number)), "m": 1], into: table)
                    }
                    try expectChanges(count, writer, "in the write", context)
                }
            }
            try context.reopened(store).read { reader in
                for count in Amounts.all { try expectChanges(count, reader, "after reopening", context) }
            }
        },
    ]

    private static let manyTables = (0..<101).map { TableSchema("Table \($0)", columns: [.int("n")], indexes: [["n"]]) }

    /// Returns a store with 101 tables, or as many as it can hold, with one row each.
    private static func manyTables(_ context: CheckContext) throws -> TracedStore {
        let tables = Array(manyTables.prefix(context.tableCount(101)))
        let store = try context.store(tables)
        try store.write { writer in
            for table in tables { try writer.upsert(["id": "a", "n": 1], into: table.name) }
        }
        return store
    }

    /// Fails unless each table has the given number of rows, all with 1 in their column.
    private static func expectCounts(
        _ counts: [Int], in store: TracedStore, _ moment: String, _ context: CheckContext
    ) throws {
        try store.read { reader in
            for (table, count) in zip(manyTables, counts) {
                let ones = TableQuery(table.name, predicate: .column("n") == 1)
                try context.expect(reader.count(TableQuery(table.name)), is: count, "rows of \(table.name) \(moment)")
                try context.expect(reader.count(ones), is: count, "the rows with 1 of \(table.name) \(moment)")
            }
        }
    }

    private static func expectChanges(
        _ count: Int, _ reader: some StoreReader, _ moment: String, _ context: CheckContext
    ) throws {
        let table = Amounts.schema(count).name
        let last = RowPredicate.column("n") == .literal(.int(Int64(count - 1)))
        try context.expect(
            reader.ids(TableQuery(table, predicate: last)), is: ["same"], "the row changed \(count) times \(moment)"
        )
        try context.expect(reader.count(TableQuery(table)), is: count + 1, "the rows of \(count) changes \(moment)")
    }
}
