internal import TidelineStore

extension Check {
    /// Sorting, paging, counting, and column selection.
    static let order: [Check] = [
        orderKeys, orderWithConditions, orderTypes, orderIDs, orderPaging, orderPages, orderCount, orderScan,
        orderSelection, orderAmounts,
    ].flatMap { $0 }

    /// Orders of few and many rows and terms.
    static let orderAmounts: [Check] = [
        Check(
            "ORD-075", "An order of 1, 2, 17, 1,001, and 5,000 rows is correct, including ties by id",
            why: "Rows are sorted in parts and merged. A merge that compares only terms, not the id, mixes equal rows."
        ) { context in
            let store = try context.store(Amounts.all.map(Amounts.schema))
            for count in Amounts.all {
                let (schema, rows) = (Amounts.schema(count), Amounts.rows(count))
                try store.put(rows, into: schema.name)
                let packed = try schema.packed(schema.completing(rows))
                for query in orders(of: schema, count) {
                    let expected = try Answer.expected(query, schema, packed)
                    let found = try store.read { try Answer.of($0, query) }
                    guard let difference = found.difference(from: expected) else { continue }
                    throw CheckFailure("\(count) rows: \(query.swiftSource): \(difference)")
                }
            }
        },
        Check(
            "ORD-076", "An order of 1, 2, and 17 terms applies all of them",
            why: "A sort key of a fixed size silently omits the last terms."
        ) { context in
            let names = (0..<17).map { "c\($0)" }
            let schema = TableSchema("Terms", columns: names.map { .int($0) }, systemColumns: [])
            let store = try context.store(schema)
            // All rows are equal in every column of an order except the last.
            for count in [1, 2, 17] {
                try store.write { writer in
                    for number in 0..<20 {
                        var row: Row = ["id": .string(Amounts.id(number))]
                        for name in names { row[name] = 1 }
                        row[names[count - 1]] = .int(Int64(number * 7 % 20))
                        try writer.upsert(row, into: schema.name)
                    }
                }
                let numbers = (0..<20).sorted { $0 * 7 % 20 < $1 * 7 % 20 }
                for descending in [false, true] {
                    let order = names.prefix(count).map { OrderTerm($0, descending: descending) }
                    let expected = (descending ? numbers.reversed() : numbers).map { RowID.string(Amounts.id($0)) }
                    try context.expect(
                        TableQuery(schema.name, order: order, selection: []), in: store, finds: expected,
                        "\(count) terms")
                }
            }
        },
    ]

    private static func orders(of schema: TableSchema, _ count: Int) -> [TableQuery] {
        let all = TableQuery(schema.name, selection: [])
        return [
            all, all.order(by: "n"), all.order(by: "n", descending: true), all.order(by: "s"),
            all.order(by: "m").order(by: "n", descending: true).skip(count / 2).limit(100),
            all.filter(.column("n") == 3).order(by: "m", descending: true).includingTotalCount(),
        ]
    }
}
