import HTTPTypes
import Testing
import TidelineStore
import TidelineTestStores
import TidelineTestSupport

@testable import Tideline

/// Something between the app and the service that answers in place of the service.
struct Impostor: Sendable, CustomTestStringConvertible {
    var status: Int
    var body = ""
    var headers: HTTPFields = [:]

    var testDescription: String { "\(status) \(body.prefix(24))" }
    var answer: TransportResponse { .unmarked(status, body, headers: headers) }

    static let page =
        "<!DOCTYPE html><html><head><title>Free Wi-Fi</title></head><body>Please accept the terms</body></html>"
    private static let noRoute = #"{"message":"no Route matched with those values"}"#

    static let all: [Impostor] =
        [400, 403, 404, 405, 407, 409, 410, 412, 421, 451, 502, 504, 511, 520, 524].map {
            Impostor(status: $0, body: page)
        }
        + [403, 404, 409, 410, 412, 422].flatMap { status in
            ["", "Not here", noRoute].map { Impostor(status: status, body: $0) }
        }
        + [301, 302, 307, 308].map {
            Impostor(status: $0, headers: [.location: "https://portal.test/login?token=secret"])
        }
        + [page, "OK", #"{"status":"maintenance"}"#].map { Impostor(status: 200, body: $0) }
}

/// Rules T1 to T4: who gave a response.
@Suite("Trust", .bothDialects, .releasesClients)
struct TrustTests {
    /// Pushes while something else answers, and checks that the push ended as one that did not reach the server.
    private func expectUnreachable(_ client: Client, _ impostor: Impostor) async throws {
        client.transport.clear()
        client.transport.inspect { _, _ in .answer(impostor.answer) }
        #expect(await syncErrorCode { try await client.context.push() } == .network)
        #expect(try await client.context.operationErrors().isEmpty)
        let lookUps = client.transport.requests.count { $0.hasPrefix("GET") }
        // A transient response is asked for again.
        #expect(lookUps <= ([502, 504].contains(impostor.status) ? 8 : 1), "\(client.transport.requests)")
        client.transport.inspect(nil)
    }

    @Test("T1 deletes stay pending behind a gateway, and are sent after it", arguments: StoreKind.perEngine)
    func deletes(_ stores: StoreKind) async throws {
        let (world, client) = try await World.withClient(stores)
        for id in ["a", "b", "c"] { try await client.items.insert(["id": .string(id), "text": "one"]) }
        try await client.context.push()
        for id in ["a", "b", "c"] { try await client.items.delete(id: id) }
        for impostor in Impostor.all {
            try await expectUnreachable(client, impostor)
            #expect(try await client.queue() == ["delete a", "delete b", "delete c"], "\(impostor.testDescription)")
        }
        try await client.context.push()
        #expect(try await client.queue().isEmpty)
        #expect(try world.serverTexts() == [])
    }

    @Test(
        "T1 edits behind a gateway remove no row and lead to no decision, whatever the policy",
        arguments: [ConflictPolicy.manual, .serverWins, .clientWins, .merge()])
    func edits(_ policy: ConflictPolicy) async throws {
        let (world, client) = try await World.withSyncedClient(.simplest) { $0.conflictPolicy = policy }
        try await client.items.update(["id": "a", "text": "mine"])
        try await client.items.insert(["id": "b", "text": "new"])
        for impostor in Impostor.all {
            try await expectUnreachable(client, impostor)
            let state = "local [a=mine, b=new] queue [update a, insert b] server [a=one]"
            #expect(try world.state(client) == state, "\(impostor.testDescription)")
            #expect(try await client.client.decisions().isEmpty)
        }
        try await client.context.push()
        #expect(try world.state(client) == "local [a=mine, b=new] queue [] server [a=mine, b=new]")
    }

    @Test("T2 a pull behind a gateway changes nothing, and the next one continues")
    func pulls() async throws {
        let (world, client) = try await World.withSyncedClient(.simplest)
        try await client.items.pull(queryID: "all")
        try await world.updateElsewhere().pushInsert(["id": "b", "text": "new"])
        for impostor in Impostor.all {
            client.transport.inspect { _, _ in .answer(impostor.answer) }
            let code = await syncErrorCode { try await client.items.pull(queryID: "all") }
            #expect(code == .network, "\(impostor.testDescription)")
            #expect(try client.texts() == ["one"])
        }
        client.transport.inspect(nil)
        try await client.items.pull(queryID: "all")
        #expect(try client.texts() == ["new", "theirs"])
    }

    static let scripts: [Script] = [
        Script(
            "T3 a service without the table for a while loses and rejects nothing",
            #"delete a; insert b=new; answer 404 '{"error":"there is no table"}'; push errors serverFailed serverFailed"#,
            "error says='no table'; queue [delete a, insert b]; push; local [b=new] queue [] server [a deleted, b=new]"),
        Script(
            "T1 a row that the service lists is not gone, whatever a response to it says",
            "delete a; on change impose 404; push errors rejected; queue [delete a]; server [a=one]"),
    ]

    /// Successes of something else that intercepts only what changes rows.
    static let successes: [Script] =
        allPairs(
            [("update a=mine", "a=mine"), ("insert b=mine", "a=one, b=mine"), ("delete a", "a deleted")],
            ["", "{}", #"{"id":"req-17","status":"accepted"}"#]
        ).map { edit, body in
            Script(
                "T1 a success is not believed if the row does not show the change: \(edit.0), '\(body)'",
                "\(edit.0); on change impose 200 \(body); push fails network; errors []; server [a=one]",
                "push; queue []; server [\(edit.1)]")
        } + [
            Script(
                "P10 a response with the row but without its version is believed if the server has a newer version",
                #"update a=mine; on update carry out 200 {"id":"a"}; on get meanwhile other update a=theirs; push"#,
                "both a text=theirs; queue []")
        ]

    static let unseen: [Script] = [
        Script(
            "T1 a success is not believed if the row shows a change of others",
            "other update a=theirs; update a=mine; on change impose 200; push fails network",
            "local [a=mine] queue [update a] server [a=theirs]; push errors conflict"),
        Script(
            "T1 a success is not believed if the row with the identifier is of others",
            "other insert b=theirs; insert b=mine; on change impose 200; push fails network; queue [insert b]",
            "push errors conflict"),
        Script(
            "T1 a success is not believed if the row, which has no version, does not show the change",
            "empty; plant a@0 text=one version=null; pull; update a=mine; on change impose 200; push fails network",
            "local [a=mine] queue [update a]; push; remote a text=mine"),
    ]

    /// A row that the service has, but does not show for a while. Its stamp is older than the look-back.
    static let hidden: [Script] =
        [("push errors conflict; discard", ConflictPolicy.manual), ("push", .serverWins)].map {
            push, policy in
            Script(
                "T4 a row that was removed because the service did not show it comes back: \(policy.name)",
                "clock 600; insert b=new; push; pull q; update a=mine; erase a; \(push); texts [new]",
                "plant a@0 text=back; pull q; texts [back, new]; result stored=1 writes=2",
                "pull q; result requests=1 stored=0"
            ).with { $0.conflictPolicy = policy }
        } + [
            Script(
                "T4 a row that stays hidden is requested once",
                "clock 600; insert b=new; push; pull q; update a=mine; erase a; push errors conflict; discard; clear",
                "pull q; requests 2; result stored=0; texts [new]; clear; pull q; requests 1; tokens [q]")
        ]

    static let unchanged: [Script] = allPairs(
        [409, 412], [ConflictPolicy.manual, .serverWins, .clientWins, .merge()]
    ).map { status, policy in
        Script(
            "T1 a conflict is not believed if the look-up shows that the row has not changed: \(status), \(policy.name)",
            #"update a=mine; on change impose \#(status) {"error":"busy"}; push errors rejected"#,
            "local [a=mine] queue [update a] server [a=one]; push; server [a=mine]"
        ).with { $0.conflictPolicy = policy }
    }

    @Test(
        "T1, T3, T4 what is not the service's verdict changes nothing",
        arguments: scripts + successes + unseen + hidden + unchanged)
    func plays(_ script: Script) async throws { try await script.play(.simplest) }

    @Test("T1 a response of something else decides nothing if the look-up fails", arguments: [409, 410, 412, 422])
    func failedLookUp(_ status: Int) async throws {
        let (world, client) = try await World.withSyncedClient(.simplest)
        try await client.items.insert(["id": "b", "text": "new"])
        try await client.items.update(["id": "a", "text": "mine"])
        for impostor in Impostor.all where impostor.status == status {
            client.transport.inspect { request, _ in .answer(request.method == .get ? .answer(500) : impostor.answer) }
            _ = try? await client.context.push()
            let codes = try await client.context.operationErrors().map(\.code)
            #expect(codes.allSatisfy { $0 == .serverFailed }, "\(impostor.testDescription): \(codes)")
        }
        client.transport.inspect(nil)
        try await client.context.push()
        #expect(try world.state(client) == "local [a=mine, b=new] queue [] server [a=mine, b=new]")
    }

    @Test("T1 a refusal without a mark is the service's if the service is there, after one look-up")
    func refusals() async throws {
        let (_, client) = try await World.withClient(.simplest)
        for id in ["a", "b", "c"] { try await client.items.insert(["id": .string(id), "text": "one"]) }
        client.transport.inspect { request, _ in request.method == .get ? nil : .answer(.unmarked(422, "blocked")) }
        #expect(try await pushErrors(client).map(\.code) == [.rejected, .rejected, .rejected])
        #expect(client.transport.requests.count { $0.hasPrefix("GET") } == 1)
    }

    @Test("T1 a portal that appears after the look-up of a push rejects nothing")
    func portalDuringPush() async throws {
        let (world, client) = try await World.withClient(.simplest)
        for id in ["a", "b", "c"] { try await client.items.insert(["id": .string(id), "text": .string(id)]) }
        let hasPortal = SharedValue(false)
        client.transport.inspect { request, _ in
            if hasPortal.value { return .answer(.unmarked(403, Impostor.page)) }
            hasPortal.value = request.method == .get
            return request.method == .get ? nil : .answer(.unmarked(422, "blocked"))
        }
        let code = await syncErrorCode { try await client.context.push(settings: PushSettings(maxInFlight: 1)) }
        #expect(code == .network)
        #expect(try await client.context.operationErrors().map(\.itemID) == ["a"])
        client.transport.inspect(nil)
        try await client.context.push()
        #expect(try world.serverTexts().sorted() == ["a", "b", "c"])
    }

    @Test("T2 the message says what answered, without the words of a page")
    func messages() async throws {
        let (_, client) = try await World.withSyncedClient(.simplest)
        try await client.items.delete(id: "a")
        func message(_ answer: TransportResponse) async throws -> String {
            client.transport.inspect { _, _ in .answer(answer) }
            let error = await #expect(throws: SyncError.self) { try await client.context.push() }
            return try #require(error).message
        }
        let page = try await message(.unmarked(200, Impostor.page))
        #expect(
            page == """
                a web page titled "Free Wi-Fi" answered instead of the service at http://server.test (HTTP 200): a sign-in \
                page of the network, or a wrong address
                """)
        let moved = try await message(.unmarked(301, headers: [.location: "https://server.test/tables/TodoItem/a"]))
        #expect(moved.contains(#"a redirect to "https://server.test/tables/TodoItem/a""#))
        #expect(moved.contains("use the new address"))
        let plain = try await message(
            .unmarked(400, "<html><title>400 The plain HTTP request was sent to HTTPS port</title>"))
        #expect(plain.contains("the server speaks TLS: try https://server.test"))
        let gateway = try await message(.unmarked(404, #"{"message":"no Route matched"}"#))
        #expect(gateway.contains("something else than the service at http://server.test answered (HTTP 404 Not Found)"))
        let failing = try await message(.unmarked(503, Impostor.page))
        #expect(failing.contains(#"HTTP 503 Service Unavailable, with a web page titled "Free Wi-Fi""#))
        for text in [page, failing] { #expect(!text.contains("terms")) }
    }
}

/// Rules T1, S8, and S9 in a sync that runs itself.
@Suite("Trust: a sync that runs itself", .timeLimit(.minutes(15)), .releasesClients)
struct TrustedSyncTests {
    @Test("T2 ten seconds behind a sign-in page lose nothing, and all arrives by itself", arguments: Impostor.all)
    func portal(_ impostor: Impostor) throws {
        try VirtualWorld.run { virtual, client in
            try await client.items.insert(["id": "a", "text": "one"])
            try await client.items.insert(["id": "b", "text": "two"])
            try await client.client.start([SyncSubscription("TodoItem")])
            try await virtual.sleep(.seconds(2))
            client.transport.inspect { _, _ in .answer(impostor.answer) }
            try await client.items.update(["id": "a", "text": "edited"])
            try await client.items.delete(id: "b")
            try await client.items.insert(["id": "c", "text": "new"])
            try await virtual.sleep(.seconds(10))
            #expect(client.statusKind == "offline")
            client.transport.inspect(nil)
            try await virtual.sleep(.seconds(60))
            #expect(
                try virtual.world.state(client)
                    == "local [a=edited, c=new] queue [] server [a=edited, b deleted, c=new]")
            #expect(try await client.context.operationErrors().isEmpty)
        }
    }

    @Test("S8 a refresh that fails offline signs nobody out")
    func refresh() throws {
        let isOffline = SharedValue(true)
        let configure: @Sendable (inout SyncOptions) -> Void = { options in
            options.authorization = { _ in
                if isOffline.value { throw TransportError(.connection, "the token service cannot be reached") }
                return HTTPField(name: .zumoAuth, value: "fresh")
            }
        }
        try VirtualWorld.run(configure: configure) { virtual, client in
            try await client.items.insert(["id": "a", "text": "one"])
            try await client.client.start([])
            try await virtual.sleep(.seconds(10))
            #expect(client.statusKind == "offline")
            isOffline.value = false
            try await virtual.sleep(.seconds(60))
            #expect(try virtual.world.serverTexts() == ["one"])
        }
    }

    @Test("S9 an operation that was rejected is sent again after a restart, and a table that is missing for a minute")
    func rejected() throws {
        try VirtualWorld.run { virtual, client in
            try await client.items.insert(["id": "a", "text": "one"])
            client.transport.inspect { _, _ in .answer(.answer(403, #"{"error":"not now"}"#)) }
            try await client.client.start([])
            try await virtual.sleep(.seconds(10))
            #expect(client.client.status == .needsAttention(operationErrors: 1))
            await client.client.stop()
            client.transport.inspect(nil)
            try await client.client.start([])
            try await virtual.sleep(.seconds(10))
            #expect(try virtual.world.serverTexts() == ["one"])

            client.transport.inspect { _, _ in .answer(.answer(404, #"{"error":"there is no table"}"#)) }
            try await client.items.insert(["id": "b", "text": "two"])
            try await virtual.sleep(.seconds(120))
            client.transport.inspect(nil)
            try await virtual.sleep(.seconds(300))
            #expect(try virtual.world.serverTexts() == ["one", "two"])
        }
    }
}
