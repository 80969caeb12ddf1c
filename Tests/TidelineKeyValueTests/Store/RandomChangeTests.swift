import Testing
import TidelineConformance
import TidelineMemory
import TidelineStore
import TidelineSupport
import TidelineTestStores
import TidelineTestSupport

@testable import TidelineKeyValue

/// Tests that rows, index entries and counts agree after any changes.
@Suite struct RandomChangeTests {
    private struct Dropped: Error {}

    @Test(arguments: [128, 511, Int.max], [false, true])
    func entriesAndCountsAreThoseOfTheRows(_ maximumKeyLength: Int, _ remembersKeys: Bool) throws {
        for _ in 0..<6 { try runScript(seed: .random(in: 0...999_999), maximumKeyLength, remembersKeys) }
    }

    /// - Parameter remembersKeys: Whether the engine remembers keys. If so, the table has no indexes most of the time,
    ///   and its rows are cached.
    private func runScript(seed: UInt64, _ maximumKeyLength: Int, _ remembersKeys: Bool) throws {
        var source = RandomRows(seed: seed)
        source.values.includesLongTexts = true
        var random = SplitMix64(seed: seed &+ 1)
        var schema = source.indexedSchema()
        if remembersKeys { schema.indexes = [] }
        let (engine, store) = try openStore(
            over: WrappedEngine(maximumKeyLength: maximumKeyLength, remembersKeys: remembersKeys), schema)
        let rows = source.rows(60, of: schema, namesAllColumns: true)
        for _ in 0..<25 {
            let chosen = rows.shuffled(using: &random).prefix(.random(in: 0...20, using: &random))
            let operation = Int.random(in: 0..<7, using: &random)
            let outcome = Int.random(in: 0..<5, using: &random)
            if operation == 0 {
                let isPlain = remembersKeys && Int.random(in: 0..<4, using: &random) > 0
                schema.indexes = isPlain ? [] : indexes(of: schema, &random)
                try store.define([schema])
            } else {
                if outcome == 0 { engine.faults.begin(after: .random(in: 0...60, using: &random)) }
                _ = try? store.write { writer in
                    switch operation {
                    case 1...2: try writer.upsert(Array(chosen), into: "Item")
                    case 3...4:
                        for row in chosen where try row.id.flatMap({ try writer.row(in: "Item", id: $0) }) != nil {
                            try writer.upsert(source.change(of: row, in: schema), into: "Item")
                        }
                    case 5: try writer.delete(ids: chosen.compactMap(\.id), from: "Item")
                    default: try writer.delete(matching: TableQuery("Item").order(by: "id", descending: true).limit(7))
                    }
                    if outcome == 1 { throw Dropped() }
                }
                engine.faults.begin(after: nil)
            }
            try engine.audit("seed \(seed)")
        }
        let count = try store.read { try $0.count(TableQuery("Item")) }
        #expect(try store.read { try $0.rows(matching: TableQuery("Item")).rows.count } == count, "seed \(seed)")
    }

    /// Random definitions and changes beside a model, ids of any case and length, and batches with repeated ids.
    private static let checks: [String] =
        ["MOD-001", "MOD-011", "TAB-140", "UPS-004", "UPS-013", "UPS-014", "UPS-052"] + (36...49).map { "VAL-0\($0)" }

    @Test(arguments: checks, allPairs([128, 511, Int.max], [false, true]))
    func entriesAreThoseOfTheRowsAfterChecksOfTheSuite(_ id: String, _ kind: (Int, Bool)) async throws {
        let (maximumKeyLength, remembersKeys) = kind
        let engines = LockedValue<[WrappedEngine]>([])
        let harness = StoreHarness { (_: String) throws -> KeyValueStore<WrappedEngine> in
            let engine = WrappedEngine(maximumKeyLength: maximumKeyLength, remembersKeys: remembersKeys)
            engines.withLock { $0.append(engine) }
            return try KeyValueStore(engine: engine)
        }
        let seed = UInt64.random(in: 0...99_999)
        let suite = ConformanceSuite(harness, settings: ConformanceSettings(seed: seed))
        let check = try #require(Check.named(id))
        try await ConcurrencyLimit.checks.run { try await suite.verify(check) }
        let opened = engines.withLock { $0 }
        #expect(!opened.isEmpty)
        for engine in opened { try engine.audit("\(id), seed \(seed)") }
    }

    /// Returns some of the existing indexes and a new one.
    private func indexes(of schema: TableSchema, _ random: inout SplitMix64) -> [IndexSchema] {
        let names = (schema.allColumns.map(\.name) + ["id"]).shuffled(using: &random)
        let new = IndexSchema(Array(names.prefix(.random(in: 1...3, using: &random))))
        return schema.indexes.filter { _ in Bool.random(using: &random) } + [new]
    }

    /// No operation is called on an engine after it has failed.
    @Test func afterAFailedChangeATransactionAnswersNothingMore() throws {
        let (engine, store) = try openStore(TableSchema("T", columns: [.int("n")], indexes: [["n"]]))
        expectError(.io) {
            try store.write { writer in
                try writer.upsert(["id": "a", "n": 1], into: "T")
                engine.faults.begin(after: 1)
                try? writer.upsert([["id": "a", "n": 2], ["id": "b", "n": 2]], into: "T")
                engine.faults.begin(after: nil)
                let uses: [() throws -> Void] = [
                    { _ = try writer.row(in: "T", id: "a") }, { _ = try writer.count(TableQuery("T")) },
                    { _ = try writer.rows(matching: TableQuery("T")) }, { _ = try writer.schema(of: "T") },
                    { try writer.delete(matching: TableQuery("T")) },
                ]
                for use in uses { expectError(.io, use) }
            }
        }
        #expect(try store.read { try $0.count(TableQuery("T")) } == 0)
    }

    @Test func aTableThatDoesNotExistFailsTheCallAlone() throws {
        let store = try MemoryStore()
        try store.define([TableSchema("T", columns: [.int("n")])])
        try store.write { writer in
            expectError(.noSuchTable) { try writer.delete(id: "a", from: "U") }
            try writer.upsert(["id": "a", "n": 1], into: "T")
        }
        #expect(try store.read { try $0.count(TableQuery("T")) } == 1)
    }

    @Test func anIndexThatLacksAnEntryIsToldWithTheRow() throws {
        let (engine, store) = try openStore(
            over: MemoryEngine(), TableSchema("T", columns: [.int("n")], systemColumns: [], indexes: [["n"]]))
        try store.write { try $0.upsert(["id": "a", "n": 1], into: "T") }
        try engine.write { transaction in
            let space = KeySpace(number: 2)
            for entry in try transaction.entries(in: space.range) { #expect(try transaction.delete(entry.key)) }
        }
        let changes: [() throws -> Void] = [
            { _ = try store.write { try $0.delete(id: "a", from: "T") } },
            { try store.write { try $0.upsert(["id": "a", "n": 2], into: "T") } },
        ]
        for change in changes {
            let error = expectError(.corrupt, change)
            #expect(error?.table == "T" && error?.id == "a")
        }
    }

    /// A batch has 1,000 rows.
    @Test(arguments: [999, 1_000, 1_001, 2_500])
    func indexesAreFilledAndEmptiedToTheLastEntry(_ count: Int) throws {
        func schema(_ indexes: [IndexSchema]) -> TableSchema {
            TableSchema("t", columns: [.int("n"), .string("text")], systemColumns: [], indexes: indexes)
        }
        let (engine, store) = try openStore(over: WrappedEngine(maximumKeyLength: 128), schema([]))
        let rows: [Row] = (0..<count).map { number in
            // Every tenth id is longer than the engine's maximum key length.
            let id = number % 10 == 0 ? String(repeating: "k", count: 150) + "\(number)" : "\(number)"
            return ["id": .string(id), "n": .int(Int64(number % 7)), "text": .string("t\(number % 3)")]
        }
        try store.write { try $0.upsert(rows, into: "t") }
        for indexes in [[["n"], ["text", "n"]], [["n"]], [], [["text"]]] as [[IndexSchema]] {
            try store.define([schema(indexes)])
            try engine.audit("\(indexes)")
            let three = TableQuery("t", predicate: .column("n") == 3)
            #expect(try store.read { try $0.count(three) } == (count + 3) / 7)
        }
    }
}
