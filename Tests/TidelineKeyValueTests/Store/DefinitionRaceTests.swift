import Dispatch
import Foundation
import Synchronization
import Testing
import TidelineMemory
import TidelineStore
import TidelineTestSupport

@testable import TidelineKeyValue

/// Definitions that change while others read and write.
@Suite struct DefinitionRaceTests {
    /// The table as its n-th definition has it: its number of columns says which it is.
    private static func schema(_ number: Int) -> TableSchema {
        let columns = (0...number % 5).map { ColumnSchema.int("c\($0)") }
        return TableSchema("t", columns: columns, systemColumns: [], indexes: [IndexSchema(["c\(number % 5)"])])
    }

    /// Whether files are shared decides how a store learns of new definitions.
    private static func engines(sharing: Bool) -> WrappedEngine {
        let base = MemoryEngine()
        var capabilities = base.capabilities
        capabilities.sharesFilesWithProcesses = sharing
        return WrappedEngine(base, capabilities: capabilities)
    }

    @Test(arguments: [false, true])
    func everySnapshotShowsRowsAndDefinitionOfOneMoment(_ sharing: Bool) throws {
        let engine = Self.engines(sharing: sharing)
        let store = try KeyValueStore(engine: engine)
        try store.define([Self.schema(0)])
        try store.write { try $0.upsert(Row(id: "x"), into: "t") }
        let isDone = Atomic(false)
        let problems = Mutex<[String]>([])
        let group = DispatchGroup()
        for _ in 0..<3 {
            Self.run(in: group) {
                while !isDone.load(ordering: .relaxed) {
                    do {
                        try store.read { reader throws in
                            let columns = try reader.schema(of: "t").columns.map(\.name)
                            let row = try reader.row(in: "t", id: "x")
                            // Asks the index that this definition has and the next one has not.
                            let last = columns[columns.count - 1]
                            let count = try reader.count(Query("t", predicate: .column(last) == .literal(.null)))
                            if row?.columnNames != columns || count != 1 {
                                problems.withLock { $0.append("\(columns) \(String(describing: row)) \(count)") }
                            }
                        }
                    } catch {
                        problems.withLock { $0.append("\(error)") }
                    }
                }
            }
        }
        for number in 1...60 { try store.define([Self.schema(number)]) }
        isDone.store(true, ordering: .relaxed)
        try group.finish()
        #expect(problems.withLock { $0 }.prefix(3) == [])
        try engine.audit()
    }

    @Test(arguments: [false, true])
    func aReaderThatBeganBeforeKeepsTheDefinitionsItSaw(_ sharing: Bool) throws {
        let engine = Self.engines(sharing: sharing)
        let store = try KeyValueStore(engine: engine)
        try store.define([Self.schema(0)])
        try store.write { try $0.upsert(["id": "x", "c0": 1], into: "t") }
        try store.read { reader throws in
            let group = DispatchGroup()
            let problems = Mutex<[String]>([])
            Self.run(in: group) {
                do {
                    try store.define([Self.schema(3), TableSchema("new", columns: [])])
                    try store.write { try $0.upsert(["id": "y", "c3": 3], into: "t") }
                } catch {
                    problems.withLock { $0.append("\(error)") }
                }
            }
            try group.finish()
            #expect(problems.withLock { $0 } == [])
            #expect(try reader.schema(of: "t") == Self.schema(0))
            #expect(try reader.rows(matching: Query("t")).rows == [["id": "x", "c0": 1]])
            #expect(try reader.count(Query("t", predicate: .column("c0") == 1)) == 1)
            #expect(throws: StoreError.self) { _ = try reader.schema(of: "new") }
            // A read that begins now, within this one too, sees what is defined now.
            try store.read { inner throws in
                #expect(try inner.schema(of: "t") == Self.schema(3))
                #expect(try inner.count(Query("t")) == 2)
            }
        }
    }

    /// Definitions change after a read looked for them and before it has its snapshot.
    @Test(arguments: [false, true])
    func definitionsChangedJustBeforeTheSnapshotAreSeen(_ sharing: Bool) throws {
        let engine = Self.engines(sharing: sharing)
        let store = try KeyValueStore(engine: engine)
        try store.define([Self.schema(0)])
        engine.beforeSnapshot.set { Self.runElsewhere { try store.define([Self.schema(3)]) } }
        #expect(try store.read { try $0.schema(of: "t") } == Self.schema(3))
        #expect(try store.tables() == [Self.schema(3)])
    }

    /// Definitions are committed, and those who wrote them down have not yet said so.
    @Test(arguments: [false, true])
    func definitionsJustCommittedAreSeen(_ sharing: Bool) throws {
        let engine = Self.engines(sharing: sharing)
        let store = try KeyValueStore(engine: engine)
        try store.define([Self.schema(0)])
        let seen = Mutex<[TableSchema]>([])
        engine.afterCommit.set {
            Self.runElsewhere { try store.read { reader in try seen.withLock { $0 = [try reader.schema(of: "t")] } } }
        }
        try store.define([Self.schema(3)])
        #expect(seen.withLock { $0 } == [Self.schema(3)])
        try store.write { try $0.upsert(["id": "x", "c3": 3], into: "t") }
        try engine.audit()
    }

    /// Runs `body` on a thread of its own, to its end.
    private static func runElsewhere(_ body: @escaping @Sendable () throws -> Void) {
        let group = DispatchGroup()
        run(in: group) {
            do { try body() } catch { Issue.record(error) }
        }
        do { try group.finish() } catch { Issue.record(error) }
    }

    /// A definition that fails is none, for the one who made it and for all others.
    @Test(arguments: [false, true])
    func aDefinitionThatFailsLeavesTheOldOnesInUse(_ sharing: Bool) throws {
        let engine = Self.engines(sharing: sharing)
        let store = try KeyValueStore(engine: engine)
        try store.define([Self.schema(1)])
        try store.write { try $0.upsert(["id": "x", "c1": 1], into: "t") }
        var place = 0
        while true {
            engine.faults.begin(after: place)
            let isDefined = (try? store.define([Self.schema(3)])) != nil
            engine.faults.begin(after: nil)
            if isDefined { break }
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
        var capabilities = base.capabilities
        capabilities.sharesFilesWithProcesses = true
        let stores = try (0..<2).map { _ in
            try KeyValueStore(engine: WrappedEngine(base, capabilities: capabilities))
        }
        for number in 0..<20 {
            try stores[number % 2].define([Self.schema(number)])
            let other = stores[(number + 1) % 2]
            #expect(try other.tables() == [Self.schema(number)])
            try other.write { try $0.upsert(["id": .string("\(number)"), "c0": 1], into: "t") }
            #expect(try stores[0].read { try $0.count(Query("t")) } == number + 1)
        }
        try WrappedEngine(base).audit()
    }

    /// What is asked of the engine by transactions that have nothing to do.
    @Test func whatNeedsNoLookAtTheDefinitionsTakesNone() throws {
        for (sharing, expected) in [(false, 2), (true, 3)] {
            let engine = Self.engines(sharing: sharing)
            let store = try KeyValueStore(engine: engine)
            try store.define([Self.schema(1)])
            // Begin and look up the row; where files are shared, the generation of the definitions.
            #expect(try engine.countSteps { try store.read { _ = try $0.row(in: "t", id: "x") } } == expected)
            // The same definition again is looked at in a read only.
            #expect(try engine.countSteps { try store.define([Self.schema(1)]) } == expected - 1)
        }
    }

    private static func run(in group: DispatchGroup, _ body: @escaping @Sendable () -> Void) {
        group.enter()
        Thread.detachNewThread {
            body()
            group.leave()
        }
    }
}
