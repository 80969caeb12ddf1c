import CSQLite
import Testing
import TidelineStore
import TidelineTestStores
import TidelineTestSupport

@testable import TidelineSQLite

/// Tests that writing several complete rows with one statement has the same effect as writing them one by one.
@Suite struct SQLiteUpsertGroupTests {
    private static let schema = TableSchema("t", columns: [.string("s"), .int("n")], systemColumns: [])
    private static let size = StoredTable.groupSize

    private let store: SQLiteStore

    init() throws {
        store = try SQLiteStore.inMemory()
        try store.define([Self.schema])
    }

    private static func rows(_ numbers: some Sequence<Int>, _ text: String = "") -> [Row] {
        numbers.map { ["id": .string("id-\($0)"), "s": .string("\(text)\($0)"), "n": .int(Int64($0))] }
    }

    private static func texts(_ store: SQLiteStore) throws -> [String: String] {
        let rows = try store.read { try $0.rows(matching: TableQuery("t")).rows }
        return Dictionary(uniqueKeysWithValues: rows.map { ($0.idText, $0["s"]?.string ?? "null") })
    }

    @Test(arguments: [1, size - 1, size, size + 1, 3 * size, 3 * size + 5])
    func everyRowIsWritten(_ count: Int) throws {
        for text in ["a", "b"] {
            try store.write { try $0.upsert(Self.rows(0..<count, text), into: "t") }
            let expected = (0..<count).map { ("id-\($0)", "\(text)\($0)") }
            #expect(try Self.texts(store) == Dictionary(uniqueKeysWithValues: expected))
        }
    }

    @Test func ofTwoRowsOfOneIDTheLastCounts() throws {
        var rows = Self.rows(0..<2 * Self.size + 3, "first ")
        // One in the same group, one in the next group, and one in the remainder.
        rows.insert(contentsOf: Self.rows([0], "second "), at: 3)
        rows.insert(contentsOf: Self.rows([5], "second "), at: Self.size + 1)
        rows += Self.rows([7], "second ")
        try store.write { try $0.upsert(rows, into: "t") }
        let texts = try Self.texts(store)
        #expect(texts.filter { $0.value.hasPrefix("second") }.keys.sorted() == ["id-0", "id-5", "id-7"])
        #expect(texts.count == 2 * Self.size + 3)
    }

    @Test(arguments: [0, 3, size - 1, size, size + 2])
    func aRowThatNamesLessKeepsItsPlace(_ position: Int) throws {
        var rows = Self.rows(0..<3 * Self.size)
        // One partial row follows the row that it merges into; the other is followed by a row that replaces its text.
        rows.insert(contentsOf: Self.rows([1000], "whole "), at: position)
        rows.insert(["id": "id-1000", "s": "part"], at: position + 1)
        rows.insert(contentsOf: Self.rows([1001], "whole "), at: position)
        rows.insert(["id": "id-1001", "s": "part"], at: position)
        try store.write { try $0.upsert(rows, into: "t") }
        let texts = try Self.texts(store)
        #expect(texts["id-1000"] == "part" && texts["id-1001"] == "whole 1001")
        #expect(texts.count == 3 * Self.size + 2)
        #expect(try store.read { try $0.row(in: "t", id: "id-1000")?["n"] } == 1000)
    }

    @Test func aRowThatIsRefusedIsNamedAndNothingRemains() throws {
        var rows = Self.rows(0..<3 * Self.size)
        rows[Self.size + 3]["n"] = "text"
        let error = expectError(.invalidValue) { try store.write { try $0.upsert(rows, into: "t") } }
        #expect(error?.id == "id-\(Self.size + 3)" && error?.column == "n")
        #expect(try Self.texts(store).isEmpty)
    }

    @Test(arguments: [0, 3, size - 1, size + 2])
    func aRowThatSQLiteRefusesIsNamed(_ position: Int) throws {
        let folder = try TemporaryFolder()
        let path = "\(folder.path)/store.sqlite"
        let store = try SQLiteStore(path: path)
        try store.define([Self.schema])
        try store.write { try $0.upsert(Self.rows([1000], "one "), into: "t") }
        // A constraint that no store creates, added with SQLite's tools.
        let other = try Connection.open(path, for: .writing, options: SQLiteOptions())
        try other.executeOnce("CREATE UNIQUE INDEX only ON t (n)")
        var rows = Self.rows(0..<3 * Self.size)
        rows[position]["n"] = 1000
        let error = #expect(throws: StoreError.self) { try store.write { try $0.upsert(rows, into: "t") } }
        #expect(error?.id == "id-\(position)" && error?.table == "t")
        #expect(try Self.texts(store) == ["id-1000": "one 1000"])
        try store.write { try $0.upsert(Self.rows(0..<3 * Self.size), into: "t") }
        #expect(try Self.texts(store).count == 3 * Self.size + 1)
        other.close()
        try store.close()
    }

    @Test func aTableOfMoreColumnsThanAGroupTakesIsWrittenRowByRow() throws {
        let names = (0..<200).map { "c\($0)" }
        let schema = TableSchema("t", columns: names.map { .int($0) } + [.string("s")], systemColumns: [])
        #expect(StoredTable(schema).upsertGroup == nil)
        let store = try SQLiteStore.inMemory()
        try store.define([schema])
        let rows = (0..<2 * Self.size).map { number in
            var row: Row = ["id": .string("id-\(number)"), "s": .string("\(number)")]
            for name in names { row[name] = .int(Int64(number)) }
            return row
        }
        try store.write { try $0.upsert(rows, into: "t") }
        #expect(try Self.texts(store).count == 2 * Self.size)
    }
}
