import HTTPTypes
import Testing
import TidelineStore
import TidelineTestStores
import TidelineTestSupport

@testable import Tideline

/// Rules P6 and P12: a client recognizes the rows that its own requests wrote, also if the network delivered a request
/// twice, and if the server filled in columns.
@Suite("Own requests", .timeLimit(.minutes(15)), .releasesClients, .bothDialects)
struct OwnRequestTests {
    /// Delivers each request that changes a row twice. The client receives the second answer.
    private func deliverTwice(_ client: Client, of world: World) {
        client.transport.inspect { request, body in
            if request.method != .get { _ = world.service.handle(request, body: Array(body.utf8)) }
            return nil
        }
    }

    /// Fills in a column of the server's row, as a default value of its table.
    private func fillIn(_ id: String, _ world: World, _ values: Row = ["priority": 5, "effort": 0.5]) throws {
        try world.serverStore.write { try $0.upsert(Row(id: .string(id)).merging(values), into: "TodoItem") }
    }

    // MARK: Requests that are delivered twice

    @Test(
        "P6 a request that the network delivers twice is no conflict", arguments: StoreKind.perEngine,
        OperationKind.allCases)
    func deliveredTwice(_ stores: StoreKind, _ kind: OperationKind) async throws {
        let (world, client) = try await World.withSyncedClient(stores)
        deliverTwice(client, of: world)
        let id = kind == .insert ? "b" : "a"
        let row: Row = ["id": .string(id), "text": "two", "complete": false]
        switch kind {
        case .insert: try await client.items.insert(row)
        case .update: try await client.items.update(row)
        case .delete: try await client.items.delete(id: id)
        }
        let result = try await client.context.push()
        #expect(result.progress.sent == 1)
        #expect(try await client.queue().isEmpty)
        #expect(try client.row(id)?.version == (kind == .delete ? nil : world.serverRow(id)?.version))
        // The row is deleted like any other.
        client.transport.inspect(nil)
        if kind != .delete { try await client.items.delete(id: id) }
        try await client.context.push()
        #expect(try world.serverRow(id)?["deleted"] == true)
    }

    @Test(
        "P6 a delete after an insert that was delivered twice is sent, also if the server's row could not be read",
        arguments: StoreKind.perEngine)
    func deleteAfterLostLookUp(_ stores: StoreKind) async throws {
        let (world, client) = try await World.withSyncedClient(stores)
        try await client.items.insert(["id": "b", "text": "two"])
        client.transport.inspect { request, body in
            guard request.createsRow else { return .loseRequest }
            _ = world.service.handle(request, body: Array(body.utf8))
            return .answer(.answer(409, body))
        }
        _ = try? await client.context.push()
        client.transport.inspect(nil)
        try await client.items.delete(id: "b")
        #expect(try await client.queue() == ["delete b"])
        try await client.context.push()
        #expect(try world.state(client) == "local [a=one] queue [] server [a=one, b deleted]")
    }

    static let scripts: [Script] =
        [
            Script(
                "P12 an insert that the network delivers twice is no conflict if the server filled in columns",
                "on create twice; on create meanwhile fill b priority=5 effort=0.5; insert b=two; push; queue []",
                "row b priority=5")
        ]
        + ["insert b", "insert b=mine"].map {
            Script(
                "P6 another device's row is a conflict, and is not deleted: \($0)", $0,
                "lose request; push fails network; other insert b=theirs; delete b; push errors conflict",
                "remote b deleted=false")
        }
        + [
            ("requests 1", "both \(id) text=two priority=5 effort=0.5; same \(id)"),
            (
                "update \(id)=three complete=true",
                "both \(id) text=three complete=true priority=5 effort=0.5; same \(id)"
            ),
            ("update \(id) priority=7", "both \(id) text=two priority=7 effort=0.5; same \(id)"),
            ("update \(id) priority=5", "both \(id) text=two priority=5 effort=0.5; same \(id)"),
            ("delete \(id)", "local [a=one]; remote \(id) deleted=true"),
            ("delete \(id); insert \(id)=again", "both \(id) text=again priority=null; same \(id)"),
        ].map { change, end in
            Script(
                "P12 values that the server filled in are no conflict after a lost answer to an insert: \(change)",
                "insert \(id)=two; lose answer; push fails network; fill \(id) priority=5 effort=0.5", change,
                "push; queue []", end)
        }

    @Test("P6, P12 a client knows its own rows", arguments: StoreKind.perEngine, scripts)
    func plays(_ stores: StoreKind, _ script: Script) async throws { try await script.play(stores) }

    // MARK: Values that the server filled in

    /// The app's change after the lost answer to its insert.
    enum Change: CaseIterable, Sendable {
        case none, otherColumn, filledColumn, filledValue, delete, deleteAndInsert
    }

    private static let id = "c0ffee00-1d1d-4d1d-8d1d-c0ffee00c0de"

    @Test("P12 a row that others have changed since its insert is a conflict, and is not deleted")
    func changedSince() async throws {
        let (world, client) = try await World.withSyncedClient(.simplest)
        try await client.items.insert(["id": .string(Self.id), "text": "two"])
        await client.pushLosing()
        let updatedAt = try #require(try world.serverRow(Self.id)?.updatedAt).advanced(byTicks: 20_000_000)
        try fillIn(Self.id, world, ["priority": 5, "updatedAt": .timestamp(updatedAt)])
        try await client.items.delete(id: Self.id)
        #expect(try await pushErrors(client).map(\.code) == [.conflict])
        #expect(try world.serverRow(Self.id)?["deleted"] != true)
    }

    // MARK: Rows that a migration changed

    @Test(
        "P6 a lost request is recognized after a migration has changed the row", arguments: StoreKind.perEngine,
        allPairs([OperationKind.insert, .update], Change.allCases.filter { $0 != .filledValue }))
    func migrated(_ stores: StoreKind, _ test: (OperationKind, Change)) async throws {
        let (kind, change) = test
        let (world, client) = try await World.withSyncedClient(stores)
        let id = kind == .insert ? "b" : "a"
        let row: Row = ["id": .string(id), "text": "two", "priority": 4]
        if kind == .insert { try await client.items.insert(row) } else { try await client.items.update(row) }
        await client.pushLosing()
        try await client.client.migrate("step") { step in
            try step.rewrite("TodoItem") { row in
                guard row["effort"] ?? .null == .null else { return }
                row["effort"] = .double(Double(row["priority"]?.int ?? 0) / 2)
            }
        }
        switch change {
        case .none, .filledValue: break
        case .otherColumn: try await client.items.update(["id": .string(id), "text": "three", "complete": true])
        case .filledColumn: try await client.items.update(["id": .string(id), "effort": 7.0])
        case .delete, .deleteAndInsert: try await client.items.delete(id: id)
        }
        if change == .deleteAndInsert { try await client.items.insert(["id": .string(id), "text": "again"]) }
        try await client.context.push()
        #expect(try await client.queue().isEmpty)
        let (server, local) = (try #require(try world.serverRow(id)), try client.row(id))
        if change == .delete { return #expect(local == nil && server["deleted"] == true) }
        #expect(local?.version == server.version)
        let text = [Change.otherColumn: "three", .deleteAndInsert: "again"][change] ?? "two"
        #expect(server["text"] == .string(text))
        if change == .filledColumn { #expect(server["effort"] == 7.0) }
    }
}
