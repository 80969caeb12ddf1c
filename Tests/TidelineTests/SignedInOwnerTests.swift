import HTTPTypes
import Testing
import TidelineTestStores

@testable import Tideline

/// L13: the signed-in user is part of the owner of a store.
@Suite("Signed-in owner of a store", .timeLimit(.minutes(15)), .releasesClients)
struct SignedInOwnerTests {
    private static let ann = SignedInUser(userID: "ann", authenticationToken: "of-ann")
    private static let bob = SignedInUser(userID: "bob", authenticationToken: "of-bob")

    /// The tokens of a client's requests.
    private func tokens(_ client: Client) -> [String?] {
        client.transport.sent.map { $0.request.headerFields[.init("X-ZUMO-AUTH") ?? .accept] }
    }

    @Test("L13 nothing of one user is sent with another's token", arguments: StoreKind.perEngine)
    func otherUser(_ stores: StoreKind) async throws {
        let (world, client) = try await World.withClient(stores)
        client.client.currentUser = Self.ann
        try await client.items.insert(["id": "a", "text": "hers"])
        client.client.currentUser = Self.bob
        let codes = [
            await syncErrorCode { try await client.context.push() },
            await syncErrorCode { try await client.items.pull() },
            await syncErrorCode { try await client.items.pull(queryID: "q") },
            await syncErrorCode { try await client.client.pull([SyncSubscription("TodoItem")]) },
            await syncErrorCode { try await client.items.insert(["id": "b", "text": "his"]) },
            await syncErrorCode { try await client.items.update(["id": "a", "text": "his"]) },
            await syncErrorCode { try await client.items.delete(id: "a") },
            await syncErrorCode { try await client.client.start([SyncSubscription("TodoItem")]) },
        ]
        #expect(codes.allSatisfy { $0 == .otherUser }, "\(codes)")
        await expectSyncError(.otherUser, says: "\"ann\"", "\"bob\"") { try await client.context.push() }
        #expect(client.transport.requests.isEmpty)
        client.client.currentUser = Self.ann
        try await client.context.push()
        #expect(try world.serverTexts() == ["hers"] && tokens(client) == ["of-ann"])
        // Also with an empty queue, the rows and tokens are hers.
        client.client.currentUser = Self.bob
        #expect(await syncErrorCode { try await client.items.pull() } == .otherUser)
        try await client.client.wipe()
        try await client.pushInsert(["id": "b", "text": "his"])
        #expect(tokens(client) == ["of-ann", "of-bob"])
    }

    @Test("L13 the owner is known after a restart, also to a client that names it", arguments: StoreKind.perEngine)
    func restart(_ stores: StoreKind) async throws {
        let (world, client) = try await World.withClient(stores)
        client.client.currentUser = Self.ann
        try await client.items.insert(["id": "a", "text": "hers"])
        for (name, user, code) in [
            (nil, Self.bob, .otherUser), ("bob", nil, .otherUser), ("bob", Self.bob, .otherUser),
            ("ann", nil, nil), ("ann", Self.ann, nil), (nil, Self.ann, nil),
        ] as [(String?, SignedInUser?, SyncError.Code?)] {
            let other = try await world.makeClient(store: client.store) { $0.userID = name }
            other.client.currentUser = user
            let found = await syncErrorCode { try await other.context.push() }
            #expect(found == code, "\(name ?? "-") \(user?.userID ?? "-")")
        }
    }

    @Test("L13 both the named user and the signed-in one are compared", arguments: StoreKind.perEngine)
    func namedAndSignedIn(_ stores: StoreKind) async throws {
        let (world, client) = try await World.withClient(stores) { $0.userID = "the account" }
        client.client.currentUser = Self.ann
        try await client.items.insert(["id": "a", "text": "hers"])
        client.client.currentUser = Self.bob
        #expect(await syncErrorCode { try await client.context.push() } == .otherUser)
        #expect(await syncErrorCode { try await client.items.insert(["id": "b"]) } == .otherUser)
        let other = try await world.makeClient(store: client.store) { $0.userID = "another account" }
        other.client.currentUser = Self.ann
        #expect(await syncErrorCode { try await other.context.push() } == .otherUser)
        #expect(try world.serverTexts().isEmpty)
    }

    @Test("L13 the first user to sign in adopts what nobody owned", arguments: StoreKind.perEngine, [false, true])
    func adoption(_ stores: StoreKind, isAnswerLost: Bool) async throws {
        let (world, client) = try await World.withClient(stores)
        try await client.items.insert(["id": "a", "text": "before"])
        client.client.currentUser = Self.ann
        if isAnswerLost {
            await client.pushLosing(.loseAnswer)
        } else {
            try await client.items.update(["id": "a", "text": "hers"])
        }
        client.client.currentUser = Self.bob
        #expect(await syncErrorCode { try await client.context.push() } == .otherUser)
        client.client.currentUser = Self.ann
        try await client.context.push()
        #expect(try world.serverTexts() == [isAnswerLost ? "before" : "hers"])
    }

    @Test("L13 a sign-in without operations owns nothing until rows are stored", arguments: StoreKind.perEngine)
    func nothingOwned(_ stores: StoreKind) async throws {
        let client = try await World(stores).makeClient()
        client.client.currentUser = Self.ann
        client.transport.inspect { _, _ in .loseRequest }
        #expect(await syncErrorCode { try await client.items.pull() } == .network)
        try await client.context.push()
        client.transport.inspect(nil)
        client.client.currentUser = Self.bob
        try await client.items.pull(queryID: "q")
    }

    @Test("L13 without a sign-in, changes are the owner's and nothing is sent", arguments: StoreKind.perEngine)
    func signedOut(_ stores: StoreKind) async throws {
        let (world, client) = try await World.withClient(stores)
        client.client.currentUser = Self.ann
        try await client.pushInsert(["id": "a", "text": "one"])
        client.client.currentUser = nil
        try await client.items.update(["id": "a", "text": "two"])
        #expect(await syncErrorCode { try await client.context.push() } == .authentication)
        #expect(await syncErrorCode { try await client.items.pull() } == .authentication)
        client.client.currentUser = Self.bob
        #expect(await syncErrorCode { try await client.context.push() } == .otherUser)
        client.client.currentUser = Self.ann
        try await client.context.push()
        #expect(try world.serverTexts() == ["two"] && tokens(client) == ["of-ann", "of-ann"])
    }

    @Test(
        "L13 a user who signs in during a push gets nothing of the other's sent", arguments: StoreKind.perEngine,
        [Self.bob, nil] as [SignedInUser?])
    func duringPush(_ stores: StoreKind, next: SignedInUser?) async throws {
        let (world, client) = try await World.withClient(stores)
        client.client.currentUser = Self.ann
        for number in 0..<5 { try await client.items.insert(["id": "\(number)", "text": "\(number)"]) }
        let syncClient = client.client
        client.transport.inspect { _, _ in
            syncClient.currentUser = next
            return nil
        }
        let code = await syncErrorCode { try await client.context.push(settings: PushSettings(maxInFlight: 1)) }
        #expect(code == .otherUser)
        #expect(tokens(client) == ["of-ann"])
        // A newer token of the same user is used at once.
        syncClient.currentUser = SignedInUser(userID: "ann", authenticationToken: "newer")
        client.transport.inspect { _, _ in
            syncClient.currentUser = Self.ann
            return nil
        }
        try await client.context.push(settings: PushSettings(maxInFlight: 1))
        #expect(tokens(client) == ["of-ann", "newer", "of-ann", "of-ann", "of-ann"])
        #expect(try world.serverTexts().count == 5)
    }

    @Test("L13 a task that outlives its push is of the user who is signed in then", arguments: StoreKind.perEngine)
    func outlivingTask(_ stores: StoreKind) async throws {
        let client = try await World(stores).makeClient()
        let syncClient = client.client
        syncClient.currentUser = Self.ann
        let (ends, end) = AsyncStream.makeStream(of: Void.self)
        let code = SharedValue<Task<SyncError.Code?, Never>?>(nil)
        client.context.delegate = ScriptedDelegate { operation in
            code.value = Task {
                for await _ in ends.prefix(1) {}
                return await syncErrorCode { _ = try await syncClient.remoteTable("TodoItem").read() }
            }
            return try await operation.execute()
        }
        try await client.pushInsert(["id": "a", "text": "one"])
        syncClient.currentUser = Self.bob
        end.yield()
        let task = try #require(code.value)
        #expect(await task.value == nil)
        #expect(tokens(client) == ["of-ann", "of-bob"])
    }

    @Test("L13 a user who signs in during a push ends it, too, if it has a delegate")
    func duringPushWithDelegate() async throws {
        let (_, client) = try await World.withClient(.simplest)
        client.client.currentUser = Self.ann
        for number in 0..<3 { try await client.items.insert(["id": "\(number)", "text": "\(number)"]) }
        let (syncClient, delegate) = (client.client, ScriptedDelegate { try await $0.execute() })
        client.context.delegate = delegate
        client.transport.inspect { _, _ in
            syncClient.currentUser = Self.bob
            return nil
        }
        let code = await syncErrorCode { try await client.context.push(settings: PushSettings(maxInFlight: 1)) }
        #expect(code == .otherUser)
        #expect(delegate.calls == ["insert 0", "insert 1", "completed 0"])
        #expect(try await client.context.operationErrors().isEmpty)
    }

    @Test("L13 what a pull has received is its user's, whoever signs in meanwhile", arguments: StoreKind.perEngine)
    func duringPull(_ stores: StoreKind) async throws {
        let (world, client) = try await World.withClient(stores)
        try world.plant([World.row("a", at: 0)])
        let syncClient = client.client
        syncClient.currentUser = Self.ann
        client.transport.inspect { _, _ in
            .delay { syncClient.currentUser = Self.bob }
        }
        let code = await syncErrorCode { try await client.items.pull(settings: PullSettings(pageSize: 1)) }
        client.transport.inspect(nil)
        #expect(code == nil || code == .otherUser)
        // The rows are hers, or none was stored.
        let isEmpty = try client.texts().isEmpty
        #expect(await syncErrorCode { try await client.items.pull() } == (isEmpty ? nil : .otherUser))
    }

    @Test("L13 a closure for the header does not hide a change of the user", arguments: StoreKind.perEngine)
    func closure(_ stores: StoreKind) async throws {
        let client = try await World(stores).makeClient {
            $0.authorization = { _ in HTTPField(name: .authorization, value: "Bearer x") }
        }
        client.client.currentUser = Self.ann
        try await client.items.insert(["id": "a", "text": "hers"])
        client.client.currentUser = Self.bob
        #expect(await syncErrorCode { try await client.context.push() } == .otherUser)
        // The closure may authenticate a user whom the client does not know.
        client.client.currentUser = nil
        try await client.context.push()
    }
}
