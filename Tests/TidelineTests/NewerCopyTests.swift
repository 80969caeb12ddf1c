import Synchronization
import Testing
import TidelineStore
import TidelineTestStores

@testable import Tideline

/// A newer pulled row is never lost below the token, however the pending operation of the row ends.
@Suite("Newer copies", .timeLimit(.minutes(15)), .releasesClients, .bothDialects)
struct NewerCopyTests {
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

    static let unchanged: [Script] = [
        "fill a=newer version=newer", "plant a@100000000 text=newer version=newer",
    ].map {
        Script(
            "C4 an edit without a difference keeps the pulled row, even if its timestamp is the same: \($0)",
            "pull q; update a=mine; on update answer 403; push errors rejected", $0,
            "on update answer 403; pull others errors rejected; update a=one; clear; push; requests 0",
            "local [a=newer] queue [] server [a=newer]; row a version=newer")
    }

    static let replaced = Script(
        "C1 discarding replaces the row: columns missing in the server's row keep no local value",
        "update a=mine effort=2.5; on update answer 412 \(theirs); on get answer 200 [\(theirs)]; push errors conflict",
        "settle b=x fails invalidArgument; keep b=x fails invalidArgument; discard",
        "row a text=theirs effort=null priority=null")

    static let based = Script(
        "C4 an item based on the pulled row is stored unchanged", refused, "pull q others errors rejected",
        "settle remote a=settled; texts [settled, z]")

    @Test(
        "C1, C4, F5 a newer pulled row is not lost", arguments: StoreKind.perEngine,
        scripts + unchanged + [replaced, based])
    func plays(_ stores: StoreKind, _ script: Script) async throws { try await script.play(stores) }

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
