import Testing
import TidelineStore
import TidelineTestStores

@testable import Tideline

/// L12: queue and tokens belong to one server and, if the app names one, one user.
@Suite("Owner of a store", .timeLimit(.minutes(15)), .releasesClients)
struct OwnerTests {
    @Test(
        "L12 push and pull refuse another server, and nothing is sent", arguments: StoreKind.perEngine,
        ["https://server.test", "http://other.test", "http://server.test:8080", "http://server.test/app"])
    func otherServer(_ stores: StoreKind, url: String) async throws {
        let (world, first) = try await World.withSyncedClient(stores)
        try await first.items.update(["id": "a", "text": "two"])
        let other = try World(stores)
        let moved = try await other.makeClient(over: first.store, url: url)
        await expectSyncError(.otherServer, says: url, "switchServer", "wipe") { try await moved.context.push() }
        #expect(await syncErrorCode { try await moved.items.pull() } == .otherServer)
        #expect(await syncErrorCode { try await moved.items.pull(queryID: "q") } == .otherServer)
        #expect(try other.serverTexts().isEmpty)
        try await first.context.push()
        #expect(try world.serverTexts() == ["two"])
    }

    @Test(
        "L12 different addresses of the same server are equal",
        arguments: ["HTTP://Server.Test", "http://server.test/", "http://server.test:80", "http://server.test."])
    func sameServer(url: String) async throws {
        let (world, client) = try await World.withClient(.simplest)
        try world.plant([World.row("a", at: 0)])
        try await client.items.pull()
        try await world.makeClient(over: client.store, url: url).items.pull()
        #expect(try ServerAddress("https://[::443]:443/App%20x").identity == "https://[::443]/App%20x")
    }

    @Test("L12 an unreachable address does not bind the store", arguments: StoreKind.perEngine)
    func unreachable(_ stores: StoreKind) async throws {
        let world = try World(stores)
        let mistyped = try await world.makeClient(over: stores.makeStore(), url: "http://sever.test")
        try await mistyped.items.insert(["id": "a", "text": "one"])
        await mistyped.pushLosing(.loseRequest)
        try await world.makeClient(store: mistyped.store).context.push()
        #expect(try world.serverTexts() == ["one"])
    }

    @Test("L12 push, pull and local changes refuse another user", arguments: StoreKind.perEngine)
    func otherUser(_ stores: StoreKind) async throws {
        let (world, ann) = try await World.withClient(stores) { $0.userID = "ann" }
        try await ann.items.insert(["id": "a", "text": "hers"])
        let bob = try await world.makeClient(store: ann.store) { $0.userID = "bob" }
        let nobody = try await world.makeClient(store: ann.store)
        let codes = [
            await syncErrorCode { try await bob.items.insert(["id": "b", "text": "his"]) },
            await syncErrorCode { try await bob.items.update(["id": "a", "text": "his"]) },
            await syncErrorCode { try await bob.items.delete(id: "a") },
            await syncErrorCode { try await bob.context.push() },
            await syncErrorCode { try await bob.items.pull() },
            await syncErrorCode { try await nobody.context.push() },
        ]
        #expect(codes.allSatisfy { $0 == .otherUser }, "\(codes)")
        await expectSyncError(.otherUser, says: "ann", "bob") { try await bob.context.push() }
        #expect(try ann.texts() == ["hers"])
        #expect(try world.serverTexts().isEmpty)
        try await ann.context.push()
        #expect(try world.serverTexts() == ["hers"])
    }

    @Test("L12 local changes see the user that another process has recorded meanwhile", arguments: StoreKind.sharing)
    func userOfAnotherProcess(_ stores: StoreKind) async throws {
        let (world, file) = (try World(stores), try StoreFiles(stores))
        let nobody = try await world.makeClient(store: try file.open())
        for id in ["a", "b"] { try await nobody.items.insert(["id": .string(id)]) }
        let ann = try await world.makeClient(store: try file.open()) { $0.userID = "ann" }
        try await ann.items.insert(["id": "c"])
        #expect(await syncErrorCode { try await nobody.items.insert(["id": "d"]) } == .otherUser)
    }

    @Test("L12 the user of a transaction that rolled back is recorded by the next one", arguments: StoreKind.perEngine)
    func userAfterRollback(_ stores: StoreKind) async throws {
        let (world, ann) = try await World.withClient(stores) { $0.userID = "ann" }
        try await ann.client.define([TableSchema("Other", columns: [.string("text")])])
        await #expect(throws: CancellationError.self) {
            try await ann.client.transaction { transaction in
                for table in ["TodoItem", "Other"] { try transaction.insert(["id": "gone"], into: table) }
                throw CancellationError()
            }
        }
        try await ann.items.insert(["id": "a"])
        let bob = try await world.makeClient(store: ann.store) { $0.userID = "bob" }
        #expect(await syncErrorCode { try await bob.items.insert(["id": "b"]) } == .otherUser)
    }

    @Test("L12 a store without a user is bound to the first user named", arguments: StoreKind.perEngine)
    func firstUser(_ stores: StoreKind) async throws {
        let (world, nobody) = try await World.withClient(stores)
        try await nobody.pushInsert(["id": "a", "text": "one"])
        let ann = try await world.makeClient(store: nobody.store) { $0.userID = "ann" }
        try await ann.items.pull(queryID: "q")
        let bob = try await world.makeClient(store: nobody.store) { $0.userID = "bob" }
        #expect(await syncErrorCode { try await bob.context.push() } == .otherUser)
    }

    @Test("L12 local changes without a user are refused as soon as the store has one", arguments: StoreKind.perEngine)
    func noUser(_ stores: StoreKind) async throws {
        let (world, guest) = try await World.withSyncedClient(stores)
        let items = guest.items
        try await items.update(["id": "a", "text": "two"])
        let ann = try await world.makeClient(store: guest.store) { $0.userID = "ann" }
        try await ann.items.insert(["id": "b", "text": "hers"])
        let codes = [
            await syncErrorCode { try await items.insert(["id": "c", "text": "whose"]) },
            await syncErrorCode { try await items.update(["id": "b", "text": "whose"]) },
            await syncErrorCode { try await items.update(id: "b") { $0["text"] = "whose" } },
            await syncErrorCode { try await items.delete(id: "b") },
            await syncErrorCode {
                _ = try await guest.client.transaction {
                    try $0.insert(["id": "c", "text": "whose"], into: "TodoItem")
                }
            },
        ]
        #expect(codes.allSatisfy { $0 == .otherUser }, "\(codes)")
        #expect(try guest.texts() == ["hers", "two"])
        try await ann.context.push()
        #expect(try world.serverTexts() == ["hers", "two"])
        try await ann.client.wipe()
        try await items.insert(["id": "c", "text": "new"])
        #expect(try guest.texts() == ["new"])
    }

    @Test("L12 resolutions of another user, or of a client without one, are refused", arguments: StoreKind.perEngine)
    func resolutions(_ stores: StoreKind) async throws {
        let (world, ann) = try await World.withClient(stores) { $0.userID = "ann" }
        try await ann.items.insert(["id": "a", "text": "hers"])
        for user in ["bob", nil] {
            let other = try await world.makeClient(store: ann.store) { $0.userID = user }
            let operation = try #require(try await other.context.pendingOperations().first)
            let error = TableOperationError(waiting: operation, resolver: other.context.resolver)
            let item: Row = ["id": "a", "text": "his"]
            let codes = [
                await syncErrorCode { try await error.cancelOperationAndDiscardItem() },
                await syncErrorCode { try await error.cancelOperationAndUpdateItem(item) },
                await syncErrorCode { try await error.keepOperationAndUpdateItem(item) },
                await syncErrorCode { try await error.modifyOperationType(.delete) },
            ]
            #expect(codes.allSatisfy { $0 == .otherUser }, "\(codes)")
            #expect(!error.isHandled)
        }
        #expect(try ann.texts() == ["hers"])
        try await ann.context.push()
        #expect(try world.serverTexts() == ["hers"])
    }

    // MARK: Switching

    @Test(
        "L12 after a switch the rows are pulled from the new server, and pending changes are sent to it",
        arguments: StoreKind.perEngine)
    func switching(_ stores: StoreKind) async throws {
        let first = try await World(stores).makeClient()
        try await first.items.insert(["id": "a", "text": "only there"])
        try await first.items.insert(["id": "c", "text": "both"])
        try await first.items.pull(queryID: "q")
        try await first.items.insert(["id": "n", "text": "new"])
        let other = try World(stores)
        other.clock.advance(by: .seconds(-86_400))
        try other.plant([World.row("o", at: -864_000_000_000, text: "only here")])
        let moved = try await other.makeClient(over: first.store, url: "http://other.test")
        #expect(try await moved.client.switchServer(keepingPending: true) == ForcePurgeResult(rows: 2, operations: 0))
        #expect(try moved.texts() == ["new"])
        try await moved.items.pull(queryID: "q")
        #expect(try moved.texts() == ["new", "only here"])
        #expect(try other.serverTexts() == ["new", "only here"])
        #expect(await syncErrorCode { try await first.context.push() } == .otherServer)
    }

    @Test("L12 a switch without pending changes, and a wipe, leave an empty store", arguments: StoreKind.perEngine)
    func wiping(_ stores: StoreKind) async throws {
        for wipes in [false, true] {
            let (world, ann) = try await World.withClient(stores) { $0.userID = "ann" }
            let store = ann.store
            try await ann.items.insert(["id": "a", "text": "one"])
            try await ann.items.pull(queryID: "q")
            try await ann.items.update(["id": "a", "text": "two"])
            let bob = try await world.makeClient(store: store) { $0.userID = "bob" }
            let result =
                wipes ? try await bob.client.wipe() : try await bob.client.switchServer(keepingPending: false)
            #expect(result == ForcePurgeResult(rows: 1, operations: 1))
            #expect(try bob.texts().isEmpty && store.tokens().isEmpty)
            #expect(try await bob.context.pendingOperationsCount == 0)
            // After a wipe the store has no owner.
            let code = await syncErrorCode { try await ann.items.insert(["id": "n"]) }
            #expect(code == (wipes ? nil : .otherUser))
            let counter = try store.read { try $0.row(in: "MS_TableConfig", id: "lastOperationId") }?["value"]?.string
            #expect(counter?.split(separator: " ").first.flatMap { Int64($0) } ?? 0 >= (wipes ? 3 : 2))
        }
    }

    @Test("L12 an app table that is not synchronized survives a wipe", arguments: StoreKind.perEngine)
    func localTables(_ stores: StoreKind) async throws {
        let client = try await World(stores).makeClient()
        try client.store.define([TableSchema("Settings", columns: [.string("text")])])
        try client.store.write { try $0.upsert(["id": "a", "text": "kept"], into: "Settings") }
        try await client.client.wipe()
        #expect(try client.store.read { try $0.count(TableQuery("Settings")) } == 1)
    }

    @Test("L12 a wipe that fails in the store changes nothing", arguments: StoreKind.perEngine)
    func atomic(_ stores: StoreKind) async throws {
        let (world, client) = try await World.withFailingClient(stores)
        try await client.items.update(["id": "a", "text": "two"])
        try await client.expectWholeChange(failures: 4) { try await client.client.wipe() }
        #expect(try world.state(client.store.base) == "local [] queue [] server [a=one]")
    }

    @Test("L12 a delegate cannot switch the store during its own push", arguments: StoreKind.perEngine)
    func fromDelegate(_ stores: StoreKind) async throws {
        let client = try await World(stores).makeClient().client
        client.context.delegate = ScriptedDelegate { operation in
            #expect(await syncErrorCode { try await client.wipe() } == .invalidArgument)
            return try await operation.execute()
        }
        try await client.table("TodoItem").insert(["id": "a", "text": "one"])
        try await client.push()
    }

    // MARK: During a pull

    @Test("L12 rows that a pull stores after a wipe belong to its user", arguments: StoreKind.perEngine)
    func wipeDuringPull(_ stores: StoreKind) async throws {
        let (world, ann) = try await World.withClient(stores) { $0.userID = "ann" }
        try world.plant([World.row("a", at: 0)])
        world.clock.advance(by: .seconds(60))
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
        let (world, ann) = try await World.withClient(stores) { $0.userID = "ann" }
        try world.plant([World.row("a", at: 0)])
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
