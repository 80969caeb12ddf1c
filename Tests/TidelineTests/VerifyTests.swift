import Testing
import TidelineStore
import TidelineTestStores

@testable import Tideline

/// The comparison of local rows with the server's, and their repair.
@Suite("Verification of tables", .bothDialects, .releasesClients)
struct VerifyTests {
    /// Makes a client with the rows `a` to `d`. The server then changes `a`, loses `b`, and gets `n`, with old stamps.
    private func makeDrifted(_ stores: StoreKind) async throws -> (World, Client) {
        let (world, client) = try await World.withClient(stores)
        try world.plant("a", "b", "c", "d", at: 10_000)
        world.clock.advance(by: .seconds(60))
        try await client.items.pull(queryID: "all")
        try world.plant([World.row("a", at: 5, text: "imported").merging(["priority": 1])])
        try world.plant("n", at: 5)
        try world.remove("b")
        try await client.items.pull(queryID: "all")
        #expect(try client.texts() == ["a", "b", "c", "d"])
        client.transport.clear()
        return (world, client)
    }

    @Test("Rows imported with old timestamps are found and repaired", arguments: StoreKind.perEngine, [1000, 1])
    func repair(_ stores: StoreKind, pageSize: Int) async throws {
        let (world, client) = try await makeDrifted(stores)
        let settings = PullSettings(pageSize: pageSize)
        let found = try await client.client.verify(TableQuery("TodoItem"), settings: settings)
        let expected = TableComparison(
            serverRows: 4, localRows: 4, missing: ["n"], onlyLocal: ["b"], different: ["a"], pending: [])
        #expect(found == expected && found.hasDifferences)
        #expect(try client.texts() == ["a", "b", "c", "d"])
        let token = try client.store.tokens()
        let repair = try await client.client.repair(TableQuery("TodoItem"), settings: settings)
        #expect(repair.comparison == expected && repair.skipped.isEmpty)
        #expect(repair.rowsStored == 2 && repair.rowsRemoved == 1)
        #expect(try client.store.versions() == world.serverVersions())
        #expect(try client.texts() == ["c", "d", "imported", "n"])
        #expect(try client.store.tokens() == token)
        #expect(try await client.queue().isEmpty)
        #expect(try await client.items.verify().hasDifferences == false)
    }

    /// Makes a client that has pulled the rows `a` and `b`.
    private func makePulled(_ stores: StoreKind) async throws -> Client {
        let (world, client) = try await World.withClient(stores)
        try world.plant("a", "b", at: 0)
        try await client.items.pull(queryID: "all")
        client.transport.clear()
        return client
    }

    @Test("A table in sync is verified with one request and no write", arguments: StoreKind.perEngine)
    func equal(_ stores: StoreKind) async throws {
        let client = try await makePulled(stores)
        #expect(try await client.items.verify() == TableComparison(serverRows: 2, localRows: 2))
        #expect(client.transport.requests.count == 1)
    }

    @Test("Rows with pending operations are listed apart, and a repair leaves them", arguments: StoreKind.perEngine)
    func pending(_ stores: StoreKind) async throws {
        let (_, client) = try await makeDrifted(stores)
        try await client.items.update(["id": "a", "text": "edited"])
        try await client.items.update(["id": "b", "text": "edited b"])
        try await client.items.delete(id: "c")
        try await client.items.insert(["id": "m", "text": "mine"])
        let repair = try await client.items.repair()
        #expect(
            repair.comparison
                == TableComparison(
                    serverRows: 4, localRows: 4, missing: ["n"], onlyLocal: [], different: [],
                    pending: ["b", "m", "a", "c"]))
        #expect(repair.skipped == ["b", "m", "a", "c"])
        #expect(repair.rowsStored == 1 && repair.rowsRemoved == 0)
        #expect(try client.texts() == ["d", "edited", "edited b", "mine", "n"])
        #expect(try await client.queue() == ["update a", "update b", "delete c", "insert m"])
    }

    @Test("A filtered verification compares the rows of the filter only", arguments: StoreKind.perEngine)
    func filtered(_ stores: StoreKind) async throws {
        let (world, client) = try await makeDrifted(stores)
        try world.plant("d", at: 5, priority: 2)
        try world.plant("o", at: 5, priority: 2)
        try await client.items.resetPullToken()
        let repair = try await client.items.repair(World.mine)
        #expect(
            repair.comparison
                == TableComparison(
                    serverRows: 3, localRows: 4, missing: ["n"], onlyLocal: ["b", "d"], different: ["a"], pending: []))
        #expect(try client.texts() == ["c", "imported", "n"])
    }

    @Test("A row that is pushed during a verification is not reported", arguments: StoreKind.perEngine)
    func pushedMeanwhile(_ stores: StoreKind) async throws {
        let client = try await makePulled(stores)
        client.transport.inspect { request, _ in
            guard request.isList, !request.isLookUp else { return nil }
            return .delay {
                try await client.items.update(["id": "a", "text": "edited"])
                try await client.items.delete(id: "b")
                try await client.pushInsert(["id": "n", "text": "new"])
            }
        }
        #expect(try await client.items.verify().hasDifferences == false)
    }

    @Test("A repair changes nothing if something else than the service answers")
    func impostors() async throws {
        let (_, client) = try await makeDrifted(.simplest)
        let before = try client.store.versions()
        for impostor in Impostor.all + [Impostor(status: 200, body: "[]"), Impostor(status: 500)] {
            client.transport.inspect { request, _ in request.isList ? .answer(impostor.answer) : nil }
            #expect(await syncErrorCode { try await client.items.repair() } != nil, "\(impostor.testDescription)")
            #expect(try client.store.versions() == before)
        }
    }

    @Test("Many rows are repaired in requests that are not too long", arguments: [8_000, 600])
    func manyRows(_ length: Int) async throws {
        let (world, client) = try await World.withClient(.simplest) { $0.maximumURLLength = length }
        for number in 0..<250 { try world.plant("\(number)" + String(repeating: "x", count: 40), at: 0) }
        let repair = try await client.items.repair(World.mine)
        #expect(repair.rowsStored == 250 && repair.comparison.missing.count == 250)
        #expect(try client.store.versions() == world.serverVersions())
        #expect(client.transport.requests.allSatisfy { $0.utf8.count <= length + 5 })
    }
}
