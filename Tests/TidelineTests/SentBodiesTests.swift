import Synchronization
import Testing
import TidelineStore
import TidelineTestStores

@testable import Tideline

/// The stored bodies of requests: only those with an unknown outcome, and only as much as recognition needs.
@Suite("Sent bodies", .timeLimit(.minutes(15)), .releasesClients, .bothDialects)
struct SentBodiesTests {
    private func sent(_ client: Client) async throws -> [String] {
        try await client.context.pendingOperations().flatMap(\.sent)
    }

    private func lose(_ client: Client, _ fault: FaultyTransport<TestStore>.Fault) async {
        client.transport.inspect { _, _ in fault }
        #expect(await syncErrorCode { try await client.context.push() } == .network)
        client.transport.inspect(nil)
    }

    @Test("P6 the number of kept bodies is bounded, and the newest is still recognized", arguments: StoreKind.perEngine)
    func bounded(_ stores: StoreKind) async throws {
        let world = try World(stores)
        let client = try await world.makeSyncedClient()
        for number in 1...20 {
            try await client.items.update(["id": "a", "text": .string("edit \(number)")])
            await lose(client, number == 20 ? .loseAnswer : .loseRequest)
        }
        #expect(try await sent(client).count == TableOperation.maximumSent)
        try await client.context.push()
        #expect(try world.state(client) == "local [a=edit 20] queue [] server [a=edit 20]")
    }

    @Test(
        "P6 a body is kept if it alone names a column, so that a value it may have written is cleared",
        arguments: StoreKind.perEngine)
    func keepsColumns(_ stores: StoreKind) async throws {
        let world = try World(stores)
        let client = try await world.makeClient()
        try await client.items.insert(["id": "b", "text": "b", "priority": 7])
        await lose(client, .loseAnswer)
        try await client.items.update(["id": "b", "priority": .null])
        for number in 1...12 {
            try await client.items.update(["id": "b", "effort": .double(Double(number))])
            await lose(client, .loseRequest)
        }
        try await client.items.update(["id": "b", "effort": .null])
        try await client.context.push()
        let server = try #require(try world.serverRow("b"))
        #expect(server["priority"]?.isNull ?? true)
        #expect(server["effort"]?.isNull ?? true)
    }

    @Test(
        "P1 a refused body is removed: the next one names only the differences", .zumoOnly,
        arguments: StoreKind.perEngine,
        [400, 403, 422])
    func refused(_ stores: StoreKind, status: Int) async throws {
        let client = try await World(stores).makeSyncedClient()
        try await client.items.update(["id": "a", "text": "bad"])
        client.transport.inspect { _, _ in .answer(.answer(status)) }
        #expect(try await pushErrors(client).map(\.status) == [status])
        #expect(try await sent(client).isEmpty)
        try await client.items.update(["id": "a", "text": "one", "priority": 2])
        let bodies = Mutex<[String]>([])
        client.transport.inspect { _, body in
            bodies.withLock { $0.append(body) }
            return nil
        }
        try await client.context.push()
        #expect(bodies.withLock { $0 }.count == 1)
        #expect(bodies.withLock { $0 }.allSatisfy { $0.contains("priority") && !$0.contains("text") })
    }

    @Test(
        "P6 a body that was refused after an attempt with an unknown outcome is kept", arguments: StoreKind.perEngine,
        [true, false])
    func refusedAfterLoss(_ stores: StoreKind, inOnePush: Bool) async throws {
        let world = try World(stores)
        let client = try await world.makeSyncedClient()
        try await client.items.update(["id": "a", "text": "two"])
        let first = Once()
        if inOnePush {
            // The server executes the request and answers 503; the next attempt is refused.
            client.transport.inspect { _, _ in
                first.first() ? .change { _ in .answer(503) as TransportResponse } : .answer(.answer(403))
            }
        } else {
            await lose(client, .loseAnswer)
            client.transport.inspect { _, _ in .answer(.answer(403)) }
        }
        #expect(try await pushErrors(client).map(\.status) == [403])
        #expect(try await sent(client).count == 1)
        client.transport.inspect(nil)
        try await client.context.push()
        #expect(try world.state(client) == "local [a=two] queue [] server [a=two]")
    }

    /// An answer that is a refusal, and whether the server may have applied the request nevertheless.
    enum Refusal: CaseIterable, Sendable {
        case badRequest, forbidden, unprocessable, redirect, notImplemented

        var status: Int {
            switch self {
            case .badRequest: 400
            case .forbidden: 403
            case .unprocessable: 422
            case .redirect: 302
            case .notImplemented: 501
            }
        }

        /// A redirect, or an error of 5xx, may be that of a proxy which has passed the request on.
        var isCertain: Bool { (400..<500).contains(status) }
    }

    @Test(
        "P6 a lone refusal tells that an insert was not carried out; an answer that may be a proxy's does not",
        arguments: StoreKind.perEngine, Refusal.allCases)
    func refusedInsert(_ stores: StoreKind, _ refusal: Refusal) async throws {
        let world = try World(stores)
        let client = try await world.makeSyncedClient()
        try await client.items.insert(["id": "b", "text": "new"])
        client.transport.inspect { _, _ in
            let answer = TransportResponse.answer(refusal.status)
            return refusal.isCertain ? .answer(answer) : .change { _ in answer }
        }
        #expect(try await pushErrors(client).map(\.code) == [.rejected])
        #expect(try await sent(client).count == (refusal.isCertain ? 0 : 1))
        client.transport.inspect(nil)
        try await client.items.delete(id: "b")
        #expect(try await client.queue() == (refusal.isCertain ? [] : ["delete b"]))
        try await client.context.push()
        let server = refusal.isCertain ? "[a=one]" : "[a=one, b deleted]"
        #expect(try world.state(client) == "local [a=one] queue [] server \(server)")
    }

    @Test(
        "P6 an insert that met a row of others was not carried out, so that its delete leaves that row alone",
        arguments: StoreKind.perEngine)
    func insertOverOther(_ stores: StoreKind) async throws {
        let world = try World(stores)
        let client = try await world.makeSyncedClient()
        let other = try await world.makeOther()
        try await other.items.insert(["id": "b", "text": "theirs"])
        try await other.context.push()
        try await client.items.insert(["id": "b", "text": "mine"])
        #expect(try await pushErrors(client).map(\.code) == [.conflict])
        #expect(try await sent(client).isEmpty)
        try await client.items.delete(id: "b")
        #expect(try await client.queue().isEmpty)
        try await client.items.pull()
        #expect(try world.state(client) == "local [a=one, b=theirs] queue [] server [a=one, b=theirs]")
    }

    @Test(
        "P6 JSON is compared by content, and true is not 1",
        arguments: [
            ("[true]", "[1]", false), ("[false]", "[0]", false), (#"{"a":true}"#, #"{"a":1}"#, false),
            ("[1]", "[1.0]", true), ("[1]", "[\"1\"]", false), ("[null]", "[]", false), ("[null]", "[null ]", true),
            (#"{"a":1,"b":[2]}"#, #"{ "b":[2], "a":1 }"#, true), ("[1,2]", "[2,1]", false),
            ("[9007199254740993]", "[9007199254740992]", false), ("[true]", "[ true ]", true),
        ])
    func json(server: String, sent: String, isSame: Bool) {
        let codec = RowCodec(schema: World.schema)
        #expect(codec.shows(["tags": .json(server)], ["tags": .json(sent)]) == isSame)
    }
}
