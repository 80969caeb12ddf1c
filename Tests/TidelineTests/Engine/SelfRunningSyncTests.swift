import Testing
import TidelineStore
import TidelineTestStores
import TidelineTestSupport

@testable import Tideline

/// Rules S1 and S2: what a sync that runs itself keeps in step, and when.
@Suite("Self-running sync", .timeLimit(.minutes(15)), .releasesClients)
struct SelfRunningSyncTests {
    static let todo = SyncSubscription("TodoItem")

    @Test("S1 two clients that sync by themselves see each other's edits", arguments: StoreKind.perEngine)
    func twoClients(_ stores: StoreKind) throws {
        let virtual = try VirtualWorld(stores)
        try virtual.run {
            let (first, second) = (try await virtual.makeClient(), try await virtual.makeClient())
            try await first.items.insert(["id": "a", "text": "before the start"])
            for client in [first, second] { try await client.client.start([Self.todo]) }
            try await virtual.sleep(.seconds(61))
            #expect(try second.texts() == ["before the start"])
            try await second.items.update(id: "a") { $0["text"] = "edited" }
            try await first.items.insert(["id": "b", "text": "new"])
            try await virtual.sleep(.seconds(61))
            for client in [first, second] {
                #expect(try client.texts() == ["edited", "new"])
                await client.client.stop()
                #expect(client.client.status == .stopped)
            }
        }
    }

    @Test("S1 an edit by another client of the store is pushed at once, by one of them", arguments: StoreKind.perEngine)
    func otherClient(_ stores: StoreKind) throws {
        try VirtualWorld.run(stores) { virtual, client in
            let other = try await virtual.makeClient(store: client.store)
            try await client.client.start([SyncSubscription("TodoItem", interval: nil)])
            try await virtual.sleep(.seconds(5))
            try await other.items.insert(["id": "a", "text": "theirs"])
            try await virtual.sleep(.seconds(5))
            #expect(try virtual.world.serverTexts() == ["theirs"])
            try await other.client.start([])
            try await virtual.sleep(.seconds(5))
            for made in [client, other] { made.transport.clear() }
            try await client.items.update(id: "a") { $0["text"] = "edited" }
            try await virtual.sleep(.seconds(60))
            #expect(try virtual.world.serverTexts() == ["edited"])
            #expect(client.transport.requests.count + other.transport.requests.count == 1)
            await other.client.stop()
        }
    }

    /// Makes two clients over the same files, which see each other's commits in real time.
    private func makeSharing(_ stores: StoreKind) async throws -> (World, Client, other: Client) {
        let world = try World(stores)
        let files = try StoreFiles(stores)
        let configure: @Sendable (inout SyncOptions) -> Void = { $0.environment = SyncEnvironment() }
        let client = try await world.makeClient(store: try files.open(), configure: configure)
        let other = try await world.makeClient(store: try files.open(), configure: configure)
        return (world, client, other)
    }

    @Test("S1 an edit by another process is pushed at once", arguments: StoreKind.sharing)
    func otherProcess(_ stores: StoreKind) async throws {
        let (world, client, other) = try await makeSharing(stores)
        let settings = SyncSettings(listensToServer: false)
        try await client.client.start([SyncSubscription("TodoItem", interval: nil)], settings: settings)
        try await suspendUntil("the first pull") { client.statusKind == "idle" }
        for number in 0..<3 {
            try await other.items.insert(["id": .string("\(number)"), "text": .string("\(number)")])
            // The next edit may meet the transaction that stores the outcome.
            try await suspendUntil("the push") { try world.serverTexts().count == number + 1 }
        }
        client.transport.inspect { _, body in
            body.contains("poison") ? .answer(.answer(400, #"{"error":"no"}"#)) : nil
        }
        try await other.items.insert(["id": "p", "text": "poison"])
        try await suspendUntil("the rejection") { client.client.status == .needsAttention(operationErrors: 1) }
        try await other.items.update(id: "p") { $0["text"] = "harmless" }
        try await suspendUntil("the correction") { try world.serverTexts().contains("harmless") }
        #expect(other.transport.requests.isEmpty)
        await client.client.stop()
    }

    @Test("S1 a correction by another process while the push goes on is pushed", arguments: StoreKind.sharing)
    func correctedDuringPush(_ stores: StoreKind) async throws {
        let (world, client, other) = try await makeSharing(stores)
        client.transport.inspect { _, body in
            if body.contains("poison") { return .answer(.answer(400, #"{"error":"no"}"#)) }
            if body.contains("slow") {
                try? await suspendUntil("the rejection") { try await client.client.operationErrors().count == 1 }
                _ = try? await other.items.update(id: "p") { $0["text"] = "harmless" }
                // Time for the sync to look at the queue. If it looks later, the correction is found in any case.
                try? await Task.sleep(for: .seconds(1))
            }
            return nil
        }
        var settings = SyncSettings(listensToServer: false)
        settings.pull.push.maxInFlight = 1
        try await client.client.start([SyncSubscription("TodoItem", interval: nil)], settings: settings)
        // The sync knows the newest operation once it has looked.
        try await other.items.insert(["id": "a", "text": "first"])
        try await suspendUntil("the push") { try world.serverTexts() == ["first"] }
        try await other.client.transaction { transaction in
            for text in ["poison", "slow"] {
                try transaction.insert(
                    ["id": .string(String(text.prefix(1))), "text": .string(text)], into: "TodoItem")
            }
        }
        try await suspendUntil("the correction") { try world.serverTexts().sorted() == ["first", "harmless", "slow"] }
        await client.client.stop()
    }

    @Test("S1 many local changes in a short time are pushed together", arguments: StoreKind.perEngine)
    func debounce(_ stores: StoreKind) throws {
        try VirtualWorld.run(stores) { virtual, client in
            try await client.client.start([])
            try await virtual.sleep(.seconds(1))
            for number in 0..<10 {
                if number == 0 { try await client.items.insert(["id": "a", "text": "0"]) }
                try await client.items.update(id: "a") { $0["text"] = .string("\(number)") }
                try await virtual.sleep(.milliseconds(50))
            }
            #expect(client.transport.requests.isEmpty)
            try await client.client.transaction { try $0.update(["id": "a", "text": "last"], in: "TodoItem") }
            try await virtual.sleep(.seconds(1))
            #expect(client.transport.requests.count == 1)
            #expect(try virtual.world.serverTexts() == ["last"])
        }
    }

    @Test("S1 a subscription that cannot be pulled is an error of the start, which names the table")
    func invalidSubscriptions() throws {
        try VirtualWorld.run { _, client in
            let invalid: [([SyncSubscription], String)] = [
                ([Self.todo, SyncSubscription("Nowhere")], "Nowhere"), ([Self.todo, Self.todo], "TodoItem"),
                ([SyncSubscription("TodoItem", queryID: " ")], "TodoItem"),
                ([SyncSubscription("TodoItem", interval: .zero)], "TodoItem"),
                ([SyncSubscription(TableQuery("TodoItem").limit(3), queryID: "q")], "TodoItem"),
                (
                    [SyncSubscription(TableQuery("TodoItem").filter(.column("complte") == true), queryID: "q")],
                    "TodoItem"
                ),
            ]
            for (subscriptions, table) in invalid {
                let error = await #expect(throws: SyncError.self) { try await client.client.start(subscriptions) }
                #expect(error?.table == table, "\(subscriptions)")
                #expect(client.client.status == .stopped)
            }
            let settings = SyncSettings(pushDelay: .zero)
            #expect(await syncErrorCode { try await client.client.start([], settings: settings) } == .invalidArgument)
            #expect(await syncErrorCode { try await client.client.updateSubscriptions([]) } == .invalidArgument)
            try await client.client.start([Self.todo])
            #expect(await syncErrorCode { try await client.client.start([Self.todo]) } == .invalidArgument)
            #expect(await syncErrorCode { try await client.client.run([Self.todo]) } == .invalidArgument)
            #expect(
                await syncErrorCode { try await client.client.updateSubscriptions([SyncSubscription("No")]) } != nil)
            await client.client.stop()
            try await client.client.start([Self.todo])
        }
    }

    @Test("S1 subscriptions that replace others are checked with the settings of the sync")
    func invalidReplacement() throws {
        try VirtualWorld.run { _, client in
            let limited = [SyncSubscription(TableQuery("TodoItem").limit(50), queryID: nil)]
            let settings = SyncSettings(pull: PullSettings(removesLeavers: .seconds(3_600)))
            #expect(
                await syncErrorCode { try await client.client.start(limited, settings: settings) } == .invalidArgument)
            try await client.client.start([Self.todo], settings: settings)
            #expect(await syncErrorCode { try await client.client.updateSubscriptions(limited) } == .invalidArgument)
            await client.client.stop()
            // The settings end with the sync.
            try await client.client.start([Self.todo])
            try await client.client.updateSubscriptions(limited)
        }
    }

    @Test("S1 an idle sync makes one request per interval and subscription, no write", arguments: StoreKind.perEngine)
    func idleHour(_ stores: StoreKind) throws {
        let tables = (0..<10).map { TableSchema("T\($0)", columns: [.string("text")]) }
        let virtual = try VirtualWorld(stores, schemas: tables)
        try virtual.run {
            let store = HookedStore(try stores.makeStore())
            let made = try await virtual.world.makeClient(over: store, tables: tables) {
                virtual.configureEnvironment(&$0.environment)
            }
            let (client, transport) = (made.client, made.transport)
            for table in tables { try await client.table(table.name).insert(["text": "one"]) }
            try await client.push()
            let subscriptions = (0..<10).map {
                SyncSubscription("T\($0)", priority: $0 % 3, interval: .seconds(60 * ($0 + 1)))
            }
            try await client.start(subscriptions)
            // Every table has been pulled twice, and is at rest.
            try await virtual.sleep(.seconds(1_210))
            transport.clear()
            store.onWrite(nil)
            try await virtual.sleep(.seconds(3600))
            for (number, table) in tables.enumerated() {
                let count = transport.requests.count { $0.hasPrefix("GET /tables/\(table.name)?") }
                #expect((60 / (number + 1)...60 / (number + 1) + 1).contains(count), "\(table.name): \(count)")
            }
            #expect(transport.requests.allSatisfy { $0.hasPrefix("GET") })
            #expect(store.writes == 0)
            await client.stop()
        }
    }

    @Test("S2 any number of requests during a sync leads to one more round", arguments: StoreKind.perEngine)
    func oneAtATime(_ stores: StoreKind) throws {
        try VirtualWorld.run(stores) { virtual, client in
            let waiting = virtual.delay(client, by: .seconds(2))
            try await client.client.start([SyncSubscription("TodoItem", interval: nil)])
            for _ in 0..<100 {
                client.client.syncNow()
                try await virtual.sleep(.milliseconds(10))
            }
            try await virtual.sleep(.seconds(60))
            #expect(waiting.maximum == 1)
            #expect(client.transport.requests.count == 2)
        }
    }

    @Test("S2 a subscription that is added is pulled at once", arguments: StoreKind.perEngine)
    func added(_ stores: StoreKind) throws {
        try VirtualWorld.run(stores) { virtual, client in
            try await client.client.start([])
            try await virtual.sleep(.seconds(10))
            try virtual.world.plant([World.row("a", at: 0)])
            try await client.client.updateSubscriptions([SyncSubscription("TodoItem", interval: nil)])
            try await virtual.sleep(.seconds(1))
            #expect(try client.texts() == ["a"])
        }
    }

    @Test("S2 a subscription that is added directly after the start is pulled", arguments: 0..<20)
    func addedAtOnce(seed: Int) throws {
        try VirtualWorld.run { virtual, client in
            try virtual.world.plant([World.row("a", at: 0)])
            virtual.seed(UInt64(seed))
            try await client.client.start([])
            try await client.client.updateSubscriptions([SyncSubscription("TodoItem", interval: nil)])
            try await virtual.sleep(.seconds(1))
            #expect(try client.texts() == ["a"])
        }
    }

    @Test("S1 a change signal leads to a pull; a flood of them to one a second", arguments: StoreKind.perEngine)
    func signals(_ stores: StoreKind) throws {
        try VirtualWorld.run(stores) { virtual, client in
            let (names, continuation) = AsyncStream.makeStream(of: String.self)
            try await client.client.start(
                [SyncSubscription("TodoItem", interval: nil)],
                settings: SyncSettings(changeSignals: ChangeSignals(names)))
            try await virtual.sleep(.seconds(5))
            try virtual.world.plant([World.row("a", at: 0)])
            continuation.yield("TodoItem")
            try await virtual.sleep(.milliseconds(100))
            #expect(try client.texts() == ["a"])
            // A stalled sequence changes nothing. Names of other tables are ignored.
            try await virtual.sleep(.seconds(5))
            client.transport.clear()
            for name in ["Other", "", "TodoItem\u{0}"] { continuation.yield(name) }
            try await virtual.sleep(.seconds(5))
            #expect(client.transport.requests.isEmpty)
            for _ in 0..<10_000 { continuation.yield("TodoItem") }
            try await virtual.sleep(.seconds(20))
            #expect((10...25).contains(client.transport.requests.count), "\(client.transport.requests.count)")
            // The end of the sequence ends nothing else.
            continuation.finish()
            try virtual.world.plant([World.row("b", at: 10_000_000_000)])
            client.client.syncNow()
            try await virtual.sleep(.seconds(5))
            #expect(try client.texts() == ["a", "b"])
        }
    }

    @Test("S1 signals that never wait or that throw do not hold back the sync")
    func endlessSignals() throws {
        struct Endless: AsyncSequence, AsyncIteratorProtocol, Sendable {
            var count = 0
            mutating func next() async throws -> String? {
                count += 1
                if count > 5_000 { throw TransportError(.connection, "the signals are lost") }
                return "TodoItem"
            }
            func makeAsyncIterator() -> Endless { self }
        }
        try VirtualWorld.run { virtual, client in
            try await client.client.start([Self.todo], settings: SyncSettings(changeSignals: ChangeSignals(Endless())))
            try await client.items.insert(["id": "a", "text": "a"])
            try await virtual.sleep(.seconds(60))
            #expect(try virtual.world.serverTexts() == ["a"])
            #expect(client.transport.requests.count < 30)
        }
    }

    @Test("S1 jumps of the client's clock have no effect on the intervals", arguments: StoreKind.perEngine)
    func clockJumps(_ stores: StoreKind) throws {
        try VirtualWorld.run(stores) { virtual, client in
            try await client.client.start([Self.todo])
            for (number, days) in [0, 400, -800, 400, -10_000].enumerated() {
                virtual.offset.value = .seconds(days * 86_400)
                client.transport.clear()
                try await client.items.insert(["id": .string("d\(number)"), "text": "x"])
                try await virtual.sleep(.seconds(600))
                #expect((10...13).contains(client.transport.requests.count), "\(client.transport.requests.count)")
            }
            #expect(try await client.queue().isEmpty)
        }
    }

    @Test("S1 the client's end ends its sync, with a notice unless it was stopped", arguments: [false, true])
    func released(isStopped: Bool) throws {
        let virtual = try VirtualWorld(.simplest)
        let log = LogRecorder()
        try virtual.run {
            let transport = FaultyTransport(service: virtual.world.service, executor: virtual.executor)
            var options = SyncOptions()
            virtual.configureEnvironment(&options.environment)
            options.logger = log.logger
            let store = try StoreKind.simplest.makeStore()
            var client: SyncClient<TestStore>? = try SyncClient(
                url: "http://server.test", store: store, transport: transport, options: options)
            try await client?.define([World.schema])
            let updates = try #require(client?.statusUpdates)
            try await client?.start([Self.todo])
            try await virtual.sleep(.seconds(1))
            if isStopped { await client?.stop() }
            client = nil
            try await virtual.sleep(.seconds(1))
            let notices = log.entries.count { $0.level == .notice && $0.message.contains("keep the client") }
            #expect(notices == (isStopped ? 0 : 1))
            transport.clear()
            try await virtual.sleep(.seconds(600))
            #expect(transport.requests.isEmpty)
            var last: SyncStatus?
            for await status in updates { last = status }
            #expect(last == .stopped)
        }
    }
}
