import Testing
import TidelineTestStores

@testable import Tideline

/// Rule F13: lists that are not the service's, or that are flawed, remove no row.
@Suite("Lists of rows that leave a pull", .bothDialects, .releasesClients)
struct LeaverTrustTests {
    private static let emptyAnswers: [Impostor] = [
        "[]", #"{"items":[]}"#, #"{"results":[]}"#, #"{"items":[],"count":-1}"#,
    ]
    .map { Impostor(status: 200, body: $0) }

    @Test("F13 T1 no answer of anything but the service removes a row", arguments: [0, 1, 2])
    func impostors(at position: Int) async throws {
        let (world, client) = try await World.withPulled(.simplest)
        try world.plant("d", "e", at: 0)
        try await client.items.resetPullToken()
        try await client.pullMine(every: nil)
        try world.remove("b")
        let token = try client.store.tokens()
        let other = Impostor(status: 404, body: #"{"error":"there is no table"}"#)
        for impostor in Impostor.all + Self.emptyAnswers + [other, Impostor(status: 500), Impostor(status: 503)] {
            client.transport.inspect { request, _ in
                let isMet =
                    switch position {
                    case 0: request.isList && !request.isLookUp
                    case 1: request.isList && request.target.contains("id gt")
                    default: request.isLookUp
                    }
                return isMet ? .answer(impostor.answer) : nil
            }
            let code = await syncErrorCode { try await client.pullMine(every: .seconds(60), pageSize: 2) }
            #expect(code != nil, "\(impostor.testDescription)")
            #expect(try client.texts() == ["a", "b", "c", "d", "e"], "\(impostor.testDescription)")
            #expect(try client.store.tokens() == token)
        }
        client.transport.inspect(nil)
        #expect(try await client.pullMine(every: .seconds(60), pageSize: 2).leaversRemoved == 1)
    }

    @Test("F13 a list that the server does not count removes nothing, and the error says so")
    func uncounted() async throws {
        let (world, client) = try await World.withPulled(.simplest)
        try world.remove("b")
        client.transport.inspect { request, _ in
            request.isList ? .change { $0.replacing("\"count\"", with: "\"total\"") } : nil
        }
        await expectSyncError(.invalidAnswer, table: "TodoItem", says: "count") { try await client.pullMine() }
        #expect(try client.texts() == ["a", "b", "c"])
    }

    @Test("F13 a list whose pages are cut or out of order removes no row that the server has", arguments: [1, 2])
    func flawedPages(_ rows: Int) async throws {
        let (_, client) = try await World.withPulled(.simplest)
        client.transport.inspect { request, _ in
            guard request.isList, !request.isLookUp else { return nil }
            return .instead(request.without("$orderby").limited(to: rows)) { $0 }
        }
        #expect(try await client.pullMine().leaversRemoved == 0)
        // The server has lost the beginning of its list.
        client.transport.inspect { request, _ in
            guard request.isList, !request.isLookUp else { return nil }
            var other = request
            other.path = request.path?.replacing("priority%20eq%201", with: "id%20ge%20'c'")
            return .instead(other) { $0 }
        }
        #expect(try await client.pullMine().leaversRemoved == 0)
        #expect(try client.texts() == ["a", "b", "c"])
    }

    @Test("F13 the service's empty list removes all rows, and the next pull is whole", arguments: StoreKind.perEngine)
    func emptied(_ stores: StoreKind) async throws {
        let (_, client) = try await World.withPulled(stores)
        client.transport.inspect { request, _ in request.isList ? .answer(.emptyList) : nil }
        #expect(try await client.pullMine().leaversRemoved == 3)
        #expect(try client.texts() == [])
        client.transport.inspect(nil)
        try await client.pullMine()
        #expect(try client.texts() == ["a", "b", "c"])
    }
}

/// Rule F13 in a custom dialect, whose lists have whole rows.
@Suite("Rows that leave a pull of a custom dialect", .releasesClients)
struct CustomLeaverTests {
    @Test("F13 a row that the server no longer lists leaves the device", arguments: StoreKind.perEngine)
    func leaves(_ stores: StoreKind) async throws {
        let world = NotesWorld(stores)
        for key in ["a", "b", "c"] { world.server.write(key, ["text": "one"]) }
        let client = try await world.makeClient()
        try await client.pull()
        world.server.forget("b")
        world.server.write("c", nil)
        world.server.write("d", ["text": "new"])
        let settings = PullSettings(pageSize: 1, removesLeavers: .zero)
        #expect(try await client.pull(settings).leaversRemoved == 1)
        #expect(try client.texts() == ["a": "one", "d": "new"])
        world.server.forget("a")
        for answer in [
            TransportResponse.answer(200, "[]"), .unmarked(200, Impostor.page), .unmarked(404), .unmarked(500),
        ] {
            world.server.inspect { request, _ in request.contains("after=0") ? .answer(answer) : nil }
            await #expect(throws: SyncError.self) { try await client.pull(settings) }
            #expect(try client.texts() == ["a": "one", "d": "new"])
        }
        world.server.inspect(nil)
        #expect(try await client.notes.repair().rowsRemoved == 1)
        #expect(try client.texts() == ["d": "new"])
    }
}
