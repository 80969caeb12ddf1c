import Testing
import TidelineMemory
import TidelineStore
import TidelineTestStores

@testable import TidelineKeyValue

/// Tests the bytes in the engine after an upsert.
@Suite struct StoredBytesTests {
    private static let columns = [ColumnSchema.string("text"), .int("rank")]

    private static func packed(_ rows: [Row], _ shape: RowShape) throws -> [[UInt8]] {
        var packed = PackedRows(shape: shape)
        for row in rows { try packed.append(row) }
        return (0..<packed.count).map { packed.withRow(at: $0) { $0.withPackedBytes { Array($0) } } }
    }

    /// Returns the rows of the store's only table, in order of their keys.
    private func entries(_ engine: MemoryEngine) throws -> [KeyValueEntry] {
        try engine.read { try $0.entries(in: KeySpace(number: 1).range) }
    }

    @Test func aWholeRowIsStoredAsItIsInTheBatch() throws {
        let schema = TableSchema("t", columns: Self.columns, systemColumns: [])
        let (engine, store) = try openStore(over: MemoryEngine(), schema)
        let rows: [Row] = [["id": "a1", "text": "x", "rank": 1], ["id": "B2", "text": .null, "rank": 2]]
        try store.write { try $0.upsert(rows, into: "t") }
        let packed = try Self.packed(rows, schema.makeShape())
        let found = try entries(engine)
        #expect(found.map(\.key) == [[0, 0, 0, 1] + Array("a1".utf8), [0, 0, 0, 1] + Array("b2".utf8)])
        #expect(found.map(\.value) == [packed[0], packed[1] + Array("B2".utf8)])
    }

    @Test func aTableOfExactIDsStoresNoneInItsValues() throws {
        let schema = TableSchema("t", columns: Self.columns, systemColumns: [], idMatching: .exact)
        let (engine, store) = try openStore(over: MemoryEngine(), schema)
        let rows: [Row] = [["id": "B2", "text": "x", "rank": 1], ["id": "b2", "text": "y", "rank": 2]]
        try store.write { try $0.upsert(rows, into: "t") }
        #expect(try entries(engine).map(\.value) == Self.packed(rows, schema.makeShape()))
    }

    @Test func whatARowDoesNotNameIsStoredAsNull() throws {
        let schema = TableSchema("t", columns: Self.columns, systemColumns: [])
        let (engine, store) = try openStore(over: MemoryEngine(), schema)
        try store.write { try $0.upsert(["id": "a", "rank": 1], into: "t") }
        let whole = try Self.packed([["id": "a", "text": .null, "rank": 1]], schema.makeShape())
        #expect(try entries(engine).map(\.value) == whole)
    }

    @Test func theBatchsOrderOfColumnsDoesNotMatter() throws {
        let schema = TableSchema("t", columns: Self.columns, systemColumns: [])
        let (engine, store) = try openStore(over: MemoryEngine(), schema)
        var packed = PackedRows(shape: RowShape(table: "t", columns: Self.columns.reversed()))
        try packed.append(["id": "a", "rank": 1, "text": "x"])
        try store.write { try $0.upsert(packed, into: "t") }
        let whole = try Self.packed([["id": "a", "text": "x", "rank": 1]], schema.makeShape())
        #expect(try entries(engine).map(\.value) == whole)
    }

    /// A row is written with the columns in use at that time, followed by the retired ones.
    @Test func anUpsertBringsARowToTheLayoutInUse() throws {
        let (engine, store) = try openStore(
            over: MemoryEngine(), TableSchema("t", columns: Self.columns, systemColumns: []))
        try store.write { try $0.upsert([["id": "a", "text": "x", "rank": 1], ["id": "b", "rank": 2]], into: "t") }
        let before = try entries(engine)
        let schema = TableSchema("t", columns: [.int("rank"), .bool("done")], systemColumns: [])
        try store.define([schema])
        #expect(try entries(engine) == before)
        try store.write { try $0.upsert(["id": "A", "rank": 5, "done": true], into: "t") }
        var expected = try Self.packed(
            [["id": "a", "rank": 5, "done": true, "text": "x"]],
            RowShape(columns: [.int("rank"), .bool("done"), .string("text")]))[0]
        expected[4] = 1
        #expect(try entries(engine).map(\.value) == [expected, before[1].value])
        try engine.audit()
    }

    /// The width of offsets changes as the row grows and shrinks.
    @Test func rowsGrowAndShrinkAcrossTheWideForm() throws {
        let schema = TableSchema("t", columns: Self.columns + [.bytes("more")], indexes: [["text"]])
        let (engine, store) = try openStore(over: MemoryEngine(), schema)
        for count in [10, 40_000, 70_000, 65_535, 65_536, 3, 200_000, 0] {
            let text = String(repeating: "é", count: count / 2)
            try store.write { try $0.upsert(["id": "A", "text": .string(text)], into: "t") }
            try store.write {
                try $0.upsert(["id": "a", "more": .bytes([UInt8](repeating: 7, count: count))], into: "t")
            }
            let row = try #require(try store.read { try $0.row(in: "t", id: "a") })
            #expect(row.id == "A" && row["text"] == .string(text) && row["more"]?.bytes?.count == count)
            try engine.audit()
        }
    }

    /// An upsert does not write index entries that it does not change.
    @Test func anIndexIsWrittenToOnlyWhereItChanges() throws {
        let (engine, store) = try openStore(
            TableSchema("t", columns: Self.columns, systemColumns: [], indexes: [["rank"]]))
        try store.write { try $0.upsert(["id": "a", "text": "x", "rank": 1], into: "t") }
        // Begin, look up and store the row, commit; a changed index entry adds a deletion and a put.
        let same: Row = ["id": "a", "text": "y", "rank": 1]
        #expect(try engine.countSteps { try store.write { try $0.upsert(same, into: "t") } } == 4)
        let other: Row = ["id": "a", "text": "z", "rank": 2]
        #expect(try engine.countSteps { try store.write { try $0.upsert(other, into: "t") } } == 6)
        try engine.audit()
    }
}
