import Testing
import TidelineStore
import TidelineTestStores

@testable import Tideline

/// Rules F4 and F6: the token, and the rows that the next pull reads again.
@Suite("Incremental pull", .releasesClients, .bothDialects)
struct IncrementalPullTests {
    /// A duration much longer than the look-back, in ticks.
    static let minute = 60 * Timestamp.ticksPerSecond

    static let resets: [Script] = [
        Script(
            "F4 the token is kept for a new client of the same store",
            "empty; plant 2@0+10000; pull all; restart; pull all; result requests=1 stored=0; asks $filter"),
        Script(
            "F4 after a token reset all rows are pulled again",
            "empty; plant a@0 b@600000000; clock 600; pull q; pull other; forget a; pull q; texts [b]",
            "reset q; tokens [other]; pull q; texts [a, b]"),
        Script(
            "F4 a token reset during a pull ends the pull, and the next one pulls everything",
            "empty; plant 9@0+600000000; clock 6000; on #3 meanwhile reset; pull q page=2 fails pullInterrupted",
            "tokens []; pull q page=2; whole"),
        Script(
            "F4 on request another filter restarts the query ID; all of its rows are pulled, and the filter is stored",
            "empty; plant a@0 b@10000; clock 60; pull q text=b; pull q text!=c refilter; texts [a, b]; pull q text!=c"),
    ]

    static let lookbacks: [Script] = [
        Script(
            "F6 a row with an earlier timestamp that is committed later, within the look-back, is found",
            "empty; plant a@0; pull q; plant late@-40000000; pull q; result stored=1; whole"),
        Script(
            "F6 the look-back is configurable",
            "empty; plant a@0; pull q; plant late@-300000000; pull q; result stored=0",
            "pull q lookback=60; result stored=1"),
        Script(
            "F6 without a Date header the next pull starts at the token minus the look-back",
            "empty; plant a@0; undated; pull q; clock 3600; plant late@-49000000 lost@-51000000",
            "undated; pull q; result stored=1; row late id=late"),
        Script(
            "F6 with a Date header older rows are not requested again",
            "empty; plant 3@0+10000; clock 60; pull q; pull q; result pulled=0"),
        Script(
            "F6 a pull of a minute uses the server clock of its first answer, and the next one finds what it missed",
            "empty; plant 3@0+10000; each clock 60; pull q page=2; plant late@9000; pull q lookback=61",
            "row late id=late"),
        Script(
            "F6 a timestamp in the future does not hide later rows",
            "empty; plant future@600000000000; pull q",
            (1...3).map { "clock 60; plant r\($0)@\(Int64($0) * minute); pull q; whole" }.joined(separator: "; ")),
        // One row a minute is written during the pull, and one is committed before the end of the first page.
        Script(
            "F6 without a Date header a pull longer than the look-back misses no late commit", "empty; plant a@0",
            (1...5).map { "on #\($0) meanwhile plant r\($0)@\(Int64($0) * minute)" }.joined(separator: "; "),
            "on #4 meanwhile plant late@\(minute + 1); undated; pull q page=1; undated; pull q page=1; whole"),
        // The first pull ends after a page of the millisecond, and the second one after a page of the look-back.
        Script(
            "F6 a late row is found after two pulls were killed, the first one in a millisecond that it read by ID",
            "empty; plant a@-30000 b@-20000 c@-10000 9@0+0; on >4 lose request; pull q page=3 fails network",
            "plant late@-5000; clock 60; on >1 lose request; pull q page=3 fails network; pull q page=3; whole"),
    ]

    @Test(
        "F4, F6 a pull continues at its token, minus the look-back where the server's clock asks for it",
        arguments: StoreKind.perEngine, resets + lookbacks)
    func plays(_ stores: StoreKind, _ script: Script) async throws { try await script.play(stores) }

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

    @Test("F4 a table reads and resets a token by query ID", arguments: StoreKind.perEngine)
    func tokens(_ stores: StoreKind) async throws {
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
        await expectSyncError(.store) { try await client.items.pull(queryID: "q") }
        try await client.context.resetToken(table: "TodoItem")
        try await client.items.pull(queryID: "q")
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
}
