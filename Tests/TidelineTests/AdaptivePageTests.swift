import Testing
import TidelineStore
import TidelineTestStores

@testable import Tideline

/// Rule F15: pages that are too large, and filters that are too long.
@Suite("Pages that adapt", .releasesClients, .bothDialects)
struct AdaptivePageTests {
    enum Obstacle: String, Sendable, CaseIterable {
        case timeout, tooLarge, contentTooLarge
    }

    private static func fault(_ obstacle: Obstacle) -> FaultyTransport<TestStore>.Fault {
        switch obstacle {
        case .timeout: .fail(TransportError(.timeout, "no complete response in time"))
        case .tooLarge: .fail(TransportError(.tooLarge, "the response is larger than allowed"))
        case .contentTooLarge: .answer(.answer(413, #"{"error":"too large"}"#))
        }
    }

    private static func limit(_ client: Client, to rows: Int, _ obstacle: Obstacle) {
        client.transport.inspect { request, _ in request.top > rows ? fault(obstacle) : nil }
    }

    private static func sizes(_ client: Client) -> [Int] {
        client.transport.sent.map(\.request.top)
    }

    @Test(
        "F15 a page that is too large is halved, and the size is remembered and grows again",
        arguments: StoreKind.perEngine, Obstacle.allCases)
    func halves(_ stores: StoreKind, _ obstacle: Obstacle) async throws {
        let (world, client) = try await World.withClient(stores)
        Self.limit(client, to: 130, obstacle)
        try world.plant(World.rows(at: (0..<300).map { $0 * 10_000 }))
        try await client.items.pull(queryID: "q")
        #expect(try client.store.versions().count == 300)
        #expect(Array(Self.sizes(client).prefix(4)) == [1000, 500, 250, 125])
        #expect(!Self.sizes(client).dropFirst(4).prefix(3).contains { $0 > 125 })
        client.transport.clear()
        try await client.items.pull()
        #expect(Self.sizes(client)[0] == 125)
        // Without the obstacle, the pages grow to their full size.
        client.transport.inspect(nil)
        for _ in 0..<40 { try await client.items.pull(queryID: "q") }
        #expect(Self.sizes(client).last == 1000)
    }

    @Test("F15 a page is halved down to one row", arguments: [Obstacle.tooLarge, .contentTooLarge])
    func oneRow(_ obstacle: Obstacle) async throws {
        let (world, client) = try await World.withClient(.simplest)
        Self.limit(client, to: 1, obstacle)
        try world.plant(World.rows(at: (0..<3).map { $0 * 10_000 }))
        try await client.items.pull(queryID: "q", settings: PullSettings(pageSize: 7))
        #expect(Array(Self.sizes(client).prefix(3)) == [7, 3, 1])
        #expect(try client.store.versions().count == 3)
    }

    @Test("F15 a row too large is the error of the first request", arguments: [Obstacle.tooLarge, .contentTooLarge])
    func rowTooLarge(_ obstacle: Obstacle) async throws {
        let (_, client) = try await World.withClient(.simplest)
        Self.limit(client, to: 0, obstacle)
        let error = await #expect(throws: SyncError.self) {
            try await client.items.pull(queryID: "q", settings: PullSettings(pageSize: 8))
        }
        #expect(error?.message.contains("large") == true)
        #expect(Self.sizes(client) == [8, 4, 2, 1])
    }

    @Test("F15 a network on which each request times out ends the pull after four, and the next one asks for less")
    func deadNetwork() async throws {
        let (_, client) = try await World.withClient(.simplest)
        Self.limit(client, to: 0, .timeout)
        #expect(await syncErrorCode { try await client.items.pull(queryID: "q") } == .network)
        #expect(Self.sizes(client) == [1000, 500, 250, 125])
        client.transport.clear()
        _ = await syncErrorCode { try await client.items.pull(queryID: "q") }
        #expect(Self.sizes(client) == [62, 31, 15, 7])
    }

    @Test("F15 a network that remains slow costs fewer and fewer pages in vain")
    func remainsSlow() async throws {
        let (_, client) = try await World.withClient(.simplest)
        Self.limit(client, to: 500, .tooLarge)
        var failures: [Int] = []
        for round in 0..<600 {
            client.transport.clear()
            try await client.items.pull(queryID: "q")
            if Self.sizes(client).contains(1000) { failures.append(round) }
        }
        #expect(failures.count > 2 && failures.count < 12)
    }

    @Test(
        "F15 a filter that is too long for a URL is refused before anything is sent, with its length and advice",
        arguments: ["q", nil])
    func longFilter(queryID: String?) async throws {
        let (world, client) = try await World.withClient(.simplest)
        try await client.items.insert(["id": "a", "text": "one"])
        let ids = (0..<400).map { Value.string("00000000-0000-0000-0000-\(100_000_000_000 + $0)") }
        let query = TableQuery("TodoItem").filter(.column("id").isIn(ids))
        let error = await #expect(throws: SyncError.self) { try await client.items.pull(query, queryID: queryID) }
        #expect(error?.code == .invalidArgument && error?.table == "TodoItem")
        #expect(error?.message.contains("8000 bytes") == true && error?.message.contains("several pulls") == true)
        #expect(client.transport.requests.isEmpty)
        let patient = try await world.makeClient { $0.maximumURLLength = 100_000 }
        try await patient.items.pull(query, queryID: queryID)
        #expect(patient.transport.requests.count == 1)
    }

    @Test(
        "F15 a request that the server finds too long is not repeated, and the error has its length",
        arguments: [414, 431])
    func refusedLength(status: Int) async throws {
        let (_, client) = try await World.withClient(.simplest)
        client.transport.inspect { _, _ in .answer(.answer(status, #"{"error":"too long"}"#)) }
        let error = await #expect(throws: SyncError.self) { try await client.items.pull(queryID: "q") }
        #expect(error?.status == status && error?.message.contains("path and query have") == true)
        #expect(client.transport.requests.count == 1)
    }
}
