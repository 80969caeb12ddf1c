import Testing
import TidelineConformance
import TidelineMemory
import TidelineStore
import TidelineSupport
import TidelineTestStores
import TidelineTestSupport

@testable import TidelineKeyValue

/// Tests that damaged stored rows are reported as corrupt or are rows of their table.
@Suite struct DamagedRowTests {
    private static let rows = KeySpace(number: 1)

    /// Creates a store with one row of every type, in the current layout or in an earlier one.
    private static func engine(_ ids: IDRule, isOfOldLayout: Bool) throws -> MemoryEngine {
        var schema = RandomRows.everyType("Item")
        schema.columns = Array(schema.columns.prefix(ColumnType.allCases.count))
        schema.idType = ids.type
        schema.idMatching = ids == .exact ? .exact : .asciiCaseInsensitive
        schema.indexes = [["int"], ["string", "double"]]
        let (engine, store) = try openStore(over: MemoryEngine(), schema)
        var row = Row(id: ids == .int ? .int(-7) : "Row-1")
        var random = SplitMix64(seed: 1)
        for column in schema.allColumns { row[column.name] = RandomValues().value(for: column, using: &random) }
        try store.write { [row] in try $0.upsert(row, into: "Item") }
        if isOfOldLayout {
            schema.columns.insert(.string("more"), at: 2)
            schema.columns.removeLast()
            try store.define([schema])
        }
        return engine
    }

    /// Uses the stored row in every way. The result is an error with code `corrupt` that names the row, or a readable
    /// row.
    private func use(_ engine: MemoryEngine, _ ids: IDRule, _ comment: Comment) throws {
        let store = try KeyValueStore(engine: engine)
        let id: RowID = ids == .int ? .int(-7) : "Row-1"
        let change: Row = ["id": id.value, "bool": true]
        let uses: [() throws -> Void] = [
            { _ = try store.read { try $0.row(in: "Item", id: id) }.map { "\($0)" } },
            { _ = try store.read { try $0.rows(matching: TableQuery("Item")) }.rows.map { "\($0)" } },
            {
                _ = try store.read {
                    try $0.rows(matching: TableQuery("Item").filter(.column("int") >= 0).order(by: "string"))
                }
            },
            { _ = try store.read { try $0.count(TableQuery("Item").filter(.column("string").contains("a"))) } },
            { try store.write { try $0.upsert(change, into: "Item") } },
            {
                try store.define([
                    TableSchema(
                        "Item", columns: [.int("int"), .timestamp("timestamp")], idType: ids.type,
                        idMatching: ids == .exact ? .exact : .asciiCaseInsensitive, indexes: [["timestamp", "int"]])
                ])
            },
            { _ = try store.write { try $0.delete(ids: [id], from: "Item") } },
        ]
        for (number, body) in uses.enumerated() {
            do { try body() } catch let error as StoreError {
                #expect(error.code == .corrupt && error.table == "Item", "\(comment), use \(number): \(error)")
                #expect(error.id?.asciiLowercased == id.text.asciiLowercased, "\(comment), use \(number): \(error)")
            }
        }
    }

    @Test(arguments: allPairs([IDRule.folded, .exact, .int], [false, true]))
    func everyByteFlippedCutOrAdded(_ ids: IDRule, _ isOfOldLayout: Bool) throws {
        let seed = UInt64.random(in: 0...99_999)
        var random = SplitMix64(seed: seed)
        let original = try Self.engine(ids, isOfOldLayout: isOfOldLayout)
        let entries = try original.read { try $0.entries(in: KeyRange(from: [0, 0, 0, 0], to: [1])) }
        let row = try #require(entries.first { $0.key.starts(with: Self.rows.prefix) })
        var damaged: [(Comment, [UInt8])] = []
        for position in row.value.indices {
            var flipped = row.value
            flipped[position] ^= 1 << UInt8.random(in: 0...7, using: &random)
            damaged.append(("seed \(seed), byte \(position) flipped", flipped))
            damaged.append(("cut to \(position)", Array(row.value.prefix(position))))
        }
        damaged.append(("a byte more", row.value + [65]))
        for (comment, value) in damaged {
            let engine = MemoryEngine()
            try engine.write { transaction in
                for entry in entries { try transaction.put(entry.key, entry.key == row.key ? value : entry.value) }
            }
            try use(engine, ids, comment)
        }
    }

    @Test(arguments: [[], [0], [1, 2, 3, 4, 5, 6, 7], [1, 2, 3, 4, 5, 6, 7, 8, 9]] as [[UInt8]])
    func anIntegerIDOfAnotherLengthIsCorrupt(_ id: [UInt8]) throws {
        let engine = try Self.engine(.int, isOfOldLayout: false)
        try engine.write { transaction in
            let row = try #require(try transaction.entries(in: Self.rows.range).first)
            try transaction.put(Self.rows.prefix + id, row.value)
        }
        let store = try KeyValueStore(engine: engine)
        let error = expectError(.corrupt) { _ = try store.read { try $0.rows(matching: TableQuery("Item")) } }
        #expect(error?.table == "Item")
    }
}
