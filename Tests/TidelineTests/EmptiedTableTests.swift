import Testing
import TidelineStore
import TidelineTestStores

@testable import Tideline

/// Rule F16: a token without its rows.
@Suite("Emptied tables", .releasesClients, .bothDialects)
struct EmptiedTableTests {
    /// Makes a client that has pulled five rows, and a minute later pulled again.
    private func withPulled(_ stores: StoreKind) async throws -> (World, Client) {
        let (world, client) = try await World.withClient(stores)
        try world.plant(World.rows(at: (0..<5).map { $0 * 10_000 }))
        for _ in 1...2 {
            try await client.items.pull(queryID: "q")
            world.clock.advance(by: .seconds(60))
        }
        client.transport.clear()
        return (world, client)
    }

    private static let pulled = "empty; plant 5@0+10000; pull q; clock 60; pull q; clock 60; clear"

    /// Pulls that take one request and no write, each a minute after the other.
    private static func rest(_ pull: String = "pull q") -> String {
        Array(repeating: "clear; \(pull); requests 1; result writes=0 stored=0; clock 60", count: 3)
            .joined(separator: "; ")
    }

    static let scripts: [Script] =
        [2, 1000].map { page in
            Script(
                "F16 a pull into a table that was emptied beside the queue begins with the first row, page size \(page)",
                pulled, "forget *; pull q page=\(page); result stored=5; whole; clock 60; pull q page=\(page)", rest())
        }
        + (1...3).map { page in
            Script(
                "F16 a pull that begins with the first row again and is killed goes on after page \(page)", pulled,
                "forget *; on >\(page) lose request; pull q page=2 fails network; pull q page=2; whole")
        }
        + ["", "other "].map { writer in
            Script(
                "F16 a table of which a client has deleted all rows takes one request at rest: \(writer)delete", pulled,
                (0..<5).map { "\(writer)delete r00\($0)" }.joined(separator: "; "), "push; pull q; clock 60; pull q",
                "texts []", rest(), "plant new@10000000000; pull q; texts [new]")
        } + [
            Script(
                "F16 a filter that matches nothing takes one request at rest",
                "empty; plant 5@0+10000; plant z@9 deleted=true", rest("pull none 'text=no such text'"),
                "pull none 'text=no such text'; result pulled=0"),
            Script(
                "F16 a purge that keeps the tokens brings no row back, and a later loss does", pulled, "purge rows",
                rest(), "texts []; plant new@10000000000; pull q; texts [new]; forget *; pull q; whole"),
        ]

    @Test("F16 a pull into an emptied table starts over, and then rests", arguments: StoreKind.perEngine, scripts)
    func plays(_ stores: StoreKind, _ script: Script) async throws { try await script.play(stores) }

    @Test("F16 rows whose deletes the server refuses are not read by each pull", arguments: StoreKind.perEngine)
    func refusedDeletes(_ stores: StoreKind) async throws {
        let (world, client) = try await withPulled(stores)
        for number in 0..<5 { try await client.items.delete(id: "r00\(number)") }
        client.transport.inspect { request, _ in request.method == .delete ? .answer(.answer(403)) : nil }
        let settings = PullSettings(whenPushFails: .pullOthers)
        var rows = 0
        for round in 1...4 {
            client.transport.clear()
            var counting = settings
            let counts = Recorder<Int>()
            counting.onProgress = { counts.add($0.rowsPulled) }
            _ = await syncErrorCode { try await client.items.pull(queryID: "q", settings: counting) }
            rows = counts.values.last ?? 0
            if round > 2 {
                #expect(client.transport.requests.filter { $0.hasPrefix("GET") && $0.contains("orderby") }.count == 1)
            }
            world.clock.advance(by: .seconds(60))
        }
        #expect(rows == 0)
    }

    @Test("F16 a table whose last row the user has deleted is not said to lack rows", arguments: StoreKind.perEngine)
    func lastDelete(_ stores: StoreKind) async throws {
        let (world, log) = (try World(stores), LogRecorder())
        let client = try await world.makeClient { $0.logger = log.logger }
        var expected = 0
        for isDeleted in [true, false] {
            try world.plant([World.row("a", at: 0)])
            try await client.items.pull(queryID: "q")
            if isDeleted {
                try await client.items.delete(id: "a")
                try await client.context.push()
            } else {
                _ = try client.store.write { try $0.delete(matching: TableQuery("TodoItem")) }
                expected = 1
            }
            for _ in 1...3 {
                world.clock.advance(by: .seconds(60))
                try await client.items.pull(queryID: "q")
            }
            #expect(log.entries.count { $0.message.contains("were missing") } == expected)
        }
    }

    @Test("F16 a late row into an empty table counts as a stored row", arguments: StoreKind.perEngine)
    func lateRow(_ stores: StoreKind) async throws {
        let (world, client) = try await withPulled(stores)
        try await client.items.purge(resetsTokens: false)
        let date = try #require(try await client.items.pullToken(queryID: "q")?.serverDate)
        let late = date.ticks - 17_900_000_000_000_000 - 10_000_000
        try world.plant([World.row("late", at: late)])
        try await client.items.pull(queryID: "q")
        #expect(try client.texts() == ["late"])
        _ = try client.store.write { try $0.delete(matching: TableQuery("TodoItem")) }
        try await client.items.pull(queryID: "q")
        #expect(try client.store.versions() == world.serverVersions())
    }

    @Test("F16 a custom dialect begins with the first row once", arguments: StoreKind.perEngine)
    func customDialect(_ stores: StoreKind) async throws {
        let (world, client) = try await NotesWorld.withRow(stores, ids: (0..<5).map { "\($0)" })
        _ = try client.store.write { try $0.delete(matching: TableQuery("Note")) }
        #expect(try await client.pull().rowsStored == 5)
        for number in 0..<5 { world.server.write("\(number)", nil) }
        try await client.pull()
        try await client.pull()
        world.server.clear()
        #expect(try await client.pull().writes == 0)
        #expect(world.server.requests == ["GET /db/Note/changes?after=10&limit=1000"])
    }
}
