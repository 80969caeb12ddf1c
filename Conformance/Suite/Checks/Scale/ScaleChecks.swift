internal import TidelineStore

extension Check {
    /// Large tables, repeated opening, and cancellation.
    static let scale: [Check] = [
        scaleRows, scaleOperations, scaleResources, scaleQueries, scaleRefusals, scaleCancellation,
    ].flatMap { $0 }

    /// Very large tables.
    static let scaleRows: [Check] = [
        Check(
            "SCA-001", "Very many rows loaded in batches are all present, counted, and in order", tier: .stress
        ) { context in
            let rows = ManyRows(context.settings.rows)
            let store = try rows.store(in: context)
            try store.read { reader in
                try context.expect(reader.count(TableQuery("Many")), is: rows.count, "the count")
                try rows.expect(TableQuery("Many"), in: reader, finds: 0..<rows.count, "after the load")
            }
            try context.reopened(store).read { reader in
                try context.expect(reader.count(TableQuery("Many")), is: rows.count, "the count after reopening")
                let digit = TableQuery("Many", predicate: .column("digit") == 7)
                let sevens = stride(from: 7, to: rows.count, by: 10)
                try rows.expect(digit, in: reader, finds: sevens, "after reopening")
            }
        },
        Check("SCA-002", "Filters over very many rows find all matches, with and without an index", tier: .stress) {
            context in
            let rows = ManyRows(context.settings.rows / 4)
            let store = try rows.store(in: context)
            try store.read { reader in
                let (all, half) = (TableQuery("Many"), rows.count / 2)
                let queries: [(RowPredicate, StrideTo<Int>)] = [
                    (.column("digit") == 3, stride(from: 3, to: rows.count, by: 10)),
                    (.column("number") >= .value(half), stride(from: half, to: rows.count, by: 1)),
                    (.column("number") % 5 == 2, stride(from: 2, to: rows.count, by: 5)),
                    (.column("id") < .value(ManyRows.id(half)), stride(from: 0, to: half, by: 1)),
                    (.column("digit") == 4 && .column("number") < .value(half), stride(from: 4, to: half, by: 10)),
                ]
                for (predicate, numbers) in queries {
                    let query = all.filter(predicate)
                    try rows.expect(query, in: reader, finds: numbers, "many rows")
                    let count = numbers.reduce(0) { count, _ in count + 1 }
                    try context.expect(reader.count(query), is: count, "the count of \(query.swiftSource)")
                }
            }
        },
        Check("SCA-003", "The pages of very many rows together contain every row once", tier: .stress) { context in
            let rows = ManyRows(context.settings.rows / 20)
            let store = try rows.store(in: context)
            let numbers = rows.count - 1
            try store.read { reader in
                let ordered = TableQuery("Many").order(by: "number", descending: true)
                for start in stride(from: 0, to: rows.count, by: 500) {
                    let end = min(start + 500, rows.count)
                    let page = (start..<end).lazy.map { numbers - $0 }
                    try rows.expect(ordered.skip(start).limit(500), in: reader, finds: page, "the page from \(start)")
                }
                try rows.expect(ordered.skip(rows.count).limit(500), in: reader, finds: [], "the page past the end")
            }
        },
        Check("SCA-004", "A deletion from very many rows removes exactly the matching rows", tier: .stress) { context in
            let rows = ManyRows(context.settings.rows / 4)
            let store = try rows.store(in: context)
            let third = TableQuery("Many", predicate: .column("number") % 3 == 0)
            let deleted = try store.delete(matching: third)
            try context.expect(deleted, is: (rows.count + 2) / 3, "rows deleted by \(third.swiftSource)")
            try context.reopened(store).read { reader in
                let left = (0..<rows.count).lazy.filter { $0 % 3 != 0 }
                try rows.expect(TableQuery("Many"), in: reader, finds: left, "after the deletion")
                let digit = TableQuery("Many", predicate: .column("digit") == 6)
                try rows.expect(digit, in: reader, finds: left.filter { $0 % 10 == 6 }, "after the deletion")
            }
        },
        Check("SCA-005", "A table with very many rows can be emptied in one call and refilled", tier: .stress) {
            context in
            let rows = ManyRows(context.settings.rows / 4)
            let store = try rows.store(in: context)
            let deleted = try store.delete(matching: TableQuery("Many"))
            try context.expect(deleted, is: rows.count, "rows deleted")
            for predicate in [nil, .column("digit") == 1] as [RowPredicate?] {
                let count = try store.count(TableQuery("Many", predicate: predicate))
                try context.expect(count, is: 0, "the count after the deletion")
            }
            try rows.load(into: store)
            try store.read {
                try rows.expect(TableQuery("Many"), in: $0, finds: 0..<rows.count, "after the second load")
            }
        },
        Check(
            "SCA-006", "One write stores very many rows, all of them or none",
            why: "A large transaction overflows caches and buffers and is partly written before its commit.",
            tier: .stress
        ) { context in
            let rows = ManyRows(context.settings.rows / 4)
            var store = try context.store(ManyRows.schema)
            for isThrown in [true, false] {
                try writeAll(rows, to: store, throwing: isThrown, context)
                store = try context.reopened(store)
                try store.read { reader in
                    let expected = isThrown ? 0..<0 : 0..<rows.count
                    try rows.expect(TableQuery("Many"), in: reader, finds: expected, "after the write")
                    let digit = TableQuery("Many", predicate: .column("digit") == 9)
                    try rows.expect(digit, in: reader, finds: expected.filter { $0 % 10 == 9 }, "after the write")
                }
            }
        },
        Check("SCA-007", "A store holds many tables, each with its own rows", tier: .stress) { context in
            let count = context.tableCount(100)
            let tables = (0..<count).map { TableSchema("Table \($0)", columns: [.int("n")], indexes: [["n"]]) }
            let store = try context.store(tables)
            try context.apply(to: store) { writer in
                for (number, table) in tables.enumerated() {
                    try writer.upsert(numbered(number), into: table.name)
                }
            } thenLook: { reader, place in
                for (number, table) in tables.enumerated() {
                    try context.expect(table, in: reader, holds: numbered(number), place)
                }
            }
        },
    ]

    private static func numbered(_ number: Int) -> [Row] {
        (0..<(number % 7)).map { ["id": .string("\($0)"), "n": .int(Int64(number))] }
    }

    private static func writeAll(
        _ rows: ManyRows, to store: TracedStore, throwing isThrown: Bool, _ context: CheckContext
    ) throws {
        let write = {
            try store.write { writer in
                for batch in rows.batches { try writer.upsert(rows.packed(batch), into: "Many") }
                try context.expect(writer.count(TableQuery("Many")), is: rows.count, "the count inside the write")
                if isThrown { throw StoreError(.io, "the body throws") }
            }
        }
        guard isThrown else { return try write() }
        try context.expectError(.io, "a large write whose body throws that error", write)
    }
}
