import Synchronization
import Testing
import TidelineMemory
import TidelineStore
import TidelineTestSupport

@testable import TidelineKeyValue

/// Tests definitions that change during reads and writes. Shared files determine how a store detects new definitions.
@Suite struct DefinitionRaceTests {
    /// Returns the table of the n-th definition, which its number of columns identifies.
    private static func schema(_ number: Int) -> TableSchema {
        let columns = (0...number % 5).map { ColumnSchema.int("c\($0)") }
        return TableSchema("t", columns: columns, systemColumns: [], indexes: [IndexSchema(["c\(number % 5)"])])
    }

    @Test(arguments: [false, true])
    func aReaderThatBeganBeforeKeepsTheDefinitionsItSaw(_ sharing: Bool) throws {
        let (_, store) = try openStore(over: WrappedEngine(sharesFiles: sharing), Self.schema(0))
        try store.write { try $0.upsert(["id": "x", "c0": 1], into: "t") }
        try store.read { reader throws in
            try onThreads { _ in
                try store.define([Self.schema(3), TableSchema("new", columns: [])])
                try store.write { try $0.upsert(["id": "y", "c3": 3], into: "t") }
            }
            #expect(try reader.schema(of: "t") == Self.schema(0))
            #expect(try reader.rows(matching: TableQuery("t")).rows == [["id": "x", "c0": 1]])
            #expect(try reader.count(TableQuery("t", predicate: .column("c0") == 1)) == 1)
            #expect(throws: StoreError.self) { _ = try reader.schema(of: "new") }
            // A read that begins now, including one inside this read, sees the current definitions.
            try store.read { inner throws in
                #expect(try inner.schema(of: "t") == Self.schema(3))
                #expect(try inner.count(TableQuery("t")) == 2)
            }
        }
    }

    /// The definitions change after a read looked for them and before it takes its snapshot.
    @Test(arguments: [false, true])
    func definitionsChangedJustBeforeTheSnapshotAreSeen(_ sharing: Bool) throws {
        let (engine, store) = try openStore(over: WrappedEngine(sharesFiles: sharing), Self.schema(0))
        engine.beforeSnapshot.set { Self.runElsewhere { try store.define([Self.schema(3)]) } }
        #expect(try store.read { try $0.schema(of: "t") } == Self.schema(3))
        #expect(try store.tables() == [Self.schema(3)])
    }

    /// The definitions are committed, and the committing thread has not yet updated its cache.
    @Test(arguments: [false, true])
    func definitionsJustCommittedAreSeen(_ sharing: Bool) throws {
        let (engine, store) = try openStore(over: WrappedEngine(sharesFiles: sharing), Self.schema(0))
        let seen = Mutex<[TableSchema]>([])
        engine.afterCommit.set {
            Self.runElsewhere { try store.read { reader in try seen.withLock { $0 = [try reader.schema(of: "t")] } } }
        }
        try store.define([Self.schema(3)])
        #expect(seen.withLock { $0 } == [Self.schema(3)])
        try store.write { try $0.upsert(["id": "x", "c3": 3], into: "t") }
        try engine.audit()
    }

    /// Runs `body` to completion on another thread.
    private static func runElsewhere(_ body: @escaping @Sendable () throws -> Void) {
        do { try onThreads { _ in try body() } } catch { Issue.record(error) }
    }

    /// A failed definition has no effect, on the calling store or on others.
    @Test(arguments: [false, true])
    func aDefinitionThatFailsLeavesTheOldOnesInUse(_ sharing: Bool) throws {
        let (engine, store) = try openStore(over: WrappedEngine(sharesFiles: sharing), Self.schema(1))
        try store.write { try $0.upsert(["id": "x", "c1": 1], into: "t") }
        var place = 0
        while true {
            engine.faults.begin(after: place)
            let isDefined = (try? store.define([Self.schema(3)])) != nil
            engine.faults.begin(after: nil)
            if isDefined {
                #expect(!engine.faults.hasFailed)
                break
            }
            #expect(try store.tables() == [Self.schema(1)])
            try store.write { try $0.upsert(["id": "x", "c0": .int(Int64(place))], into: "t") }
            #expect(try store.read { try $0.row(in: "t", id: "x") } == ["id": "x", "c0": .int(Int64(place)), "c1": 1])
            place += 1
        }
        #expect(place > 5)
        #expect(try store.tables() == [Self.schema(3)])
        try engine.audit()
    }

    @Test func twoStoresOverOneEngineSeeEachOthersDefinitions() throws {
        let base = MemoryEngine()
        let stores = try (0..<2).map { _ in try KeyValueStore(engine: WrappedEngine(base, sharesFiles: true)) }
        for number in 0..<20 {
            try stores[number % 2].define([Self.schema(number)])
            let other = stores[(number + 1) % 2]
            #expect(try other.tables() == [Self.schema(number)])
            try other.write { try $0.upsert(["id": .string("\(number)"), "c0": 1], into: "t") }
            #expect(try stores[0].read { try $0.count(TableQuery("t")) } == number + 1)
        }
        try WrappedEngine(base).audit()
    }

    /// Counts the engine operations of transactions that have nothing to do.
    @Test func whatNeedsNoLookAtTheDefinitionsTakesNone() throws {
        for (sharing, expected) in [(false, 2), (true, 3)] {
            let (engine, store) = try openStore(over: WrappedEngine(sharesFiles: sharing), Self.schema(1))
            // Begin and look up the row; if files are shared, also the generation of the definitions.
            #expect(try engine.countSteps { try store.read { _ = try $0.row(in: "t", id: "x") } } == expected)
            // Defining the same tables again only needs a read.
            #expect(try engine.countSteps { try store.define([Self.schema(1)]) } == expected - 1)
        }
    }
}
