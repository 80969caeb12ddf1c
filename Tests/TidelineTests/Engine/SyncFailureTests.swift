import Testing
import TidelineStore
import TidelineTestStores

@testable import Tideline

/// Rules S3 to S6: what a sync that runs itself does after failures, and how it ends.
@Suite("Failures of a self-running sync", .timeLimit(.minutes(15)), .releasesClients)
struct SyncFailureTests {
    static let todo = SyncSubscription("TodoItem")

    @Test("S3 offline and back: nothing is lost, and a network report ends the wait", arguments: StoreKind.perEngine)
    func offline(_ stores: StoreKind) throws {
        try VirtualWorld.run(stores) { virtual, client in
            let record = virtual.record(client)
            let connectivity = TestConnectivity()
            try await client.client.start([Self.todo], settings: SyncSettings(connectivity: connectivity))
            try await virtual.sleep(.seconds(1))
            client.transport.inspect { _, _ in .loseRequest }
            client.transport.clear()
            try await client.items.insert(["id": "a", "text": "offline"])
            try virtual.world.plant([World.row("b", at: 0)])
            try await virtual.sleep(.seconds(6 * 3600))
            // The delays grow to five minutes. Each push also requests a list, to see whether the service is there.
            #expect((120...240).contains(client.transport.requests.count), "\(client.transport.requests.count)")
            guard case .offline(let message, let nextTry) = client.client.status else {
                Issue.record("the status is \(client.client.status)")
                return
            }
            #expect(nextTry > client.context.options.environment.now())
            #expect(message.contains("cannot reach"))
            client.transport.inspect(nil)
            connectivity.report(false)
            connectivity.report(true)
            try await virtual.sleep(.seconds(1))
            #expect(try virtual.world.serverTexts() == ["b", "offline"])
            #expect(try client.texts() == ["b", "offline"])
            #expect(record.kinds.contains("offline") && record.kinds.last == "idle")
        }
    }

    @Test("S3 a monitor that reports a network all the time costs at most one request a second")
    func floodOfReports() throws {
        try VirtualWorld.run { virtual, client in
            client.transport.inspect { _, _ in .loseRequest }
            let connectivity = TestConnectivity()
            try await client.client.start([Self.todo], settings: SyncSettings(connectivity: connectivity))
            for number in 0..<1_000 {
                connectivity.report(number.isMultiple(of: 2))
                try await virtual.sleep(.milliseconds(10))
            }
            #expect(client.transport.requests.count <= 24, "\(client.transport.requests.count)")
        }
    }

    @Test("S3 Retry-After delays the next round", arguments: StoreKind.perEngine)
    func retryAfter(_ stores: StoreKind) throws {
        try VirtualWorld.run(stores, configure: VirtualWorld.withoutRetries) { virtual, client in
            client.transport.inspect { _, _ in .answer(.answer(503, headers: [.retryAfter: "100"])) }
            try await client.client.start([Self.todo])
            try await virtual.sleep(.seconds(99))
            #expect(client.transport.requests.count == 1)
            client.transport.inspect(nil)
            try await virtual.sleep(.seconds(2))
            #expect(client.transport.requests.count == 2)
        }
    }

    @Test("S4 the status follows the sync; a reader that never reads does not block it", arguments: StoreKind.perEngine)
    func status(_ stores: StoreKind) throws {
        try VirtualWorld.run(stores) { virtual, client in
            let lazy = client.client.statusUpdates
            let record = virtual.record(client)
            try virtual.world.plant(World.rows(at: 0..<30))
            try await client.items.insert(["id": "a", "text": "mine"])
            virtual.delay(client, by: .milliseconds(10))
            try await client.client.start(
                [Self.todo], settings: SyncSettings(pull: PullSettings(pageSize: 10, countsRows: true)))
            try await virtual.sleep(.seconds(1))
            #expect(record.kinds.filter { !["pulling", "stopped"].contains($0) } == ["pushing", "idle"])
            #expect(client.client.status != .stopped)
            #expect(record.kinds.contains("pulling"))
            guard case .idle(let since) = client.client.status else {
                Issue.record("the status is \(client.client.status)")
                return
            }
            #expect(since <= client.context.options.environment.now())
            await client.client.stop()
            var iterator = lazy.makeAsyncIterator()
            #expect(await iterator.next() == .stopped)
        }
    }

    @Test("S4 a change that is on its way is shown before its answer", arguments: StoreKind.perEngine)
    func statusBeforeAnswer(_ stores: StoreKind) throws {
        try VirtualWorld.run(stores) { virtual, client in
            try await client.client.start([Self.todo])
            try await virtual.sleep(.seconds(1))
            #expect(client.statusKind == "idle")
            virtual.delay(client, by: .seconds(10))
            for id in ["a", "b"] { try await client.items.insert(["id": .string(id), "text": .string(id)]) }
            try await virtual.sleep(.seconds(5))
            #expect(client.client.status == .pushing(done: 0, total: 2))
            try await virtual.sleep(.seconds(10))
            #expect(client.statusKind == "idle")
        }
    }

    @Test(
        "S5 an operation that the server rejects is reported once and skipped, and everything else goes on",
        arguments: StoreKind.perEngine)
    func poison(_ stores: StoreKind) throws {
        try VirtualWorld.run(stores) { virtual, client in
            let reports = HeaderLog()
            client.context.delegate = ScriptedDelegate(
                { try await $0.execute() }, ended: { for error in $0.operationErrors { reports.add(error.itemID) } })
            client.transport.inspect { request, body in
                body.contains("poison") ? .answer(.answer(400, #"{"error":"no"}"#)) : nil
            }
            try await client.client.start([Self.todo])
            try await client.items.insert(["id": "p", "text": "poison"])
            try await virtual.sleep(.seconds(1))
            #expect(client.client.status == .needsAttention(operationErrors: 1))
            try await client.items.insert(["id": "a", "text": "a"])
            try virtual.world.plant([World.row("b", at: 0)])
            try await virtual.sleep(.seconds(3600))
            #expect(client.transport.requests.count { $0.hasPrefix("POST") } == 2)
            #expect(try virtual.world.serverTexts() == ["a", "b"])
            #expect(try client.texts() == ["a", "b", "poison"])
            #expect(reports.values == ["p"])
            // The app asks.
            client.client.syncNow()
            try await virtual.sleep(.seconds(1))
            #expect(client.transport.requests.count { $0.hasPrefix("POST") } == 3)
            // The operation changes.
            try await client.items.update(id: "p") { $0["text"] = "harmless" }
            try await virtual.sleep(.seconds(1))
            #expect(try virtual.world.serverTexts() == ["a", "b", "harmless"])
            #expect(client.statusKind == "idle")
        }
    }

    @Test("S5 an operation that fails on the server is tried five times per change", arguments: StoreKind.perEngine)
    func serverFailure(_ stores: StoreKind) throws {
        try VirtualWorld.run(stores, configure: VirtualWorld.withoutRetries) { virtual, client in
            client.transport.inspect { _, body in body.contains("poison") ? .answer(.answer(500)) : nil }
            try await client.client.start([Self.todo])
            try await client.items.insert(["id": "p", "text": "poison"])
            try await virtual.sleep(.seconds(2))
            #expect(client.statusKind == "failing")
            try await virtual.sleep(.seconds(3600))
            #expect(client.transport.requests.count { $0.hasPrefix("POST") } == 5)
            #expect(client.client.status == .needsAttention(operationErrors: 1))
            try await client.items.update(id: "p") { $0["text"] = "poison, corrected" }
            try await virtual.sleep(.seconds(3600))
            #expect(client.transport.requests.count { $0.hasPrefix("POST") } == 10)
            #expect(client.client.status == .needsAttention(operationErrors: 1))
            await client.client.stop()
            // A new start tries again.
            client.transport.inspect(nil)
            try await client.client.start([Self.todo])
            try await virtual.sleep(.seconds(1))
            #expect(try virtual.world.serverTexts() == ["poison, corrected"])
        }
    }

    @Test("Q5 S5 rows never answered hold back no other change and no pull", arguments: StoreKind.perEngine, [1, 8])
    func unansweredRows(_ stores: StoreKind, maxInFlight: Int) throws {
        try VirtualWorld.run(stores) { virtual, client in
            client.transport.inspect { _, body in
                body.contains("poison") ? .fail(TransportError(.timeout, "60 s passed")) : nil
            }
            for number in 0..<8 { try await client.items.insert(["id": .string("p\(number)"), "text": "poison"]) }
            try await client.client.start(
                [Self.todo], settings: SyncSettings(pull: PullSettings(push: PushSettings(maxInFlight: maxInFlight))))
            try await virtual.sleep(.seconds(60))
            try virtual.world.plant([World.row("theirs", at: 0)])
            try await client.items.insert(["id": "a", "text": "mine"])
            try await virtual.sleep(.seconds(1))
            #expect(try virtual.world.serverTexts() == ["mine", "theirs"])
            try await virtual.sleep(.seconds(60))
            #expect(try client.row("theirs") != nil)
            client.transport.inspect(nil)
            try await virtual.sleep(.seconds(600))
            #expect(try virtual.world.serverTexts().count == 10)
            #expect(try await client.queue().isEmpty)
            #expect(client.statusKind == "idle")
        }
    }

    @Test("P13 a long delay that the server asks for is one for everything, whatever else failed in the push")
    func pauseBesideFailure() throws {
        try VirtualWorld.run { virtual, client in
            client.transport.inspect { _, body in
                if body.contains("cut") { return .fail(TransportError(.timeout, "60 s passed")) }
                try? await virtual.sleep(.seconds(1))
                return body.contains("limited") ? .answer(.answer(429, headers: [.retryAfter: "100"])) : nil
            }
            for text in ["cut", "limited", "mine"] {
                try await client.items.insert(["id": .string(text), "text": .string(text)])
            }
            try await client.client.start([Self.todo])
            try await virtual.sleep(.seconds(10))
            // A list of the table may have been requested before the delay was known.
            let count = client.transport.requests.count
            #expect(count <= 4 && client.statusKind == "offline")
            try await virtual.sleep(.seconds(80))
            #expect(client.transport.requests.count == count && client.statusKind == "offline")
            client.transport.inspect(nil)
            try await virtual.sleep(.seconds(20))
            #expect(try virtual.world.serverTexts() == ["cut", "limited", "mine"])
        }
    }

    @Test("S5 an operation arrives by itself after the server failed for everything", arguments: StoreKind.perEngine)
    func everythingFails(_ stores: StoreKind) throws {
        try VirtualWorld.run(stores, configure: VirtualWorld.withoutRetries) { virtual, client in
            try await client.items.insert(["id": "a", "text": "mine"])
            client.transport.inspect { _, _ in .answer(.answer(500)) }
            try await client.client.start([Self.todo])
            try await virtual.sleep(.seconds(3600))
            #expect(client.transport.requests.count { $0.hasPrefix("POST") } == 5)
            client.transport.inspect(nil)
            try await virtual.sleep(.seconds(600))
            #expect(try virtual.world.serverTexts() == ["mine"])
        }
    }

    @Test("S5 a correction saved while the server rejects the operation is sent", arguments: StoreKind.perEngine)
    func correction(_ stores: StoreKind) throws {
        try VirtualWorld.run(stores) { virtual, client in
            client.transport.inspect { _, body in
                guard body.contains("poison") else { return nil }
                try? await virtual.sleep(.seconds(5))
                return .answer(.answer(400))
            }
            try await client.client.start([Self.todo])
            try await client.items.insert(["id": "a", "text": "poison"])
            try await virtual.sleep(.seconds(2))
            try await client.items.update(id: "a") { $0["text"] = "harmless" }
            try await virtual.sleep(.seconds(10))
            #expect(try virtual.world.serverTexts() == ["harmless"])
            #expect(client.statusKind == "idle")
        }
    }

    @Test(
        "S5 C3 a conflict that a policy may resolve is tried five times, with delays", arguments: StoreKind.perEngine,
        [true, false])
    func policy(_ stores: StoreKind, recovers: Bool) throws {
        let isFailing = SharedValue(true)
        let configure: @Sendable (inout SyncOptions) -> Void = { options in
            options.conflictPolicy = .custom("mine") { conflict in
                if isFailing.value { throw CancellationError() }
                return conflict.local.map { .row($0) } ?? .delete
            }
        }
        try VirtualWorld.run(stores, configure: configure) { virtual, client in
            try await client.items.insert(["id": "a", "text": "one"])
            try await client.client.start([SyncSubscription("TodoItem", interval: nil)])
            try await virtual.sleep(.seconds(1))
            let other = try await virtual.makeClient()
            try await other.items.pull()
            try await other.pushUpdate(["id": "a", "text": "theirs"])
            client.transport.clear()
            try await client.items.update(id: "a") { $0["text"] = "mine" }
            try await virtual.sleep(.milliseconds(500))
            #expect(try await client.context.operationErrors().map(\.code) == [.policy])
            isFailing.value = !recovers
            try await virtual.sleep(.seconds(3600))
            #expect(client.transport.requests.count { $0.hasPrefix("PATCH") } == (recovers ? 3 : 5))
            #expect(try virtual.world.serverTexts() == [recovers ? "mine" : "theirs"])
            #expect(try await client.context.operationErrors().count == (recovers ? 0 : 1))
            if !recovers { #expect(client.client.status == .needsAttention(operationErrors: 1)) }
        }
    }

    @Test("S4 a sign-in that fails loses nothing, and a new sign-in continues", arguments: StoreKind.perEngine)
    func signIn(_ stores: StoreKind) throws {
        let refreshes = SharedValue(0)
        let configure: @Sendable (inout SyncOptions) -> Void = { options in
            options.authorization = { refresh in
                if !refresh { return nil }
                refreshes.update { $0 += 1 }
                throw SyncError(.authentication, "the refresh token has expired")
            }
        }
        try VirtualWorld.run(stores, configure: configure) { virtual, client in
            client.transport.inspect { request, _ in
                request.headerFields[.zumoAuth] == "good" ? nil : .answer(.answer(401))
            }
            try await client.client.start([Self.todo])
            try await client.items.insert(["id": "a", "text": "a"])
            try await virtual.sleep(.seconds(3600))
            #expect(client.client.status == .needsSignIn)
            // It tries again every five minutes.
            #expect((11...13).contains(client.transport.requests.count))
            #expect(refreshes.value == client.transport.requests.count)
            #expect(try await client.queue() == ["insert a"])
            client.client.syncNow()
            try await virtual.sleep(.seconds(10))
            #expect(client.client.status == .needsSignIn)
            client.client.currentUser = SignedInUser(userID: "u", authenticationToken: "good")
            try await virtual.sleep(.seconds(10))
            #expect(try virtual.world.serverTexts() == ["a"])
            #expect(try await client.queue().isEmpty)
        }
    }

    @Test("S4 a delegate that signs in after a push has failed continues the sync", arguments: StoreKind.perEngine)
    func signInWithinDelegate(_ stores: StoreKind) throws {
        try VirtualWorld.run(stores) { virtual, client in
            client.context.delegate = ScriptedDelegate { operation in
                try await operation.execute()
            } ended: { [syncClient = client.client] result in
                guard result.error?.code == .authentication else { return }
                syncClient.currentUser = SignedInUser(userID: "u", authenticationToken: "good")
                // The sync sees the sign-in before the end of the push.
                try? await virtual.sleep(.seconds(1))
            }
            client.transport.inspect { request, _ in
                request.headerFields[.zumoAuth] == "good" ? nil : .answer(.answer(401))
            }
            try await client.items.insert(["id": "a", "text": "a"])
            try await client.client.start([Self.todo])
            try await virtual.sleep(.seconds(10))
            #expect(try virtual.world.serverTexts() == ["a"])
            #expect(try await client.queue().isEmpty)
        }
    }

    private func makeClient<Store: LocalStore>(
        _ virtual: VirtualWorld, _ store: Store, userID: String? = nil
    ) async throws -> WorldClient<Store> {
        try await virtual.world.makeClient(over: store) {
            virtual.configureEnvironment(&$0.environment)
            $0.userID = userID
        }
    }

    @Test("S6 a sign-out waits for what is in flight and removes all", arguments: StoreKind.perEngine, [false, true])
    func signOut(_ stores: StoreKind, duringPush: Bool) throws {
        let virtual = try VirtualWorld(stores)
        try virtual.run {
            let base = try stores.makeStore()
            let made = try await makeClient(virtual, base, userID: "first")
            let (client, transport) = (made.client, made.transport)
            client.currentUser = SignedInUser(userID: "first", authenticationToken: "token")
            try virtual.world.plant(World.rows(at: 0..<10))
            try await client.pull(TableQuery("TodoItem"), queryID: "all")
            try await client.table("TodoItem").insert(["id": "mine", "text": "mine"])
            let isReached = SharedValue(false)
            transport.inspect { request, _ in
                guard (request.method == .post) == duringPush else { return nil }
                isReached.value = true
                try? await virtual.sleep(.seconds(100))
                return nil
            }
            try await client.start([Self.todo])
            while !isReached.value { try await virtual.sleep(.milliseconds(1)) }
            try await client.stop(wiping: true)
            try await expectWiped(client)
            transport.clear()
            try await virtual.sleep(.seconds(600))
            #expect(transport.requests.isEmpty)
            // The next user finds an empty store.
            let next = try await makeClient(virtual, base, userID: "second").client
            try await next.start([Self.todo])
            try await virtual.sleep(.seconds(5))
            #expect(try base.read { try $0.count(TableQuery("TodoItem")) } >= 10)
            await next.stop()
        }
    }

    private func expectWiped(_ client: SyncClient<TestStore>) async throws {
        #expect(client.status == .stopped && client.currentUser == nil)
        #expect(client.context.database.clients.inFlight.isEmpty)
        #expect(try client.store.read { try $0.count(TableQuery("TodoItem")) } == 0)
        #expect(try await client.pendingOperationsCount == 0)
        #expect(try client.store.tokens().isEmpty)
    }

    @Test("S6 a sign-out is one transaction, and one that fails removes nothing", arguments: StoreKind.perEngine)
    func failedSignOut(_ stores: StoreKind) throws {
        let virtual = try VirtualWorld(stores)
        try virtual.run {
            let store = HookedStore(try stores.makeStore())
            let made = try await makeClient(virtual, store)
            let client = made.client
            try await made.items.insert(["id": "a", "text": "a"])
            made.transport.inspect { _, _ in .loseRequest }
            try await client.start([Self.todo])
            try await virtual.sleep(.seconds(1))
            store.onWrite { _ in throw StoreError(.full, "the disk is full") }
            #expect(await syncErrorCode { try await client.stop(wiping: true) } == .store)
            store.onWrite(nil)
            #expect(client.status == .stopped)
            #expect(try await client.pendingOperationsCount == 1)
            #expect(try await made.items.rows().rows.count == 1)
            #expect(try await client.stop(wiping: true) == ForcePurgeResult(rows: 1, operations: 1))
            #expect(store.writes == 1)
            #expect(try await client.pendingOperationsCount == 0)
        }
    }

    @Test("S6 a stop within a call of the delegate returns, and the sync ends afterwards")
    func stopWithinDelegate() throws {
        try VirtualWorld.run { virtual, client in
            let refusal = SharedValue<SyncError.Code?>(nil)
            client.context.delegate = ScriptedDelegate { operation in
                try await operation.execute()
            } ended: { [syncClient = client.client] _ in
                refusal.value = await syncErrorCode { try await syncClient.stop(wiping: true) }
            }
            try await client.items.insert(["id": "a", "text": "a"])
            try await client.client.start([Self.todo])
            try await virtual.sleep(.seconds(5))
            #expect(client.client.status == .stopped)
            #expect(refusal.value == .invalidArgument)
            #expect(try client.texts() == ["a"])
        }
    }

    @Test("S6 a task that a call within the sync has started can sign out after it", arguments: [false, true])
    func signOutAfterCall(ofDelegate: Bool) throws {
        let signOut = SharedValue<(@Sendable () -> Void)?>(nil)
        let configure: @Sendable (inout SyncOptions) -> Void = { options in
            options.authorization = { _ in
                if !ofDelegate { signOut.value?() }
                return nil
            }
        }
        try VirtualWorld.run(configure: configure) { virtual, client in
            let result = SharedValue<ForcePurgeResult?>(nil)
            client.context.delegate = ScriptedDelegate { operation in
                try await operation.execute()
            } ended: { _ in
                if ofDelegate { signOut.value?() }
            }
            signOut.value = { [syncClient = client.client] in
                signOut.value = nil
                Task(executorPreference: virtual.executor) {
                    // The call has ended then, and the pull is on its way.
                    try? await virtual.sleep(.seconds(1))
                    result.value = try? await syncClient.stop(wiping: true)
                }
            }
            virtual.delay(client, by: .seconds(100)) { $0.method == .get }
            try await client.items.insert(["id": "a", "text": "a"])
            try await client.client.start([Self.todo])
            try await virtual.sleep(.seconds(5))
            #expect(result.value?.rows == 1)
            #expect(client.client.status == .stopped)
            #expect(try client.texts().isEmpty)
        }
    }

    @Test("S6 a sync cancelled at any point leaves nothing in flight, and the next completes it", arguments: 0..<60)
    func cancellation(at turn: Int) throws {
        try VirtualWorld.run { virtual, client in
            try virtual.world.plant(World.rows(at: 0..<7))
            for number in 0..<3 { try await client.items.insert(["id": .string("m\(number)"), "text": "mine"]) }
            virtual.delay(client, by: .milliseconds(3))
            let settings = SyncSettings(pull: PullSettings(pageSize: 3, push: PushSettings(maxInFlight: 2)))
            let sync = Task(executorPreference: virtual.executor) {
                try await client.client.run([Self.todo], settings: settings)
            }
            try await virtual.sleep(.milliseconds(turn))
            sync.cancel()
            _ = try? await sync.value
            #expect(client.client.status == .stopped && client.context.database.clients.inFlight.isEmpty)
            let count = client.transport.requests.count
            try await virtual.sleep(.seconds(600))
            #expect(client.transport.requests.count == count)
            try await client.client.start([Self.todo], settings: settings)
            try await virtual.sleep(.seconds(10))
            await client.client.stop()
            #expect(try await client.queue().isEmpty)
            #expect(try client.store.versions() == virtual.world.serverVersions())
            #expect(try client.texts().count == 10)
        }
    }
}
