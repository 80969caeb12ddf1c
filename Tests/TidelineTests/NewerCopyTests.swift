import Synchronization
import Testing
import TidelineStore
import TidelineTestStores

@testable import Tideline

/// A newer pulled row is never lost below the token, however the pending operation of the row ends.
@Suite("Newer copies", .timeLimit(.minutes(15)), .releasesClients, .bothDialects)
struct NewerCopyTests {
    /// Makes a client whose edit of row `a` was refused by the server, and which is otherwise in sync.
    private func makeRefused(_ world: World) async throws -> (client: Client, error: TableOperationError) {
        let client = try await world.makeSyncedClient()
        try await client.items.pull(queryID: "q")
        try await client.items.update(["id": "a", "text": "mine"])
        client.transport.inspect { request, _ in request.isUpdate ? .answer(.answer(403)) : nil }
        return (client, try #require(try await pushErrors(client).first))
    }

    /// Another client changes row `a`, and much later inserts `z`, so that a token moves far past `a`.
    private func changeByOther(_ world: World) async throws {
        let other = try await world.updateElsewhere(["id": "a", "text": "newer"])
        world.clock.advance(by: .seconds(3600))
        try await other.pushInsert(["id": "z", "text": "z"])
        world.clock.advance(by: .seconds(3600))
    }

    private static let refused =
        "pull q; update a=mine; on update answer 403; push errors rejected; other update a=newer; clock 3600; "
        + "other insert z=z; clock 3600; on update answer 403"

    static let scripts: [Script] =
        ["discard", "settle a=settled"].flatMap {
            [
                Script(
                    "C4 resolving an operation after a pull shows the pulled row: \($0)", refused,
                    "pull q others fails completedWithErrors", $0, "pull q; local [a=newer, z=z]"),
                Script(
                    "F5 resolving an operation while a newer state of its row is in flight does not hide it: \($0)",
                    refused, "on get meanwhile \($0); pull q others fails completedWithErrors",
                    "queue []; pull q; local [a=newer, z=z]"),
            ]
        }
        + [403, 400].map {
            Script(
                "C1 a row that cannot be looked up does not count as deleted, answer \($0): discarding keeps it",
                "update a=mine; on update answer 412 'no row'; answer \($0) 'no row'; push errors conflict",
                "error status=412 gone=false; discard; local [a=one]")
        }
        + [
            Script(
                "F5 a row deleted locally and restored on the server while a page was in flight is in the next pull",
                "pull q; on get meanwhile delete a; on get meanwhile push; on get meanwhile other undelete a",
                "on get meanwhile clock 3600; on get meanwhile other insert z=z; on get meanwhile clock 3600",
                "pull q; pull q; texts [one, z]")
        ]
        + ["delete b", "meanwhile delete b; answer 403; push"].map {
            Script(
                "C4 deleting a pending insert after a pull stored another client's row keeps that row: \($0)",
                "other insert b=theirs; insert b=mine; on post answer 403; pull q others fails completedWithErrors", $0,
                "pull q; local [a=one, b=theirs] queue [] server [a=one, b=theirs]")
        }

    private static let theirs = #"{"id":"a","text":"theirs","version":"v9"}"#

    static let replaced = Script(
        "C1 discarding replaces the row: columns missing in the server's row keep no local value",
        "update a=mine effort=2.5; on update answer 412 \(theirs); on get answer 200 [\(theirs)]; push errors conflict",
        "settle b=x fails invalidArgument; keep b=x fails invalidArgument; discard",
        "row a text=theirs effort=null priority=null")

    @Test("C1, C4, F5 a newer pulled row is not lost", arguments: StoreKind.perEngine, scripts + [replaced])
    func plays(_ stores: StoreKind, _ script: Script) async throws { try await script.play(stores) }

    @Test("C4 an item based on the pulled row is stored unchanged", arguments: StoreKind.perEngine)
    func settledWithNewest(_ stores: StoreKind) async throws {
        let world = try World(stores)
        let (client, error) = try await makeRefused(world)
        try await changeByOther(world)
        try await client.pullOthers("q")
        var item = try #require(try await client.client.remoteTable("TodoItem").lookup(id: "a"))
        item["text"] = "settled"
        try await error.cancelOperationAndUpdateItem(item)
        #expect(try client.texts() == ["settled", "z"])
    }

    @Test(
        "C4 an edit without a difference keeps the pulled row, even if its timestamp is the same",
        arguments: StoreKind.perEngine, [true, false])
    func unchangedEdit(_ stores: StoreKind, sameStamp: Bool) async throws {
        let world = try World(stores)
        let (client, _) = try await makeRefused(world)
        let stamp = try #require(try client.row("a")?["updatedAt"])
        try world.plant([
            [
                "id": "a", "text": "newer", "version": "newer",
                "updatedAt": sameStamp ? stamp : .timestamp(world.clock.now),
            ]
        ])
        try await client.pullOthers()
        try await client.items.update(["id": "a", "text": "one"])
        client.transport.inspect(nil)
        client.transport.clear()
        try await client.context.push()
        #expect(client.transport.requests.isEmpty)
        #expect(try world.state(client) == "local [a=newer] queue [] server [a=newer]")
        #expect(try client.row("a")?.version == "newer")
    }

    @Test(
        "P5 a change of others that is pulled while a request is in flight conflicts with a later edit of its column",
        arguments: StoreKind.perEngine)
    func editedBehindNewerCopy(_ stores: StoreKind) async throws {
        let (world, client) = try await World.withSyncedClient(stores)
        let other = try await world.makeOther()
        try await client.items.pull(queryID: "q")
        let (processed, stored, once) = (AsyncStream<Void>.makeStream(), AsyncStream<Void>.makeStream(), Once())
        let push = Mutex<Task<SyncError.Code?, Never>?>(nil)
        client.transport.inspect { request, _ in
            if request.isUpdate {
                return .delay {
                    processed.continuation.finish()
                    for await _ in stored.stream {}
                }
            }
            guard once.first() else { return nil }
            // The page is requested; the server has processed the push, and then a change of another client.
            try? await client.items.update(["id": "a", "priority": 2])
            push.withLock { $0 = Task { await syncErrorCode { try await client.context.push() } } }
            for await _ in processed.stream {}
            try? await client.items.update(["id": "a", "text": "mine"])
            _ = try? await other.items.pull()
            try? await other.items.update(["id": "a", "text": "theirs"])
            _ = try? await other.context.push()
            return nil
        }
        try await client.items.pull(queryID: "q")
        stored.continuation.finish()
        #expect(await push.withLock { $0 }?.value == .completedWithErrors)
        let error = try #require(try await client.context.operationErrors().first)
        #expect(error.code == .conflict && error.serverItem?["text"] == "theirs" && error.item?["text"] == "mine")
        #expect(try world.serverRow("a")?["text"] == "theirs")
        try await error.keepOperationAndUpdateItem(try #require(error.item))
        try await client.context.push()
        #expect(try world.serverRow("a")?["text"] == "mine")
        #expect(try world.serverRow("a")?["priority"] == 2)
    }
}
