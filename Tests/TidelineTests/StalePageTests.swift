import HTTPTypes
import Synchronization
import Testing
import TidelineStore
import TidelineTestStores

@testable import Tideline

/// A page that was in flight while a push changed its rows.
@Suite("Stale pages", .releasesClients, .bothDialects)
struct StalePageTests {
    /// A transport that runs an action once between the server's answer to a read and its arrival, or before the server
    /// receives the read.
    private final class DelayingTransport: Transport {
        let inner: FaultyTransport<TestStore>
        private let action = Mutex<(@Sendable () async throws -> Void)?>(nil)
        private let isEarly = Mutex(false)

        init(_ inner: FaultyTransport<TestStore>) { self.inner = inner }

        func onNextPage(isEarly: Bool = false, _ body: @escaping @Sendable () async throws -> Void) {
            self.isEarly.withLock { $0 = isEarly }
            action.withLock { $0 = body }
        }

        func send(_ request: HTTPRequest, body: [UInt8]?, timeout: Duration) async throws -> TransportResponse {
            let isPage = request.method == .get && request.path?.contains("$orderby") == true
            let action = action.withLock { action in
                defer { if isPage { action = nil } }
                return isPage ? action : nil
            }
            let isEarly = isEarly.withLock { $0 }
            if isEarly { try await action?() }
            let answer = try await inner.send(request, body: body, timeout: timeout)
            if !isEarly { try await action?() }
            return answer
        }
    }

    private struct Setting {
        var items: SyncTable
        var context: SyncContext<TestStore>
        var transport: DelayingTransport
    }

    /// Makes a client and its server with the rows `a` and `b`, in sync.
    private func makeSetting(_ world: World, store: TestStore? = nil) async throws -> Setting {
        let transport = DelayingTransport(FaultyTransport(service: world.service))
        let client = try SyncClient(
            url: "http://server.test", store: store ?? world.stores.makeStore(), transport: transport,
            options: .inDialect)
        try await client.define([World.schema])
        let items = client.table("TodoItem")
        try await items.insert(["id": "a", "text": "one", "priority": 1])
        try await items.insert(["id": "b", "text": "other"])
        try await items.pull(queryID: "q")
        return Setting(items: items, context: client.context, transport: transport)
    }

    @Test(
        "F7 a page requested before a push does not restore the values that the push replaced",
        arguments: StoreKind.perEngine,
        ["q", "new", nil])
    func pushedMeanwhile(_ stores: StoreKind, queryID: String?) async throws {
        let setting = try await makeSetting(World(stores))
        setting.transport.onNextPage {
            try await setting.items.update(["id": "a", "text": "two"])
            try await setting.items.delete(id: "b")
            try await setting.context.push()
        }
        try await setting.items.pull(queryID: queryID)
        #expect(try await setting.items.row(id: "a")?["text"] == "two")
        #expect(try await setting.items.row(id: "b") == nil)
        // With the old version restored, this update would conflict with the client's own change.
        try await setting.items.update(["id": "a", "priority": 2])
        try await setting.context.push()
        #expect(try await setting.context.pendingOperationsCount == 0)
    }

    @Test(
        "F7 a page requested before a push of another process does not restore the values that the push replaced",
        arguments: StoreKind.sharing, ["q", "new", nil])
    func pushedByAnotherProcess(_ stores: StoreKind, queryID: String?) async throws {
        let files = try StoreFiles(stores)
        try await pushedByOther(World(stores), files.open(), files.open(), queryID)
    }

    @Test(
        "F7 a page requested before a push of another client of the store does not restore what the push replaced",
        arguments: StoreKind.perEngine, ["q", "new", nil])
    func pushedByAnotherClient(_ stores: StoreKind, queryID: String?) async throws {
        let store = try stores.makeStore()
        try await pushedByOther(World(stores), store, store, queryID)
    }

    private func pushedByOther(
        _ world: World, _ store: TestStore, _ otherStore: TestStore, _ queryID: String?
    ) async throws {
        let setting = try await makeSetting(world, store: store)
        let other = try await world.makeClient(store: otherStore)
        setting.transport.onNextPage {
            try await other.items.update(["id": "a", "text": "two"])
            try await other.context.push()
        }
        try await setting.items.pull(queryID: queryID)
        #expect(try await setting.items.row(id: "a")?["text"] == "two")
        try await setting.items.update(["id": "a", "priority": 2])
        try await setting.context.push()
        // The next pull is not held back, and reads what the first one has passed.
        let third = try await world.makeClient()
        try await third.items.pull()
        try await third.items.update(["id": "a", "text": "three"])
        try await third.context.push()
        try await setting.items.pull(queryID: queryID)
        #expect(try await setting.items.row(id: "a")?["text"] == "three")
        #expect(try await setting.items.row(id: "a")?["priority"] == 2)
    }

    @Test(
        "F7 a page requested before a push is outdated even if the server's clock went back before the push",
        arguments: StoreKind.perEngine)
    func clockWentBack(_ stores: StoreKind) async throws {
        let world = try World(stores) { $0.quirks = [.millisecondStamps] }
        let setting = try await makeSetting(world)
        let shown = Mutex<[String?]>([])
        setting.transport.onNextPage {
            world.clock.advance(by: .seconds(-1))
            try await setting.items.update(["id": "a", "text": "two"])
            try await setting.context.push()
        }
        var settings = PullSettings()
        settings.onProgress = { [store = setting.context.store] _ in
            let row = try? store.read { try $0.row(in: "TodoItem", id: "a") }
            shown.withLock { $0.append(row?["text"]?.string) }
        }
        try await setting.items.pull(queryID: "new", settings: settings)
        #expect(shown.withLock { $0.first } == "two")
    }

    @Test("F7 a page requested after a push replaces the pushed row", arguments: StoreKind.perEngine)
    func pushedBefore(_ stores: StoreKind) async throws {
        let world = try World(stores)
        let setting = try await makeSetting(world)
        let other = try await world.makeClient()
        try await other.items.pull(queryID: "q")
        setting.transport.onNextPage {
            // This page is outdated. The next one, requested after the push, has the other client's change.
            try await setting.items.update(["id": "a", "text": "two"])
            try await setting.context.push()
            try await other.items.pull(queryID: "q")
            try await other.items.update(["id": "a", "text": "three"])
            try await other.context.push()
        }
        try await setting.items.pull(queryID: "new")
        try await setting.items.pull(queryID: "new")
        #expect(try await setting.items.row(id: "a")?["text"] == "three")
    }

    @Test(
        "F5 a change within the millisecond of a push is found by the next pull if the page was requested before",
        arguments: StoreKind.perEngine)
    func sameMillisecond(_ stores: StoreKind) async throws {
        // The clock of the world ticks with each use.
        let now = Atomic(Timestamp.ticksPerSecond)
        let world = try World(stores) {
            $0.quirks = [.millisecondStamps]
            $0.clock = { Timestamp(clampingTicks: now.load(ordering: .relaxed)) }
        }
        let setting = try await makeSetting(world)
        let other = try await world.makeClient()
        try await other.items.pull(queryID: "q")
        setting.transport.onNextPage(isEarly: true) {
            try await setting.items.update(["id": "a", "text": "two"])
            try await setting.context.push()
            try await other.items.pull(queryID: "q")
            try await other.items.update(["id": "a", "text": "three"])
            try await other.context.push()
            now.add(60 * Timestamp.ticksPerSecond, ordering: .relaxed)
        }
        try await setting.items.pull(queryID: "q")
        #expect(try await world.serverRow("a")?["updatedAt"] == setting.items.row(id: "a")?["updatedAt"])
        try await setting.items.pull(queryID: "q")
        #expect(try await setting.items.row(id: "a")?["text"] == "three")
    }

    @Test("F7 a page replaces a pushed row whose response had no timestamp", arguments: StoreKind.perEngine)
    func noTimestamp(_ stores: StoreKind) async throws {
        let world = try World(stores)
        let setting = try await makeSetting(world)
        let other = try await world.makeClient()
        setting.transport.onNextPage(isEarly: true) {
            try await setting.items.insert(["id": "c", "text": "one"])
            setting.transport.inner.inspect { request, _ in
                guard request.method == .post else { return nil }
                return .change { answer in
                    var answer = answer
                    let body = String(decoding: answer.body, as: UTF8.self)
                    answer.body = Array(body.replacing(/,"updatedAt":"[^"]*"/, with: "").utf8)
                    return answer
                }
            }
            try await setting.context.push()
            #expect(try await setting.items.row(id: "c")?["updatedAt"] ?? .null == .null)
            try await other.items.pull(queryID: "q")
            try await other.items.update(["id": "c", "text": "two"])
            try await other.context.push()
        }
        try await setting.items.pull(queryID: "q")
        #expect(try await setting.items.row(id: "c")?["text"] == "two")
    }

    @Test("C4 a page older than the base row is not stored beside it", arguments: StoreKind.perEngine)
    func olderThanBase(_ stores: StoreKind) async throws {
        let setting = try await makeSetting(World(stores))
        setting.transport.onNextPage {
            try await setting.items.update(["id": "a", "text": "two"])
            try await setting.context.push()
            // This change is based on the pushed row, and the page in flight contains the previous one.
            try await setting.items.update(["id": "a", "text": "three"])
        }
        let pulled = Mutex<[String?]>([])
        let context = setting.context
        var settings = PullSettings()
        settings.onProgress = { _ in
            let operations = context.queue.operations
            let pending = try? context.store.read {
                try operations.operations(matching: TableQuery(operations.tables.operations), in: $0)
            }
            pulled.withLock { $0.append(pending?.first?.pulled) }
        }
        try await setting.items.pull(queryID: "q", settings: settings)
        #expect(pulled.withLock { $0.first } == .some(nil))
        #expect(try await setting.items.row(id: "a")?["text"] == "three")
        try await context.push()
        #expect(try await context.pendingOperationsCount == 0)
    }
}
