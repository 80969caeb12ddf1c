import Testing
import TidelineStore
import TidelineTestStores

@testable import Tideline

/// L14: what empties or redefines a store decides on what it holds in the transaction that acts.
@Suite("Changes by all processes", .timeLimit(.minutes(15)), .releasesClients)
struct StoreOfAllTests {
    private static let note = TableSchema(
        "Note", columns: [.string("text"), .string("old")], indexes: [["old"], ["text"]])
    private static let newer = TableSchema("Note", columns: [.string("added")], indexes: [["added"]])

    private func makeClient(_ stores: StoreKind) async throws -> (World, HookedStore, SyncClient<HookedStore>) {
        let (world, store) = (try World(stores), HookedStore(try stores.makeStore()))
        return (world, store, try await world.makeClient(over: store, tables: [Self.note]).client)
    }

    /// Does what another process does that defines a column and inserts a row with it.
    private func defineAndInsert(_ context: SyncContext<HookedStore>, in store: TestStore) throws {
        try context.definitions.definitions.define([Self.newer], in: store)
        let changes = LocalChanges(
            operations: context.queue.operations, schema: try store.read { try $0.schema(of: "Note") },
            epoch: nil, writesRows: true, rejectsInsertOverPendingDelete: false, inFlight: [])
        try store.write { _ = try changes.insert(["id": "a", "added": "kept"], in: $0) }
    }

    @Test(
        "L14 a drop hides no column that another process defines meanwhile, and its insert is sent whole",
        arguments: StoreKind.perEngine, [false, true])
    func drop(_ stores: StoreKind, dropsIndex: Bool) async throws {
        let (world, store, client) = try await makeClient(stores)
        let context = client.context
        store.beforeDefinition { try defineAndInsert(context, in: store.base) }
        if dropsIndex {
            try await client.drop(indexes: [["old"]], from: "Note")
        } else {
            try await client.drop(columns: ["old"], from: "Note")
        }
        let schema = try store.read { try $0.schema(of: "Note") }
        #expect(schema.columns.map(\.name).contains("added") && schema.indexes.contains(["added"]))
        #expect(!schema.indexes.contains(["old"]))
        #expect(schema.columns.map(\.name).contains("old") == dropsIndex)
        try await client.push()
        #expect(try world.serverStore.read { try $0.row(in: "Note", id: "a") }?["added"] == "kept")
    }

    @Test("L14 a drop that is refused or fails changes nothing", arguments: StoreKind.perEngine)
    func failedDrop(_ stores: StoreKind) async throws {
        let (_, store, client) = try await makeClient(stores)
        func record() throws -> [Row] {
            try store.read { try $0.rows(matching: TableQuery("MS_TableConfig").order(by: "id")).rows }
        }
        let before = try record()
        #expect(await syncErrorCode { try await client.drop(columns: ["old", "nothing"], from: "Note") } != nil)
        #expect(await syncErrorCode { try await client.drop(indexes: [["old"], ["other"]], from: "Note") } != nil)
        #expect(try record() == before)
        #expect(try store.read { try $0.schema(of: "Note") } == Self.note)
    }

    @Test("L14 a definition sees the columns and references of other processes", arguments: StoreKind.perEngine)
    func define(_ stores: StoreKind) async throws {
        let (_, store, client) = try await makeClient(stores)
        let context = client.context
        store.beforeDefinition { try defineAndInsert(context, in: store.base) }
        try await client.define([TableSchema("Note", columns: [.int("number")])])
        let names = try store.read { try $0.schema(of: "Note").columns.map(\.name) }
        #expect(Set(names) == ["text", "old", "added", "number"])
        // Two references that form a cycle, defined by two processes at the same time: the second one is refused.
        @Sendable func references(_ table: String, _ target: String) -> TableSchema {
            TableSchema(table, columns: [.string("ref")], references: [ForeignKey(column: "ref", table: target)])
        }
        try await client.define(["A", "B"].map { TableSchema($0, columns: [.string("ref")]) })
        store.beforeDefinition { try context.definitions.definitions.define([references("A", "B")], in: store.base) }
        let error = await #expect(throws: SyncError.self) { try await client.define([references("B", "A")]) }
        #expect(error?.message.contains("cycle") == true)
    }

    private static let later = TableSchema("Later", columns: [.string("text")])

    /// Begins to empty the store while `Note` is in use, and runs `body` when the tables to empty have been read.
    private func emptying(
        _ client: SyncClient<HookedStore>, switches: Bool = false, _ body: () async throws -> Void
    ) async throws -> Task<ForcePurgeResult, any Error> {
        let (ends, end) = AsyncStream.makeStream(of: Void.self)
        return try await client.context.database.lock(of: "Note").withLock {
            client.store.observeReadEnds { end.yield() }
            let task = Task {
                switches ? try await client.switchServer(keepingPending: false) : try await client.wipe()
            }
            for await _ in ends.prefix(1) {}
            client.store.observeReadEnds(nil)
            try await body()
            return task
        }
    }

    @Test("L14 wipe and switch empty a table defined while they wait", arguments: StoreKind.perEngine, [false, true])
    func wipe(_ stores: StoreKind, switches: Bool) async throws {
        let (_, store, client) = try await makeClient(stores)
        let task = try await emptying(client, switches: switches) {
            try await client.define([Self.later])
            try await client.table("Later").insert(["id": "x", "text": "hers"])
            try await client.table("Note").insert(["id": "a", "text": "hers"])
        }
        #expect(try await task.value == ForcePurgeResult(rows: 2, operations: 2))
        #expect(try store.read { try $0.count(TableQuery("Later")) } == 0)
    }

    @Test("L14 a wipe waits for the pull of a table that is defined while it waits", arguments: StoreKind.perEngine)
    func wipeWaits(_ stores: StoreKind) async throws {
        let (_, store, client) = try await makeClient(stores)
        let order = Recorder<String>()
        let (writes, write) = AsyncStream.makeStream(of: Void.self)
        // The pull of the later table.
        let ended = try await client.context.database.lock(of: "Later").withLock {
            let task = try await emptying(client) {
                try await client.define([Self.later])
                store.onWrite { _ in write.yield() }
            }
            for await _ in writes.prefix(1) {}
            order.add("pulled")
            return Task {
                _ = try await task.value
                order.add("emptied")
            }
        }
        try await ended.value
        #expect(order.values == ["pulled", "emptied"])
        #expect(store.writes == 2)
    }

    // MARK: Typed tables

    @Test(
        "L14 a row that another process inserts during a definition makes a new column that must not be null an error",
        arguments: StoreKind.perEngine)
    func requiredColumn(_ stores: StoreKind) async throws {
        let store = HookedStore(try stores.makeStore())
        let tables = [TableSchema("Note", columns: [])]
        let client = try await World(stores).makeClient(over: store, tables: tables).client
        store.beforeDefinition { try store.base.write { try $0.upsert(["id": "a"], into: "Note") } }
        #expect(await syncErrorCode { try await client.define(RecordDefinitionTests.Note3.self) } == .invalidArgument)
        #expect(try store.read { try $0.schema(of: "Note") }.columns.isEmpty)
    }
}
