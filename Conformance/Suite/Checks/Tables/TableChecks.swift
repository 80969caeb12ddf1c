internal import TidelineStore

extension Check {
    /// Table definitions and their evolution.
    static let tables: [Check] = [
        tableDefinitions, undefinedTables, tableNames, tableRefusals, tableColumns, droppedColumns, tableIndexes,
        tableTransitions, tableRedefinitions, randomEvolutions, tableFixtures, tableIndexAmounts,
    ].flatMap { $0 }

    /// Tables with few and with many indexes.
    static let tableIndexAmounts: [Check] = [
        Check(
            "TAB-204", "Each of 1, 2, 17, and 101 tables is listed in the order of the bytes of its name",
            why: "Lists of definitions are compared; an order by locale or in UTF-16 differs between systems."
        ) { context in
            for count in [1, 2, 17, 101] {
                let others = ["z", "é", "Z", "\u{FF5E}", "😀", "ı", "I", "i"]
                let names = (0..<count).map { others[$0 % others.count] + "\($0 * 37 % count)" }
                let store = try context.open("tables \(count)")
                for name in names { try store.define([TableSchema(name, columns: [])]) }
                let sorted = names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
                try context.expect(store.tables().map(\.name), is: sorted, "the names of \(count) tables")
                let reopened = try context.reopened(store, in: "tables \(count)")
                try context.expect(
                    reopened.tables().map(\.name), is: sorted, "the names of \(count) tables after reopening")
            }
        },
        Check(
            "TAB-203", "Each of 1, 2, 17, and 40 indexes of a table reflects inserts, merges, and deletions",
            why: "A list of indexes with a fixed capacity leaves the rest outdated."
        ) { context in
            for count in [1, 2, 17, 40] {
                let names = (0..<count).map { "c\($0)" }
                let schema = TableSchema(
                    "Indexes \(count)", columns: names.map { .int($0) }, systemColumns: [], indexes: names.map { [$0] })
                let store = try context.store(schema, in: "indexes \(count)")
                let row = { (number: Int, change: Int) -> Row in
                    var row: Row = ["id": .string("r\(number)")]
                    for (index, name) in names.enumerated() { row[name] = .int(Int64((number + index) % 5 + change)) }
                    return row
                }
                try store.put((0..<9).map { row($0, 0) }, into: schema.name)
                try store.write { writer in
                    try writer.upsert((3..<6).map { row($0, 3) }, into: schema.name)
                    try writer.delete(ids: ["r0", "r8"], from: schema.name)
                }
                let rows = (1..<8).map { row($0, (3..<6).contains($0) ? 3 : 0) }
                try store.read { reader in
                    try context.expectIndexes(
                        of: schema, in: reader, find: rows, formerly: [row(0, 0)], "\(count) indexes")
                }
            }
        },
    ]
}
