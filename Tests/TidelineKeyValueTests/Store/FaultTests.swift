import Testing
import TidelineStore
import TidelineTestStores

@testable import TidelineKeyValue

/// Tests a store over an engine that fails at each of its operations in turn.
@Suite struct FaultTests {
    private static let items = TableSchema(
        "item", columns: [.string("text"), .int("rank", optional: false), .bool("done")],
        indexes: [["rank"], ["done", "text"]])

    private static func makeStore() throws -> (WrappedEngine, KeyValueStore<WrappedEngine>) {
        let (engine, store) = try openStore(over: WrappedEngine(maximumKeyLength: 128), items)
        try store.write { writer throws in
            try writer.upsert(
                (0..<6).map { ["id": .string("\($0)"), "text": .string("t\($0)"), "rank": .int($0)] }, into: "item")
            try writer.upsert(["id": .string(String(repeating: "k", count: 200)), "rank": 9], into: "item")
        }
        return (engine, store)
    }

    enum Work: String, CaseIterable {
        case upsert, merge, deleteByID, deleteByQuery, newIndex, newColumns

        func run(on store: KeyValueStore<WrappedEngine>) throws {
            var schema = items
            switch self {
            case .upsert:
                try store.write {
                    try $0.upsert(
                        [
                            ["id": "1", "text": "x", "rank": 7, "done": true],
                            ["id": .string(String(repeating: "k", count: 201)), "rank": 1], ["id": "new", "rank": 2],
                        ], into: "item")
                }
            case .merge: try store.write { try $0.upsert([["id": "2", "text": "y"], ["id": "3"]], into: "item") }
            case .deleteByID: try store.write { _ = try $0.delete(ids: ["1", "none", "2"], from: "item") }
            case .deleteByQuery:
                try store.write { _ = try $0.delete(matching: TableQuery("item", predicate: .column("rank") > 3)) }
            case .newIndex:
                schema.indexes = [["text"], ["rank"]]
                try store.define([schema, TableSchema("other", columns: [])])
            case .newColumns:
                schema.columns = [.int("rank"), .string("note")]
                schema.indexes = []
                try store.define([schema])
            }
        }
    }

    @Test(arguments: Work.allCases)
    func aFailureAtAnyPlaceLeavesTheStoreAsItWas(_ work: Work) throws {
        let (engine, store) = try Self.makeStore()
        let tables = try store.tables()
        let rows = try store.read { try $0.rows(matching: TableQuery("item")).rows }
        var place = 0
        while true {
            engine.faults.begin(after: place)
            let outcome = Result { try work.run(on: store) }
            engine.faults.begin(after: nil)
            guard case .failure(let error) = outcome else {
                #expect(!engine.faults.hasFailed)
                break
            }
            let failure = try #require(error as? StoreError)
            #expect(failure.code == .io && failure.engineCode == 5)
            #expect(try store.tables() == tables)
            #expect(try store.read { try $0.rows(matching: TableQuery("item")).rows } == rows)
            try engine.audit("place \(place)")
            place += 1
        }
        #expect(place > 3)
        try engine.audit()
        let changed =
            try store.tables() != tables || store.read { try $0.rows(matching: TableQuery("item")).rows } != rows
        #expect(changed)
    }

    @Test func aFailureThatTheBodyPassesOverFailsTheTransaction() throws {
        let (engine, store) = try Self.makeStore()
        for place in 2..<6 {
            expectError(.io) {
                try store.write { writer throws in
                    try writer.upsert(["id": "a", "rank": 1], into: "item")
                    engine.faults.begin(after: place)
                    try? writer.upsert([["id": "b", "rank": 1], ["id": "c", "rank": 1]], into: "item")
                    engine.faults.begin(after: nil)
                    // Later changes have no effect either.
                    expectError(.io) { _ = try writer.delete(ids: ["1"], from: "item") }
                }
            }
            #expect(try store.read { try $0.count(TableQuery("item")) } == 7)
            try engine.audit()
        }
    }

    @Test func aFailedReadIsThrownAndTheNextOneWorks() throws {
        let (engine, store) = try Self.makeStore()
        let query = TableQuery("item", predicate: .column("rank") > 1, includesTotalCount: true).order(by: "text")
        var place = 0
        var isDone = false
        while !isDone {
            engine.faults.begin(after: place)
            do {
                try store.read { reader throws in
                    _ = try reader.rows(matching: query)
                    _ = try reader.row(in: "item", id: "1")
                    _ = try reader.count(TableQuery("item"))
                }
                isDone = true
                #expect(!engine.faults.hasFailed)
            } catch let error as StoreError {
                #expect(error.code == .io)
            }
            engine.faults.begin(after: nil)
            #expect(try store.read { try $0.rows(matching: query).totalCount } == 5)
            place += 1
        }
        #expect(place > 5)
        try store.close()
    }

    @Test func openingThatFailsClosesTheEngine() throws {
        var place = 0
        while true {
            let engine = WrappedEngine()
            engine.faults.begin(after: place)
            do {
                _ = try KeyValueStore(engine: engine)
                #expect(!engine.faults.hasFailed)
                break
            } catch let error as StoreError {
                #expect(error.code == .io)
                #expect(engine.closingCount == 1)
                engine.faults.begin(after: nil)
                // No partial store is left.
                let store = try KeyValueStore(engine: WrappedEngine(engine.base))
                #expect(try store.tables() == [])
            }
            place += 1
        }
        #expect(place > 3)
    }
}
