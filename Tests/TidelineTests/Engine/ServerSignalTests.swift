import HTTPTypes
import Testing
import TidelineServer
import TidelineStore
import TidelineTestStores

@testable import Tideline
@testable import TidelineSimulation

/// Rule S1: the change signal of a table service, over virtual time.
@Suite("Change signal of a table service", .timeLimit(.minutes(15)), .releasesClients)
struct ServerSignalTests {
    private static let never = SyncSubscription("TodoItem", interval: nil)
    private static let schemas = [World.schema, TableSchema("Note", columns: [.string("text")])]

    /// A server with a signal.
    private struct Scene: Sendable {
        let virtual: VirtualWorld
        let signal: ChangeSignal<TestStore>

        func makeClient() async throws -> Client {
            let client = try await virtual.makeClient { $0.retry.maximumAttempts = 1 }
            try await client.client.define(ServerSignalTests.schemas)
            client.transport.setSignal(signal)
            return client
        }

        /// Changes a table on the server.
        func write(_ id: String, _ text: String, into table: String = "TodoItem") throws {
            var request = HTTPRequest(method: .post, scheme: "http", authority: "host", path: "/tables/\(table)")
            request.headerFields[try #require(HTTPField.Name("ZUMO-API-VERSION"))] = "2.0.0"
            let answer = virtual.world.service.handle(request, body: Array(#"{"id":"\#(id)","text":"\#(text)"}"#.utf8))
            #expect(answer.response.status == .created)
        }
    }

    /// Runs a scenario of one client, with a signal that uses the virtual clock, and stops the sync of the client.
    private func run(
        _ stores: StoreKind = .simplest, maximumWait: Duration = .seconds(50),
        _ scenario: @escaping @Sendable (Scene, Client) async throws -> Void
    ) throws {
        let virtual = try VirtualWorld(stores, schemas: Self.schemas)
        try virtual.run {
            let signal = Self.makeSignal(virtual, maximumWait: maximumWait)
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { await signal.run() }
                try await virtual.sleep(.milliseconds(1))
                let scene = Scene(virtual: virtual, signal: signal)
                let client = try await scene.makeClient()
                try await scenario(scene, client)
                await client.client.stop()
                group.cancelAll()
            }
        }
    }

    private static func makeSignal(_ virtual: VirtualWorld, maximumWait: Duration) -> ChangeSignal<TestStore> {
        ChangeSignal(
            virtual.world.service,
            options: ChangeSignalOptions(
                maximumWait: maximumWait, sleep: { try await virtual.sleep($0) }, schedule: { $0() }))
    }

    /// Returns whether a request lets the server wait for changes, and for longer than a time in seconds.
    private static func waits(_ request: HTTPRequest, longerThan seconds: Int) -> Bool {
        guard ChangeSignal<TestStore>.handles(request), request.path?.contains("since=") == true else { return false }
        let wait = request.path?.split(separator: "wait=").last.flatMap { Int($0) } ?? 0
        return wait > seconds
    }

    @Test("S1 a change of another client is pulled at once, without an interval", arguments: StoreKind.perEngine)
    func atOnce(_ stores: StoreKind) throws {
        try run(stores) { scene, first in
            let second = try await scene.makeClient()
            for client in [first, second] { try await client.client.start([Self.never]) }
            for number in 0..<5 {
                // Longer and shorter than the wait of a request.
                try await scene.virtual.sleep(.seconds([3, 61, 50, 49.9, 120][number]))
                try await first.items.insert(["id": .string("\(number)"), "text": .string("\(number)")])
                try await scene.virtual.sleep(.milliseconds(210))
                #expect(try second.texts() == (0...number).map { "\($0)" })
            }
            await second.client.stop()
        }
    }

    @Test("S1 a burst of changes is seen to its end, and leads to no flood of requests")
    func burst() throws {
        try run { scene, client in
            try await client.client.start([Self.never])
            try await scene.virtual.sleep(.seconds(5))
            client.transport.clear()
            for number in 0..<200 {
                try scene.write("\(number)", "x")
                try await scene.virtual.sleep(.milliseconds(50))
            }
            try await scene.virtual.sleep(.seconds(2))
            #expect(try client.texts().count == 200)
            #expect(client.transport.requests.count <= 30, "\(client.transport.requests.count)")
            #expect(client.transport.signalRequests.count <= 60, "\(client.transport.signalRequests.count)")
        }
    }

    @Test("S1 the client's own push leads to one pull at most")
    func ownPush() throws {
        try run { scene, client in
            try await client.client.start([Self.never])
            try await scene.virtual.sleep(.seconds(5))
            client.transport.clear()
            try await client.items.insert(["id": "a", "text": "a"])
            try await scene.virtual.sleep(.seconds(200))
            // The request after the row asks for the number of further rows, and ends the pull.
            let pulls = client.transport.requests.count { $0.hasPrefix("GET /tables/") && !$0.contains("$inlinecount") }
            #expect(pulls <= 1, "\(client.transport.requests)")
            #expect(client.transport.requests.count { $0.hasPrefix("POST") } == 1)
        }
    }

    @Test("S1 an idle hour costs the intervals and one waiting request")
    func idleHour() throws {
        try run { scene, client in
            try await client.client.start([
                SyncSubscription("TodoItem"), SyncSubscription("Note", interval: .seconds(600)),
            ])
            try await scene.virtual.sleep(.seconds(61))
            client.transport.clear()
            try await scene.virtual.sleep(.seconds(3_600))
            #expect((66...68).contains(client.transport.requests.count), "\(client.transport.requests.count)")
            #expect(
                (70...73).contains(client.transport.signalRequests.count), "\(client.transport.signalRequests.count)")
        }
    }

    @Test(
        "S10 whatever ends the waiting requests of a server that has the signal, others' changes are seen within seconds",
        arguments: Impostor.all)
    func endedPolls(_ impostor: Impostor) throws {
        try run { scene, client in
            try await client.client.start([SyncSubscription("TodoItem", interval: .seconds(86_400))])
            try await scene.virtual.sleep(.seconds(61))
            // A proxy ends each request after ten seconds.
            client.transport.inspect { request, _ in
                guard Self.waits(request, longerThan: 10) else { return nil }
                try? await scene.virtual.sleep(.seconds(10))
                return .answer(impostor.answer)
            }
            try await scene.virtual.sleep(.seconds(1_200))
            try scene.write("a", "a")
            // The longest delay is that of a request that is ended, and of the first retry.
            try await scene.virtual.sleep(.seconds(15))
            #expect(try client.texts() == ["a"])
        }
    }

    @Test("S10 after a restart of the sync, a server that has signalled is asked again soon, whatever answers first")
    func restarted() throws {
        try run { scene, client in
            let subscriptions = [SyncSubscription("TodoItem", interval: nil)]
            try await client.client.start(subscriptions)
            try await scene.virtual.sleep(.seconds(61))
            await client.client.stop()
            client.transport.inspect { request, _ in
                ChangeSignal<TestStore>.handles(request) ? .answer(.unmarked(404, "no")) : nil
            }
            try await client.client.start(subscriptions)
            try await scene.virtual.sleep(.seconds(3))
            client.transport.inspect(nil)
            try scene.write("a", "a")
            try await scene.virtual.sleep(.seconds(15))
            #expect(try client.texts() == ["a"])
        }
    }

    @Test(
        "S10 a server without the signal is asked once an hour and after a request, and the intervals stay as they are",
        arguments: [404, 405, 501])
    func unsupported(status: Int) throws {
        try run { scene, client in
            let record = scene.virtual.record(client)
            client.transport.inspect { request, _ in
                guard ChangeSignal<TestStore>.handles(request) else { return nil }
                return .answer(.answer(status, "<html>nothing is here</html>"))
            }
            try await client.client.start([SyncSubscription("TodoItem")])
            try await scene.virtual.sleep(.seconds(3_590))
            #expect(client.transport.signalRequests.count == 1)
            #expect((59...61).contains(client.transport.requests.count), "\(client.transport.requests.count)")
            client.client.syncNow()
            try await scene.virtual.sleep(.seconds(5))
            #expect(client.transport.signalRequests.count == 2)
            // The server is updated.
            client.transport.inspect(nil)
            client.client.syncNow()
            try await scene.virtual.sleep(.seconds(10))
            #expect(client.transport.signalRequests.count > 2)
            try scene.write("a", "a")
            try await scene.virtual.sleep(.milliseconds(1_200))
            #expect(try client.texts() == ["a"])
            #expect(!record.kinds.contains("failing") && !record.kinds.contains("offline"))
        }
    }

    @Test("S1 an app can turn the signal off; without subscriptions it is not asked for")
    func off() throws {
        try run { scene, client in
            try await client.client.start([Self.never], settings: SyncSettings(listensToServer: false))
            try await scene.virtual.sleep(.seconds(600))
            await client.client.stop()
            try await client.client.start([])
            try await scene.virtual.sleep(.seconds(600))
            #expect(client.transport.signalRequests.isEmpty)
        }
    }

    @Test("S1 requests that are cut off while they wait lose no change, and become shorter")
    func cut() throws {
        try run { scene, client in
            // A proxy that ends each request after 20 s.
            client.transport.inspect { request, _ in
                guard Self.waits(request, longerThan: 20) else { return nil }
                try? await scene.virtual.sleep(.seconds(20))
                return .loseRequest
            }
            try await client.client.start([Self.never])
            for number in 0..<20 {
                try await scene.virtual.sleep(.seconds(7))
                try scene.write("\(number)", "\(number)")
            }
            // The longest delay is that of the first retry and of a request that is cut.
            try await scene.virtual.sleep(.seconds(25))
            #expect(try client.texts().count == 20)
            #expect(client.transport.signalRequests.last?.hasSuffix("wait=12") == true)
        }
    }

    @Test("S1 the end of a request long after its time limit, such as of a phone that slept, makes no other shorter")
    func suspension() throws {
        try run { scene, client in
            try await client.client.start([Self.never])
            try await scene.virtual.sleep(.seconds(60))
            let isSuspended = SharedValue(true)
            client.transport.inspect { request, _ in
                guard ChangeSignal<TestStore>.handles(request), isSuspended.value else { return nil }
                isSuspended.value = false
                try? await scene.virtual.sleep(.seconds(600))
                return .loseRequest
            }
            client.transport.clear()
            try await scene.virtual.sleep(.seconds(800))
            let requests = client.transport.signalRequests
            #expect(!isSuspended.value && requests.count > 2)
            #expect(requests.allSatisfy { $0.hasSuffix("wait=50") }, "\(requests)")
        }
    }

    @Test("S3 a server that is down is asked with increasing delays, and continues from the cursor")
    func down() throws {
        try run { scene, client in
            try await client.client.start([Self.never, SyncSubscription("Note", interval: nil)])
            try await scene.virtual.sleep(.seconds(70))
            let isDown = SharedValue(true)
            client.transport.inspect { request, _ in isDown.value ? .loseRequest : nil }
            try await scene.virtual.sleep(.seconds(51))
            client.transport.clear()
            try scene.write("a", "a")
            try await scene.virtual.sleep(.seconds(3_600))
            #expect(
                (14...30).contains(client.transport.signalRequests.count), "\(client.transport.signalRequests.count)")
            #expect(client.transport.requests.isEmpty)
            isDown.value = false
            try await scene.virtual.sleep(.seconds(300))
            #expect(try client.texts() == ["a"])
            // The table that has not changed is not pulled.
            #expect(!client.transport.requests.contains { $0.contains("/tables/Note") }, "\(client.transport.requests)")
        }
    }

    @Test("S3 the server's Retry-After is obeyed")
    func retryAfter() throws {
        try run { scene, client in
            client.transport.inspect { request, _ in
                guard ChangeSignal<TestStore>.handles(request) else { return nil }
                var answer = TransportResponse.answer(503, "")
                answer.response.headerFields[.retryAfter] = "100"
                return .answer(answer)
            }
            try await client.client.start([Self.never])
            try await scene.virtual.sleep(.seconds(99))
            #expect(client.transport.signalRequests.count == 1)
            try await scene.virtual.sleep(.seconds(2))
            #expect(client.transport.signalRequests.count == 2)
        }
    }

    @Test("S1 a server that answers at once, without changes, is asked once a second")
    func hasty() throws {
        try run(maximumWait: .zero) { scene, client in
            try await client.client.start([Self.never])
            try await scene.virtual.sleep(.seconds(100))
            #expect(
                (90...102).contains(client.transport.signalRequests.count), "\(client.transport.signalRequests.count)")
            #expect(client.transport.requests.count <= 3)
        }
    }

    @Test("S1 the stop of a sync does not wait for the server")
    func stop() throws {
        try run { scene, client in
            try await client.client.start([Self.never])
            try await scene.virtual.sleep(.seconds(10))
            #expect(scene.signal.waitingClientCount == 1)
            let time = scene.virtual.executor.now
            await client.client.stop()
            #expect(scene.virtual.executor.now == time)
            try await scene.virtual.sleep(.seconds(1))
            #expect(scene.signal.waitingClientCount == 0)
        }
    }

    @Test("S1 pushes are not held back by a request that waits, and do not hold it back")
    func besidePushes() throws {
        try run { scene, client in
            try await client.client.start([Self.never])
            try await scene.virtual.sleep(.seconds(10))
            scene.virtual.delay(client, by: .seconds(5)) { $0.method == .post }
            try await client.client.transaction { transaction in
                for number in 0..<8 { try transaction.insert(["id": .string("\(number)")], into: "TodoItem") }
            }
            try await scene.virtual.sleep(.seconds(5.5))
            #expect(try await client.queue().isEmpty)
        }
    }

    @Test("S1 other subscriptions change the request that waits, at once")
    func otherSubscriptions() throws {
        try run { scene, client in
            try await client.client.start([])
            try await scene.virtual.sleep(.seconds(10))
            let note = SyncSubscription("Note", interval: nil)
            try await client.client.updateSubscriptions([Self.never])
            try await scene.virtual.sleep(.seconds(3))
            try await client.client.updateSubscriptions([Self.never, note])
            try await scene.virtual.sleep(.seconds(3))
            try scene.write("n", "n", into: "Note")
            try await scene.virtual.sleep(.milliseconds(10))
            #expect(try client.store.read { try $0.row(in: "Note", id: "n") } != nil)
            client.transport.clear()
            try await client.client.updateSubscriptions([note])
            try await scene.virtual.sleep(.seconds(3))
            #expect(client.transport.signalRequests.allSatisfy { $0.hasPrefix("GET /.changes?tables=Note&") })
            #expect(client.transport.signalRequests.count == 2, "\(client.transport.signalRequests)")
        }
    }

    @Test("S1 a table that the server does not have leaves the signals of the others as they are, until it exists")
    func unknownTable() throws {
        try run { scene, client in
            let later = TableSchema("Later", columns: [.string("text")])
            try await client.client.define([later])
            try await client.client.start([SyncSubscription("Later", interval: nil), Self.never])
            try await scene.virtual.sleep(.seconds(10))
            try scene.write("a", "a")
            try await scene.virtual.sleep(.milliseconds(1_200))
            #expect(try client.texts() == ["a"])
            try scene.write("l", "l", into: "Later")
            // The table is asked for again after the next wait; its pull has its own retries.
            try await scene.virtual.sleep(.seconds(400))
            #expect(try client.store.read { try $0.row(in: "Later", id: "l") } != nil)
            client.transport.clear()
            try scene.write("m", "m", into: "Later")
            try await scene.virtual.sleep(.milliseconds(1_200))
            #expect(try client.store.read { try $0.row(in: "Later", id: "m") } != nil)
        }
    }

    @Test("S1 a cursor that the server refuses is dropped")
    func refusedCursor() throws {
        try run { scene, client in
            let refuses = SharedValue(false)
            client.transport.inspect { request, _ in
                guard refuses.value, request.path?.contains("since=") == true else { return nil }
                return .answer(.answer(400, #"{"error":"not a cursor"}"#))
            }
            try await client.client.start([Self.never])
            try await scene.virtual.sleep(.seconds(10))
            refuses.value = true
            client.transport.clear()
            try await scene.virtual.sleep(.seconds(55))
            #expect(client.transport.signalRequests.contains { !$0.contains("since=") })
            refuses.value = false
            try scene.write("a", "a")
            try await scene.virtual.sleep(.seconds(20))
            #expect(try client.texts() == ["a"])
        }
    }
}
