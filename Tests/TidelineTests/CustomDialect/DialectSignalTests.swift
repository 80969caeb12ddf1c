import Testing
import TidelineTestStores

@testable import Tideline

/// The change signals of a dialect, over virtual time.
@Suite("Custom dialect: change signals")
struct DialectSignalTests {
    /// A notes server, a client, and the signals of its dialect.
    private struct Scene: Sendable {
        let virtual: VirtualWorld
        let world: NotesWorld
        let client: NotesClient
        /// The number of times that the signals were asked for.
        let calls: SharedValue<Int>
        /// The number of pulls so far.
        var pulls: Int { world.server.requests.count { $0.contains("/changes") } }
    }

    /// Starts a sync with a dialect that makes its signals at each call, and runs a scenario.
    private func run(
        _ subscription: SyncSubscription = DialectSignalTests.never,
        signals: @autoclosure @escaping @Sendable () -> ChangeSignals?,
        _ scenario: @escaping @Sendable (Scene) async throws -> Void
    ) throws {
        let virtual = try VirtualWorld(.simplest)
        try virtual.run {
            let world = NotesWorld(.simplest)
            let calls = SharedValue(0)
            var dialect = NotesVariant(name: "signaling")
            dialect.signals = {
                calls.update { $0 += 1 }
                return signals()
            }
            let client = try await world.makeClient(dialect: dialect) { options in
                virtual.configureEnvironment(&options.environment)
            }
            try await client.client.start([subscription])
            try await scenario(Scene(virtual: virtual, world: world, client: client, calls: calls))
            await client.client.stop()
        }
    }

    private static let never = SyncSubscription("Note", interval: nil)

    @Test("S1 a signal of the dialect leads to a pull; a flood of them to one a second")
    func flood() throws {
        let (names, continuation) = AsyncStream.makeStream(of: String.self)
        try run(signals: ChangeSignals(names)) { scene in
            try await scene.virtual.sleep(.seconds(5))
            scene.world.server.write("a", ["text": "one"])
            continuation.yield("Note")
            try await scene.virtual.sleep(.milliseconds(100))
            #expect(try scene.client.texts() == ["a": "one"])
            // Names of tables without a subscription are ignored.
            try await scene.virtual.sleep(.seconds(5))
            scene.world.server.clear()
            for name in ["Other", "", "note", "Note\u{0}"] { continuation.yield(name) }
            try await scene.virtual.sleep(.seconds(5))
            #expect(scene.pulls == 0)
            for _ in 0..<10_000 { continuation.yield("Note") }
            try await scene.virtual.sleep(.seconds(40))
            #expect((1...36).contains(scene.pulls), "\(scene.pulls)")
            #expect(scene.calls.value == 1)
        }
    }

    @Test("S1 the first signal of a sequence stands for all tables, so that no change before it is missed")
    func baseline() throws {
        let (names, continuation) = AsyncStream.makeStream(of: String.self)
        try run(signals: ChangeSignals(names)) { scene in
            try await scene.virtual.sleep(.seconds(5))
            for (id, texts) in [("a", ["a": "one"]), ("b", ["a": "one"])] {
                scene.world.server.write(id, ["text": "one"])
                continuation.yield("Other")
                try await scene.virtual.sleep(.seconds(5))
                #expect(try scene.client.texts() == texts)
            }
        }
    }

    @Test("S1 a signal that stalls leaves the intervals as they are, and ends with the sync")
    func stall() throws {
        let hasEnded = SharedValue(false)
        let (names, continuation) = AsyncStream.makeStream(of: String.self)
        continuation.onTermination = { _ in hasEnded.value = true }
        try run(SyncSubscription("Note"), signals: ChangeSignals(names)) { scene in
            try await scene.virtual.sleep(.seconds(3_600))
            #expect((58...61).contains(scene.pulls), "\(scene.pulls)")
            scene.world.server.write("a", ["text": "one"])
            try await scene.virtual.sleep(.seconds(61))
            #expect(try scene.client.texts() == ["a": "one"])
            await scene.client.client.stop()
            #expect(hasEnded.value && scene.client.client.status == .stopped)
        }
    }

    @Test(
        "S1 signals that end or throw at once are asked for with increasing delays, without more pulls",
        arguments: [false, true])
    func lies(throwing: Bool) throws {
        struct Lost: Error {}
        @Sendable func signals() -> ChangeSignals {
            ChangeSignals(AsyncThrowingStream<String, any Error> { $0.finish(throwing: throwing ? Lost() : nil) })
        }
        try run(SyncSubscription("Note"), signals: signals()) { scene in
            try await scene.client.notes.insert(["id": "a", "text": "one"])
            try await scene.virtual.sleep(.seconds(3_600))
            #expect((58...61).contains(scene.pulls), "\(scene.pulls)")
            // 0.75 s, doubled up to 225 s.
            #expect((20...30).contains(scene.calls.value), "\(scene.calls.value)")
            #expect(scene.world.server.fields("a") != nil)
        }
    }

    @Test("S1 a signal that repeats itself without a pause holds back nothing")
    func endless() throws {
        try run(signals: ChangeSignals(AsyncStream { "Note" })) { scene in
            try await scene.client.notes.insert(["id": "a", "text": "one"])
            try await scene.virtual.sleep(.seconds(30))
            #expect(scene.world.server.fields("a") != nil)
            #expect(scene.pulls <= 31)
        }
    }

    @Test("S1 signals that worked and are lost are listened to again, and the changes in the meantime are pulled")
    func reconnects() throws {
        let continuations = Recorder<AsyncStream<String>.Continuation>()
        @Sendable func signals() -> ChangeSignals {
            let (names, continuation) = AsyncStream.makeStream(of: String.self)
            continuations.add(continuation)
            return ChangeSignals(names)
        }
        try run(signals: signals()) { scene in
            try await scene.virtual.sleep(.seconds(120))
            scene.world.server.write("a", ["text": "one"])
            continuations.values.last?.finish()
            try await scene.virtual.sleep(.seconds(5))
            #expect(try scene.client.texts() == ["a": "one"])
            scene.world.server.write("b", ["text": "two"])
            continuations.values.last?.yield("Note")
            try await scene.virtual.sleep(.seconds(2))
            #expect(try scene.client.texts() == ["a": "one", "b": "two"])
        }
    }

    @Test("S1 a dialect can poll its server, with the tables of the current subscriptions and the user's token")
    func polling() throws {
        let virtual = try VirtualWorld(.simplest)
        let isDue = SharedValue(false)
        try virtual.run {
            let (world, client) = try await NotesWorld.withClient(.simplest) {
                virtual.configureEnvironment(&$0.environment)
            }
            client.client.currentUser = SignedInUser(userID: "u", authenticationToken: "secret")
            world.server.inspect { [weak server = world.server] request, _ in
                guard request.contains("poll") else { return nil }
                #expect(server?.headers.last?[.authorization] == "Bearer secret")
                while !isDue.value {
                    do { try await virtual.sleep(.seconds(1)) } catch { return .loseAnswer }
                }
                isDue.value = false
                return .answer(.answer(200, "Note"))
            }
            try await client.client.start([Self.never])
            try await virtual.sleep(.seconds(10))
            #expect(world.server.requests.filter { $0.contains("poll") } == ["GET /db/poll?tables=Note"])
            world.server.write("a", ["text": "one"])
            isDue.value = true
            try await virtual.sleep(.seconds(5))
            #expect(try client.texts() == ["a": "one"])
            try await client.client.updateSubscriptions([
                Self.never, SyncSubscription("Note", queryID: "b", interval: nil),
            ])
            isDue.value = true
            try await virtual.sleep(.seconds(5))
            #expect(world.server.requests.last { $0.contains("poll") } == "GET /db/poll?tables=Note")
            await client.client.stop()
            world.server.inspect(nil)
        }
    }
}
