import Testing
import TidelineStore
import TidelineTestStores

@Suite struct UpsertTests {
    @Test(arguments: StoreKind.all)
    func absentColumnsKeepTheirValueAndNullClears(_ subject: StoreKind) throws {
        try subject.withStore(.items) { store throws in
            try store.write { writer throws in
                try writer.upsert(["id": "1", "text": "a", "priority": 1, "complete": true], into: "TodoItem")
                try writer.upsert(["id": "1", "text": "b", "complete": .null], into: "TodoItem")
                try writer.upsert(["id": "1"], into: "TodoItem")
            }
            let row = try #require(try store.read { try $0.row(in: "TodoItem", id: "1") })
            #expect(row["text"] == "b" && row["priority"] == 1 && row["complete"] == .null && row["due"] == .null)
            #expect(row.columnNames == TableSchema.items.allColumns.map(\.name))
        }
    }

    @Test(arguments: StoreKind.all)
    func rowsOfOneBatchMayNameDifferentColumns(_ subject: StoreKind) throws {
        let columns = (0..<70).map { ColumnSchema.int("c\($0)") }
        try subject.withStore(TableSchema("t", columns: columns)) { store throws in
            var rows: [Row] = []
            for index in 0..<200 {
                var row = Row(id: .string("\(index % 100)"))
                for column in 0..<70 where (index * 31 + column * column) % 3 != 0 {
                    row["c\(column)"] = .int(Int64(index))
                }
                rows.append(row)
            }
            try store.write { try $0.upsert(rows, into: "t") }
            try store.read { reader throws in
                for index in 0..<100 {
                    let expected = rows[index].merging(rows[index + 100])
                    let found = try #require(try reader.row(in: "t", id: "\(index)"))
                    for column in columns { #expect(found[column.name] == expected[column.name] ?? .null) }
                }
            }
        }
    }

    @Test(arguments: StoreKind.all)
    func theLastRowOfOneIDInABatchCounts(_ subject: StoreKind) throws {
        try subject.withStore(.items) { store throws in
            try store.write {
                try $0.upsert([["id": "x", "text": "1"], ["id": "X", "text": "2"]], into: "TodoItem")
            }
            let rows = try store.read { try $0.allRows("TodoItem") }
            #expect(rows.map(\.id) == ["x"])
            #expect(rows.first?["text"] == "2")
        }
    }

    @Test(arguments: StoreKind.all)
    func anEmptyBatchIsNothing(_ subject: StoreKind) throws {
        try subject.withStore(.items) { store throws in
            try store.write { try $0.upsert([Row](), into: "TodoItem") }
            #expect(try store.read { try $0.allRows("TodoItem") } == [])
        }
    }

    @Test(arguments: StoreKind.all)
    func aColumnThatIsRequiredMustBeThereAndNotNull(_ subject: StoreKind) throws {
        let schema = TableSchema("t", columns: [.string("must", optional: false), .int("may")])
        try subject.withStore(schema) { store throws in
            let bad: [Row] = [["id": "1"], ["id": "1", "may": 1], ["id": "1", "must": .null]]
            for row in bad {
                let error = expectError(.invalidValue) { try store.write { try $0.upsert(row, into: "t") } }
                #expect(error?.table == "t")
                #expect(error?.column == "must")
                #expect(error?.id == "1")
            }
            try store.write { try $0.upsert(["id": "1", "must": "x"], into: "t") }
            try store.write { try $0.upsert(["id": "1", "may": 2], into: "t") }
            try store.write { try $0.upsert(["id": "1"], into: "t") }
            let row = try store.read { try $0.row(in: "t", id: "1") }
            #expect(row?["must"] == "x" && row?["may"] == 2)
        }
    }

    @Test(arguments: StoreKind.all)
    func errorsNameTableColumnAndID(_ subject: StoreKind) throws {
        try subject.withStore(.items) { store throws in
            let bad: [(Row, String)] = [
                (["id": "7", "nothing": 1], "nothing"), (["id": "7", "text": 1], "text"),
                (["id": "7", "priority": 1.0], "priority"), (["id": "7", "complete": 1], "complete"),
                (["id": "7", "due": "2026-01-01T00:00:00Z"], "due"),
            ]
            for (row, column) in bad {
                let error = expectError(.invalidValue) { try store.write { try $0.upsert(row, into: "TodoItem") } }
                #expect(error?.table == "TodoItem")
                #expect(error?.column == column)
                #expect(error?.id == "7")
            }
            #expect(try store.read { try $0.count(Query("TodoItem")) } == 0)
        }
    }

    /// A batch may be made for another definition; the store checks it as it is.
    @Test(arguments: StoreKind.all)
    func aBatchOfAnotherShapeIsChecked(_ subject: StoreKind) throws {
        try subject.withStore(.items) { store throws in
            let other = TableSchema("Other", columns: [.int("text"), .int("nothing"), .int("priority")])
            var unused = PackedRows(shape: other.makeShape())
            try unused.append(["id": "1", "priority": 3])
            try store.write { try $0.upsert(unused, into: "TodoItem") }
            #expect(try store.read { try $0.row(in: "TodoItem", id: "1")?["priority"] } == 3)
            for name in ["text", "nothing"] {
                var rows = PackedRows(shape: other.makeShape())
                try rows.append(["id": "2", name: 1])
                do {
                    try store.write { try $0.upsert(rows, into: "TodoItem") }
                    Issue.record("\(name) was accepted")
                } catch let error as StoreError {
                    #expect(error.code == .invalidValue)
                    #expect(error.column == name)
                    #expect(error.id == "2")
                }
            }
            var numbered = PackedRows(shape: TableSchema("n", columns: [], idType: .int).makeShape())
            try numbered.append(Row(id: .int(1)))
            do {
                try store.write { try $0.upsert(numbered, into: "TodoItem") }
                Issue.record("an integer id was accepted")
            } catch let error as StoreError {
                #expect(error.code == .invalidValue)
            }
        }
    }

    @Test(arguments: StoreKind.all)
    func anErrorInTheLastRowLeavesNothingOfTheBatch(_ subject: StoreKind) throws {
        try subject.withStore(.items) { store throws in
            var rows: [Row] = (0..<100).map { ["id": .string("\($0)"), "text": "x"] }
            rows.append(["id": .string(String(repeating: "a", count: 256))])
            expectError(.invalidValue) { try store.write { try $0.upsert(rows, into: "TodoItem") } }
            // An error that the body passes over must not leave half of the batch either.
            expectError(.invalidValue) { try store.write { try? $0.upsert(rows, into: "TodoItem") } }
            #expect(try store.read { try $0.count(Query("TodoItem")) } == 0)
            try store.write { try $0.upsert(rows.dropLast(), into: "TodoItem") }
            #expect(try store.read { try $0.count(Query("TodoItem")) } == 100)
        }
    }

    @Test(arguments: StoreKind.all)
    func largeBatchesOfManyColumns(_ subject: StoreKind) throws {
        let columns = (0..<40).map { ColumnSchema.string("c\($0)") }
        try subject.withStore(TableSchema("t", columns: columns)) { store throws in
            let rows = (0..<500).map { index in
                columns.reduce(into: Row(id: .string("\(index)"))) { $0[$1.name] = .string("\($1.name)-\(index)") }
            }
            try store.write { try $0.upsert(rows, into: "t") }
            #expect(
                try Set(store.read { try $0.allRows("t") })
                    == Set(rows.map { $0.merging(["version": .null, "createdAt": .null, "updatedAt": .null]) }))
        }
    }

    @Test(arguments: StoreKind.all)
    func idsKeepTheSpellingStoredFirst(_ subject: StoreKind) throws {
        try subject.withStore(.items) { store throws in
            try store.write { try $0.upsert(["id": "Abc", "text": "1"], into: "TodoItem") }
            try store.write { try $0.upsert(["id": "aBC", "priority": 2], into: "TodoItem") }
            let row = try store.read { try $0.row(in: "TodoItem", id: "ABC") }
            #expect(row?.id == "Abc" && row?["text"] == "1" && row?["priority"] == 2)
            #expect(try store.read { try $0.ids(Query("TodoItem", predicate: .column("id") == "abC")) } == ["Abc"])
            #expect(try store.write { try $0.delete(id: "abc", from: "TodoItem") })
        }
    }

    @Test(arguments: StoreKind.all)
    func exactIDsDifferInCase(_ subject: StoreKind) throws {
        try subject.withStore(TableSchema("t", columns: [], idMatching: .exact)) { store throws in
            try store.write { try $0.upsert([["id": "a"], ["id": "A"]], into: "t") }
            #expect(try store.read { try $0.allRows("t").map(\.id) } == ["A", "a"])
            #expect(try store.write { try $0.delete(ids: ["A"], from: "t") } == 1)
            #expect(try store.read { try $0.row(in: "t", id: "A") } == nil)
            #expect(try store.read { try $0.row(in: "t", id: "a") } != nil)
        }
    }
}
