import Testing
import TidelineStore
import TidelineTestStores

@testable import Tideline

/// Rules S1, S4, and S8: what a sync that runs itself does after the app has removed rows, tokens, or another user.
@Suite("Resets during a self-running sync", .timeLimit(.minutes(15)), .releasesClients)
struct SyncResetTests {
    /// A call after which pulls begin with the first row again.
    enum Reset: CaseIterable, Sendable {
        case wipe, switchServer, purge, forcePurge, resetPullToken

        func perform(on client: Client) async throws {
            switch self {
            case .wipe: try await client.client.wipe()
            case .switchServer: try await client.client.switchServer(keepingPending: false)
            case .purge: try await client.items.purge()
            case .forcePurge: try await client.items.forcePurge()
            case .resetPullToken: try await client.items.resetPullToken()
            }
        }
    }

    @Test("S1 rows and tokens that are removed lead to a pull", arguments: StoreKind.perEngine, Reset.allCases)
    func pullsAgain(_ stores: StoreKind, _ reset: Reset) throws {
        try VirtualWorld.run(stores) { virtual, client in
            try virtual.world.plant([World.row("new", at: 0)])
            try await client.client.start([SyncSubscription("TodoItem", interval: nil)])
            try await virtual.sleep(.seconds(5))
            // An incremental pull does not ask for a row that is this old.
            try virtual.world.plant([World.row("old", at: -1_000_000_000_000)])
            client.client.syncNow()
            try await virtual.sleep(.seconds(5))
            #expect(try client.texts() == ["new"])
            try await reset.perform(on: client)
            try await virtual.sleep(.seconds(5))
            #expect(try client.texts() == ["new", "old"])
            #expect(client.statusKind == "idle")
        }
    }

    @Test("S1 a reset continues a pull that has failed", arguments: [Reset.purge, .forcePurge, .resetPullToken])
    func failedPull(_ reset: Reset) throws {
        try VirtualWorld.run { virtual, client in
            try virtual.world.plant([World.row("a", at: 0)])
            client.transport.inspect { _, _ in .answer(.answer(400, #"{"error":"no"}"#)) }
            try await client.client.start([SyncSubscription("TodoItem", interval: nil)])
            // The delays have grown to minutes.
            try await virtual.sleep(.seconds(500))
            #expect(client.statusKind == "failing")
            client.transport.inspect(nil)
            try await reset.perform(on: client)
            try await virtual.sleep(.seconds(5))
            #expect(try client.texts() == ["a"])
        }
    }

    @Test("S4 errors that are removed are not shown", arguments: [Reset.wipe, .switchServer, .forcePurge])
    func removedErrors(_ reset: Reset) throws {
        try VirtualWorld.run { virtual, client in
            client.transport.inspect { _, body in
                body.contains("poison") ? .answer(.answer(400, #"{"error":"no"}"#)) : nil
            }
            try await client.client.start([])
            try await client.items.insert(["id": "p", "text": "poison"])
            try await virtual.sleep(.seconds(5))
            #expect(client.client.status == .needsAttention(operationErrors: 1))
            try await reset.perform(on: client)
            try await virtual.sleep(.seconds(5))
            #expect(client.statusKind == "idle")
        }
    }

    @Test(
        "S8 after another user was signed in, the right one continues the sync, and so does a wipe",
        arguments: StoreKind.perEngine, [false, true])
    func otherUser(_ stores: StoreKind, wipes: Bool) throws {
        try VirtualWorld.run(stores) { virtual, client in
            let users = ["ann", "bob"].map { SignedInUser(userID: $0, authenticationToken: $0) }
            client.client.currentUser = users[0]
            try virtual.world.plant([World.row("theirs", at: 0)])
            try await client.client.start([SyncSubscription("TodoItem")])
            try await virtual.sleep(.seconds(1))
            try await client.items.insert(["id": "mine", "text": "mine"])
            client.client.currentUser = users[1]
            // The delays have grown to minutes.
            try await virtual.sleep(.seconds(500))
            #expect("\(client.client.status)".contains("otherUser"))
            if wipes {
                try await client.client.wipe()
            } else {
                client.client.currentUser = users[0]
            }
            try await virtual.sleep(.seconds(5))
            #expect(try client.texts() == (wipes ? ["theirs"] : ["mine", "theirs"]))
            #expect(try virtual.world.serverTexts() == (wipes ? ["theirs"] : ["mine", "theirs"]))
            #expect(client.statusKind == "idle")
        }
    }
}
