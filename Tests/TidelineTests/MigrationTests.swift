import Testing
import TidelineStore
import TidelineTestStores

@testable import Tideline

/// Steps of an app's migration: they run once, change rows locally, and leave the queue as it is.
@Suite("Migrations", .timeLimit(.minutes(15)), .releasesClients, .bothDialects)
struct MigrationTests {
    private struct Mistake: Error {}

    /// Moves the value of one column to another of another type.
    @Sendable private static func movePriority(_ step: SyncTransaction) throws {
        try step.rewrite("TodoItem") { row in
            if row["effort"] == nil || row["effort"] == .null, let priority = row["priority"]?.int {
                row["effort"] = .double(Double(priority) / 2)
            }
        }
    }

    @Test(
        "A step changes the rows, and those that pending operations keep, once; a push sends what the user edited",
        arguments: StoreKind.perEngine)
    func once(_ stores: StoreKind) async throws {
        let (world, store) = (try World(stores), try stores.makeStore())
        let older = try await world.makeClient(store: store)
        for id in ["deleted", "synced", "updated"] {
            try await older.items.insert(["id": .string(id), "text": "one", "priority": 3])
        }
        try await older.client.push()
        try await older.items.delete(id: "deleted")
        try await older.items.update(["id": "updated", "text": "two"])
        try await older.items.insert(["id": "inserted", "text": "new", "priority": 4])
        let queue = try await older.queue()

        let newer = try await world.makeClient(store: store)
        #expect(try await newer.client.migrate("priority to effort", Self.movePriority))
        for (id, effort) in [("synced", 1.5), ("updated", 1.5), ("inserted", 2)] {
            #expect(try newer.row(id)?["effort"] == .double(effort), "\(id)")
        }
        #expect(try await newer.queue() == queue)
        for client in [newer, older] {
            #expect(try await !client.client.migrate("priority to effort") { _ in Issue.record("the step runs again") })
        }

        try await newer.client.push()
        #expect(newer.transport.sent.count { $0.body.contains(/"effort":[^n]/) } == 1, "\(newer.transport.sent)")
        #expect(try world.serverRow("inserted")?["effort"] == .double(2))
        #expect(try world.serverRow("updated")?["text"] == "two")
        #expect(try world.serverRow("updated")?["effort"] ?? .null == .null)
    }

    @Test("A delete that is discarded restores the row as the step changed it", arguments: StoreKind.perEngine)
    func discarded(_ stores: StoreKind) async throws {
        let client = try await World(stores).makeSyncedClient()
        try await client.items.delete(id: "a")
        try await client.client.migrate("step", Self.movePriority)
        let delete = try #require(try await client.context.pendingOperations().first)
        try await client.context.cancelOperationAndDiscardItem(delete)
        #expect(try client.row("a")?["effort"] == 0.5)
    }

    @Test("Edits in a step are queued, and a step changes all rows of a large table", arguments: StoreKind.perEngine)
    func queued(_ stores: StoreKind) async throws {
        let client = try await World(stores).makeSyncedClient()
        try client.store.write { writer in
            try writer.upsert((0..<1_200).map { ["id": .string("row \($0)"), "priority": .int($0)] }, into: "TodoItem")
        }
        try await client.client.migrate("step") { step in
            try Self.movePriority(step)
            try step.update(id: "a", in: "TodoItem") { $0["text"] = "migrated" }
        }
        #expect(try await client.queue() == ["update a"])
        let lacking = TableQuery("TodoItem").filter(.column("effort") == .null)
        #expect(try client.store.read { try $0.count(lacking) } == 0)
        #expect(try client.row("row 1199")?["effort"] == 599.5)
    }

    @Test("A step that fails changes nothing, and runs when it is called again", arguments: StoreKind.perEngine)
    func failing(_ stores: StoreKind) async throws {
        let client = try await World(stores).makeSyncedClient()
        try await client.items.insert(["id": "b", "text": "two"])
        let before = try [client.row("a"), client.row("b")]
        await #expect(throws: Mistake.self) {
            try await client.client.migrate("step") { step in
                try step.rewrite("TodoItem") { row in
                    guard row.id == "a" else { throw Mistake() }
                    row["text"] = "changed"
                }
            }
        }
        // The app must not commit half of a step by ignoring its error.
        await #expect(throws: SyncError.self) {
            try await client.client.migrate("step") { step in
                _ = try? step.rewrite("TodoItem") { row in
                    row["text"] = "changed"
                    if row.id == "b" { throw Mistake() }
                }
            }
        }
        await #expect(throws: SyncError.self) {
            try await client.client.migrate("step") { _ = try? $0.rewrite("TodoItem") { $0["priority"] = "high" } }
        }
        let error = await #expect(throws: SyncError.self) {
            try await client.client.migrate("step") { step in
                try step.rewrite("TodoItem") { $0["priority"] = "high" }
            }
        }
        #expect(error?.table == "TodoItem" && error?.column == "priority" && error?.id == "a")
        #expect(
            await syncErrorCode {
                try await client.client.migrate("step") { try $0.rewrite("TodoItem") { $0["id"] = "c" } }
            } == .invalidArgument)
        #expect(try [client.row("a"), client.row("b")] == before)
        #expect(try await client.client.migrate("step", Self.movePriority))
    }

    @Test(
        "The name of a step is not blank, and not longer than an identifier",
        arguments: ["", " ", String(repeating: "n", count: 201)])
    func names(_ name: String) async throws {
        let client = try await World(.simplest).makeClient()
        #expect(await syncErrorCode { try await client.client.migrate(name, Self.movePriority) } == .invalidArgument)
        #expect(try await client.client.migrate(String(repeating: "n", count: 200), Self.movePriority))
    }

    @Test("An index that is dropped returns only when it is defined again", arguments: StoreKind.perEngine)
    func droppedIndex(_ stores: StoreKind) async throws {
        let client = try await World(stores).makeSyncedClient()
        func indexes() throws -> [IndexSchema] { try client.store.read { try $0.schema(of: "TodoItem").indexes } }
        var indexed = World.schema
        indexed.indexes = [["text"], ["priority", "text"]]
        try await client.client.define([indexed])
        try await client.client.drop(indexes: [["text"]], from: "TodoItem")
        #expect(try indexes() == [["priority", "text"]])
        try await client.client.define([World.schema])
        #expect(try indexes() == [["priority", "text"]])
        await expectSyncError(.invalidArgument, table: "TodoItem", says: "due") {
            try await client.client.drop(indexes: [["priority", "text"], ["due"]], from: "TodoItem")
        }
        #expect(try indexes() == [["priority", "text"]])
        try await client.client.define([indexed])
        #expect(try indexes().contains(["text"]))
        #expect(try client.texts() == ["one"])
    }
}
