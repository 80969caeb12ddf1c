import HTTPTypes
import Testing
import TidelineStore
import TidelineTestStores
import TidelineTestSupport

@testable import Tideline

/// Rules F4 and F6: the token, and the rows that the next pull reads again.
@Suite("Incremental pull", .releasesClients, .bothDialects)
struct IncrementalPullTests {
    /// A duration much longer than the look-back, in ticks.
    static let minute = 60 * Timestamp.ticksPerSecond

    // MARK: F4

    @Test("F4 there is one token per table and query ID", arguments: StoreKind.perEngine)
    func perQueryID(_ stores: StoreKind) async throws {
        let (world, client) = try await World.withClient(stores)
        try world.plant([World.row("a", at: 0)])
        try await client.items.pull(queryID: "one")
        #expect(try Array(client.store.tokens().keys) == ["one"])
        client.transport.clear()
        try await client.items.pull(queryID: "two")
        #expect(client.transport.requests.first?.contains("$filter") == false)
        try await client.client.define([TableSchema("Note", columns: [.string("text")])])
        world.clock.advance(by: .seconds(60))
        _ = try await client.client.remoteTable("Note").insert(["text": "x"])
        client.transport.clear()
        try await client.client.table("Note").pull(queryID: "one")
        #expect(client.transport.requests.first?.contains("$filter") == false)
    }

    @Test("F4 the token is kept for a new client of the same store", arguments: StoreKind.perEngine)
    func survives(_ stores: StoreKind) async throws {
        let world = try World(stores)
        let first = try await world.makeClient()
        try world.plant(World.rows(at: [0, 10_000]))
        try await first.items.pull(queryID: "all")
        let second = try await world.makeClient(store: first.store)
        let result = try await second.items.pull(queryID: "all")
        #expect(result.requests == 1 && result.rowsStored == 0)
        #expect(second.transport.requests[0].contains("$filter"))
    }

    @Test("F4 the same query ID with another filter is an error and changes nothing", arguments: StoreKind.perEngine)
    func filterChanged(_ stores: StoreKind) async throws {
        let (world, client) = try await World.withClient(stores)
        try world.plant([World.row("a", at: 0)])
        let query = TableQuery("TodoItem").filter(.column("complete") == true || .column("text") == "a")
        try await client.items.pull(query, queryID: "q")
        let tokens = try client.store.tokens()
        client.transport.clear()
        for other in [TableQuery("TodoItem"), TableQuery("TodoItem").filter(.column("text") == "A")] {
            let error = await #expect(throws: SyncError.self) { try await client.items.pull(other, queryID: "q") }
            #expect(error?.code == .filterChanged && error?.table == "TodoItem")
        }
        #expect(client.transport.requests.isEmpty)
        #expect(try client.store.tokens() == tokens)
        try await client.items.pull(query, queryID: "q")
    }

    @Test(
        "F4 on request another filter restarts the query ID; all of its rows are pulled, and the filter is stored",
        arguments: StoreKind.perEngine)
    func filterReset(_ stores: StoreKind) async throws {
        let (world, client) = try await World.withClient(stores)
        try world.plant([World.row("a", at: 0), World.row("b", at: 10_000)])
        world.clock.advance(by: .seconds(60))
        try await client.items.pull(TableQuery("TodoItem").filter(.column("text") == "b"), queryID: "q")
        let wider = TableQuery("TodoItem").filter(.column("text") != "c")
        try await client.items.pull(wider, queryID: "q", settings: PullSettings(whenFilterChanges: .reset))
        #expect(try client.texts() == ["a", "b"])
        try await client.items.pull(wider, queryID: "q")
    }

    @Test("F4 after a token reset all rows are pulled again", arguments: StoreKind.perEngine)
    func reset(_ stores: StoreKind) async throws {
        let (world, client) = try await World.withClient(stores)
        try world.plant([World.row("a", at: 0), World.row("b", at: Self.minute)])
        world.clock.advance(by: .seconds(600))
        try await client.items.pull(queryID: "q")
        try await client.items.pull(queryID: "other")
        _ = try client.store.write { try $0.delete(id: "a", from: "TodoItem") }
        try await client.items.pull(queryID: "q")
        #expect(try client.texts() == ["b"])
        try await client.context.resetToken(table: "TodoItem", queryID: "q")
        #expect(try Array(client.store.tokens().keys) == ["other"])
        try await client.items.pull(queryID: "q")
        #expect(try client.texts() == ["a", "b"])
    }

    @Test(
        "F4 a token reset during a pull ends the pull, and the next one pulls everything",
        arguments: StoreKind.perEngine)
    func resetMeanwhile(_ stores: StoreKind) async throws {
        let (world, client) = try await World.withClient(stores)
        try world.plant(World.rows(at: (0..<9).map { $0 * Self.minute }))
        world.clock.advance(by: .seconds(6000))
        client.transport.inspect { _, _ in
            if client.transport.requests.count == 3 { try? await client.context.resetToken(table: "TodoItem") }
            return nil
        }
        let error = await #expect(throws: SyncError.self) {
            try await client.items.pull(queryID: "q", settings: PullSettings(pageSize: 2))
        }
        #expect(error?.code == .pullInterrupted)
        #expect(try client.store.tokens().isEmpty)
        client.transport.inspect(nil)
        try await client.items.pull(queryID: "q", settings: PullSettings(pageSize: 2))
        #expect(try client.store.versions() == world.serverVersions())
    }

    @Test(
        "F4 a damaged token is a store error; it neither crashes nor loses rows", arguments: StoreKind.perEngine,
        ["", "{", "null", "7"])
    func damagedToken(_ stores: StoreKind, text: String) async throws {
        let (world, client) = try await World.withClient(stores)
        try world.plant([World.row("a", at: 0)])
        try await client.items.pull(queryID: "q")
        try client.store.write { writer in
            for var row in try writer.rows(matching: TableQuery("MS_TableConfig").filter(.column("key") == "q")).rows {
                row["value"] = .string(text)
                try writer.upsert(row, into: "MS_TableConfig")
            }
        }
        let error = await #expect(throws: SyncError.self) { try await client.items.pull(queryID: "q") }
        #expect(error?.code == .store)
        try await client.context.resetToken(table: "TodoItem")
        try await client.items.pull(queryID: "q")
    }

    // MARK: F6

    @Test(
        "F6 a row with an earlier timestamp that is committed later, within the look-back, is found",
        arguments: StoreKind.perEngine)
    func lateCommit(_ stores: StoreKind) async throws {
        let (world, client) = try await World.withClient(stores)
        try world.plant([World.row("a", at: 0)])
        try await client.items.pull(queryID: "q")
        try world.plant([World.row("late", at: -40_000_000)])
        #expect(try await client.items.pull(queryID: "q").rowsStored == 1)
        #expect(try client.store.versions() == world.serverVersions())
    }

    @Test("F6 the look-back is configurable", arguments: StoreKind.perEngine)
    func lookback(_ stores: StoreKind) async throws {
        let (world, client) = try await World.withClient(stores)
        try world.plant([World.row("a", at: 0)])
        try await client.items.pull(queryID: "q")
        try world.plant([World.row("late", at: -30 * Timestamp.ticksPerSecond)])
        #expect(try await client.items.pull(queryID: "q").rowsStored == 0)
        let settings = PullSettings(lookback: .seconds(60))
        #expect(try await client.items.pull(queryID: "q", settings: settings).rowsStored == 1)
    }

    @Test(
        "F6 without a Date header the next pull starts at the token minus the look-back", arguments: StoreKind.perEngine
    )
    func withoutDate(_ stores: StoreKind) async throws {
        let (world, client) = try await World.withClient(stores)
        client.transport.inspect { _, _ in .change { $0.without(.date) } }
        try world.plant([World.row("a", at: 0)])
        try await client.items.pull(queryID: "q")
        world.clock.advance(by: .seconds(3600))
        try world.plant([World.row("late", at: -49_000_000), World.row("lost", at: -51_000_000)])
        #expect(try await client.items.pull(queryID: "q").rowsStored == 1)
        #expect(try client.row("late") != nil)
    }

    @Test("F6 with a Date header older rows are not requested again", arguments: StoreKind.perEngine)
    func restsAtToken(_ stores: StoreKind) async throws {
        let (world, client) = try await World.withClient(stores)
        try world.plant(World.rows(at: [0, 10_000, 20_000]))
        world.clock.advance(by: .seconds(60))
        try await client.items.pull(queryID: "q")
        #expect(try await client.items.pull(queryID: "q").rowsPulled == 0)
    }

    @Test("F6 a pull uses the server clock of its first answer", arguments: StoreKind.perEngine)
    func firstClock(_ stores: StoreKind) async throws {
        let (world, client) = try await World.withClient(stores)
        try world.plant(World.rows(at: [0, 10_000, 20_000]))
        // The pull takes a minute; the next pull must find rows committed during it with an earlier timestamp.
        client.transport.inspect { _, _ in
            world.clock.advance(by: .seconds(60))
            return nil
        }
        try await client.items.pull(queryID: "q", settings: PullSettings(pageSize: 2))
        client.transport.inspect(nil)
        try world.plant([World.row("late", at: 9000)])
        try await client.items.pull(queryID: "q", settings: PullSettings(lookback: .seconds(61)))
        #expect(try client.row("late") != nil)
    }

    @Test(
        "F6 without a Date header a pull longer than the look-back misses no late commit",
        arguments: StoreKind.perEngine)
    func withoutDateForLong(_ stores: StoreKind) async throws {
        let (world, client) = try await World.withClient(stores)
        client.transport.inspect { _, _ in
            // One row a minute is written during the pull, and one is committed before the end of the first page.
            let count = client.transport.requests.count
            if count < 6 { try? world.plant([World.row("r\(count)", at: Int64(count) * Self.minute)]) }
            if count == 4 { try? world.plant([World.row("late", at: Self.minute + 1)]) }
            return .change { $0.without(.date) }
        }
        try world.plant([World.row("a", at: 0)])
        let settings = PullSettings(pageSize: 1)
        try await client.items.pull(queryID: "q", settings: settings)
        try await client.items.pull(queryID: "q", settings: settings)
        #expect(try client.store.versions() == world.serverVersions())
    }

    @Test(
        "F6 with a look-back of 0, a millisecond that may not be over on the server's clock is read again",
        arguments: StoreKind.perEngine, [true, false])
    func withoutLookback(_ stores: StoreKind, hasDate: Bool) async throws {
        let (world, client) = try await World.withClient(stores)
        // The header has whole seconds, so the clock can be anywhere within this second.
        let now = world.clock.now.ticks - 17_900_000_000_000_000
        client.transport.inspect { _, _ in hasDate ? nil : .change { $0.without(.date) } }
        let settings = PullSettings(lookback: .zero)
        try world.plant([World.row("a", at: now)])
        try await client.items.pull(queryID: "q", settings: settings)
        try world.plant([World.row("b", at: now)])
        try await client.items.pull(queryID: "q", settings: settings)
        #expect(try client.store.versions() == world.serverVersions())
    }

    @Test("F6 a timestamp in the future does not hide later rows", arguments: StoreKind.perEngine)
    func futureStamp(_ stores: StoreKind) async throws {
        let (world, client) = try await World.withClient(stores)
        try world.plant([World.row("future", at: 1000 * Self.minute)])
        try await client.items.pull(queryID: "q")
        for step in 1...3 {
            world.clock.advance(by: .seconds(60))
            try world.plant([World.row("r\(step)", at: Int64(step) * Self.minute)])
            try await client.items.pull(queryID: "q")
            #expect(try client.store.versions() == world.serverVersions())
        }
    }
}
