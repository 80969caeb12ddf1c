import Dispatch
import Testing
import TidelineLive
import TidelineMemory
import TidelineStore
import TidelineTestSupport

@Suite("Layers around a store")
struct LayerTests {
    @Test("A layer that overrides nothing forwards every requirement, and so do an observed store and one of any type")
    func forwarding() throws {
        func expectAll(_ makeStore: (CallStore) -> some LocalStore, _ name: String) throws {
            let base = CallStore()
            let store = makeStore(base)
            base.calls.withLock { $0 = [] }
            try callEverything(of: store)
            #expect(base.calls.withLock { $0 } == CallStore.all, "\(name)")
        }
        try expectAll({ $0 }, "no layer")
        try expectAll({ PlainLayer(base: $0) }, "a layer")
        try expectAll({ WrappingLayer(base: PlainLayer(base: $0)) }, "two layers, with readers and writers")
        try expectAll({ ObservedStore($0) }, "an observed store")
        try expectAll({ AnyStore($0) }, "a store of any type")
        try expectAll({ ObservedStore(WrappingLayer(base: AnyStore($0))) }, "an observed store around others")
    }

    private func callEverything(of store: some LocalStore) throws {
        #expect(store.capabilities.maximumIDLength == 7)
        try store.define([])
        #expect(try store.tables().map(\.name) == ["T"])
        #expect(store.externalCommits?.signalPath == "/no/folder/signal")
        #expect(try store.externalCommits?.number() == 9)
        try store.read { try readEverything(of: $0) }
        try store.redefine { try $0.delete(ids: [], from: "T") == 2 ? [] : [CallStore.table] }
        try store.write { writer in
            try readEverything(of: writer)
            try writer.upsert(PackedRows(shape: CallStore.table.makeShape()), into: "T")
            #expect(try writer.delete(matching: TableQuery("T")) == 3)
            #expect(try writer.externalCommitNumber() == 10)
        }
        try store.close()
    }

    private func readEverything(of reader: some StoreReader) throws {
        #expect(try reader.schema(of: "T") == CallStore.table)
        #expect(try reader.shape(of: "T").table == "T")
        #expect(try reader.withRow(in: "T", id: "a") { _ in 1 } == nil)
        #expect(try reader.scan(TableQuery("T")) { _ in .next } == 4)
        #expect(try reader.count(TableQuery("T")) == 5)
        try reader.limitTime?(.seconds(1))
    }

    @Test("Live queries see the rows that a redefinition writes to other tables, and to the table that it changes")
    func rowsOfARedefinition() async throws {
        let store = ObservedStore(try MemoryStore())
        let other = TableSchema("Other", columns: [.int("number")], systemColumns: [])
        try store.define([CallStore.table, other])
        try store.write { try $0.upsert(["id": "a", "number": 1], into: "Other") }
        var others = try await store.follow(TableQuery("Other").order(by: "id"))
        var changed = try await store.follow(TableQuery("T"))
        var wider = CallStore.table
        wider.columns.append(.int("more"))
        try store.redefine { writer in
            try writer.upsert(["id": "b", "number": 2], into: "Other")
            try writer.delete(id: "a", from: "Other")
            try writer.upsert(["id": "c"], into: "T")
            return [wider]
        }
        #expect(try others.takeUpdate()?.rows.map(\.idText) == ["b"])
        let rows = try #require(try changed.takeUpdate()).rows
        #expect(rows.map(\.idText) == ["c"] && rows[0]["more"] == .null)
    }

    @Test("Live queries see nothing of a redefinition that throws")
    func failedRedefinition() async throws {
        let store = ObservedStore(try MemoryStore())
        try store.define([CallStore.table])
        var updates = try await store.follow(TableQuery("T"))
        #expect(throws: StoreError.self) {
            try store.redefine { writer in
                try writer.upsert(["id": "a"], into: "T")
                return [TableSchema("T", columns: [], systemColumns: [], idType: .int)]
            }
        }
        #expect(try updates.takeUpdate() == nil)
        try store.write { try $0.upsert(["id": "b"], into: "T") }
        #expect(try updates.takeUpdate()?.rows.map(\.idText) == ["b"])
    }

    @Test("A live query starts after a read that failed at its end, because the file changed meanwhile")
    func readThatFailsAtItsEnd() throws {
        let base = try MemoryStore()
        try base.define([CallStore.table])
        let store = ObservedStore(ChangingLayer(base: base))
        #expect(try !store.startUnlessBusy(LiveRegistration(TableQuery("T"))))
        #expect(store.liveQueryCount == 0)
        let group = DispatchGroup()
        DispatchQueue.global().async(group: group) {
            _ = try? store.startUnlessBusy(LiveRegistration(TableQuery("T")))
        }
        try group.finish("a live query to start")
        #expect(store.liveQueryCount == 1)
    }
}

/// A layer that overrides nothing.
private struct PlainLayer<Base: LocalStore>: StoreLayer {
    typealias Reader = Base.Reader
    typealias Writer = Base.Writer

    let base: Base
}

/// A store that was opened for reading only, and whose file changes during the first read.
private struct ChangingLayer<Base: LocalStore>: StoreLayer {
    typealias Reader = Base.Reader
    typealias Writer = Base.Writer

    let base: Base
    let readCount = LockedValue(0)

    var capabilities: StoreCapabilities {
        var capabilities = base.capabilities
        capabilities.isReadOnly = true
        return capabilities
    }

    func read<T>(_ body: (Reader) throws -> T) throws -> T {
        let result = try base.read(body)
        let number = readCount.withLock { count in
            count += 1
            return count
        }
        guard number > 1 else { throw StoreError(.busy, "the file changed during the read") }
        return result
    }
}

/// A layer whose readers and writers are layers that override nothing.
private struct WrappingLayer<Base: LocalStore>: StoreLayer {
    struct Reader: ReaderLayer {
        let base: Base.Reader
    }

    struct Writer: WriterLayer {
        let base: Base.Writer
    }

    let base: Base

    func read<T>(_ body: (Reader) throws -> T) throws -> T { try base.read { try body(Reader(base: $0)) } }
    func redefine(_ body: (Writer) throws -> [TableSchema]) throws { try base.redefine { try body(Writer(base: $0)) } }
    func write<T>(_ body: (Writer) throws -> T) throws -> T { try base.write { try body(Writer(base: $0)) } }
}

/// A store without rows that records which of its requirements are called.
private final class CallStore: LocalStore {
    static let table = TableSchema("T", columns: [], systemColumns: [])
    private static let reading = ["schema", "shape", "withRow", "scan", "count", "limitTime"]
    /// The calls that ``LayerTests`` makes, in their order.
    static let all =
        ["define", "tables", "number", "read"] + reading + ["redefine", "delete ids", "write"] + reading
        + ["upsert", "delete matching", "externalCommitNumber", "close"]

    let calls = LockedValue<[String]>([])

    func note(_ call: String) { calls.withLock { $0.append(call) } }
    func note<Answer>(_ call: String, _ answer: Answer) -> Answer {
        note(call)
        return answer
    }

    var capabilities: StoreCapabilities { StoreCapabilities(name: "calls", limitsQueryTime: true, maximumIDLength: 7) }
    func define(_ tables: [TableSchema]) { note("define") }
    func tables() -> [TableSchema] { note("tables", [Self.table]) }
    func read<T>(_ body: (Writer) throws -> T) throws -> T {
        note("read")
        return try body(Writer(store: self))
    }
    func redefine(_ body: (Writer) throws -> [TableSchema]) throws {
        note("redefine")
        _ = try body(Writer(store: self))
    }
    func write<T>(_ body: (Writer) throws -> T) throws -> T {
        note("write")
        return try body(Writer(store: self))
    }
    var externalCommits: ExternalCommits? {
        ExternalCommits(signalPath: "/no/folder/signal") { [self] in note("number", 9) }
    }
    func close() { note("close") }

    struct Writer: StoreWriter {
        let store: CallStore

        func schema(of table: String) -> TableSchema { store.note("schema", CallStore.table) }
        func shape(of table: String) -> RowShape { store.note("shape", CallStore.table.makeShape()) }
        func withRow<T>(in table: String, id: RowID, _ body: (borrowing RowView) throws -> T) -> T? {
            store.note("withRow", nil)
        }
        func scan(_ query: TableQuery, _ body: (borrowing RowView) throws -> ScanStep) -> Int? {
            store.note("scan", 4)
        }
        func count(_ query: TableQuery) -> Int { store.note("count", 5) }
        var limitTime: ((Duration) throws -> Void)? { { _ in store.note("limitTime") } }
        func upsert(_ rows: borrowing PackedRows, into table: String) { store.note("upsert") }
        func delete(ids: [RowID], from table: String) -> Int { store.note("delete ids", 2) }
        func delete(matching query: TableQuery) -> Int { store.note("delete matching", 3) }
        func externalCommitNumber() -> UInt64? { store.note("externalCommitNumber", 10) }
    }
}
