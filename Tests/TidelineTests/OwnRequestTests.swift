import Testing
import TidelineStore
import TidelineTestStores
import TidelineTestSupport

@testable import Tideline

/// Rules P6 and P12: a client recognizes the rows that its own requests wrote, also if the network delivered a request
/// twice, and if the server filled in columns.
@Suite("Own requests", .timeLimit(.minutes(15)), .releasesClients, .bothDialects)
struct OwnRequestTests {
    static let twice: [Script] =
        [("insert b", "b"), ("update a", "a")].map { edit, id in
            // The row is deleted like any other.
            Script(
                "P6 a request that the network delivers twice is no conflict: \(edit)",
                "\(edit)=two complete=false; on change twice; push; pushed 1; queue []; same \(id)",
                "delete \(id); push; remote \(id) deleted=true")
        } + [
            Script(
                "P6 a request that the network delivers twice is no conflict: delete a",
                "delete a; on change twice; push; pushed 1; local [] queue [] server [a deleted]"),
            Script(
                "P6 a delete after an insert that was delivered twice is sent, also if the server's row was not read",
                "insert b=two; on create twice; on create echo 409; on get lose request; push fails network",
                "delete b; queue [delete b]; push; local [a=one] queue [] server [a=one, b deleted]"),
        ]

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

    @Test("P6, P12 a client knows its own rows", arguments: StoreKind.perEngine, twice + scripts)
    func plays(_ stores: StoreKind, _ script: Script) async throws { try await script.play(stores) }

    // MARK: Values that the server filled in

    /// The app's change after the lost answer to its insert.
    enum Change: CaseIterable, Sendable {
        case none, otherColumn, filledColumn, delete, deleteAndInsert
    }

    private static let id = "c0ffee00-1d1d-4d1d-8d1d-c0ffee00c0de"

    @Test("P12 a row that others have changed since its insert is a conflict, and is not deleted")
    func changedSince() async throws {
        let (world, client) = try await World.withSyncedClient(.simplest)
        try await client.items.insert(["id": .string(Self.id), "text": "two"])
        await client.pushLosing()
        let updatedAt = try #require(try world.serverRow(Self.id)?.updatedAt).advanced(byTicks: 20_000_000)
        let filled: Row = ["id": .string(Self.id), "priority": 5, "updatedAt": .timestamp(updatedAt)]
        try world.serverStore.write { try $0.upsert(filled, into: "TodoItem") }
        try await client.items.delete(id: Self.id)
        #expect(try await pushErrors(client).map(\.code) == [.conflict])
        #expect(try world.serverRow(Self.id)?["deleted"] != true)
    }

    // MARK: Rows that a migration changed

    @Test(
        "P6 a lost request is recognized after a migration has changed the row", arguments: StoreKind.perEngine,
        allPairs([OperationKind.insert, .update], Change.allCases))
    func migrated(_ stores: StoreKind, _ test: (OperationKind, Change)) async throws {
        let (kind, change) = test
        let (world, client) = try await World.withSyncedClient(stores)
        let id = try await client.items.edit(kind, ["text": "two", "priority": 4])
        await client.pushLosing()
        try await client.client.migrate("step") { step in
            try step.rewrite("TodoItem") { row in
                guard row["effort"] ?? .null == .null else { return }
                row["effort"] = .double(Double(row["priority"]?.int ?? 0) / 2)
            }
        }
        switch change {
        case .none: break
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
