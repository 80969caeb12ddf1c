import Testing
import TidelineStore
import TidelineTestStores

@testable import Tideline

/// Rule F13: rows that leave a pull leave the device.
@Suite("Rows that leave a pull", .bothDialects, .releasesClients)
struct LeaverTests {
    @Test(
        "F13 a row that no longer matches on the server, or was removed there, leaves the device",
        arguments: StoreKind.perEngine, [1000, 2, 1])
    func leaves(_ stores: StoreKind, pageSize: Int) async throws {
        let world = try World(stores)
        let client = try await world.makePulled()
        try world.plant("a", at: 100_000_000, priority: 2)
        try world.remove("b")
        try await client.pullMine(every: nil, pageSize: pageSize)
        #expect(try client.texts() == ["a", "b", "c"])
        let result = try await client.pullMine(pageSize: pageSize)
        #expect(try client.texts() == ["c"])
        #expect(result.leaversRemoved == 2 && result.rowsRemoved == 0)
        #expect(try await client.queue().isEmpty)
        #expect(try world.serverRow("a")?["priority"] == 2)
        // A row that matches again has changed.
        try world.plant("a", at: 200_000_000)
        #expect(try await client.pullMine(pageSize: pageSize).leaversRemoved == 0)
        #expect(try client.texts() == ["a", "c"])
    }

    @Test("F13 a row that others deleted leaves the device if the server keeps no tombstones", .zumoOnly)
    func hardDelete() async throws {
        let world = try World(.simplest) { $0.quirks = [.original, .hardDelete] }
        let client = try await world.makeClient()
        for id in ["a", "b"] { try await client.items.insert(["id": .string(id), "text": .string(id), "priority": 1]) }
        try await client.pullMine()
        let other = try await world.makeOther()
        try await other.items.delete(id: "a")
        try await other.context.push()
        try await client.pullMine(every: nil)
        #expect(try client.texts() == ["a", "b"])
        #expect(try await client.pullMine().leaversRemoved == 1)
        #expect(try client.texts() == ["b"])
    }

    @Test("F13 a comparison without leavers costs one request and no write", arguments: StoreKind.perEngine)
    func resting(_ stores: StoreKind) async throws {
        let world = try World(stores)
        let client = try await world.makePulled()
        let result = try await client.pullMine()
        #expect(client.transport.requests.count == 2 && client.listRequests.count == 1)
        #expect(result.writes == 0)
    }

    @Test("F13 a pull without a query id removes leavers, too", arguments: StoreKind.perEngine)
    func wholePull(_ stores: StoreKind) async throws {
        let world = try World(stores)
        let client = try await world.makePulled()
        try world.remove("b")
        let result = try await client.items.pull(World.mine, settings: PullSettings(removesLeavers: .seconds(60)))
        #expect(try client.texts() == ["a", "c"] && result.leaversRemoved == 1)
    }

    @Test("F13 rows with pending operations stay, and so do their operations", arguments: StoreKind.perEngine)
    func pending(_ stores: StoreKind) async throws {
        let world = try World(stores)
        let client = try await world.makePulled()
        try await client.items.update(["id": "a", "text": "edited"])
        try await client.items.delete(id: "b")
        try await client.items.insert(["id": "n", "text": "new", "priority": 1])
        try world.remove("a", "b", "c")
        client.transport.inspect { request, _ in
            request.method == .get ? nil : .answer(.answer(400, #"{"error":"no"}"#))
        }
        let code = await syncErrorCode {
            try await client.items.pull(
                World.mine, queryID: "mine", settings: PullSettings(whenPushFails: .pullOthers, removesLeavers: .zero))
        }
        #expect(code == .completedWithErrors)
        #expect(try client.texts() == ["edited", "new"])
        #expect(try await client.queue() == ["update a", "delete b", "insert n"])
    }

    @Test(
        "F13 rows that are edited or inserted during the comparison stay", arguments: StoreKind.perEngine,
        [false, true])
    func editedMeanwhile(_ stores: StoreKind, duringLookUp: Bool) async throws {
        let world = try World(stores)
        let client = try await world.makePulled()
        try world.remove("a", "b", "c")
        client.transport.inspect { request, _ in
            guard request.isList, request.isLookUp == duringLookUp else { return nil }
            return .delay {
                try await client.items.update(["id": "a", "text": "edited"])
                try await client.items.delete(id: "b")
                try await client.items.insert(["id": "n", "text": "new", "priority": 1])
            }
        }
        #expect(try await client.pullMine().leaversRemoved == 1)
        #expect(try client.texts() == ["edited", "new"])
        #expect(try await client.queue() == ["update a", "delete b", "insert n"])
    }

    @Test("F13 a row that is inserted and pushed during the comparison stays", arguments: StoreKind.perEngine)
    func pushedMeanwhile(_ stores: StoreKind) async throws {
        let world = try World(stores)
        let client = try await world.makePulled()
        client.transport.inspect { request, _ in
            guard request.isList, !request.isLookUp else { return nil }
            return .delay {
                try await client.items.insert(["id": "n", "text": "new", "priority": 1])
                try await client.context.push()
            }
        }
        #expect(try await client.pullMine().leaversRemoved == 0)
        #expect(try client.texts() == ["a", "b", "c", "new"])
    }

    @Test(
        "F13 a row that is pushed between the answer and the removal stays, also if the push left its version",
        arguments: StoreKind.perEngine, [false, true])
    func pushedBeforeRemoval(_ stores: StoreKind, keepsStamp: Bool) async throws {
        let world = try World(stores)
        let client = try await world.makePulled()
        client.transport.inspect { request, _ in
            if request.isLookUp {
                await #expect(throws: Never.self) {
                    try await client.items.update(["id": "a", "text": "edited"])
                    try await client.context.push()
                }
            }
            if request.isList { return .answer(.emptyList) }
            guard request.isUpdate, keepsStamp else { return nil }
            return .change {
                $0.without(.eTag).replacing("\"version\"", with: "\"other\"").replacing("updatedAt", with: "time")
            }
        }
        #expect(try await client.pullMine().leaversRemoved == 2)
        #expect(try client.texts() == ["edited"])
        #expect(try await client.queue().isEmpty)
    }

    @Test(
        "F13 a row that another process inserts and pushes, or updates, during the comparison stays",
        arguments: StoreKind.sharing)
    func otherProcess(_ stores: StoreKind) async throws {
        let (world, files) = (try World(stores), try StoreFiles(stores))
        try world.plant("a", "b", at: 0)
        let client = try await world.makeClient(store: files.open())
        let other = try await world.makeClient(store: files.open())
        try await client.pullMine()
        client.transport.inspect { request, _ in
            if request.isLookUp {
                await #expect(throws: Never.self) {
                    try await other.items.update(["id": "a", "text": "edited"])
                    try await other.items.insert(["id": "n", "text": "new", "priority": 1])
                    try await other.context.push()
                }
            }
            return request.isList ? .answer(.emptyList) : nil
        }
        #expect(try await client.pullMine().leaversRemoved == 1)
        #expect(try client.texts() == ["edited", "new"])
    }

    @Test(
        "F13 a row that another query still matches stays, and leaves with the last query",
        arguments: StoreKind.perEngine)
    func twoQueries(_ stores: StoreKind) async throws {
        let world = try World(stores)
        let client = try await world.makePulled()
        let open = TableQuery("TodoItem").filter(.column("complete") == false)
        let settings = PullSettings(removesLeavers: .zero)
        try await client.items.pull(open, queryID: "open", settings: settings)
        try world.plant("a", at: 300_000_000, priority: 2)
        world.clock.advance(by: .seconds(60))
        #expect(try await client.pullMine().leaversRemoved == 0)
        #expect(try client.texts() == ["a", "b", "c"])
        #expect(try await client.items.pull(open, queryID: "open", settings: settings).leaversRemoved == 0)
        #expect(try client.row("a")?["priority"] == 2)
        client.transport.clear()
        #expect(try await client.pullMine().leaversRemoved == 0)
        #expect(client.listRequests.count == 1)
        try world.remove("b")
        var done = World.row("a", at: 400_000_000)
        (done["priority"], done["complete"]) = (2, true)
        try world.plant([done])
        #expect(try await client.pullMine().leaversRemoved == 1)
        #expect(try client.texts() == ["a", "c"])
        #expect(try await client.items.pull(open, queryID: "open", settings: settings).leaversRemoved == 1)
        #expect(try client.texts() == ["c"])
    }

    @Test("F13 a pull of all rows keeps what a filtered query loses", arguments: StoreKind.perEngine)
    func unfilteredQuery(_ stores: StoreKind) async throws {
        let world = try World(stores)
        let client = try await world.makePulled()
        try await client.items.pull(queryID: "all")
        try world.plant("a", at: 300_000_000, priority: 2)
        try world.remove("b")
        #expect(try await client.pullMine().leaversRemoved == 1)
        #expect(try client.texts() == ["a", "c"])
    }

    @Test(
        "F13 comparisons keep to the interval, which survives other pulls and a restart", arguments: StoreKind.perEngine
    )
    func interval(_ stores: StoreKind) async throws {
        let world = try World(stores)
        let now = LockedValue(World.instant(0))
        let client = try await world.makePulled { $0.environment.now = { now.withLock { $0 } } }
        func pull(after seconds: Int64) async throws -> Int {
            now.withLock { $0 = $0.advanced(byTicks: seconds * Timestamp.ticksPerSecond) }
            let again = try await world.makeClient(store: client.store) {
                $0.environment.now = { now.withLock { $0 } }
            }
            try await again.pullMine(every: .seconds(60))
            return again.listRequests.count
        }
        #expect(try await pull(after: 1) == 1)
        #expect(try await pull(after: 59) == 0)
        // A pull that stores rows keeps the time.
        try world.plant("d", at: 300_000_000)
        #expect(try await pull(after: 0) == 0)
        #expect(try client.texts() == ["a", "b", "c", "d"])
        #expect(try await pull(after: 1) == 1)
        // The clock was set back.
        #expect(try await pull(after: -3_600) == 1)
        #expect(try await pull(after: 10) == 0)
        #expect(try await pull(after: 50) == 1)
    }

    @Test(
        "F13 a pull that ends before the removal loses nothing, and the next one removes",
        arguments: StoreKind.perEngine)
    func killed(_ stores: StoreKind) async throws {
        let world = try World(stores)
        try world.plant("a", "b", at: 0)
        let store = HookedStore(try stores.makeStore())
        let client = try SyncClient(
            url: "http://server.test", store: store, transport: FaultyTransport(service: world.service),
            options: .inDialect)
        try await client.define([World.schema])
        let settings = PullSettings(removesLeavers: .seconds(60))
        try await client.pull(World.mine, queryID: "mine", settings: settings)
        try world.remove("b")
        let tokens = try store.base.tokens()
        store.onWrite { _ in throw StoreError(.full, "the disk is full") }
        #expect(
            await syncErrorCode { try await client.pull(World.mine, queryID: "mine", settings: settings) } == .store)
        #expect(store.writes == 1)
        #expect(try store.base.versions().keys.sorted() == ["a", "b"])
        #expect(try store.base.tokens() == tokens)
        let again = try await world.makeClient(store: store.base)
        #expect(try await again.pullMine(every: .seconds(60)).leaversRemoved == 1)
        #expect(try again.texts() == ["a"])
    }

    // MARK: Others

    @Test("F13 identifiers in another case are the same row", arguments: StoreKind.perEngine)
    func otherCase(_ stores: StoreKind) async throws {
        let world = try World(stores)
        let client = try await world.makePulled()
        try world.remove("a")
        var row = World.row("a", at: 0)
        (row.id, row["priority"]) = ("A", 1)
        try world.plant([row])
        #expect(try await client.pullMine().leaversRemoved == 0)
        #expect(try client.texts() == ["a", "b", "c"])
    }

    @Test("F13 a live query sees the removal", arguments: StoreKind.perEngine)
    func liveQuery(_ stores: StoreKind) async throws {
        let world = try World(stores)
        let client = try await world.makePulled()
        var updates = client.items.observe(World.mine).makeAsyncIterator()
        var rows: [Row] = []
        try #require(try await updates.next()).apply(to: &rows)
        try world.remove("a", "b")
        try await client.pullMine()
        try #require(try await updates.next()).apply(to: &rows)
        #expect(rows.map(\.idText) == ["c"])
    }

    @Test("F13 many leavers are looked up in requests that are not too long", arguments: [8_000, 700])
    func manyLeavers(_ length: Int) async throws {
        let world = try World(.simplest)
        let ids = (0..<250).map { "\($0)'" + String(repeating: "x", count: 40) }
        for id in ids { try world.plant(id, at: 0) }
        let client = try await world.makeClient { $0.maximumURLLength = length }
        try await client.pullMine()
        try world.serverStore.write { _ = try $0.delete(matching: TableQuery("TodoItem").filter(.column("id") != "0")) }
        try world.plant("a", at: 0)
        try await client.items.pull(queryID: "all")
        client.transport.clear()
        #expect(try await client.pullMine().leaversRemoved == 250)
        #expect(try client.texts() == ["a"])
        #expect(client.listRequests.allSatisfy { $0.utf8.count <= length + 5 })
        #expect(client.listRequests.count >= (length == 700 ? 30 : 4))
    }

    @Test("F13 a sync that runs itself removes leavers")
    func selfRunning() throws {
        guard BothDialects.current == .zumo2 else { return }
        let virtual = try VirtualWorld(.simplest)
        try virtual.run {
            let client = try await virtual.makeClient()
            try virtual.world.plant("a", "b", at: 0)
            let settings = SyncSettings(pull: PullSettings(removesLeavers: .seconds(100)), listensToServer: false)
            try await client.client.start([SyncSubscription(World.mine, queryID: "mine")], settings: settings)
            try await virtual.sleep(.seconds(61))
            try virtual.world.remove("a")
            #expect(try client.texts() == ["a", "b"])
            try await virtual.sleep(.seconds(120))
            #expect(try client.texts() == ["b"])
            await client.client.stop()
        }
    }

    @Test("F13 a query whose rows cannot be compared is refused before anything is sent")
    func refused() async throws {
        let client = try await World(.simplest).makeClient()
        let all = TableQuery("TodoItem")
        let refused: [(TableQuery, Duration)] = [
            (all.limit(3), .zero), (all.skip(1), .zero), (all, .seconds(-1)),
            (all.filter(.column("deleted") == false), .zero),
        ]
        for (query, interval) in refused {
            let settings = PullSettings(removesLeavers: interval)
            #expect(await syncErrorCode { try await client.items.pull(query, settings: settings) } == .invalidArgument)
        }
        #expect(await syncErrorCode { _ = try await client.items.verify(all.limit(3)) } == .invalidArgument)
        #expect(client.transport.requests.isEmpty)
    }
}
