internal import TidelineStore

extension Check {
    /// Many rows at once.
    static let upsertBatches: [Check] = [
        Check(
            "UPS-013", "Rows of one batch may name different columns",
            why: "A store that uses the columns of the first row for all writes null, or nothing, to the others."
        ) { context in
            let columns = TableSchema.allTypes.columns.map(\.name)
            let numbers = 0..<Int64(64)
            let rows = zip(0..., Row.typed(numbers)).map { number, row in
                row.filteringColumns { (columns.firstIndex(of: $0) ?? 0) * (number + 3) % 5 < 3 }
            }
            let stored = Row.typed(numbers) { $0 + 100 }
            let expected = rows.indices.map { $0 < 32 ? stored[$0].merging(rows[$0]) : rows[$0] }
            try context.expectRows(from: Array(stored.prefix(32)), become: expected) { try $0.upsert(rows, into: $1) }
        },
        Check(
            "UPS-014", "Of two rows with one id in a batch, the last is merged into the first",
            why: "A batch that is sorted, or kept in a dictionary by id, loses the order."
        ) { context in
            let batch: [Row] = [
                ["id": "1", "string": "first", "int": 1], ["id": "2", "string": "other"],
                ["id": "1", "string": "last", "bool": true],
            ]
            let expected: [Row] = [
                ["id": "1", "string": "last", "int": 1, "bool": true], ["id": "2", "string": "other"],
            ]
            try context.expectRows(become: expected) { try $0.upsert(batch, into: $1) }
            try context.expectRows(from: [.typed("1")], become: [Row.typed("1").merging(expected[0]), expected[1]]) {
                try $0.upsert(batch, into: $1)
            }
        },
        Check("UPS-015", "Many rows with one id in a batch result in one row") { context in
            let batch = (0..<300).map { Row.typed("1", $0) }
            try context.expectRows(become: [.typed("1", 299)]) { try $0.upsert(batch, into: $1) }
        },
        Check("UPS-016", "An empty batch changes nothing") { context in
            let empty = try TableSchema.allTypes.packed([])
            try context.expectRows(from: [.typed("1")], become: [.typed("1")]) { writer, table in
                try writer.upsert([Row](), into: table)
                try writer.upsert(empty, into: table)
            }
        },
        Check(
            "UPS-017", "A batch may have any order of ids",
            why: "Engines that append sorted keys lose keys in another order."
        ) { context in
            for order in [Array(0..<40), (0..<40).reversed(), (0..<40).map { $0 * 17 % 40 }] as [[Int64]] {
                let rows = order.map { Row.typed(.string("id \($0)"), $0) }
                try context.expectRows(from: rows.filter { $0["bool"] == true }, become: rows) {
                    try $0.upsert(rows, into: $1)
                }
            }
        },
        Check(
            "UPS-018", "A batch of 500 rows with 40 columns is stored completely",
            why: "500 times 40 values exceed the number of values that an engine can bind to one statement."
        ) { context in
            let schema = TableSchema("Wide", columns: (0..<40).map { .string("c\($0)") })
            let rows = (0..<500).map { number in
                schema.columns.reduce(into: Row(id: .string("\(number)"))) {
                    $0[$1.name] = .string("\($1.name)-\(number)")
                }
            }
            try context.expect(schema, of: context.store(schema), holds: rows) { try $0.upsert(rows, into: "Wide") }
        },
        Check("UPS-019", "A batch of 10,000 rows is stored and merged completely") { context in
            var store = try context.store(.notes)
            let numbers = 0..<Int64(10_000)
            for text in ["inserted", "merged"] {
                let rows = numbers.map { ["id": .string("\($0)"), "text": .string("\(text) \($0)")] as Row }
                try store.put(rows, into: "Note")
                store = try context.reopened(store)
                let found = try store.allRows("Note")
                let expected = rows.sorted { $0.idText < $1.idText }
                try context.expect(found, are: TableSchema.notes.completing(expected), "the rows \(text)")
            }
        },
        Check(
            "UPS-020", "A row with more than 64 columns stores and keeps each of them",
            why: "A 64-bit mask for the columns that a row names ends at 64."
        ) { context in
            for count in [61, 62, 65, 129] { try mergeColumns(count, context) }
        },
        Check("UPS-021", "Several batches can be stored in one write, in several tables") { context in
            let store = try context.store(.items, .notes)
            let ids = (0..<30).map { "\($0)" }
            try context.apply(to: store) { writer in
                for id in ids {
                    try writer.upsert([["id": .string(id), "text": "a"]], into: "TodoItem")
                    try writer.upsert([["id": .string(id), "text": "b"], ["id": "last"]], into: "Note")
                }
            } thenLook: { reader, place in
                let (items, notes) = (rows(ids, "a"), rows(ids, "b") + [["id": "last"]])
                try context.expect(.items, in: reader, holds: items, place)
                try context.expect(.notes, in: reader, holds: notes, place)
            }
        },
    ]

    private static func rows(_ ids: [String], _ text: String) -> [Row] {
        ids.map { ["id": .string($0), "text": .string(text)] }
    }

    /// Inserts rows that name two thirds of the columns, then merges rows that name a different two thirds.
    private static func mergeColumns(_ count: Int, _ context: CheckContext) throws {
        let schema = TableSchema("Wide \(count)", columns: (0..<count).map { .int("c\($0)") })
        func row(_ number: Int, without rest: Int) -> Row {
            let columns = (0..<count).filter { ($0 + number) % 3 != rest }
            return columns.reduce(into: Row(id: .string("\(number)"))) {
                $0["c\($1)"] = .int(Int64(rest * 1_000_000 + number * 1_000 + $1))
            }
        }
        let (first, second) = ((0..<4).map { row($0, without: 0) }, (0..<4).map { row($0, without: 1) })
        let expected = zip(first, second).map { $0.merging($1) }
        try context.expect(schema, of: context.store(schema, in: schema.name), holds: expected) { writer in
            try writer.upsert(first, into: schema.name)
            try writer.upsert(second, into: schema.name)
        }
    }
}
