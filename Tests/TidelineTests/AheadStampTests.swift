import Testing
import TidelineStore
import TidelineTestStores
import TidelineTestSupport

@testable import Tideline

/// Rule F17: rows that were stamped by a clock ahead of the server's `Date`.
@Suite("Stamps ahead of the server's clock", .releasesClients, .bothDialects)
struct AheadStampTests {
    static let day = 86_400 * Timestamp.ticksPerSecond

    /// Pulls twice, and returns the result of a third pull, each a minute after the one before.
    private func rest(_ client: Client, _ world: World, pageSize: Int) async throws -> PullResult {
        for _ in 1...2 {
            try await client.items.pull(queryID: "q", settings: PullSettings(pageSize: pageSize))
            world.clock.advance(by: .seconds(60))
        }
        client.transport.clear()
        let result = try await client.items.pull(queryID: "q", settings: PullSettings(pageSize: pageSize))
        world.clock.advance(by: .seconds(60))
        return result
    }

    @Test(
        "F17 rows that were read completely are not asked for again although their stamps are ahead",
        arguments: StoreKind.perEngine, allPairs([3, 1000], [1000, 30_000]))
    func atRest(_ stores: StoreKind, _ setting: (Int, Int64)) async throws {
        let (pageSize, step) = setting
        let (world, client) = try await World.withClient(stores)
        try world.plant(World.rows(at: [0, 10_000] + (0..<20).map { Self.day + $0 * 7 }))
        var result = try await rest(client, world, pageSize: pageSize)
        #expect(result.rowsPulled == 0 && result.writes == 0 && client.transport.requests.count == 1)
        // This server stamps each row after its newest one.
        for round in 0..<3 {
            for number in 0..<10 {
                try world.plant([World.row("n\(round)-\(number)", at: Self.day + Int64(round * 10 + number + 1) * step)]
                )
            }
            result = try await rest(client, world, pageSize: pageSize)
            #expect(result.rowsPulled == 0 && result.writes == 0 && client.transport.requests.count == 1)
            #expect(try client.store.versions() == world.serverVersions())
        }
    }

    @Test(
        "F17 rows with present stamps, late or not, are found beside rows whose stamps are ahead",
        arguments: StoreKind.perEngine, [2, 1000])
    func presentRows(_ stores: StoreKind, pageSize: Int) async throws {
        let (world, client) = try await World.withClient(stores)
        try world.plant(World.rows(at: [0, 10_000, Self.day, Self.day + 5]))
        for round in 0..<30 {
            let now = world.clock.now.ticks - 17_900_000_000_000_000
            try world.plant([
                World.row("p\(round)", at: now), World.row("l\(round)", at: now - 3 * Timestamp.ticksPerSecond),
                World.row("r000", at: now + 1, deleted: round % 2 == 1),
            ])
            try await client.items.pull(queryID: "q", settings: PullSettings(pageSize: pageSize))
            #expect(try client.store.versions() == world.serverVersions(), "round \(round)")
            // The clock passes the rows that are ahead.
            world.clock.advance(by: .seconds(3600))
        }
    }

    @Test(
        "F17 rows that are written when the server's clock has reached those that are ahead are found",
        arguments: StoreKind.perEngine, [-1, 0, 1])
    func reached(_ stores: StoreKind, seconds: Int64) async throws {
        let (world, client) = try await World.withClient(stores)
        try world.plant(World.rows(at: [0, Self.day, Self.day + 600 * Timestamp.ticksPerSecond]))
        #expect(try await rest(client, world, pageSize: 1000).rowsPulled == 0)
        world.clock.advance(by: .seconds(86_400 - 180 + seconds))
        for round in 0..<20 {
            let now = world.clock.now.ticks - 17_900_000_000_000_000
            try world.plant([World.row("p\(round)", at: now)])
            try await client.items.pull(queryID: "q")
            #expect(try client.store.versions() == world.serverVersions(), "round \(round)")
            world.clock.advance(by: .seconds(61))
        }
        #expect(try await rest(client, world, pageSize: 1000).rowsPulled == 0)
    }

    static let late: [Script] = ["", "clock 2; pull q; "].map { pull in
        Script(
            "F17 a row with a stamp ahead that is committed late is found, \(pull.isEmpty ? "" : "after another pull")",
            "empty; plant r000@0; plant r001@\(day); pull q; \(pull)clock 2; plant late@\(day - 10); clock 60",
            "pull q; whole")
    }

    @Test("F17 a row with a stamp ahead that is committed late is found", arguments: StoreKind.perEngine, late)
    func lateAhead(_ stores: StoreKind, _ script: Script) async throws { try await script.play(stores) }

    @Test("F17 a killed pull beside rows that are ahead loses nothing", arguments: StoreKind.perEngine, 1...6)
    func killed(_ stores: StoreKind, page: Int) async throws {
        let (world, client) = try await World.withClient(stores)
        try world.plant(World.rows(at: (0..<6).map { Self.day + $0 * 20_000 }))
        _ = try await rest(client, world, pageSize: 2)
        let now = world.clock.now.ticks - 17_900_000_000_000_000
        try world.plant((0..<4).map { World.row("p\($0)", at: now + Int64($0) * 20_000) })
        try world.plant((0..<4).map { World.row("a\($0)", at: Self.day + 200_000 + Int64($0) * 20_000) })
        client.transport.clear()
        client.transport.inspect { _, _ in client.transport.requests.count > page ? .loseRequest : nil }
        _ = await syncErrorCode { try await client.items.pull(queryID: "q", settings: PullSettings(pageSize: 2)) }
        client.transport.inspect(nil)
        try await client.items.pull(queryID: "q", settings: PullSettings(pageSize: 2))
        #expect(try client.store.versions() == world.serverVersions())
        #expect(try await rest(client, world, pageSize: 2).rowsPulled == 0, "\(client.transport.requests)")
    }
}
