import Testing
import TidelineMemory
import TidelineStore
import TidelineTestSupport

@testable import TidelineKeyValue

/// Tests that ids compare without regard to case, keep the case stored first, and work with overflow keys.
@Suite struct SpelledIDTests {
    private static let schema = TableSchema(
        "T", columns: [.string("a"), .int("b")], systemColumns: [], indexes: [["b"]])

    @Test(
        arguments: allPairs(["id-a", "ID-A", "Id-a"], ["id-a", "ID-A", "iD-A"]),
        allPairs([true, false], [true, false]))
    func theFirstSpellingStays(_ spellings: (String, String), _ isWhole: (Bool, Bool)) throws {
        for remembersKeys in [false, true] { try expectFirstSpelling(spellings, isWhole, remembersKeys) }
    }

    /// - Parameter remembersKeys: Whether the engine remembers keys. If so, the table has no indexes and its rows are
    ///   cached.
    private func expectFirstSpelling(
        _ spellings: (String, String), _ isWhole: (Bool, Bool), _ remembersKeys: Bool
    ) throws {
        var schema = Self.schema
        if remembersKeys { schema.indexes = [] }
        let (engine, store) = try openStore(over: WrappedEngine(remembersKeys: remembersKeys), schema)
        let (first, second) = spellings
        var rows: [Row] = [["id": .string(first), "a": "1"], ["id": .string(second), "a": "2"]]
        if isWhole.0 { rows[0]["b"] = 1 }
        if isWhole.1 { rows[1]["b"] = 2 }
        for row in rows + rows.suffix(1) { try store.write { try $0.upsert(row, into: "T") } }
        let b: Value = isWhole.1 ? 2 : isWhole.0 ? 1 : .null
        let expected: Row = ["id": .string(first), "a": "2", "b": b]
        for id in ["id-a", "ID-A", "iD-a", first, second] {
            #expect(try store.read { try $0.row(in: "T", id: id) } == expected)
            #expect(
                try store.read { try $0.rows(matching: TableQuery("T").filter(.column("id") == .value(id))).rows.count }
                    == 1
            )
        }
        #expect(try store.read { try $0.rows(matching: TableQuery("T").order(by: "b")).rows } == [expected])
        try engine.audit()
        #expect(try store.write { try $0.delete(id: "iD-a", from: "T") })
        try store.write { try $0.upsert(["id": .string(second)], into: "T") }
        #expect(try store.read { try $0.rows(matching: TableQuery("T")).rows.map(\.idText) } == [second])
    }

    /// A row that is written again as a whole, with the same original id, is stored without reading the old one.
    @Test(arguments: ["id-a", "ID-A"])
    func aWholeRowTakesTheOthersPlace(_ id: String) throws {
        let (engine, store) = try openStore(Self.schema)
        for number in 0..<3 {
            try store.write { try $0.upsert(["id": .string(id), "a": "x", "b": .int(Int64(number))], into: "T") }
            #expect(
                try store.read { try $0.row(in: "T", id: "id-a") } == [
                    "id": .string(id), "a": "x", "b": .int(Int64(number)),
                ])
        }
        try engine.audit()
    }

    @Test(arguments: [128, 511, Int.max], [TableSchema.IDMatching.exact, .asciiCaseInsensitive])
    func idsOfTheGreatestLengthAreFoundOrderedPagedAndDeleted(
        _ maximumKeyLength: Int, _ matching: TableSchema.IDMatching
    ) throws {
        var schema = Self.schema
        schema.idMatching = matching
        let (engine, store) = try openStore(over: WrappedEngine(maximumKeyLength: maximumKeyLength), schema)
        let hashedPrefix = String(repeating: "😀", count: 250)
        let ids =
            (0..<60).map { hashedPrefix + "A\(100 + $0)" } + [
                hashedPrefix, "A", "😀", String(repeating: "😀", count: 255),
            ]
        try store.write { writer in
            let rows = ids.shuffled().enumerated().map { number, id in
                ["id": .string(id), "a": .string(id), "b": .int(Int64(number % 3))] as Row
            }
            try writer.upsert(rows, into: "T")
        }
        try engine.audit()
        try store.read { reader in
            for id in ids {
                #expect(try reader.row(in: "T", id: id)?.idText == id)
                if matching == .asciiCaseInsensitive {
                    #expect(try reader.row(in: "T", id: id.replacing("A", with: "a"))?.idText == id)
                }
            }
            try expectOrder(of: ids, in: reader)
        }
        for (number, id) in ids.enumerated() {
            #expect(try store.write { try $0.delete(id: id, from: "T") })
            #expect(try store.read { try $0.count(TableQuery("T")) } == ids.count - number - 1)
        }
        try engine.audit()
    }

    private func expectOrder(of ids: [String], in reader: some StoreReader) throws {
        let sorted = ids.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
        func found(_ query: TableQuery) throws -> [String] { try reader.rows(matching: query).rows.map(\.idText) }
        var paged: [String] = []
        for start in stride(from: 0, to: ids.count, by: 7) {
            paged += try found(TableQuery("T").order(by: "id").skip(start).limit(7))
        }
        #expect(paged == sorted)
        #expect(try found(TableQuery("T").order(by: "id", descending: true)) == sorted.reversed())
        let byIndex = try found(TableQuery("T").filter(.column("b") == 1).order(by: "id"))
        #expect(byIndex == sorted.filter(byIndex.contains))
        #expect(byIndex.count == ids.count / 3)
    }
}
