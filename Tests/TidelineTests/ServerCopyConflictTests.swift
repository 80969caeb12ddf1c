import Testing
import TidelineStore
import TidelineTestStores
import TidelineTestSupport

@testable import Tideline

/// Rules C3 and C4: the server's row, kept beside a row with a pending operation.
@Suite("Server copies", .timeLimit(.minutes(15)), .releasesClients, .bothDialects)
struct ServerCopyConflictTests {
    @Test("C3 the base row is kept while the queue has an operation on the row", arguments: StoreKind.perEngine)
    func baseCopy(_ stores: StoreKind) async throws {
        let (world, client) = try await World.withSyncedClient(stores)
        func base() throws -> [String?] {
            try client.store.read { reader in
                try reader.rows(matching: TableQuery("MS_TableOperations").order(by: "id")).rows.map { row in
                    try row["base"]?.json.map { try RowCodec(schema: World.schema).row($0)["text"]?.string } ?? nil
                }
            }
        }
        try await client.items.update(["id": "a", "text": "two"])
        #expect(try base() == ["one"])
        try await client.items.update(["id": "a", "text": "three"])
        #expect(try base() == ["one"])
        client.onFirst(isEarly: true) { try await client.items.update(["id": "a", "text": "four"]) }
        try await client.context.push()
        #expect(try world.state(client) == "local [a=four] queue [update a] server [a=three]")
        #expect(try base() == ["three"])
        try await client.items.delete(id: "a")
        #expect(try base() == ["three"])
        try await client.context.push()
        #expect(try base().isEmpty)
    }

    static let pulled: [Script] = [
        ("other update a=theirs", "local [a=theirs, b=b2]", "local [a=theirs, b=b2] queue [] server [a=theirs, b=b2]"),
        ("other delete a", "local [b=b2]", "local [b=b2] queue [] server [a deleted, b=b2]"),
    ].map { change, discarded, end in
        Script(
            "C4 a row with a pending operation keeps its edit when it is pulled, and discarding shows the pulled row: "
                + change, "insert b=b; push; update a=mine; on update answer 400; push errors rejected", change,
            "other update b=b2; on update answer 400; pull q fails completedWithErrors; local [a=mine, b=b]",
            "on update answer 400; pull q others fails completedWithErrors; local [a=mine, b=b2] queue [update a]",
            "discard", discarded, "pull q", end)
    }

    @Test("C4 a pulled row waits below a pending operation", arguments: StoreKind.perEngine, pulled)
    func pulledUnderOperation(_ stores: StoreKind, _ script: Script) async throws { try await script.play(stores) }

    @Test(
        "C4 a newer row pulled while an operation is in flight is not replaced by the operation's answer",
        arguments: StoreKind.perEngine, allPairs([OperationKind.insert, .update, .delete], [false, true]))
    func pulledDuringFlight(_ stores: StoreKind, _ flight: (OperationKind, Bool)) async throws {
        let (kind, isEdited) = flight
        let (world, client) = try await World.withSyncedClient(stores)
        try await client.items.pull(queryID: "q")
        let id = try await client.items.edit(kind)
        client.onFirst {
            let other = try await world.makeOther()
            if kind == .delete {
                _ = try await other.client.remoteTable("TodoItem").undelete(id: "a")
            } else {
                try await other.pushUpdate(["id": .string(id), "priority": 9])
            }
            if isEdited, kind != .delete { try await client.items.update(["id": .string(id), "text": "three"]) }
            try await pullPage(client)
        }
        for _ in 1...2 { try await client.context.push() }
        #expect(try await client.queue().isEmpty)
        let text: Value = kind == .delete ? "one" : isEdited ? "three" : "two"
        for row in [try client.row(id), try world.serverRow(id)] {
            #expect(row?["text"] == text)
            #expect(row?["priority"] == (kind == .delete ? 1 : 9))
        }
        #expect(try client.row(id)?.version == world.serverRow(id)?.version)
    }

    /// Applies the server's rows like a pull that started earlier, without a push.
    private func pullPage(_ client: Client) async throws {
        let run = PullRun(
            client.context.puller, query: TableQuery("TodoItem"), queryID: "q", settings: PullSettings(),
            schema: World.schema)
        _ = try await run.run()
    }
}
