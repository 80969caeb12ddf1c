internal import TidelineStore

extension Check {
    /// Large numbers of operations, errors, and settings.
    static let systemRows: [Check] = [
        Check(
            "SYS-020", "10,000 operations are in order of number after reopening, read at once and in pages",
            why: "A device that was offline for a long time has a long queue, which must be pushed in order."
        ) { context in
            let store = try context.syncStore(.items)
            let numbers = (0..<10_000).map { Int64($0 * 7_919 % 10_000 + 1) }
            for start in stride(from: 0, to: numbers.count, by: 2_500) {
                let rows = numbers[start..<(start + 2_500)].map { SystemRows.operation($0, "item\($0 % 100)") }
                try store.put(rows, into: "MS_TableOperations")
            }
            let reopened = try context.reopened(store)
            let queue = TableQuery("MS_TableOperations").order(by: "id")
            let found = try reopened.rows(matching: queue).rows.compactMap { $0.id?.value.int }
            try context.expect(found == Array(1...10_000), "the queue is not 1 to 10,000: \(found.prefix(20))")
            let next = queue.filter(.column("id") > 4_999 && .column("id") <= 10_000).limit(3)
            try context.expect(next, in: reopened, finds: [5_000, 5_001, 5_002])
            let last = TableQuery("MS_TableOperations").order(by: "id", descending: true).skip(9_990)
            try context.expect(last, in: reopened, finds: (1...10).reversed().map { .int($0) })
            let ofItem = SystemRows.operations(of: "TodoItem", key: "item7").limit(2).includingTotalCount()
            let result = try reopened.rows(matching: ofItem)
            try context.expect(result.rows.compactMap(\.id), is: [7, 107], "the first operations of one row")
            try context.expect(result.totalCount, is: 100, "the operations of one row")
        },
        Check(
            "SYS-021", "Operations are ordered numerically from the smallest to the greatest 64-bit number",
            why: "Byte keys sort negative numbers after positive ones unless the sign bit is inverted."
        ) { context in
            let numbers: [Int64] = [.min, -256, -255, -1, 0, 1, 9, 10, 127, 128, 255, 256, 65_536, 1 << 53, .max]
            let store = try context.syncStore()
            try store.put(numbers.reversed().map { SystemRows.operation($0, "a") }, into: "MS_TableOperations")
            let all = TableQuery("MS_TableOperations").order(by: "id")
            try context.expect(all, in: store, finds: numbers.map { .int($0) })
            try context.expect(all.filter(.column("id") > -255).limit(1), in: store, finds: [-1])
            try context.expect(all.filter(.column("id") <= -255), in: store, finds: [.int(.min), -256, -255])
            try context.expect(
                SystemRows.operations(of: "TodoItem", key: "a"), in: store, finds: numbers.map { .int($0) })
        },
        Check("SYS-022", "A setting can be set, read, replaced, removed, and set again without affecting others") {
            context in
            let store = try context.syncStore()
            let other = SystemRows.setting("2", "Note", "q", value: "other")
            try store.put([SystemRows.setting("1", "TodoItem", "q", value: "one"), other], into: "MS_TableConfig")
            func expectValue(_ value: Value?, _ when: String) throws {
                let found = try store.rows(matching: SystemRows.token("TodoItem", "q"))
                try context.expect(found.rows.first?["value"], is: value, "the setting \(when)")
                let kept = try store.row(in: "MS_TableConfig", "2")
                try context.expect(
                    kept, is: other.completed(for: SystemRows.tables.configSchema), "the other setting \(when)")
            }
            try expectValue("one", "at first")
            try store.put([SystemRows.setting("1", "TodoItem", "q", value: "two")], into: "MS_TableConfig")
            try expectValue("two", "replaced")
            try store.delete(matching: SystemRows.token("TodoItem", "q"))
            try expectValue(nil, "removed")
            try store.put([SystemRows.setting("3", "TodoItem", "q", value: "three")], into: "MS_TableConfig")
            try expectValue("three", "set again under another id")
        },
        Check("SYS-023", "A counter in the settings continues after the queue was emptied and the store reopened") {
            context in
            var store = try context.syncStore()
            for number: Int64 in 1...5 {
                let last = try store.row(in: "MS_TableConfig", "last")?["value"] ?? "0"
                try context.expect(last, is: .string("\(number - 1)"), "the counter")
                try store.write { writer in
                    try writer.upsert(SystemRows.operation(number, "a"), into: "MS_TableOperations")
                    let counter = SystemRows.setting("last", "", "last", type: 2, value: "\(number)")
                    try writer.upsert(counter, into: "MS_TableConfig")
                }
                try store.delete(ids: [.int(number)], from: "MS_TableOperations")
                store = try context.reopened(store)
            }
        },
        Check("SYS-024", "An operation without a table, an item, or a kind is refused, naming the column") { context in
            let store = try context.syncStore()
            for column in ["table", "itemId", "itemKey", "tableKind"] {
                var row = SystemRows.operation(1, "a")
                row[column] = .null
                try context.expectError(.invalidValue, "no \(column)", table: "MS_TableOperations", column: column) {
                    try store.put([row], into: "MS_TableOperations")
                }
            }
            try context.expect(store.count(TableQuery("MS_TableOperations")), is: 0, "operations afterwards")
        },
        Check("SYS-025", "An operation whose id is a text is refused, naming the table with integer ids") { context in
            let store = try context.syncStore()
            let row: Row = ["id": "1", "table": "t", "itemId": "a", "itemKey": "a", "tableKind": 0]
            try context.expectError(.invalidValue, "a text as the id", table: "MS_TableOperations", column: "id") {
                var rows = PackedRows(shape: RowShape(table: "MS_TableOperations", columns: columns))
                try rows.append(row)
                try store.put(rows, into: "MS_TableOperations")
            }
            try context.expect(store.row(in: "MS_TableOperations", "1") == nil, "an id of another type finds a row")
            let count = try store.delete(ids: ["1"], from: "MS_TableOperations")
            try context.expect(count, is: 0, "rows deleted by an id of another type")
        },
        Check("SYS-026", "Errors are ordered by the number of their operation, not by the text of their id") {
            context in
            let store = try context.syncStore()
            let numbers: [Int64] = [10, 9, 100, 2, 1_000]
            try store.put(numbers.map { SystemRows.error($0) }, into: "MS_TableOperationErrors")
            let all = TableQuery("MS_TableOperationErrors")
            try context.expect(all.order(by: "operationId"), in: store, finds: ["2", "9", "10", "100", "1000"])
            try context.expect(all, in: store, finds: ["10", "100", "1000", "2", "9"], "in order of id, a text")
            let ofOne = all.filter(.column("operationId") == 10)
            try context.expect(ofOne, in: store, finds: ["10"])
        },
        Check("SYS-027", "Settings whose keys differ in case, spaces, or accents are different settings") { context in
            let keys = ["q", "Q", "q ", " q", "é", "e\u{301}", "q\0", "", "q'", "%", "ß", "ss", "q|q"]
            let store = try context.syncStore()
            let rows = keys.enumerated().map { SystemRows.setting("\($0)", "t", $1, value: "\($0)") }
            try store.put(rows, into: "MS_TableConfig")
            for (index, key) in keys.enumerated() {
                try context.expect(SystemRows.token("t", key), in: store, finds: [.string("\(index)")])
            }
        },
    ]

    private static let columns: [ColumnSchema] = [
        .string("table"), .string("itemId"), .string("itemKey"), .int("tableKind"),
    ]
}
