import Testing
import TidelineStore
import TidelineTestStores

@testable import Tideline

/// Rule U1: removing local rows without deleting them on the server.
@Suite("Purge", .releasesClients, .bothDialects)
struct PurgeTests {
    private func filled(_ stores: StoreKind) async throws -> (World, Client) {
        let (world, client) = try await World.withClient(stores)
        try world.plant(World.rows(at: [0, 10_000, 20_000]))
        world.clock.advance(by: .seconds(60))
        try await client.items.pull(queryID: "q")
        client.transport.clear()
        return (world, client)
    }

    @Test("U1 purge removes the matching rows, returns their number, and sends nothing", arguments: StoreKind.perEngine)
    func removes(_ stores: StoreKind) async throws {
        let (world, client) = try await filled(stores)
        #expect(try await client.items.purge(TableQuery("TodoItem").filter(.column("text") != "r001")) == 2)
        #expect(try client.texts() == ["r001"])
        #expect(try await client.items.purge() == 1)
        #expect(try await client.items.purge() == 0)
        #expect(client.transport.requests.isEmpty)
        #expect(try world.serverVersions().count == 3)
    }

    @Test(
        "U1 purge resets the table's tokens unless disabled, so that purged rows are pulled again",
        arguments: StoreKind.perEngine, [true, false])
    func tokens(_ stores: StoreKind, resets: Bool) async throws {
        let (world, client) = try await filled(stores)
        try await client.items.pull(queryID: "other")
        try await client.client.define([TableSchema("Note", columns: [.string("text")])])
        _ = try await client.client.remoteTable("Note").insert(["text": "x"])
        try await client.client.table("Note").pull(queryID: "notes")
        #expect(try await client.items.purge(resetsTokens: resets) == 3)
        #expect(try client.store.tokens().keys.sorted() == (resets ? ["notes"] : ["notes", "other", "q"]))
        try await client.items.pull(queryID: "q")
        #expect(try client.store.versions().count == (resets ? 3 : 0))
        if resets { #expect(try client.store.versions() == world.serverVersions()) }
    }

    @Test("U1 purge refuses while a table has pending operations, and changes nothing", arguments: StoreKind.perEngine)
    func refuses(_ stores: StoreKind) async throws {
        let (_, client) = try await filled(stores)
        try await client.items.delete(id: "r000")
        let before = (try client.store.versions(), try client.store.tokens())
        await expectSyncError(.operationsPending, table: "TodoItem") {
            try await client.items.purge(TableQuery("TodoItem").filter(.column("text") == "r001"))
        }
        #expect(try client.store.versions() == before.0 && client.store.tokens() == before.1)
        try await client.context.push()
        #expect(try await client.items.purge() == 2)
    }

    @Test("U1 pending operations of another table do not block a purge and are kept", arguments: StoreKind.perEngine)
    func otherTable(_ stores: StoreKind) async throws {
        let (_, client) = try await filled(stores)
        try await client.client.define([TableSchema("Note", columns: [.string("text")])])
        try await client.client.table("Note").insert(["id": "n"])
        #expect(try await client.items.purge() == 3)
        #expect(try await client.items.forcePurge() == ForcePurgeResult(rows: 0, operations: 0))
        #expect(try await client.queue() == ["insert n"])
        #expect(try await client.client.table("Note").rows().rows.count == 1)
    }

    @Test("U1 a purge that fails changes nothing", arguments: StoreKind.perEngine)
    func badQuery(_ stores: StoreKind) async throws {
        let (_, client) = try await filled(stores)
        let tokens = try client.store.tokens()
        for query in [
            TableQuery("TodoItem").filter(.column("nothing") == 1), TableQuery("Other"),
            TableQuery("TodoItem").skip(-1),
        ] {
            await #expect(throws: SyncError.self) { try await client.items.purge(query) }
        }
        await #expect(throws: SyncError.self) { try await client.client.table("Nowhere").purge() }
        await #expect(throws: SyncError.self) { try await client.client.table("Nowhere").forcePurge() }
        #expect(try client.store.versions().count == 3 && client.store.tokens() == tokens)
    }

    @Test("U1 forcePurge removes rows, operations, errors and tokens, and counts them", arguments: StoreKind.perEngine)
    func forced(_ stores: StoreKind) async throws {
        let (world, client) = try await filled(stores)
        try await client.items.update(["id": "r000", "text": "bad"])
        try await client.items.delete(id: "r001")
        client.transport.inspect { _, _ in .answer(.answer(400, "no")) }
        _ = await syncErrorCode { try await client.context.push() }
        #expect(try await client.context.operationErrors().count == 2)
        #expect(try await client.items.forcePurge() == ForcePurgeResult(rows: 2, operations: 2))
        #expect(try await client.context.pendingOperationsCount == 0)
        #expect(try await client.context.operationErrors().isEmpty)
        #expect(try client.store.versions().isEmpty && client.store.tokens().isEmpty)
        client.transport.inspect(nil)
        try await client.items.pull(queryID: "q")
        #expect(try client.store.versions() == world.serverVersions())
        // The operation counter is not a token: its numbers are never reused.
        try await client.items.insert(["id": "new"])
        #expect(try await client.context.pendingOperations().map(\.id) == [3])
    }

    @Test("U1 forcePurge refuses while an operation is in flight, and changes nothing", arguments: StoreKind.perEngine)
    func forcedInFlight(_ stores: StoreKind) async throws {
        let (_, client) = try await filled(stores)
        try await client.items.update(["id": "r000", "text": "edited"])
        let code = SharedValue<SyncError.Code?>(nil)
        client.onFirst(\.isUpdate, isEarly: true) {
            code.value = await syncErrorCode { try await client.items.forcePurge() }
        }
        try await client.context.push()
        #expect(code.value == .operationInFlight)
        #expect(try client.store.versions().count == 3 && client.store.tokens().count == 1)
        #expect(try await client.items.forcePurge() == ForcePurgeResult(rows: 3, operations: 0))
    }

    @Test("U1 a purge waits for a pull to end, and leaves no token above a removed row", arguments: StoreKind.perEngine)
    func duringPull(_ stores: StoreKind) async throws {
        for step in 1...4 {
            let (world, client) = try await World.withClient(stores)
            try world.plant(World.rows(at: (0..<9).map { $0 * 10_000 }))
            let purge = SharedValue<Task<Int, any Error>?>(nil)
            client.transport.inspect { _, _ in
                if client.transport.requests.count == step { purge.value = Task { try await client.items.purge() } }
                return nil
            }
            try await client.items.pull(queryID: "q", settings: PullSettings(pageSize: 2))
            #expect(try await purge.value?.value == 9)
            #expect(try client.store.versions().isEmpty && client.store.tokens().isEmpty)
            client.transport.inspect(nil)
            try await client.items.pull(queryID: "q")
            #expect(try client.store.versions() == world.serverVersions())
        }
    }

    @Test("U1 a purge by another process ends a pull, and the next reads everything", arguments: StoreKind.perEngine)
    func otherProcess(_ stores: StoreKind) async throws {
        let (world, client) = try await World.withClient(stores)
        let other = try await world.makeClient(store: client.store)
        try world.plant(World.rows(at: (0..<9).map { $0 * 10_000 }))
        client.transport.inspect { _, _ in
            if client.transport.requests.count == 3 { _ = try? await other.items.purge() }
            return nil
        }
        let code = await syncErrorCode {
            try await client.items.pull(queryID: "q", settings: PullSettings(pageSize: 2))
        }
        #expect(code == .pullInterrupted)
        client.transport.inspect(nil)
        try await client.items.pull(queryID: "q")
        #expect(try client.store.versions() == world.serverVersions())
    }

    @Test("F4 a pull by another process during a pull ends neither", arguments: StoreKind.perEngine, [2, 9])
    func pullOfOtherProcess(_ stores: StoreKind, requests: Int) async throws {
        let (world, client) = try await World.withClient(stores)
        let other = try await world.makeClient(store: client.store)
        try world.plant(World.rows(at: (0..<9).map { $0 * 10_000 }))
        client.transport.inspect { _, _ in
            if client.transport.requests.count <= requests { _ = try? await other.items.pull(queryID: "q") }
            if client.transport.requests.count < 4 { try? world.plant([World.row("x", at: 1_000_000)]) }
            return nil
        }
        try await client.items.pull(queryID: "q", settings: PullSettings(pageSize: 2))
        #expect(try client.store.versions() == world.serverVersions())
        #expect(try Array(client.store.tokens().keys) == ["q"])
    }
}
