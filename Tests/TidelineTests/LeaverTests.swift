import Testing
import TidelineSimulation
import TidelineStore
import TidelineTestStores

@testable import Tideline

/// Rule F13: rows that leave a pull leave the device.
@Suite("Rows that leave a pull", .bothDialects, .releasesClients)
struct LeaverTests {
    private static let pulled =
        "empty; plant a@0 b@0 c@0 priority=1 complete=false; clock 60; pull mine priority=1 leavers=0; listed 0; clear"
    private static let edits = "update a=edited; delete b; insert n=new priority=1"
    private static let eraseAll = "erase a; erase b; erase c"
    private static let pull = "pull mine priority=1 leavers=0"

    static let leaving: [Script] =
        [1000, 2, 1].map { page in
            Script(
                "F13 a row that no longer matches on the server, or was removed there, leaves; page size \(page)",
                pulled,
                "plant a@100000000 priority=2; erase b; pull mine priority=1 page=\(page); texts [a, b, c]",
                "\(pull) page=\(page); texts [c]; result leavers=2 removed=0; queue []; remote a priority=2",
                // A row that matches again has changed.
                "plant a@200000000 priority=1; \(pull) page=\(page); result leavers=0; texts [a, c]")
        } + [
            Script(
                "F13 a comparison without leavers costs one request and no write", pulled, pull,
                "requests 2; listed 1; result writes=0"),
            Script(
                "F13 a pull without a query id removes leavers, too", pulled,
                "erase b; pull priority=1 leavers=60; texts [a, c]; result leavers=1"),
            Script(
                "F13 a row that another query still matches stays, and leaves with the last query", pulled,
                "pull open complete=false leavers=0; plant a@300000000 priority=2 complete=false; clock 60",
                "\(pull); result leavers=0; texts [a, b, c]",
                "pull open complete=false leavers=0; result leavers=0; row a priority=2",
                "clear; \(pull); result leavers=0; listed 1",
                "erase b; plant a@400000000 priority=2 complete=true; \(pull); result leavers=1; texts [a, c]",
                "pull open complete=false leavers=0; result leavers=1; texts [c]"),
            Script(
                "F13 a pull of all rows keeps what a filtered query loses", pulled,
                "pull all; plant a@300000000 priority=2 complete=false; erase b; \(pull); result leavers=1; texts [a, c]"
            ),
        ]

    static let staying: [Script] =
        ["list", "lookup"].map { request in
            Script(
                "F13 rows that are edited or inserted during the comparison stay: \(request)", pulled, eraseAll,
                edits.split(separator: "; ").map { "on \(request) afterwards \($0)" }.joined(separator: "; "),
                "\(pull); result leavers=1; texts [edited, new]; queue [update a, delete b, insert n]")
        } + [
            Script(
                "F13 rows with pending operations stay, and so do their operations", pulled, edits, eraseAll,
                #"on change answer 400 {"error":"no"}; pull mine priority=1 others leavers=0 fails completedWithErrors"#,
                "texts [edited, new]; queue [update a, delete b, insert n]"),
            Script(
                "F13 a row that is inserted and pushed during the comparison stays", pulled,
                "on list afterwards insert n=new priority=1; on list afterwards push",
                "\(pull); result leavers=0; texts [a, b, c, new]"),
            Script(
                "F13 identifiers in another case are the same row", pulled,
                "erase a; plant A@0 text=a version=a@0 priority=1; \(pull); result leavers=0; texts [a, b, c]"),
            Script(
                "F13 a list that the server does not count removes nothing, and the error says so", pulled, "erase b",
                #"on list replace "count" "total"; \#(pull) fails invalidAnswer; error table=TodoItem says=count"#,
                "texts [a, b, c]"),
        ]

    @Test(
        "F13 a row that left its query leaves the device, and one that is needed stays",
        arguments: StoreKind.perEngine, leaving + staying)
    func plays(_ stores: StoreKind, _ script: Script) async throws { try await script.play(stores) }

    @Test("F13 a row that others deleted leaves the device if the server keeps no tombstones", .zumoOnly)
    func hardDelete() async throws {
        try await Script(
            "F13", "empty; insert a=a priority=1; insert b=b priority=1; \(Self.pull); other delete a",
            "pull mine priority=1; texts [a, b]; \(Self.pull); result leavers=1; texts [b]"
        ).served { $0.reproduce([.original, .hardDelete]) }.play(.simplest)
    }

    @Test(
        "F13 a row that is pushed between the answer and the removal stays, also if the push left its version",
        arguments: StoreKind.perEngine, [false, true])
    func pushedBeforeRemoval(_ stores: StoreKind, keepsStamp: Bool) async throws {
        let (_, client) = try await World.withPulled(stores)
        client.transport.inspect { request, _ in
            if request.isLookUp {
                await #expect(throws: Never.self) {
                    try await client.pushUpdate(["id": "a", "text": "edited"])
                }
            }
            if request.isList { return .answer(.emptyList) }
            // The push requests a row whose version its response omits.
            guard keepsStamp, request.isUpdate || request.target.contains("id eq '") else { return nil }
            return .change {
                $0.without(.eTag).replacing("\"version\"", with: "\"other\"").replacing("updatedAt", with: "time")
            }
        }
        #expect(try await client.pullMine().leaversRemoved == 2)
        #expect(try client.texts() == ["edited"])
        #expect(try await client.queue().isEmpty)
    }

    @Test("F13 a row that another process pushes or edits during the comparison stays", arguments: StoreKind.sharing)
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
                    try await other.pushInsert(["id": "n", "text": "new", "priority": 1])
                }
            }
            return request.isList ? .answer(.emptyList) : nil
        }
        #expect(try await client.pullMine().leaversRemoved == 1)
        #expect(try client.texts() == ["edited", "new"])
    }

    @Test("F13 comparisons keep to the interval, which survives pulls and a restart", arguments: StoreKind.perEngine)
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

    @Test("F13 a pull that ends before the removal loses nothing, and the next removes", arguments: StoreKind.perEngine)
    func killed(_ stores: StoreKind) async throws {
        let world = try World(stores)
        try world.plant("a", "b", at: 0)
        let store = HookedStore(try stores.makeStore())
        let client = try await world.makeClient(over: store).client
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

    @Test("F13 a live query sees the removal", arguments: StoreKind.perEngine)
    func liveQuery(_ stores: StoreKind) async throws {
        let (world, client) = try await World.withPulled(stores)
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
        try VirtualWorld.run { virtual, client in
            try virtual.world.plant("a", "b", at: 0)
            let settings = SyncSettings(pull: PullSettings(removesLeavers: .seconds(100)), listensToServer: false)
            try await client.client.start([SyncSubscription(World.mine, queryID: "mine")], settings: settings)
            try await virtual.sleep(.seconds(61))
            try virtual.world.remove("a")
            #expect(try client.texts() == ["a", "b"])
            try await virtual.sleep(.seconds(120))
            #expect(try client.texts() == ["b"])
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

/// Rule F13: lists that are not the service's, or that are flawed, remove no row.
@Suite("Lists of rows that leave a pull", .bothDialects, .releasesClients)
struct LeaverTrustTests {
    private static let emptyAnswers: [Impostor] = [
        "[]", #"{"items":[]}"#, #"{"results":[]}"#, #"{"items":[],"count":-1}"#,
    ]
    .map { Impostor(status: 200, body: $0) }

    @Test("F13 T1 no answer of anything but the service removes a row", arguments: [0, 1, 2])
    func impostors(at position: Int) async throws {
        let (world, client) = try await World.withPulled(.simplest)
        try world.plant("d", "e", at: 0)
        try await client.items.resetPullToken()
        try await client.pullMine(every: nil)
        try world.remove("b")
        let token = try client.store.tokens()
        let other = Impostor(status: 404, body: #"{"error":"there is no table"}"#)
        for impostor in Impostor.all + Self.emptyAnswers + [other, Impostor(status: 500), Impostor(status: 503)] {
            client.transport.inspect { request, _ in
                let isMet =
                    switch position {
                    case 0: request.isList && !request.isLookUp
                    case 1: request.isList && request.target.contains("id gt")
                    default: request.isLookUp
                    }
                return isMet ? .answer(impostor.answer) : nil
            }
            let code = await syncErrorCode { try await client.pullMine(every: .seconds(60), pageSize: 2) }
            #expect(code != nil, "\(impostor.testDescription)")
            #expect(try client.texts() == ["a", "b", "c", "d", "e"], "\(impostor.testDescription)")
            #expect(try client.store.tokens() == token)
        }
        client.transport.inspect(nil)
        #expect(try await client.pullMine(every: .seconds(60), pageSize: 2).leaversRemoved == 1)
    }

    @Test("F13 a list whose pages are cut or out of order removes no row that the server has", arguments: [1, 2])
    func flawedPages(_ rows: Int) async throws {
        let (_, client) = try await World.withPulled(.simplest)
        client.transport.inspect { request, _ in
            guard request.isList, !request.isLookUp else { return nil }
            return .instead(request.without("$orderby").limited(to: rows)) { $0 }
        }
        #expect(try await client.pullMine().leaversRemoved == 0)
        // The server has lost the beginning of its list.
        client.transport.inspect { request, _ in
            guard request.isList, !request.isLookUp else { return nil }
            var other = request
            other.path = request.path?.replacing("priority%20eq%201", with: "id%20ge%20'c'")
            return .instead(other) { $0 }
        }
        #expect(try await client.pullMine().leaversRemoved == 0)
        #expect(try client.texts() == ["a", "b", "c"])
    }

    @Test("F13 the service's empty list removes all rows, and the next pull is whole", arguments: StoreKind.perEngine)
    func emptied(_ stores: StoreKind) async throws {
        let (_, client) = try await World.withPulled(stores)
        client.transport.inspect { request, _ in request.isList ? .answer(.emptyList) : nil }
        #expect(try await client.pullMine().leaversRemoved == 3)
        #expect(try client.texts() == [])
        client.transport.inspect(nil)
        try await client.pullMine()
        #expect(try client.texts() == ["a", "b", "c"])
    }
}

/// Rule F13 in a custom dialect, whose lists have whole rows.
@Suite("Rows that leave a pull of a custom dialect", .releasesClients)
struct CustomLeaverTests {
    @Test("F13 a row that the server no longer lists leaves the device", arguments: StoreKind.perEngine)
    func leaves(_ stores: StoreKind) async throws {
        let (world, client) = try await NotesWorld.withRow(stores, ids: ["a", "b", "c"])
        world.server.forget("b")
        world.server.write("c", nil)
        world.server.write("d", ["text": "new"])
        let settings = PullSettings(pageSize: 1, removesLeavers: .zero)
        #expect(try await client.pull(settings).leaversRemoved == 1)
        #expect(try client.texts() == ["a": "one", "d": "new"])
        world.server.forget("a")
        for answer in [
            TransportResponse.answer(200, "[]"), .unmarked(200, Impostor.page), .unmarked(404), .unmarked(500),
        ] {
            world.server.inspect { request, _ in request.contains("after=0") ? .answer(answer) : nil }
            await #expect(throws: SyncError.self) { try await client.pull(settings) }
            #expect(try client.texts() == ["a": "one", "d": "new"])
        }
        world.server.inspect(nil)
        #expect(try await client.notes.repair().rowsRemoved == 1)
        #expect(try client.texts() == ["d": "new"])
    }
}
