import Testing
import TidelineStore
import TidelineTestStores

@Suite struct LookupTests {
    @Test(arguments: StoreKind.all)
    func whatIsNotThereIsNil(_ subject: StoreKind) throws {
        try subject.withStore(.items) { store throws in
            try store.write { try $0.upsert(["id": "1"], into: "TodoItem") }
            try store.read { reader throws in
                let misses: [RowID] = [
                    "2", "", "1 ", "1\0", .int(1), .string(String(repeating: "1", count: 300)), "\u{661}",
                ]
                for id in misses { #expect(try reader.row(in: "TodoItem", id: id) == nil, "\(id)") }
            }
        }
    }

    @Test(arguments: StoreKind.all)
    func deletesOneManyAbsentMixedNone(_ subject: StoreKind) throws {
        try subject.withStore(.items, TableSchema("other", columns: [])) { store throws in
            try store.write { writer throws in
                try writer.upsert((0..<10).map { Row(id: .string("\($0)")) }, into: "TodoItem")
                try writer.upsert((0..<10).map { Row(id: .string("\($0)")) }, into: "other")
                #expect(try writer.delete(ids: ["0"], from: "TodoItem") == 1)
                #expect(try writer.delete(ids: ["1", "2", "2"], from: "TodoItem") == 2)
                #expect(try writer.delete(ids: ["0", "x", .int(3), ""], from: "TodoItem") == 0)
                #expect(try writer.delete(ids: ["0", "3"], from: "TodoItem") == 1)
                #expect(try writer.delete(ids: [], from: "TodoItem") == 0)
            }
            #expect(try store.read { try $0.allRows("TodoItem").map(\.id) } == ["4", "5", "6", "7", "8", "9"])
            #expect(try store.read { try $0.count(Query("other")) } == 10)
        }
    }

    @Test(arguments: StoreKind.all)
    func deletesThousandsOfIDsAtOnce(_ subject: StoreKind) throws {
        try subject.withStore(.items) { store throws in
            let ids = (0..<5000).map { RowID.string("id-\($0)") }
            try store.write { try $0.upsert(ids.map { Row(id: $0) } + [["id": "stays"]], into: "TodoItem") }
            #expect(try store.write { try $0.delete(ids: ids, from: "TodoItem") } == 5000)
            #expect(try store.read { try $0.allRows("TodoItem").map(\.id) } == ["stays"])
        }
    }

    @Test(arguments: StoreKind.all)
    func aDeletedRowInsertedAgainHasOnlyItsNewValues(_ subject: StoreKind) throws {
        try subject.withStore(.items) { store throws in
            try store.write { writer throws in
                try writer.upsert(["id": "A", "text": "old", "priority": 1], into: "TodoItem")
                try writer.delete(id: "a", from: "TodoItem")
                try writer.upsert(["id": "a", "priority": 2], into: "TodoItem")
            }
            let row = try store.read { try $0.row(in: "TodoItem", id: "A") }
            #expect(row?.id == "a" && row?["text"] == .null && row?["priority"] == 2)
        }
    }

    @Test(arguments: StoreKind.all, [0, 1, 3, 100])
    func deletingByQueryTakesExactlyItsWindow(_ subject: StoreKind, _ skip: Int) throws {
        for limit in [nil, 0, 1, 4, 100] { try checkWindow(subject, skip, limit) }
    }

    private func checkWindow(_ subject: StoreKind, _ skip: Int, _ limit: Int?) throws {
        try subject.withStore(TableSchema("t", columns: [.int("n"), .bool("even")])) { store throws in
            let rows: [Row] = (0..<10).map {
                ["id": .string("\($0)"), "n": .int(Int64($0 * 7 % 10)), "even": .bool($0 % 2 == 0)]
            }
            try store.write { try $0.upsert(rows, into: "t") }
            let query = Query(
                "t", predicate: .column("even") == true, order: [OrderTerm("n", descending: true)], skip: skip,
                limit: limit)
            let found = try store.read { try $0.ids(query) }
            #expect(try store.write { try $0.delete(matching: query) } == found.count)
            let rest = try store.read { try $0.allRows("t").map(\.id) }
            #expect(Set(rest) == Set(rows.map(\.id)).subtracting(found))
        }
    }

    @Test(arguments: StoreKind.all)
    func deletingEverythingReportsTheCount(_ subject: StoreKind) throws {
        try subject.withStore(.items) { store throws in
            try store.write { try $0.upsert((0..<10).map { Row(id: .string("\($0)")) }, into: "TodoItem") }
            #expect(try store.write { try $0.delete(matching: Query("TodoItem")) } == 10)
            #expect(try store.write { try $0.delete(matching: Query("TodoItem")) } == 0)
        }
    }

    /// What the sync core asks of a store.
    @Test(arguments: StoreKind.all)
    func theSyncCoresQueries(_ subject: StoreKind) throws {
        try subject.withStore { store throws in
            try store.define(SystemTables().schemas + [.items])
            try store.write { writer throws in
                for number in 1...20 {
                    let row: Row = [
                        "id": .int(Int64(number)), "table": number % 2 == 0 ? "TodoItem" : "todoitem",
                        "itemId": .string("Item\(number % 3)"),
                        "itemKey": .string("item\(number % 3)"), "tableKind": 1,
                    ]
                    try writer.upsert(row, into: "MS_TableOperations")
                }
                try writer.upsert(
                    ["id": "k", "table": "TodoItem", "key": "token", "keyType": 2, "value": "v"], into: "MS_TableConfig"
                )
                try writer.upsert(
                    ["id": "e1", "operationId": 3, "properties": .json("{\"a\" : [1,  2]}")],
                    into: "MS_TableOperationErrors")
            }
            try store.read { reader throws in
                let operations = Query("MS_TableOperations")
                let counted = try reader.rows(matching: operations.limit(0).includingTotalCount())
                #expect(counted.rows.isEmpty && counted.totalCount == 20)
                let ofItem =
                    Predicate.column("table") == "TodoItem"
                    && .column("itemId").equalsIgnoringCase("ITEM1")
                #expect(try reader.ids(operations.filter(ofItem)) == ["4", "10", "16"])
                #expect(try reader.ids(operations.filter(.column("id") > 17)) == ["18", "19", "20"])
                #expect(try reader.ids(operations.order(by: "id").limit(1)) == ["1"])
                #expect(try reader.ids(operations.order(by: "id", descending: true).limit(1)) == ["20"])
                #expect(try reader.row(in: "MS_TableOperations", id: .int(7))?["itemId"] == "Item1")
                let token =
                    Predicate.column("table") == "TodoItem" && .column("key") == "token"
                    && .column("keyType") == 2
                #expect(try reader.ids(Query("MS_TableConfig", predicate: token)) == ["k"])
                let error = try reader.row(in: "MS_TableOperationErrors", id: "E1")
                #expect(error?["properties"] == .json("{\"a\" : [1,  2]}"))
            }
            let failed = Query("MS_TableOperationErrors", predicate: .column("operationId") == 3)
            #expect(try store.write { try $0.delete(matching: failed) } == 1)
        }
    }
}
