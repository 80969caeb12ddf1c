import Synchronization
import Testing
import TidelineSimulation
import TidelineStore
import TidelineTestStores

@testable import Tideline

/// A page that was in flight while a push changed its rows.
@Suite("Stale pages", .releasesClients, .bothDialects)
struct StalePageTests {
    /// Makes a client and its server with the rows `a` and `b`, in sync.
    private func makePulled(_ world: World, store: TestStore? = nil) async throws -> Client {
        let client = try await world.makeClient(store: store)
        try await client.items.insert(["id": "a", "text": "one", "priority": 1])
        try await client.items.insert(["id": "b", "text": "other"])
        try await client.items.pull(queryID: "q")
        return client
    }

    private static func meanwhile(_ steps: String...) -> String {
        steps.map { "on get afterwards \($0)" }.joined(separator: "; ")
    }

    static let scripts: [Script] =
        ["pull q", "pull new", "pull"].map { pull in
            Script(
                "F7 a page requested before a push does not restore the values that the push replaced: \(pull)",
                "insert b=other; pull q", meanwhile("update a=two", "delete b", "push"), pull,
                "row a text=two; row b id=null",
                // With the old version restored, this update would conflict with the client's own change.
                "update a priority=2; push; queue []")
        } + [
            // The first page is outdated. The next one, requested after the push, has the other client's change.
            Script(
                "F7 a page requested after a push replaces the pushed row",
                "insert b=other; pull q", meanwhile("update a=two", "push", "other update a=three"),
                "pull new; pull new; row a text=three")
        ]

    @Test("F7 a page is compared with the pushes after its request", arguments: StoreKind.perEngine, scripts)
    func plays(_ stores: StoreKind, _ script: Script) async throws { try await script.play(stores) }

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
        let client = try await makePulled(world, store: store)
        let other = try await world.makeClient(store: otherStore)
        client.onNextPage {
            try await other.pushUpdate(["id": "a", "text": "two"])
        }
        try await client.items.pull(queryID: queryID)
        #expect(try await client.items.row(id: "a")?["text"] == "two")
        try await client.pushUpdate(["id": "a", "priority": 2])
        // The next pull is not held back, and reads what the first one has passed.
        let third = try await world.makeClient()
        try await third.items.pull()
        try await third.pushUpdate(["id": "a", "text": "three"])
        try await client.items.pull(queryID: queryID)
        #expect(try await client.items.row(id: "a")?["text"] == "three")
        #expect(try await client.items.row(id: "a")?["priority"] == 2)
    }

    @Test(
        "F7 a page requested before a push is outdated even if the server's clock went back before the push",
        arguments: StoreKind.perEngine, [false, true])
    func clockWentBack(_ stores: StoreKind, byAnotherClient: Bool) async throws {
        let world = try World(stores) { $0.reproduce([.millisecondStamps]) }
        let client = try await makePulled(world)
        let pushing = byAnotherClient ? try await world.makeClient(store: client.store) : client
        let shown = Mutex<[String?]>([])
        client.onNextPage {
            world.clock.advance(by: .seconds(-1))
            try await pushing.pushUpdate(["id": "a", "text": "two"])
            // The end of another pull does not end the record of pushes for this one.
            if byAnotherClient { try await pushing.items.pull(queryID: "other") }
        }
        var settings = PullSettings()
        settings.onProgress = { [store = client.context.store] _ in
            let row = try? store.read { try $0.row(in: "TodoItem", id: "a") }
            shown.withLock { $0.append(row?["text"]?.string) }
        }
        try await client.items.pull(queryID: "new", settings: settings)
        #expect(shown.withLock { $0.first } == "two")
    }

    @Test(
        "F5 a change within the millisecond of a push is found by the next pull if the page was requested before",
        arguments: StoreKind.perEngine)
    func sameMillisecond(_ stores: StoreKind) async throws {
        // The clock of the world ticks with each use.
        let now = Atomic(Timestamp.ticksPerSecond)
        let world = try World(stores) {
            $0.reproduce([.millisecondStamps])
            $0.clock = { Timestamp(clampingTicks: now.load(ordering: .relaxed)) }
        }
        let client = try await makePulled(world)
        let other = try await world.makeClient()
        try await other.items.pull(queryID: "q")
        client.onNextPage(isEarly: true) {
            try await client.pushUpdate(["id": "a", "text": "two"])
            try await other.items.pull(queryID: "q")
            try await other.pushUpdate(["id": "a", "text": "three"])
            now.add(60 * Timestamp.ticksPerSecond, ordering: .relaxed)
        }
        try await client.items.pull(queryID: "q")
        #expect(try await world.serverRow("a")?["updatedAt"] == client.items.row(id: "a")?["updatedAt"])
        try await client.items.pull(queryID: "q")
        #expect(try await client.items.row(id: "a")?["text"] == "three")
    }

    @Test("F7 a page replaces a pushed row whose response had no timestamp", arguments: StoreKind.perEngine)
    func noTimestamp(_ stores: StoreKind) async throws {
        let world = try World(stores)
        let client = try await makePulled(world)
        let other = try await world.makeClient()
        client.onNextPage(isEarly: true) {
            try await client.items.insert(["id": "c", "text": "one"])
            client.transport.inspect { request, _ in
                guard request.method == .post else { return nil }
                return .change { $0.editing { $0.replacing(/,"updatedAt":"[^"]*"/, with: "") } }
            }
            try await client.context.push()
            #expect(try await client.items.row(id: "c")?["updatedAt"] ?? .null == .null)
            try await other.items.pull(queryID: "q")
            try await other.pushUpdate(["id": "c", "text": "two"])
        }
        try await client.items.pull(queryID: "q")
        #expect(try await client.items.row(id: "c")?["text"] == "two")
    }

    @Test("C4 a page older than the base row is not stored beside it", arguments: StoreKind.perEngine)
    func olderThanBase(_ stores: StoreKind) async throws {
        let client = try await makePulled(World(stores))
        client.onNextPage {
            try await client.pushUpdate(["id": "a", "text": "two"])
            // This change is based on the pushed row, and the page in flight contains the previous one.
            try await client.items.update(["id": "a", "text": "three"])
        }
        let pulled = Mutex<[String?]>([])
        let context = client.context
        var settings = PullSettings()
        settings.onProgress = { _ in
            let operations = context.queue.operations
            let pending = try? context.store.read {
                try operations.operations(matching: TableQuery(operations.tables.operations), in: $0)
            }
            pulled.withLock { $0.append(pending?.first?.pulled) }
        }
        try await client.items.pull(queryID: "q", settings: settings)
        #expect(pulled.withLock { $0.first } == .some(nil))
        #expect(try await client.items.row(id: "a")?["text"] == "three")
        try await context.push()
        #expect(try await context.pendingOperationsCount == 0)
    }
}

extension Client {
    /// Runs an action once, after the server has made a page and before it arrives, or before the request arrives.
    fileprivate func onNextPage(isEarly: Bool = false, _ body: @escaping @Sendable () async throws -> Void) {
        onFirst({ $0.method == .get && $0.path?.contains("$orderby") == true }, isEarly: isEarly, body)
    }
}
