import HTTPTypes
import Testing
import TidelineSimulation
import TidelineStore
import TidelineTestStores

@testable import Tideline

/// A copy pulled beside a pending operation is newer or older by the order of requests, also if the server's clock goes
/// back.
@Suite("Copies by the order of requests", .releasesClients, .bothDialects)
struct RequestOrderTests {
    private static let refusing = PullSettings(whenPushFails: .pullOthers)

    /// Makes a world whose server's stamps follow its clock, and a client with a refused edit of row `a`.
    private func makeRefused(
        _ stores: StoreKind, configure: (inout SyncOptions) -> Void = { _ in }
    ) async throws -> (World, Client) {
        let world = try World(stores) { $0.reproduce([.millisecondStamps]) }
        let client = try await world.makeSyncedClient(configure: configure)
        try await client.items.update(["id": "a", "priority": 7])
        client.transport.inspect { request, _ in request.isUpdate ? .answer(.answer(403)) : nil }
        return (world, client)
    }

    @Test(
        "C4 a copy pulled before the request does not replace its result, although the clock went back in between",
        arguments: StoreKind.perEngine)
    func pulledBefore(_ stores: StoreKind) async throws {
        let (world, client) = try await makeRefused(stores) { $0.conflictPolicy = .merge() }
        try await world.updateElsewhere()
        _ = await syncErrorCode { try await client.items.pull(settings: Self.refusing) }
        #expect(try await client.context.pendingOperations().first?.pulled?.contains("theirs") == true)
        world.clock.advance(by: .seconds(-3600))
        client.transport.inspect(nil)
        try await client.pushUpdate(["id": "a", "effort": 1.5])
        let row = try #require(try client.row("a"))
        let server = try #require(try world.serverRow("a"))
        #expect(server["text"] == "theirs" && server["priority"] == 7 && server["effort"] == 1.5)
        #expect(row["text"] == "theirs" && row["priority"] == 7 && row["effort"] == 1.5)
        #expect(row.version == server.version)
    }

    @Test(
        "C4 a row that was changed after the clock went back is kept beside the operation",
        arguments: StoreKind.perEngine)
    func changedAfter(_ stores: StoreKind) async throws {
        let (world, client) = try await makeRefused(stores)
        world.clock.advance(by: .seconds(-3600))
        try await world.updateElsewhere()
        _ = await syncErrorCode { try await client.items.pull(settings: Self.refusing) }
        let operation = try #require(try await client.context.pendingOperations().first)
        #expect(operation.pulled?.contains("theirs") == true)
    }

    @Test(
        "C4 a row that was changed after the request, when the clock had gone back, replaces the response",
        arguments: StoreKind.perEngine)
    func pulledInFlight(_ stores: StoreKind) async throws {
        let world = try World(stores) { $0.reproduce([.millisecondStamps]) }
        let client = try await world.makeSyncedClient()
        let other = try await world.makeOther()
        try await client.items.pull(queryID: "q")
        try await client.items.update(["id": "a", "priority": 7])
        let once = Once()
        client.transport.inspect { request, _ in
            guard request.isUpdate, once.first() else { return nil }
            return .delay {
                world.clock.advance(by: .seconds(-3600))
                try await other.items.pull()
                try await other.pushUpdate(["id": "a", "text": "theirs"])
                // Without the push that precedes a pull of the app.
                let query = TableQuery("TodoItem")
                _ = try await client.context.puller.pull(query, queryID: nil, settings: PullSettings())
            }
        }
        try await client.context.push()
        let row = try #require(try client.row("a"))
        #expect(row["text"] == "theirs" && row["priority"] == 7)
        #expect(try row.version == world.serverRow("a")?.version)
    }

    @Test(
        "L3 a row that is stored in another case than the server's is not written again", arguments: StoreKind.perEngine
    )
    func otherCase(_ stores: StoreKind) async throws {
        let world = try World(stores) { $0.schemas[0].idMatching = .exact }
        let client = try await world.makeClient()
        try world.plant([World.row("ABC", at: 0), World.row("D", at: 1)])
        try await client.items.pull()
        _ = try world.serverStore.write { try $0.delete(id: "ABC", from: "TodoItem") }
        try world.plant([World.row("abc", at: 0, text: "ABC").merging("version", "ABC@0")])
        for queryID in [nil, nil, "q", "q"] as [String?] {
            let result = try await client.items.pull(queryID: queryID)
            #expect(result.rowsStored == 0 && (queryID != nil || result.writes == 0))
        }
        try world.plant([World.row("abc", at: 0, text: "other").merging("version", "ABC@0")])
        #expect(try await client.items.pull().rowsStored > 0)
        #expect(try client.row("abc")?["text"] == "other")
    }
}
