import Testing
import TidelineTestStores

@testable import Tideline

/// L12: a store that loses or changes its owner while a pull waits or runs.
@Suite("Owner of a store during a pull", .timeLimit(.minutes(15)), .releasesClients)
struct OwnerOfPullTests {
    @Test("L12 rows that a pull stores after a wipe belong to its user", arguments: StoreKind.perEngine)
    func wipeDuringPull(_ stores: StoreKind) async throws {
        let world = try World(stores)
        try world.plant([World.row("a", at: 0)])
        world.clock.advance(by: .seconds(60))
        let ann = try await world.makeClient { $0.userID = "ann" }
        try await ann.items.pull(queryID: "q")
        let other = try await world.makeClient(store: ann.store) { $0.userID = "ann" }
        ann.onFirst(isEarly: true) { try await other.client.wipe() }
        try await ann.items.pull(queryID: "r")
        #expect(try ann.texts() == ["a"])
        #expect(try Array(ann.store.tokens().keys) == ["r"])
        let bob = try await world.makeClient(store: ann.store) { $0.userID = "bob" }
        #expect(await syncErrorCode { try await bob.items.pull(queryID: "r") } == .otherUser)
    }

    @Test("L12 a pull stores nothing in a store that another user takes over meanwhile", arguments: StoreKind.perEngine)
    func switchDuringPull(_ stores: StoreKind) async throws {
        let world = try World(stores)
        try world.plant([World.row("a", at: 0)])
        let ann = try await world.makeClient { $0.userID = "ann" }
        try await ann.items.pull()
        let bob = try await world.makeClient(store: ann.store) { $0.userID = "bob" }
        ann.onFirst(isEarly: true) { try await bob.client.switchServer(keepingPending: false) }
        #expect(await syncErrorCode { try await ann.items.pull(queryID: "r") } == .otherUser)
        #expect(try ann.texts().isEmpty && ann.store.tokens().isEmpty)
    }

    @Test("L12 a pull that waited while another user took over the store sends nothing", arguments: StoreKind.perEngine)
    func switchBeforePull(_ stores: StoreKind) async throws {
        let world = try World(stores)
        try world.plant([World.row("a", at: 0)])
        let store = HookedStore(try stores.makeStore())
        let ann = try await world.makeClient(over: store) { $0.userID = "ann" }
        try await ann.items.pull()
        ann.transport.clear()
        let bob = try await world.makeClient(store: store.base) { $0.userID = "bob" }
        let (reads, read) = AsyncStream.makeStream(of: Void.self)
        store.observe { read.yield() }
        let pull = try await ann.context.database.lock(of: "TodoItem").withLock {
            let pull = Task { await syncErrorCode { try await ann.items.pull() } }
            // All that a pull reads before it waits for the lock.
            for await _ in reads.prefix(2) {}
            try await bob.client.switchServer(keepingPending: false)
            return pull
        }
        #expect(await pull.value == .otherUser)
        #expect(ann.transport.requests.isEmpty)
    }
}
