import Testing
import TidelineStore

@testable import TidelineKeyValue

/// Tests adding and removing indexes over more rows than one batch.
@Suite struct IndexBuildTests {
    private static func schema(_ indexes: [IndexSchema]) -> TableSchema {
        TableSchema("t", columns: [.int("n"), .string("text")], systemColumns: [], indexes: indexes)
    }

    @Test(arguments: [999, 1_000, 1_001, 2_500])
    func indexesAreFilledAndEmptiedToTheLastEntry(_ count: Int) throws {
        let (engine, store) = try openStore(over: WrappedEngine(maximumKeyLength: 128), Self.schema([]))
        let rows: [Row] = (0..<count).map { number in
            // Every tenth id is longer than the engine's maximum key length.
            let id = number % 10 == 0 ? String(repeating: "k", count: 150) + "\(number)" : "\(number)"
            return ["id": .string(id), "n": .int(Int64(number % 7)), "text": .string("t\(number % 3)")]
        }
        try store.write { try $0.upsert(rows, into: "t") }
        for indexes in [[["n"], ["text", "n"]], [["n"]], [], [["text"]]] as [[IndexSchema]] {
            try store.define([Self.schema(indexes)])
            try engine.audit("\(indexes)")
            let three = TableQuery("t", predicate: .column("n") == 3)
            #expect(try store.read { try $0.count(three) } == (count + 3) / 7)
        }
    }
}
