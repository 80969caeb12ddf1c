import HTTPTypes
import Synchronization
import Testing
import TidelineStore
import TidelineTestStores
import TidelineTestSupport

@testable import Tideline

/// Rules P5 and P7: several operations in flight, and their responses in any order.
@Suite("Parallel push", .timeLimit(.minutes(15)), .releasesClients, .bothDialects)
struct ParallelPushTests {
    /// Makes a client with pending inserts of the rows `r1`, `r2`, and so on, each with its own id as text.
    private func withRows(_ rows: Int, _ stores: StoreKind) async throws -> (World, Client) {
        let (world, client) = try await World.withClient(stores)
        for number in 1...rows {
            try await client.items.insert(["id": .string("r\(number)"), "text": .string("r\(number)")])
        }
        client.transport.clear()
        return (world, client)
    }

    /// Returns the row of an insert's body.
    private static func id(_ body: String) -> String {
        String(body.split(separator: "\"").first { $0.hasPrefix("r") } ?? "")
    }

    @Test("P7 as many requests as allowed are in flight, and no more", arguments: StoreKind.perEngine, [8, 3])
    func window(_ stores: StoreKind, maxInFlight: Int) async throws {
        let (_, client) = try await withRows(20, stores)
        let most = MaximumCount()
        client.transport.inspect { _, _ in
            most.enter()
            // The first requests wait for each other.
            try? await suspendUntil("\(maxInFlight) requests") { most.maximum >= maxInFlight }
            most.leave()
            return nil
        }
        let result = try await client.context.push(settings: PushSettings(maxInFlight: maxInFlight))
        #expect(most.maximum == maxInFlight)
        #expect(result.progress.sent == 20 && client.transport.requests.count == 20)
        #expect(try await client.queue().isEmpty)
    }

    @Test("P7 responses arrive in any order, and each row takes its own", arguments: StoreKind.perEngine)
    func anyOrder(_ stores: StoreKind) async throws {
        let (world, client) = try await withRows(8, stores)
        let answered = Mutex<Set<String>>([])
        client.transport.inspect { _, body in
            let id = Self.id(body)
            let later = "r\(Int(id.dropFirst())! + 1)"
            return .delay {
                try await suspendUntil(later) { later == "r9" || answered.withLock { $0.contains(later) } }
                answered.withLock { _ = $0.insert(id) }
            }
        }
        try await client.context.push()
        for number in 1...8 {
            let row = try client.row("r\(number)")
            #expect(try row?.version == world.serverRow("r\(number)")?.version)
            #expect(row?["text"]?.string == "r\(number)")
        }
    }

    @Test("P7 after an abort no request leaves, and responses on their way are stored", arguments: StoreKind.perEngine)
    func abort(_ stores: StoreKind) async throws {
        let (world, client) = try await withRows(12, stores)
        let context = client.context
        client.transport.inspect { [transport = client.transport] _, body in
            try? await suspendUntil("four requests") { transport.requests.count >= 4 }
            if Self.id(body) == "r2" { return .loseRequest }
            return .delay {
                try await suspendUntil("the end of the second operation") {
                    context.database.clients.inFlight.count < 4
                }
            }
        }
        let settings = PushSettings(maxInFlight: 4)
        #expect(await syncErrorCode { try await context.push(settings: settings) } == .network)
        #expect(client.transport.requests.count == 4)
        #expect(context.database.clients.inFlight.isEmpty)
        #expect(try world.serverTexts() == ["r1", "r3", "r4"])
        #expect(try ["r1", "r3", "r4"].allSatisfy { try client.row($0)?.version != nil })
        #expect(try await client.queue() == ["insert r2"] + (5...12).map { "insert r\($0)" })
        client.transport.inspect(nil)
        try await context.push()
        #expect(try world.serverTexts().count == 12)
    }

    @Test(
        "P7 after an abort an operation in flight makes no further request", arguments: StoreKind.perEngine,
        [SyncError.Code.network, .serverFailing])
    func abortBetweenRequests(_ stores: StoreKind, code: SyncError.Code) async throws {
        let (_, client) = try await withRows(5, stores)
        let context = client.context
        client.transport.inspect { [transport = client.transport] _, body in
            try? await suspendUntil("four requests") { transport.requests.count >= 4 }
            guard Self.id(body) == "r4" else { return code == .network ? .loseRequest : .answer(.answer(500)) }
            // The client would request the server row next.
            try? await suspendUntil("the end of the others") {
                if code == .network { return context.database.clients.inFlight.count == 1 }
                return try await context.operationErrors().count >= 3
            }
            return .answer(.answer(409))
        }
        let settings = PushSettings(maxInFlight: 4)
        #expect(await syncErrorCode { try await context.push(settings: settings) } == code)
        #expect(client.transport.requests.allSatisfy { $0.hasPrefix("POST") })
        #expect(context.database.clients.inFlight.isEmpty)
        #expect(try await client.queue().count == 5)
    }

    @Test(
        "P7 a response that never comes delays no other operation, and a canceled push stores the others",
        arguments: StoreKind.perEngine)
    func silence(_ stores: StoreKind) async throws {
        let (world, client) = try await withRows(12, stores)
        client.transport.inspect { _, body in
            guard Self.id(body) == "r3" else { return nil }
            return .delay { try await Task.sleep(for: .seconds(WaitLimit.seconds)) }
        }
        let push = Task { await syncErrorCode { try await client.context.push() } }
        try await suspendUntil("the other operations") { try await client.queue() == ["insert r3"] }
        push.cancel()
        #expect(await push.value == .cancelled)
        #expect(client.context.database.clients.inFlight.isEmpty)
        // The server has applied the request, and the next push finds that out.
        client.transport.inspect(nil)
        try await client.context.push()
        #expect(try await client.queue().isEmpty)
        #expect(try world.serverTexts().count == 12)
    }

    @Test("P3 requests that are refused with 401 at the same time share one refresh", arguments: StoreKind.perEngine)
    func sharedRefresh(_ stores: StoreKind) async throws {
        let refreshes = Mutex(0)
        let client = try await World(stores).makeClient { options in
            options.authorization = { refresh in
                let count = refreshes.withLock { count in
                    if refresh { count += 1 }
                    return count
                }
                return HTTPField(name: .authorization, value: count == 0 ? "old" : "new")
            }
        }
        for number in 1...20 { try await client.items.insert(["id": .string("r\(number)"), "text": "x"]) }
        client.transport.inspect { [transport = client.transport] request, _ in
            if request.headerFields[.authorization] == "new" { return nil }
            try? await suspendUntil("eight requests") { transport.requests.count >= 8 }
            return .answer(.answer(401))
        }
        #expect(try await client.context.push().progress.sent == 20)
        #expect(refreshes.withLock { $0 } == 1)
        #expect(client.transport.requests.count == 28)
    }

    @MainActor
    @Test("P3 requests that wait for a refresh share its failure, and a later one refreshes again")
    func sharedFailure() async throws {
        struct Expired: Error {}
        let shared = SharedRefresh()
        let calls = Mutex(0)
        let gate = Mutex<CheckedContinuation<Void, Never>?>(nil)
        func refuse() -> Task<Bool, Never> {
            Task { @MainActor in
                do {
                    _ = try await shared.run(after: shared.count) {
                        calls.withLock { $0 += 1 }
                        await withCheckedContinuation { continuation in gate.withLock { $0 = continuation } }
                        throw Expired()
                    }
                    return false
                } catch {
                    return error is Expired
                }
            }
        }
        let requests = (1...8).map { _ in refuse() }
        // The tasks of an actor begin in order, so all of them wait when this one runs.
        await Task { @MainActor in }.value
        gate.withLock { $0.take() }?.resume()
        for request in requests { #expect(await request.value) }
        #expect(calls.withLock { $0 } == 1)
        #expect(try await shared.run(after: shared.count) { "new" } == "new")
        #expect(try await shared.run(after: SharedRefresh.Count()) { "again" } == nil)
    }

    @MainActor
    @Test("P3 a request that was sent before a refresh failed, and is refused after it, shares the failure")
    func lateRefusal() async throws {
        struct Expired: Error {}
        let shared = SharedRefresh()
        let calls = Mutex(0)
        let sent = shared.count
        for _ in 1...2 {
            do {
                _ = try await shared.run(after: sent) {
                    calls.withLock { $0 += 1 }
                    throw Expired()
                }
                Issue.record("the refresh did not fail")
            } catch is Expired {}
        }
        #expect(calls.withLock { $0 } == 1)
        #expect(try await shared.run(after: shared.count) { "new" } == "new")
    }

    @MainActor
    @Test("P3 a refresh that fails during a sign-in, or failed before it, is not shared", arguments: [true, false])
    func failureBeforeSignIn(isDuring: Bool) async throws {
        struct Expired: Error {}
        let shared = SharedRefresh()
        let sent = shared.count
        do {
            _ = try await shared.run(after: sent) {
                if isDuring { shared.noteSignIn() }
                throw Expired()
            }
            Issue.record("the refresh did not fail")
        } catch is Expired {}
        if !isDuring { shared.noteSignIn() }
        #expect(try await shared.run(after: sent) { "new" } == "new")
    }

    @Test("P5 an operation costs up to two transactions, fewer with several in flight", arguments: StoreKind.perEngine)
    func transactions(_ stores: StoreKind) async throws {
        let (_, client) = try await World.withFailingClient(stores)
        let (store, items) = (client.store, client.items)
        func push(_ count: Int, maxInFlight: Int) async throws -> Int {
            for _ in 1...count { try await items.insert(["text": "x"]) }
            let before = store.writes
            try await client.context.push(settings: PushSettings(maxInFlight: maxInFlight))
            return store.writes - before
        }
        #expect(try await push(1, maxInFlight: 1) <= 2)
        #expect(try await push(20, maxInFlight: 1) <= 21)
        #expect(try await push(40, maxInFlight: 8) <= 41)
        try await items.update(["id": "a", "text": "two"])
        let before = store.writes
        try await client.context.push()
        #expect(store.writes - before <= 2)
        try await items.delete(id: "a")
        try await client.context.push()
        #expect(store.writes - before <= 5)
    }

    @Test("P5 a response that cannot be stored undoes no other of its transaction", arguments: StoreKind.perEngine)
    func oneUnstored(_ stores: StoreKind) async throws {
        let (world, client) = try await World.withFailingClient(stores)
        for number in 1...4 { try await client.items.insert(["id": .string("r\(number)"), "text": "x"]) }
        let (store, transport) = (client.store, client.transport)
        transport.inspect { _, body in
            .delay {
                try await suspendUntil("four requests") { transport.requests.count == 4 }
                if Self.id(body) == "r4" { store.fail(at: 1) }
            }
        }
        #expect(await syncErrorCode { try await client.context.push() } == .store)
        #expect(store.heal())
        #expect(try await client.context.pendingOperationsCount == 0)
        #expect(try world.serverTexts().count == 5)
    }

    @Test("P9 two clients of one store object send each operation once", arguments: StoreKind.perEngine)
    func clientsOfOneStore(_ stores: StoreKind) async throws {
        let (world, client) = try await World.withSyncedClient(stores)
        let other = try await world.makeClient(store: client.store)
        for number in 0..<20 { try await client.items.insert(["id": "n\(number)", "text": "new"]) }
        let requests = client.transport.requests.count
        async let first = client.context.push()
        async let second = other.context.push()
        _ = try await (first, second)
        let sent = client.transport.requests.count - requests + other.transport.requests.count
        #expect(sent == 20)
        #expect(try await client.queue().isEmpty)
        #expect(try world.serverTexts().count == 21)
    }
}
