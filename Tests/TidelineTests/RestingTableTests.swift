import Testing
import TidelineStore
import TidelineTestStores
import TidelineTestSupport

@testable import Tideline

/// Rule F6 for a table without changes.
@Suite("Unchanged tables", .releasesClients, .bothDialects)
struct RestingTableTests {
    /// The history of a table's rows.
    struct History: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var ticks: [Int64]
        /// The age of the last change when the first pull begins.
        var age = Duration.zero
    }

    static let histories: [History] = [
        History(testDescription: "no row", ticks: []),
        History(testDescription: "one row", ticks: [0]),
        History(testDescription: "rows of the last seconds", ticks: (0..<1000).map { $0 * 1000 }),
        History(testDescription: "rows of one hour ago", ticks: (0..<1000).map { $0 * 1000 }, age: .seconds(3600)),
        History(testDescription: "3,400 rows within the look-back", ticks: (0..<3400).map { $0 * 10_000 }),
        History(testDescription: "one statement, just now", ticks: (0..<5000).map { _ in 7 }),
        History(testDescription: "one statement, long ago", ticks: (0..<5000).map { _ in 7 }, age: .seconds(3600)),
        History(testDescription: "one millisecond", ticks: (0..<2500).map { $0 }, age: .seconds(3600)),
        History(testDescription: "a stamp from the future", ticks: [0, 10_000, 6000 * Timestamp.ticksPerSecond]),
    ]

    @Test(
        "F6 after one more pull, an unchanged table takes one request for less than a page and no write",
        arguments: allPairs(StoreKind.perEngine, histories).filter {
            $0.0.engine == StoreKind.simplest.engine || $0.1.ticks.count < 2000
        })
    func atRest(_ stores: StoreKind, _ history: History) async throws {
        let world = try World(stores)
        let store = try HookedStore(stores.makeStore())
        let client = try await world.makeClient(over: store)
        try world.plant(World.rows(at: history.ticks))
        world.clock.advance(by: history.age)
        try await client.items.pull(queryID: "q")
        for round in 1...4 {
            client.transport.clear()
            store.onWrite(nil)
            world.clock.advance(by: .seconds(60))
            let result = try await client.items.pull(queryID: "q")
            #expect(result.rowsStored == 0 && result.writes <= (round == 1 ? 1 : 0) && store.writes == result.writes)
            guard round > 1 else { continue }
            #expect(client.transport.requests.count == 1 && result.rowsPulled < 2)
        }
        #expect(try store.read { try $0.count(TableQuery("TodoItem")) } == history.ticks.count)
    }

    @Test(
        "F6 rows committed after a pull has recorded that the table is unchanged are found, late or not",
        arguments: StoreKind.perEngine, [0, 1, 5000])
    func lateCommits(_ stores: StoreKind, lateBy milliseconds: Int64) async throws {
        let (world, client) = try await World.withClient(stores)
        try world.plant(World.rows(at: [0, 0, 5]))
        for round in 1...6 {
            world.clock.advance(by: .seconds(7))
            try await client.items.pull(queryID: "q", settings: PullSettings(pageSize: 2))
            // The header has whole seconds, so the clock was at most at this time when the pull began.
            let now = world.clock.now.ticks - 17_900_000_000_000_000
            let stamp = now - milliseconds * Timestamp.ticksPerMillisecond
            try world.plant([World.row("late\(round)", at: stamp), World.row("r001", at: stamp + 1)])
        }
        world.clock.advance(by: .seconds(1))
        try await client.items.pull(queryID: "q", settings: PullSettings(pageSize: 2))
        #expect(try client.store.versions() == world.serverVersions())
    }

    @Test("F6 a pull interrupted in the look-back reads it again", arguments: StoreKind.perEngine)
    func interrupted(_ stores: StoreKind) async throws {
        let (world, client) = try await World.withClient(stores)
        try world.plant(World.rows(at: (0..<8).map { $0 * 10_000 }))
        let settings = PullSettings(pageSize: 2)
        try await client.items.pull(queryID: "q", settings: settings)
        world.clock.advance(by: .seconds(60))
        for page in 1...6 {
            try world.plant([World.row("late\(page)", at: 5000)])
            client.transport.clear()
            client.transport.inspect { _, _ in client.transport.requests.count > page ? .loseRequest : nil }
            _ = await syncErrorCode { try await client.items.pull(queryID: "q", settings: settings) }
        }
        client.transport.inspect(nil)
        try await client.items.pull(queryID: "q", settings: settings)
        #expect(try client.store.versions() == world.serverVersions())
    }
}
