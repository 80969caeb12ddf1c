import Testing
import TidelineStore
import TidelineTestStores

@testable import Tideline

/// Rules P12 and C3: two devices that wrote equal values have no conflict, and equal changes of counters add up.
@Suite("Equal values", .timeLimit(.minutes(15)), .releasesClients, .bothDialects)
struct EqualValueTests {
    private static let sum = ConflictPolicy.merge(["priority": .sum, "effort": .sum])

    /// Makes two clients that both have the row `a`, whose priority is 1.
    private func makeClients(
        _ world: World, _ policy: ConflictPolicy = .manual
    ) async throws -> (other: Client, client: Client) {
        let other = try await world.makeSyncedClient()
        let client = try await world.makeClient { $0.conflictPolicy = policy }
        try await client.items.pull()
        client.transport.clear()
        return (other, client)
    }

    private func push(_ row: Row, of client: Client) async throws {
        try await client.items.update(row)
        try await client.context.push()
    }

    // MARK: Counters

    @Test(
        "C3 sum adds equal differences", arguments: StoreKind.perEngine,
        [
            (["priority": 2], 3), (["priority": -1], -3), (["priority": 2, "text": "same"], 3),
            (["priority": 2, "text": "mine"], 3),
        ] as [(Row, Int)])
    func sums(_ stores: StoreKind, _ test: (edit: Row, sum: Int)) async throws {
        let world = try World(stores)
        let (other, client) = try await makeClients(world, Self.sum)
        var theirs = test.edit
        if theirs["text"] == "mine" { theirs["text"] = "theirs" }
        try await push(Row(id: "a").merging(theirs), of: other)
        try await push(Row(id: "a").merging(test.edit), of: client)
        for row in [try world.serverRow("a"), try client.row("a")] {
            #expect(row?["priority"] == .int(Int64(test.sum)))
        }
        #expect(try await client.queue().isEmpty)
        #expect(try await client.client.decisions().first?.rule.contains("priority: sum") == true)
    }

    @Test("C3 sum adds equal differences to a null base, and those of doubles", arguments: StoreKind.perEngine)
    func sumsOfDoubles(_ stores: StoreKind) async throws {
        let world = try World(stores)
        let (other, client) = try await makeClients(world, Self.sum)
        try await push(["id": "a", "effort": 0.5], of: other)
        try await push(["id": "a", "effort": 0.5], of: client)
        #expect(try world.serverRow("a")?["effort"] == 1.0)
    }

    @Test(
        "C3 sum takes an equal value for one change if the answer to an earlier request is lost",
        arguments: StoreKind.perEngine, [true, false])
    func uncertain(_ stores: StoreKind, arrives: Bool) async throws {
        let world = try World(stores)
        let (other, client) = try await makeClients(world, Self.sum)
        try await client.items.update(["id": "a", "priority": 2])
        client.transport.inspect { _, _ in arrives ? .loseAnswer : .loseRequest }
        #expect(await syncErrorCode { try await client.context.push() } == .network)
        client.transport.inspect(nil)
        if !arrives { try await push(["id": "a", "priority": 2], of: other) }
        try await client.context.push()
        #expect(try world.serverRow("a")?["priority"] == 2)
        #expect(try client.row("a")?["priority"] == 2)
    }

    @Test("C3 an insert that is delivered twice is counted once", arguments: StoreKind.perEngine)
    func insertedTwice(_ stores: StoreKind) async throws {
        let world = try World(stores)
        let (_, client) = try await makeClients(world, Self.sum)
        try await client.items.insert(["id": "b", "priority": 1])
        client.transport.inspect { request, body in
            if request.createsRow { _ = world.service.handle(request, body: Array(body.utf8)) }
            return nil
        }
        try await client.context.push()
        #expect(try world.serverRow("b")?["priority"] == 1)
    }

    // MARK: Other columns

    @Test(
        "P12 two devices that wrote equal values have no conflict", arguments: StoreKind.perEngine,
        OperationKind.allCases)
    func equal(_ stores: StoreKind, _ kind: OperationKind) async throws {
        let world = try World(stores)
        let (other, client) = try await makeClients(world)
        let id = kind == .insert ? "b" : "a"
        for one in [other, client] {
            let row: Row = ["id": .string(id), "text": "same", "complete": true, "tags": .json("[1]")]
            switch kind {
            case .insert: try await one.items.insert(row)
            case .update: try await one.items.update(row)
            case .delete: try await one.items.delete(id: id)
            }
        }
        // A change that the client does not have.
        if kind == .update { try await other.items.update(["id": "a", "priority": 9]) }
        try await other.context.push()
        try await client.context.push()
        #expect(try await client.queue().isEmpty)
        let (server, local) = (try world.serverRow(id), try client.row(id))
        if kind == .delete { return #expect(local == nil && server?["deleted"] == true) }
        #expect(local?.version == server?.version && local?["text"] == "same")
        #expect(local?["priority"] ?? .null == server?["priority"] ?? .null)
        #expect(server?["priority"] == (kind == .update ? 9 : .null))
    }

    @Test("P12 an edit that is equal only in part is a conflict", arguments: StoreKind.perEngine)
    func equalInPart(_ stores: StoreKind) async throws {
        let world = try World(stores)
        let (other, client) = try await makeClients(world)
        try await push(["id": "a", "text": "same", "priority": 3], of: other)
        try await client.items.update(["id": "a", "text": "same", "priority": 4])
        #expect(try await pushErrors(client).map(\.code) == [.conflict])
        // The user takes the other value.
        try await client.items.update(["id": "a", "priority": 3])
        try await client.context.push()
        #expect(try await client.queue().isEmpty)
        #expect(try client.row("a")?.version == world.serverRow("a")?.version)
    }

    @Test("P12 edits made during a request whose values are equal stay, and are sent", arguments: StoreKind.perEngine)
    func editDuringRequest(_ stores: StoreKind) async throws {
        let world = try World(stores)
        let (other, client) = try await makeClients(world)
        try await push(["id": "a", "text": "same"], of: other)
        try await client.items.update(["id": "a", "text": "same"])
        let (once, items) = (Once(), client.items)
        client.transport.inspect { request, _ in
            guard request.isUpdate, once.first() else { return nil }
            return .delay { try await items.update(["id": "a", "priority": 7]) }
        }
        try await client.context.push()
        try await client.context.push()
        #expect(try world.serverRow("a")?["priority"] == 7)
        #expect(try world.serverRow("a")?["text"] == "same")
        #expect(try await client.queue().isEmpty)
    }

    @Test("P12 two devices that restored a row with equal values have no conflict", arguments: StoreKind.perEngine)
    func restored(_ stores: StoreKind) async throws {
        let world = try World(stores)
        let (other, client) = try await makeClients(world)
        for one in [other, client] {
            try await one.items.delete(id: "a")
            try await one.items.insert(["id": "a", "text": "again"])
        }
        try await other.context.push()
        try await client.context.push()
        #expect(try await client.queue().isEmpty)
        #expect(try client.row("a")?.version == world.serverRow("a")?.version)
    }
}
