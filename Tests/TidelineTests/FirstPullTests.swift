import Testing
import TidelineTestStores
import TidelineTestSupport

@testable import Tideline

/// Rule F14: the first pull into an empty table.
@Suite("First pulls", .releasesClients, .bothDialects)
struct FirstPullTests {
    private static func asksForDeleted(_ request: String) -> Bool {
        request.lowercased().contains("__includedeleted=true")
    }

    @Test("F14 a first pull to an empty table asks for no deleted rows, the next does", arguments: StoreKind.perEngine)
    func first(_ stores: StoreKind) async throws {
        let (world, client) = try await World.withClient(stores)
        try world.plant(World.rows(at: (0..<4).map { $0 * 10_000 }))
        try world.plant((0..<50).map { World.row("d\($0)", at: 50_000 + Int64($0) * 10_000, deleted: true) })
        let settings = PullSettings(pageSize: 2)
        #expect(try await client.items.pull(queryID: "q", settings: settings).rowsPulled == 4)
        #expect(!client.transport.requests.contains(where: Self.asksForDeleted))
        client.transport.clear()
        try await client.items.pull(queryID: "q", settings: settings)
        #expect(client.transport.requests.allSatisfy(Self.asksForDeleted))
        // A table with rows may have rows that the server has deleted.
        client.transport.clear()
        try await client.items.pull(queryID: "other", settings: settings)
        #expect(client.transport.requests.allSatisfy(Self.asksForDeleted))
    }

    @Test(
        "F14 a row that is deleted between the pages of the first pull, or after it was killed, is removed",
        arguments: StoreKind.perEngine, allPairs(Array(1...7), [nil, 2, 4]))
    func deletedMeanwhile(_ stores: StoreKind, _ setting: (Int, Int?)) async throws {
        let (page, kill) = setting
        for hasDate in [true, false] {
            let (world, client) = try await World.withClient(stores)
            try world.plant(World.rows(at: (0..<10).map { $0 * 10_000 }))
            let pulled = try await world.makeOther()
            client.transport.inspect { _, _ in
                let count = client.transport.requests.count
                world.clock.advance(by: .seconds(60))
                if count == page {
                    try? await pulled.items.delete(id: "r000")
                    try? await pulled.items.update(["id": "r001", "text": "changed"])
                    _ = try? await pulled.context.push()
                }
                if count == kill { return .loseRequest }
                return hasDate ? nil : .change { $0.without(.date) }
            }
            let settings = PullSettings(pageSize: 2)
            _ = await syncErrorCode { try await client.items.pull(queryID: "q", settings: settings) }
            if kill != nil { try await client.items.pull(queryID: "q", settings: settings) }
            try await client.items.pull(queryID: "q", settings: settings)
            #expect(try client.store.versions() == world.serverVersions(), "date: \(hasDate)")
        }
    }

    @Test("F14 a row deleted before a pull begins again for its identifiers is removed", arguments: StoreKind.perEngine)
    func respelled(_ stores: StoreKind) async throws {
        let world = try World(stores) { $0.schemas[0].idMatching = .exact }
        let client = try await world.makeClient()
        try world.plant([World.row("ABC", at: 0), World.row("def", at: 10_000), World.row("ghi", at: 20_000)])
        client.transport.inspect { request, _ in
            // The second page shows the first row under another identifier.
            if client.transport.requests.count == 3 {
                world.clock.advance(by: .seconds(60))
                _ = try? world.serverStore.write { _ = try $0.delete(id: "ABC", from: "TodoItem") }
                try? world.plant([World.row("abc", at: 30_000), World.row("def", at: 40_000, deleted: true)])
                world.clock.advance(by: .seconds(60))
            }
            return nil
        }
        let settings = PullSettings(pageSize: 1)
        try await client.items.pull(queryID: "q", settings: settings)
        try await client.items.pull(queryID: "q", settings: settings)
        #expect(try client.store.versions().keys.sorted() == ["ABC", "ghi"])
    }

    @Test("F14 a pull to an empty table with pending operations asks for deleted rows", arguments: StoreKind.perEngine)
    func pending(_ stores: StoreKind) async throws {
        let refused = "on delete answer 403; pull q others errors rejected"
        try await Script(
            "F14", "delete a", refused, "other delete a; clock 3600; reset", refused, "clock 3600", refused,
            "discard; texts []"
        ).play(stores)
    }
}
