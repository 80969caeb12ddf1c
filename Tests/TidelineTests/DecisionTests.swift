import Testing
import TidelineStore
import TidelineTestStores

@testable import Tideline

/// Rule C5: the record of decisions.
@Suite("Decisions about conflicts", .timeLimit(.minutes(15)), .releasesClients, .bothDialects)
struct DecisionTests {
    /// Makes a client that has resolved `count` conflicts of the row `a` in favor of the server.
    private func makeClient(
        _ world: World, conflicts count: Int = 1, deletes: Bool = false,
        configure: (inout SyncOptions) -> Void = { $0.conflictPolicy = .serverWins }
    ) async throws -> Client {
        let first = try await world.makeSyncedClient()
        let client = try await world.makeClient(configure: configure)
        try await client.items.pull()
        for number in 1...count {
            try await first.pushUpdate(["id": "a", "text": "theirs \(number)"])
            try await client.items.edit(deletes ? .delete : .update, ["text": "mine \(number)"])
            try await client.context.push()
        }
        return client
    }

    @Test("C5 a decision has base, local, server, result, rule, and time", arguments: StoreKind.perEngine)
    func content(_ stores: StoreKind) async throws {
        let now = Timestamp(clampingTicks: 17_900_000_000_000_000)
        let client = try await makeClient(World(stores)) {
            $0.conflictPolicy = .merge(["text": .text])
            $0.environment.now = { now }
        }
        let decision = try #require(try await client.client.decisions().first)
        #expect(decision.table == "TodoItem" && decision.itemID == "a" && decision.time == now)
        #expect(decision.base?["text"] == "one" && decision.local?["text"] == "mine 1")
        #expect(decision.server?["text"] == "theirs 1" && decision.rule == "merge (text: text)")
        #expect(try decision.result?["text"] == client.row("a")?["text"])
        #expect(decision.row(.server)?.version != nil && decision.base?.id == "a")
        #expect(try client.store.appTables().map(\.name) == ["TodoItem"])
    }

    @Test("C5 the record is bounded, keeps the newest, and can be filtered", arguments: StoreKind.perEngine)
    func bound(_ stores: StoreKind) async throws {
        let client = try await makeClient(World(stores), conflicts: 5) {
            $0.conflictPolicy = .serverWins
            $0.maximumDecisions = 3
        }
        #expect(try await client.client.decisions().map { $0.server?["text"] } == ["theirs 5", "theirs 4", "theirs 3"])
        let numbers = try await client.client.decisions().map(\.id)
        #expect(numbers == numbers.sorted(by: >) && Set(numbers).count == 3)
        #expect(try await client.client.decisions(table: "TodoItem", id: "A").count == 3)
        #expect(try await client.client.decisions(table: "Other").isEmpty)
        #expect(try await client.client.decisions(id: "b").isEmpty)
    }

    @Test("C5 any version can become a new edit", arguments: StoreKind.perEngine, ConflictDecision.Version.allCases)
    func restores(_ stores: StoreKind, _ version: ConflictDecision.Version) async throws {
        let world = try World(stores)
        let client = try await makeClient(world)
        let decision = try #require(try await client.client.decisions().first)
        for isDeleted in [false, true] {
            try await client.items.edit(isDeleted ? .delete : .update, ["text": "later"])
            try await client.client.restore(version, of: decision)
            let text: Value = version == .base ? "one" : version == .local ? "mine 1" : "theirs 1"
            #expect(try client.row("a")?["text"] == text)
            #expect(try await client.queue() == ["update a"])
            try await client.context.push()
            #expect(try world.serverRow("a")?["text"] == text && world.serverRow("a")?["priority"] == 1)
        }
    }

    @Test("C5 a version that was deleted is restored as a delete", arguments: StoreKind.perEngine)
    func restoresDelete(_ stores: StoreKind) async throws {
        let world = try World(stores)
        let client = try await makeClient(world, deletes: true)
        let decision = try #require(try await client.client.decisions().first)
        #expect(decision.local == nil && decision.result?["text"] == "theirs 1")
        try await client.client.restore(.local, of: decision)
        try await client.context.push()
        #expect(try world.state(client) == "local [] queue [] server [a deleted]")
        try await client.client.restore(.local, of: decision)
        #expect(try await client.queue().isEmpty)
    }

    @Test("C5 a base that is not known cannot be restored", arguments: StoreKind.perEngine)
    func noBase(_ stores: StoreKind) async throws {
        let world = try World(stores)
        _ = try await world.makeSyncedClient()
        let client = try await world.makeClient { $0.conflictPolicy = .serverWins }
        try await client.pushInsert(["id": "a", "text": "mine"])
        let decision = try #require(try await client.client.decisions().first)
        #expect(decision.base == nil)
        #expect(await syncErrorCode { try await client.client.restore(.base, of: decision) } == .noSuchRow)
        #expect(try await client.queue().isEmpty)
    }

    @Test(
        "C5 a decision whose record is gone is not listed, and cannot be restored although it is kept in memory",
        arguments: StoreKind.perEngine, ["wipe", "switch", "forcePurge", "maximum"])
    func removedDecision(_ stores: StoreKind, _ reason: String) async throws {
        let world = try World(stores)
        let client = try await makeClient(world) {
            $0.conflictPolicy = .serverWins
            $0.maximumDecisions = 1
        }
        let decision = try #require(try await client.client.decisions().first)
        switch reason {
        case "wipe": try await client.client.wipe()
        case "switch": try await client.client.switchServer(keepingPending: false)
        case "forcePurge":
            try await client.items.purge()
            #expect(try await client.client.decisions().count == 1)
            try await client.items.forcePurge()
        default:
            try await world.updateElsewhere(["id": "a", "text": "theirs again"])
            try await client.pushUpdate(["id": "a", "text": "mine again"])
        }
        #expect(try await client.client.decisions().count == (reason == "maximum" ? 1 : 0))
        let rows = try client.texts()
        for version in ConflictDecision.Version.allCases {
            let error = await #expect(throws: SyncError.self) { try await client.client.restore(version, of: decision) }
            #expect(error?.code == .noSuchRow && error?.id == "a" && error?.table == "TodoItem")
        }
        #expect(try client.texts() == rows)
        #expect(try await client.queue().isEmpty)
    }

    @Test("C5 a store of an earlier version gets the table, whose name can be set", arguments: StoreKind.perEngine)
    func table(_ stores: StoreKind) async throws {
        let world = try World(stores)
        let store = try stores.makeStore()
        try store.define(Array(SystemTables().schemas.prefix(3)))
        #expect(try await world.makeClient(store: store).client.decisions().isEmpty)
        #expect(try store.tables().contains { $0.name == "MS_TableDecisions" && $0.isSystem })
        let named = try await makeClient(world) {
            $0.conflictPolicy = .serverWins
            $0.systemTables.decisions = "Log"
        }
        #expect(try named.store.read { try $0.count(TableQuery("Log")) } == 1)
    }
}
