import Testing
import TidelineStore
import TidelineTestStores

@testable import Tideline

/// Reading and resetting the tokens of incremental pulls through the table.
@Suite("Pull tokens", .releasesClients)
struct PullTokenTests {
    @Test("F4 a table reads and resets a token by query ID", arguments: StoreKind.perEngine)
    func perQueryID(_ stores: StoreKind) async throws {
        let (world, client) = try await World.withClient(stores)
        #expect(try await client.items.pullToken(queryID: "one") == nil)
        try world.plant(World.rows(at: [0, 10_000]))
        let query = TableQuery("TodoItem").filter(.column("text") == "r001")
        try await client.items.pull(query, queryID: "one")
        try await client.items.pull(queryID: "two")
        let token = try await client.items.pullToken(queryID: "one")
        #expect(token?.updatedAt == World.instant(10_000) && token?.filter == "text eq 'r001'")
        #expect(token?.serverDate != nil)
        try await client.items.resetPullToken(queryID: "one")
        #expect(try await client.items.pullToken(queryID: "one") == nil)
        #expect(try await client.items.pullToken(queryID: "two") != nil)
        try await client.items.resetPullToken()
        #expect(try await client.items.pullToken(queryID: "two") == nil)
    }
}
