import Synchronization
import Testing
import TidelineSimulation
import TidelineStore
import TidelineTestStores
import TidelineTestSupport

@testable import Tideline

/// The server's row, kept beside a row with a pending operation: rules C1, C3, C4, F5, L3, and P5.
@Suite("Server copies", .timeLimit(.minutes(15)), .releasesClients, .bothDialects)
struct ServerCopyConflictTests {
    /// Pulls all rows without the push that precedes a pull of the app.
    private func pullAlone(_ client: Client, _ queryID: String?) async throws {
        _ = try await client.context.puller.pull(TableQuery("TodoItem"), queryID: queryID, settings: PullSettings())
    }

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
            try await pullAlone(client, "q")
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

    @Test(
        "C4 a row that others restored during its delete is shown when an insert over that delete is discarded",
        arguments: StoreKind.sharing, [false, true])
    func restoredDuringDelete(_ stores: StoreKind, insertsElsewhere: Bool) async throws {
        let (world, files) = (try World(stores), try StoreFiles(stores))
        let client = try await world.makeSyncedClient(store: try files.open())
        // Another process replaces the delete in flight, this one adds an operation after it.
        let editor = try await insertsElsewhere ? world.makeClient(store: files.open()) : client
        try await client.items.pull(queryID: "q")
        try await client.items.delete(id: "a")
        client.onFirst {
            let other = try await world.makeOther()
            _ = try await other.client.remoteTable("TodoItem").undelete(id: "a")
            try await pullAlone(client, "q")
            try await editor.items.insert(["id": "a", "text": "mine"])
        }
        try await client.context.push()
        #expect(try world.state(client) == "local [a=mine] queue [update a] server [a=one]")
        let operation = try #require(try await client.context.pendingOperations().first)
        try await client.context.cancelOperationAndDiscardItem(operation)
        #expect(try world.state(client) == "local [a=one] queue [] server [a=one]")
        #expect(try client.row("a")?.version == world.serverRow("a")?.version)
    }

    // MARK: Newer copies

    private static let refused =
        "pull q; update a=mine; on update answer 403; push errors rejected; other update a=newer; clock 3600; "
        + "other insert z=z; clock 3600; on update answer 403"

    /// A newer pulled row is never lost below the token, however the pending operation of the row ends.
    static let newer: [Script] =
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
        + [("push errors conflict; error gone=true; discard", ConflictPolicy.manual), ("push", .serverWins)].map {
            push, policy in
            Script(
                "C1 C3 a row that is gone does not come back as it was pulled before: \(policy.name)", refused,
                "pull q others fails completedWithErrors; pulled newer; erase a; \(push)",
                "pull q; local [z=z] queue [] server [z=z]"
            ).with { $0.conflictPolicy = policy }
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

    // MARK: The order of requests, also if the server's clock goes back

    static let ordered: [Script] = [
        Script(
            "C4 a copy pulled before the request does not replace its result, although the clock went back in between",
            "update a priority=7; other update a=theirs; on update answer 403; pull others errors rejected",
            "pulled theirs; clock -3600; update a effort=1.5; push; both a text=theirs priority=7 effort=1.5; same a"
        ).with { $0.conflictPolicy = .merge() },
        Script(
            "C4 a row that was changed after the clock went back is kept beside the operation",
            "update a priority=7; clock -3600; other update a=theirs; on update answer 403; pull others errors rejected",
            "pulled theirs"),
    ].map { $0.served { $0.reproduce([.millisecondStamps]) } }

    static let otherCase = Script(
        "L3 a row that is stored in another case than the server's is not written again",
        "empty; plant ABC@0 D@1; pull; erase ABC; plant abc@0 text=ABC version=ABC@0",
        "pull; result stored=0 writes=0; pull; result stored=0 writes=0; pull q; result stored=0; pull q; result stored=0",
        "plant abc@0 text=other version=ABC@0; pull; row abc text=other"
    ).served { $0.schemas[0].idMatching = .exact }

    @Test(
        "C1, C4, F5, L3 a pulled row waits below a pending operation, and the newest by requests is not lost",
        arguments: StoreKind.perEngine, pulled + newer + unchanged + ordered + [replaced, based, otherCase])
    func plays(_ stores: StoreKind, _ script: Script) async throws { try await script.play(stores) }

    @Test(
        "C4 a row that was changed after the request, when the clock had gone back, replaces the response",
        arguments: StoreKind.perEngine)
    func pulledInFlight(_ stores: StoreKind) async throws {
        let world = try World(stores) { $0.reproduce([.millisecondStamps]) }
        let client = try await world.makeSyncedClient()
        let other = try await world.makeOther()
        try await client.items.pull(queryID: "q")
        try await client.items.update(["id": "a", "priority": 7])
        client.onFirst(\.isUpdate) {
            world.clock.advance(by: .seconds(-3600))
            try await other.items.pull()
            try await other.pushUpdate(["id": "a", "text": "theirs"])
            try await pullAlone(client, nil)
        }
        try await client.context.push()
        let row = try #require(try client.row("a"))
        #expect(row["text"] == "theirs" && row["priority"] == 7)
        #expect(try row.version == world.serverRow("a")?.version)
    }
}
