import Testing
import TidelineStore
import TidelineTestStores
import TidelineTestSupport

@Suite struct DefinitionTests {
    @Test(arguments: StoreKind.all)
    func aTableThatWasNeverDefinedIsNoSuchTable(_ subject: StoreKind) throws {
        try subject.withStore(.items) { store throws in
            for name in ["Other", "todoitem", "", "\"; drop table \"TodoItem\"; --"] {
                expectError(.noSuchTable) { _ = try store.read { try $0.schema(of: name) } }
                expectError(.noSuchTable) { _ = try store.read { try $0.row(in: name, id: "1") } }
                expectError(.noSuchTable) { _ = try store.read { try $0.rows(matching: Query(name)) } }
                expectError(.noSuchTable) { _ = try store.read { try $0.count(Query(name)) } }
                expectError(.noSuchTable) { try store.write { try $0.upsert(["id": "1"], into: name) } }
                expectError(.noSuchTable) { _ = try store.write { try $0.delete(ids: ["1"], from: name) } }
                expectError(.noSuchTable) { _ = try store.write { try $0.delete(matching: Query(name)) } }
            }
        }
    }

    @Test(arguments: StoreKind.all)
    func hostileNamesAreRefusedOrQuoted(_ subject: StoreKind) throws {
        let names = [
            "'", "\"", "a\"b", "x'; DROP TABLE y; --", "select", "table", "größe", "日本 語", "😀", "a.b", "[x]", "`y`",
            "%_\\", "null",
        ]
        try subject.withStore { store throws in
            for name in names {
                let schema = TableSchema(
                    name, columns: names.map { ColumnSchema($0, .string) }, indexes: [IndexSchema(names)])
                try store.define([schema])
                var row = Row(id: .string(name))
                for column in names { row[column] = .string(column) }
                try store.write { try $0.upsert(row, into: name) }
                let found = try store.read { try $0.row(in: name, id: .string(name)) }
                for column in names { #expect(found?[column] == .string(column)) }
                for column in names {
                    let query = Query(name, predicate: .column(column) == .literal(.string(column)))
                    #expect(try store.read { try $0.ids(query.order(by: column)) } == [name])
                }
            }
            #expect(try store.tables().count == names.count)
        }
    }

    @Test(arguments: StoreKind.all, ["", "a\0b", "__x", "a\nb", String(repeating: "a", count: 129)])
    func invalidNamesAreRefused(_ subject: StoreKind, _ name: String) throws {
        try subject.withStore { store throws in
            expectError(.schemaMismatch) { try store.define([TableSchema(name, columns: [])]) }
            expectError(.schemaMismatch) { try store.define([TableSchema("t", columns: [.int(name)])]) }
            #expect(try store.tables() == [])
        }
    }

    @Test(arguments: StoreKind.all)
    func definingIsAllOrNothing(_ subject: StoreKind) throws {
        try subject.withStore(TableSchema("a", columns: [.int("x")])) { store throws in
            let tables = [TableSchema("b", columns: []), TableSchema("a", columns: [.string("x")])]
            let error = expectError(.schemaMismatch) { try store.define(tables) }
            #expect(error?.table == "a")
            #expect(error?.column == "x")
            #expect(try store.tables().map(\.name) == ["a"])
        }
    }

    @Test(arguments: StoreKind.all)
    func theSameDefinitionAgainIsNothing(_ subject: StoreKind) throws {
        try subject.withStore(.items) { store throws in
            try store.write { try $0.upsert(["id": "1", "text": "a"], into: "TodoItem") }
            try store.define([.items, .items])
            #expect(try store.read { try $0.row(in: "TodoItem", id: "1")?["text"] } == "a")
            #expect(try store.tables() == [.items])
        }
    }

    @Test(arguments: StoreKind.all)
    func aNewColumnReadsNullInOldRows(_ subject: StoreKind) throws {
        try subject.withStore(TableSchema("t", columns: [.int("a")])) { store throws in
            try store.write { try $0.upsert(["id": "1", "a": 1], into: "t") }
            let wider = TableSchema(
                "t", columns: [.string("new"), .int("a"), .bool("must", optional: false)],
                indexes: [["new", "a"], ["a"]])
            try store.define([wider])
            let row = try #require(try store.read { try $0.row(in: "t", id: "1") })
            #expect(row["new"] == .null && row["a"] == 1 && row["must"] == .null)
            #expect(try store.read { try $0.ids(Query("t", predicate: .column("new").isNull)) } == ["1"])
            try store.write { try $0.upsert(["id": "1", "new": "x"], into: "t") }
            #expect(try store.read { try $0.ids(Query("t", predicate: .column("new") == "x")) } == ["1"])
        }
    }

    @Test(arguments: StoreKind.all)
    func aNewIndexIsFilledFromTheRowsThereAre(_ subject: StoreKind) throws {
        try subject.withStore(TableSchema("t", columns: [.int("a")])) { store throws in
            try store.write { try $0.upsert((0..<50).map { ["id": .string("\($0)"), "a": .int($0 % 5)] }, into: "t") }
            try store.define([TableSchema("t", columns: [.int("a")], indexes: [["a"]])])
            let query = Query("t", predicate: .column("a") == 3)
            #expect(try store.read { try $0.count(query) } == 10)
            try store.define([TableSchema("t", columns: [.int("a")])])
            #expect(try store.read { try $0.count(query) } == 10)
        }
    }

    @Test(arguments: StoreKind.all)
    func aDroppedColumnIsOutOfSightAndStaysStored(_ subject: StoreKind) throws {
        let both = TableSchema("t", columns: [.int("a"), .string("b", optional: false)], indexes: [["b"]])
        try subject.withStore(both) { store throws in
            try store.write { try $0.upsert(["id": "1", "a": 1, "b": "kept"], into: "t") }
            try store.define([TableSchema("t", columns: [.int("a")])])
            #expect(try store.read { try $0.row(in: "t", id: "1")?.columnNames.contains("b") } == false)
            expectError(.invalidValue) { try store.write { try $0.upsert(["id": "1", "b": "x"], into: "t") } }
            expectError(.invalidValue) { _ = try store.read { try $0.ids(Query("t", predicate: .column("b") == "x")) } }
            try store.write { try $0.upsert(["id": "2", "a": 2], into: "t") }
            let other = expectError(.schemaMismatch) {
                try store.define([TableSchema("t", columns: [.int("a"), .int("b")])])
            }
            #expect(other?.column == "b")
            try store.define([both])
            #expect(try store.read { try $0.row(in: "t", id: "1")?["b"] } == "kept")
            #expect(try store.read { try $0.row(in: "t", id: "2")?["b"] } == .null)
        }
    }

    @Test(arguments: StoreKind.all, ColumnType.allCases)
    func aChangedTypeIsRefusedAndNamed(_ subject: StoreKind, _ type: ColumnType) throws {
        try subject.withStore(TableSchema("t", columns: [ColumnSchema("a", type)])) { store throws in
            for other in ColumnType.allCases where other != type {
                let error = expectError(.schemaMismatch) {
                    try store.define([TableSchema("t", columns: [ColumnSchema("a", other)])])
                }
                #expect(error?.table == "t")
                #expect(error?.column == "a")
            }
        }
    }

    @Test(arguments: StoreKind.all)
    func theKindOfIDsCannotChange(_ subject: StoreKind) throws {
        try subject.withStore(TableSchema("t", columns: [])) { store throws in
            expectError(.schemaMismatch) { try store.define([TableSchema("t", columns: [], idType: .int)]) }
            expectError(.schemaMismatch) { try store.define([TableSchema("t", columns: [], idMatching: .exact)]) }
        }
    }

    @Test(arguments: StoreKind.all)
    func systemTablesAreHiddenFromTheApp(_ subject: StoreKind) throws {
        try subject.withStore(.items) { store throws in
            try store.define(SystemTables().schemas)
            #expect(try store.appTables() == [.items])
            let names = ["MS_TableConfig", "MS_TableOperationErrors", "MS_TableOperations", "TodoItem"]
            #expect(try store.tables().map(\.name) == names)
        }
    }

    @Test(arguments: StoreKind.sharing)
    func anotherStoreOnTheSameFilesSeesNewDefinitions(_ subject: StoreKind) throws {
        try withTemporaryFolder { folder in
            let first = try subject.open(folder)
            let second = try subject.open(folder)
            try first.define([TableSchema("t", columns: [.int("a")])])
            try second.write { try $0.upsert(["id": "1", "a": 1], into: "t") }
            try second.define([TableSchema("t", columns: [.int("a"), .string("b")])])
            #expect(try first.read { try $0.row(in: "t", id: "1")?["b"] } == .null)
            // A column that becomes required changes no table of the database, only the definition.
            try first.define([TableSchema("t", columns: [.int("a", optional: false), .string("b")])])
            expectError(.invalidValue) { try second.write { try $0.upsert(["id": "2", "b": "x"], into: "t") } }
            try first.close()
            try second.close()
        }
    }
}
