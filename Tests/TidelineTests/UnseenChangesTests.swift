import HTTPTypes
import Testing
import TidelineServer
import TidelineStore
import TidelineTestStores
import TidelineTestSupport

@testable import Tideline

/// Rule P6 with changes by other clients: a change that this client has not seen is never overwritten or deleted.
@Suite("Unseen changes", .timeLimit(.minutes(15)), .releasesClients, .bothDialects)
struct UnseenChangesTests {
    /// The servers: Tideline's, the original with tombstones, and the original without.
    static let servers: [ServerQuirks] = [[], .original, [.original, .hardDelete]]
    /// The servers with tombstones.
    static let softServers: [ServerQuirks] = [[], .original]

    private func makeWorld(_ stores: StoreKind, _ quirks: ServerQuirks) throws -> World {
        try World(stores) { $0.quirks = quirks }
    }

    /// Pushes while all requests, or only the matching ones, have the given fault.
    private func push(
        _ client: Client, _ fault: FaultyTransport<TestStore>.Fault = .loseAnswer,
        when matches: @escaping @Sendable (String) -> Bool = { _ in true }
    ) async {
        client.transport.inspect { request, _ in
            matches("\(request.method) \(request.target)") ? fault : nil
        }
        #expect(await syncErrorCode { try await client.context.push() } == .network)
        client.transport.inspect(nil)
        client.transport.clear()
    }

    private func change(_ world: World, _ row: Row) async throws {
        let other = try await world.makeOther()
        try await other.items.update(row)
        try await other.context.push()
    }

    /// Expects one conflict with the server's row, which stays unchanged.
    private func expectConflict(
        _ client: Client, _ world: World, id: String, sourceLocation: SourceLocation = #_sourceLocation
    )
        async throws
    {
        let before = try world.serverRow(id)
        let errors = try await pushErrors(client)
        #expect(errors.map(\.code) == [.conflict], sourceLocation: sourceLocation)
        #expect(errors.first?.serverItem?.version == before?.version, sourceLocation: sourceLocation)
        #expect(try world.serverRow(id) == before, sourceLocation: sourceLocation)
    }

    @Test(
        "P6 an edit of a column that another client changed after a lost update", arguments: StoreKind.perEngine,
        servers)
    func editAfterLoss(_ stores: StoreKind, _ quirks: ServerQuirks) async throws {
        let world = try makeWorld(stores, quirks)
        let client = try await world.makeSyncedClient()
        try await client.items.update(["id": "a", "text": "two"])
        await push(client)
        try await change(world, ["id": "a", "priority": 9])
        try await client.items.update(["id": "a", "priority": 5])
        try await expectConflict(client, world, id: "a")
    }

    @Test(
        "P6 an edit or delete while the second attempt, or the lookup after an unreadable answer, is in flight",
        arguments: allPairs(StoreKind.perEngine, servers), allPairs([true, false], [true, false]))
    func editDuringRetry(_ kind: (StoreKind, ServerQuirks), _ way: (unreadable: Bool, deletes: Bool)) async throws {
        let world = try makeWorld(kind.0, kind.1)
        let client = try await world.makeSyncedClient()
        try await client.items.update(["id": "a", "text": "two"])
        if !way.unreadable {
            await push(client)
            try await change(world, ["id": "a", "priority": 9])
        }
        let once = Once()
        client.transport.inspect { request, _ in
            guard request.isUpdate, once.first() else { return nil }
            guard way.unreadable else {
                return .delay {
                    if way.deletes {
                        try await client.items.delete(id: "a")
                    } else {
                        try await client.items.update(["id": "a", "priority": 5])
                    }
                }
            }
            do {
                if way.deletes {
                    try await client.items.delete(id: "a")
                } else {
                    try await client.items.update(["id": "a", "priority": 5])
                }
            } catch { Issue.record(error) }
            // The server executes the request and its answer is damaged; another client changes the row before the
            // lookup.
            let answer = world.service.handle(request, body: Array(#"{"text":"two"}"#.utf8))
            #expect(answer.response.status == .ok)
            do { try await self.change(world, ["id": "a", "priority": 9]) } catch { Issue.record(error) }
            return .answer(.answer(200, "no JSON"))
        }
        #expect(try await pushErrors(client).map(\.code) == [.conflict])
        #expect(try await pushErrors(client).map(\.code) == [.conflict])
        #expect(try world.serverRow("a")?["priority"] == 9)
        #expect(try client.row("a")?["priority"] == (way.deletes ? nil : 5))
    }

    @Test(
        "P6 the same value written by another client is not recognized as this client's update",
        arguments: StoreKind.perEngine, servers)
    func sameValueOfOthers(_ stores: StoreKind, _ quirks: ServerQuirks) async throws {
        let world = try makeWorld(stores, quirks)
        let client = try await world.makeSyncedClient()
        try await client.items.update(["id": "a", "complete": true])
        await push(client, .loseRequest)
        try await change(world, ["id": "a", "complete": true, "text": "theirs"])
        try await client.items.update(["id": "a", "text": "mine"])
        try await expectConflict(client, world, id: "a")
    }

    @Test(
        "P6 a row whose insert answer was lost, edited by another client, deleted and inserted again locally",
        arguments: StoreKind.perEngine, allPairs(servers, [true, false]))
    func deleteAfterLostInsert(_ stores: StoreKind, _ way: (quirks: ServerQuirks, insertsAgain: Bool)) async throws {
        let world = try makeWorld(stores, way.quirks)
        let client = try await world.makeSyncedClient()
        try await client.items.insert(["id": "b", "text": "new"])
        await push(client)
        try await change(world, ["id": "b", "priority": 9])
        try await client.items.delete(id: "b")
        if way.insertsAgain { try await client.items.insert(["id": "b", "text": "again"]) }
        try await expectConflict(client, world, id: "b")
    }

    @Test(
        "P6 a delete after a lost insert deletes the row by its version, or nothing if the insert did not arrive",
        arguments: StoreKind.perEngine, allPairs(servers, [true, false]))
    func deleteOfLostInsert(_ stores: StoreKind, _ way: (quirks: ServerQuirks, arrived: Bool)) async throws {
        let world = try makeWorld(stores, way.quirks)
        let client = try await world.makeSyncedClient()
        try await client.items.insert(["id": "b", "text": "new"])
        await push(client, way.arrived ? .loseAnswer : .loseRequest)
        try await client.items.delete(id: "b")
        let conditions = HeaderLog()
        client.transport.inspect { request, _ in
            if request.method == .delete { conditions.add(request.headerFields[.ifMatch]) }
            return nil
        }
        try await client.context.push()
        #expect(try await client.queue().isEmpty)
        #expect(try world.serverRow("b")?["deleted"]?.bool ?? true)
        #expect(conditions.values.count == (way.arrived ? 1 : 0) && !conditions.values.contains("none"))
    }

    @Test("P6 a delete of an insert that conflicted with another client's row", arguments: StoreKind.perEngine, servers)
    func deleteOfRefusedInsert(_ stores: StoreKind, _ quirks: ServerQuirks) async throws {
        let world = try makeWorld(stores, quirks)
        let client = try await world.makeSyncedClient()
        let other = try await world.makeOther()
        try await other.items.insert(["id": "b", "text": "theirs"])
        try await other.context.push()
        try await client.items.insert(["id": "b", "text": "mine"])
        #expect(try await pushErrors(client).map(\.code) == [.conflict])
        client.transport.clear()
        try await client.items.delete(id: "b")
        try await client.context.push()
        #expect(client.transport.requests.isEmpty)
        #expect(try world.serverRow("b")?["text"] == "theirs")
    }

    // MARK: Restores

    /// Makes a client that deleted row `a`, whose delete was executed without an answer, and that inserted the row
    /// again.
    private func makeRestoring(_ world: World) async throws -> Client {
        let client = try await world.makeSyncedClient()
        try await client.items.delete(id: "a")
        await push(client)
        try await client.items.insert(["id": "a", "text": "back"])
        return client
    }

    private func undelete(_ world: World, _ change: Row? = nil) async throws {
        let other = try await world.makeClient()
        _ = try await other.client.remoteTable("TodoItem").undelete(id: "a")
        if let change { try await self.change(world, change) }
    }

    @Test(
        "P6 a row that another client restored with other content, before and during the restore",
        arguments: StoreKind.perEngine, allPairs(softServers, [true, false]))
    func restoredByOthers(_ stores: StoreKind, _ way: (quirks: ServerQuirks, during: Bool)) async throws {
        let world = try makeWorld(stores, way.quirks)
        let client = try await makeRestoring(world)
        if !way.during { try await undelete(world, ["id": "a", "text": "theirs"]) }
        let once = Once()
        client.transport.inspect { request, _ in
            // Immediately before the request that would restore the row.
            guard way.during, request.createsRow, once.first() else { return nil }
            do { try await self.undelete(world, ["id": "a", "text": "theirs"]) } catch { Issue.record(error) }
            return nil
        }
        #expect(try await pushErrors(client).map(\.code) == [.conflict])
        #expect(try world.serverRow("a")?["text"] == "theirs")
    }

    @Test(
        "P6 a row that another client deleted after a restore whose answer was lost stays deleted",
        arguments: StoreKind.perEngine, softServers)
    func deletedAfterRestore(_ stores: StoreKind, _ quirks: ServerQuirks) async throws {
        let world = try makeWorld(stores, quirks)
        let client = try await makeRestoring(world)
        await push(client) { $0.hasPrefix("POST") || $0.contains("?__includedeleted") && $0.hasPrefix("PUT") }
        let other = try await world.makeOther()
        try await other.items.delete(id: "a")
        try await other.context.push()
        try await expectConflict(client, world, id: "a")
        #expect(try world.serverRow("a")?["deleted"] == true)
    }

    @Test(
        "P6 a restored row has no column that another client set in the deleted row", arguments: StoreKind.perEngine,
        softServers)
    func restoresContent(_ stores: StoreKind, _ quirks: ServerQuirks) async throws {
        let world = try makeWorld(stores, quirks)
        let client = try await makeRestoring(world)
        try await undelete(world, ["id": "a", "effort": 2.5])
        let other = try await world.makeOther()
        try await other.items.delete(id: "a")
        try await other.context.push()
        try await expectConflict(client, world, id: "a")
    }

    @Test(
        "P6 an insert that was lost, deleted, inserted, and deleted again removes no row of others",
        arguments: StoreKind.perEngine, servers)
    func deleteAfterConflicts(_ stores: StoreKind, _ quirks: ServerQuirks) async throws {
        let world = try makeWorld(stores, quirks)
        let client = try await world.makeClient()
        try await client.items.insert(["id": "n", "text": "mine"])
        await push(client, .loseRequest)
        let other = try await world.makeOther()
        try await other.items.insert(["id": "n", "text": "theirs"])
        try await other.context.push()
        try await client.items.delete(id: "n")
        try await expectConflict(client, world, id: "n")
        try await client.items.insert(["id": "n", "text": "mine again"])
        try await expectConflict(client, world, id: "n")
        try await client.items.delete(id: "n")
        try await other.items.update(["id": "n", "text": "newer"])
        try await other.context.push()
        try await expectConflict(client, world, id: "n")
    }

    @Test(
        "P6 a delete, an insert, and another delete remove no row that others inserted",
        arguments: StoreKind.perEngine, servers)
    func deleteAfterRestore(_ stores: StoreKind, _ quirks: ServerQuirks) async throws {
        let world = try makeWorld(stores, quirks)
        let client = try await world.makeSyncedClient()
        let once = Once()
        try await client.items.delete(id: "a")
        client.transport.inspect { request, _ in
            guard request.method == .delete, once.first() else { return nil }
            return .delay { try await client.items.insert(["id": "a", "text": "again"]) }
        }
        try await client.context.push()
        client.transport.inspect(nil)
        client.transport.clear()
        // The insert during the delete waits for the next push.
        try await client.items.delete(id: "a")
        #expect(try await client.context.pendingOperations().map(\.kind) == [.delete])
        let other = try await world.makeClient()
        if quirks.contains(.hardDelete) {
            try await other.items.insert(["id": "a", "text": "theirs"])
            try await other.context.push()
        } else {
            _ = try await other.client.remoteTable("TodoItem").undelete(id: "a")
            try await change(world, ["id": "a", "text": "theirs"])
        }
        try await expectConflict(client, world, id: "a")
    }

    @Test("P6 a restore clears the columns missing in the new row", arguments: StoreKind.perEngine, servers)
    func restoreClears(_ stores: StoreKind, _ quirks: ServerQuirks) async throws {
        let world = try makeWorld(stores, quirks)
        for inFlight in [true, false] {
            let client = try await inFlight ? world.makeOther() : makeRestoring(world)
            if inFlight {
                try await client.items.insert(["id": "a", "text": "one", "priority": 1])
                try await client.context.push()
                try await client.items.delete(id: "a")
                let once = Once()
                client.transport.inspect { _, _ in
                    once.first() ? .delay { try await client.items.insert(["id": "a", "text": "back"]) } : nil
                }
                try await client.context.push()
                #expect(try await client.queue() == ["update a"])
            }
            try await client.context.push()
            #expect(try await client.queue().isEmpty)
            #expect(try world.serverRow("a")?["text"] == "back")
            #expect(try (world.serverRow("a")?["priority"] ?? .null).isNull)
            let cleanUp = try await world.makeOther()
            try await cleanUp.items.delete(id: "a")
            try await cleanUp.context.push()
            try world.serverStore.write { _ = try $0.delete(id: "a", from: "TodoItem") }
        }
    }

    @Test(
        "P6 a restore whose undelete or update was executed but answered 502 is not a conflict",
        arguments: StoreKind.perEngine, allPairs(softServers, ["POST", "PATCH"]))
    func carriedOutWith502(_ stores: StoreKind, _ way: (quirks: ServerQuirks, method: String)) async throws {
        let world = try makeWorld(stores, way.quirks)
        let client = try await makeRestoring(world)
        let count = MaximumCount()
        client.transport.inspect { request, _ in
            guard request.method.rawValue == way.method else { return nil }
            count.enter()
            // The first PATCH is answered with the deleted row.
            let isIt = count.maximum == (way.method == "PATCH" ? 2 : 1)
            return isIt ? .change { _ in .answer(502) as TransportResponse } : nil
        }
        try await client.context.push()
        #expect(try world.state(client) == "local [a=back] queue [] server [a=back]")
        #expect(try (world.serverRow("a")?["priority"] ?? .null).isNull)
    }

    // MARK: No false conflict

    @Test("P6 an insert without columns whose answer was lost", arguments: StoreKind.perEngine, servers)
    func emptyInsert(_ stores: StoreKind, _ quirks: ServerQuirks) async throws {
        let world = try makeWorld(stores, quirks)
        let client = try await world.makeSyncedClient()
        try await client.items.insert(["id": "b"])
        await push(client)
        try await client.items.update(["id": "b", "text": "late"])
        try await client.context.push()
        #expect(try world.state(client) == "local [a=one, b=late] queue [] server [a=one, b=late]")
    }

    @Test("P6 of several lost bodies, the body that matches the row is used", arguments: StoreKind.perEngine, servers)
    func explains(_ stores: StoreKind, _ quirks: ServerQuirks) async throws {
        let world = try makeWorld(stores, quirks)
        let client = try await world.makeSyncedClient()
        try await client.items.insert(["id": "b", "text": "b", "priority": 7])
        await push(client)
        // The second body does not contain the priority written by the first.
        try await client.items.update(["id": "b", "priority": .null])
        await push(client, .loseRequest)
        try await change(world, ["id": "b", "effort": 2.5])
        try await client.context.push()
        let row = try #require(try world.serverRow("b"))
        #expect((row["priority"] ?? .null).isNull && row["effort"] == 2.5)
        #expect(try await client.queue().isEmpty)
    }

    @Test("P6 an integer rounded by the server is recognized as this client's", arguments: StoreKind.perEngine)
    func rounded(_ stores: StoreKind) async throws {
        let world = try makeWorld(stores, .original)
        let client = try await world.makeSyncedClient()
        try await client.items.update(["id": "a", "priority": 9_007_199_254_740_993])
        await push(client)
        let result = try await client.context.push()
        #expect(try await client.queue().isEmpty)
        #expect(try client.row("a")?["priority"] == 9_007_199_254_740_992)
        #expect(result.progress == PushProgress(sent: 1, failed: 0, total: 1))
    }
}
