import Testing
import TidelineStore
import TidelineTestStores
import TidelineTestSupport

@testable import Tideline

/// Rule P6: after an answer is lost, there is no duplicate, no false conflict, and no lost edit.
@Suite("Lost answers", .timeLimit(.minutes(15)), .releasesClients, .bothDialects)
struct LostAnswerTests {
    private static let lost = "lose answer; push fails network"

    static let retries: [Script] = [1, 3].flatMap { losses in
        [
            ("insert b=new", "b", "local [a=one, b=new] queue [] server [a=one, b=new]; row b version=?"),
            ("update a=two", "a", "local [a=two] queue [] server [a=two]; row a version=?"),
            ("delete a", "a", "local [] queue [] server [a deleted]"),
        ].map { change, id, end in
            // The server's row is written once.
            Script(
                "P6 a retry accepts the result of the first attempt: \(change), \(losses) lost", change,
                Array(repeating: lost, count: losses).joined(separator: "; "), "remember \(id)", "push", end,
                "remote \(id) version=?")
        }
    }

    static let edits: [Script] = [("insert", "b"), ("update", "a")].flatMap { change, id in
        [
            ("update ID=three priority=7", "both ID text=three priority=7 complete=null"),
            ("update ID=two priority=7 complete=true", "both ID text=two priority=7 complete=true"),
            ("update ID=null priority=null", "both ID text=null priority=null complete=null"),
            ("update ID=one priority=1", "both ID text=one priority=1 complete=null"),
            ("delete ID", "row ID id=null; remote ID deleted=true"),
            ("delete ID; insert ID=again", "both ID text=again priority=null complete=null; remote ID deleted=false"),
        ].map { edit, end in
            Script(
                "P6 an edit before the retry reaches the server: \(change), \(edit)",
                "\(change) \(id)=two priority=7", lost, edit.replacing("ID", with: id), "push; queue []",
                end.replacing("ID", with: id))
        }
    }

    static let restoresOfDeleted: [Script] = [("insert", "b"), ("update", "a")].flatMap { change, id in
        [
            // The app deletes this row itself, too, and its next insert replaces it.
            "delete ID; insert ID=third; push; remote ID text=third deleted=false",
            "push errors conflict; remote ID deleted=true",
        ].map { end in
            Script(
                "P6 a restored row that others deleted stays deleted: \(change), \(end)", "\(change) \(id)=two",
                "lose request; push fails network; delete \(id); insert \(id)=again",
                "on change lose answer; push errors serverFailed; remote \(id) text=again; other delete \(id)",
                end.replacing("ID", with: id))
        }
    }

    static let scripts: [Script] = [
        Script(
            "P6 a row that another client inserted with the ID is a conflict, whatever the 409 contains",
            "other insert b=theirs; insert b=mine; on create echo 409; push errors conflict; error server.text=theirs",
            "local [a=one, b=mine] queue [insert b] server [a=one, b=theirs]"),
        Script(
            "P6 the delete of an insert that was applied and then changed by others is not forgotten",
            "insert b=new priority=5", lost, "other update b priority=9; push errors conflict; delete b",
            "local [a=one] queue [delete b] server [a=one, b=new]",
            // The change of the other device has not been seen.
            "push errors conflict; error server.priority=9"),
        Script(
            "P6 after a second lost answer with another edit, both edits reach the server",
            "update a=two", lost, "update a=three priority=2", lost, "local [a=three] queue [update a] server [a=two]",
            "update a=one; push; local [a=one] queue [] server [a=one]; remote a priority=2"),
        Script(
            "P6 another client's change after this client's write is preserved, without an edit",
            "update a=two", lost, "other update a priority=9 effort=1.5",
            "push; local [a=two] queue [] server [a=two]; both a priority=9 effort=1.5"),
        Script(
            "P6 another client's change after this client's write is preserved, with an edit",
            "update a=two", lost, "other update a priority=9 effort=1.5; update a=three",
            "push; local [a=three] queue [] server [a=three]; both a priority=9 effort=1.5"),
        // The server refuses the pull's push, so that the row is pulled while its operation is pending.
        Script(
            "P6 the same if a pull stored the other client's change in between, without an edit",
            "update a=two", lost, "other update a priority=9; on update answer 400",
            "pull others fails completedWithErrors; row a priority=1",
            "push; local [a=two] queue [] server [a=two]; both a priority=9"),
        Script(
            "P6 the same if a pull stored the other client's change in between, with an edit",
            "update a=two", lost, "other update a priority=9; on update answer 400",
            "pull others fails completedWithErrors; row a priority=1; update a=three",
            "push; local [a=three] queue [] server [a=three]; both a priority=9"),
        Script(
            "P6 another client's change that overwrites this client's insert is a conflict",
            "insert b=two", lost, "other update b=theirs; push errors conflict",
            "error kind=insert server.text=theirs item.text=two; remote b text=theirs"),
        Script(
            "P6 another client's change that overwrites this client's update is a conflict",
            "update a=two", lost, "other update a=theirs; push errors conflict",
            "error kind=update server.text=theirs item.text=two; remote a text=theirs"),
        Script(
            "P6 another client's change that overwrites this client's write is a conflict of its delete",
            "update a=two", lost, "other update a=theirs; delete a; push errors conflict",
            "error kind=delete server.text=theirs item.text=two; remote a text=theirs"),
        Script(
            "P6 a delete after a lost update does not remove another client's change of another column",
            "update a=two", lost, "other update a priority=9; delete a; push errors conflict",
            "error kind=delete server.priority=9; local [] queue [delete a] server [a=two]"),
        Script(
            "P6 a delete that another server answers, such as that of a network's sign-in page, is not done",
            "delete a; answer 200 'no JSON'; push fails network; local [] queue [delete a] server [a=one]",
            "push; local [] queue [] server [a deleted]"),
        Script(
            "P6 the same if only the delete is answered elsewhere",
            "delete a; on delete answer 200 'no JSON'; push fails network; local [] queue [delete a] server [a=one]",
            "push; local [] queue [] server [a deleted]"),
        Script(
            "P6 a delete with an unreadable answer is done if the server no longer has the row",
            "delete a; on delete carry out 200 'no JSON'; push; requests 2; local [] queue [] server [a deleted]"),
        Script(
            "P6 a delete that was lost ends like one whose answer was lost",
            "delete a; lose request; push fails network; push; local [] queue [] server [a deleted]"),
        Script(
            "P6 a delete whose answer was lost ends like one that was lost",
            "delete a", lost, "push; local [] queue [] server [a deleted]"),
        Script(
            "P6 a write that ended in a conflict is not recognized as this client's when another client writes the same",
            "other update a=theirs; update a complete=true; push errors conflict",
            "other update a complete=true; update a complete=false; push errors conflict",
            "error server.complete=true; remote a complete=true"),
    ]

    static let restores: [Script] = (1...3).map { loss in
        Script(
            "P6 a restore completes if the answer of its request \(loss) is lost",
            "delete a", lost, "insert a=back complete=true; on #\(loss) lose answer; push errors serverFailed",
            "push; local [a=back] queue [] server [a=back]; remote a complete=true")
    }

    @Test(
        "P6 a lost answer makes no duplicate and no false conflict, and loses no edit", arguments: StoreKind.perEngine,
        retries + edits + restoresOfDeleted + scripts + restores)
    func plays(_ stores: StoreKind, _ script: Script) async throws { try await script.play(stores) }

    @Test(
        "P6 a large change whose answer was lost is looked up before it is sent again", arguments: StoreKind.perEngine,
        allPairs([OperationKind.insert, .update], [true, false]))
    func large(_ stores: StoreKind, _ change: (kind: OperationKind, arrived: Bool)) async throws {
        let world = try World(stores)
        let client = try await world.makeSyncedClient()
        let text = String(repeating: "x", count: OperationSender.largeRequest)
        let id = try await client.items.edit(change.kind, ["text": .string(text)])
        await client.pushLosing(change.arrived ? .loseAnswer : .loseRequest)
        client.transport.clear()
        try await client.context.push()
        let requests = client.transport.requests
        #expect(requests.first?.hasPrefix("GET") == true)
        #expect(requests.count { !$0.hasPrefix("GET") } == (change.arrived ? 0 : 1))
        #expect(try await client.queue().isEmpty)
        #expect(try world.serverRow(id)?["text"] == .string(text))
    }

    @Test(
        "P6 this client's insert is recognized if a 409 contains the client's own body, as Node sends it",
        arguments: StoreKind.perEngine)
    func ownBody(_ stores: StoreKind) async throws {
        let (world, client) = try await World.withSyncedClient(stores)
        let full: Row = [
            "id": "b", "text": "2026-11-21T00:00:00Z", "complete": false, "priority": 9_007_199_254_740_993,
            "effort": 0.1, "due": .timestamp(World.instant(1_234_567)), "photo": .bytes([0, 255]),
            "tags": .json(#"{"b":[1,2.5],"a":"x"}"#),
        ]
        try await client.items.insert(full)
        await client.pushLosing()
        client.transport.inspect { request, body in
            request.method == .post ? .answer(.answer(409, body)) : nil
        }
        try await client.context.push()
        #expect(try await client.queue().isEmpty)
        #expect(try client.row("b")?.version == world.serverRow("b")?.version)
        #expect(client.transport.requests.contains { $0.hasPrefix("GET /tables/TodoItem?") })
    }

    @Test(
        "P6 this client's write is recognized on a server with milliseconds and its own JSON format",
        arguments: StoreKind.perEngine, OperationKind.allCases)
    func coarseServer(_ stores: StoreKind, _ kind: OperationKind) async throws {
        let (world, client) = try await World.withSyncedClient(stores)
        let id = try await client.items.edit(
            kind == .insert ? .insert : .update,
            ["due": .timestamp(World.instant(1_234_567)), "tags": .json(#"{"a":1.0,"b":[true,"é"]}"#)])
        await client.pushLosing()
        try world.serverStore.write { writer in
            let due = World.instant(1_234_567).flooredToMillisecond
            try writer.upsert(
                ["id": .string(id), "due": .timestamp(due), "tags": .json(#"{"b": [true, "\u00e9"], "a": 1}"#)],
                into: "TodoItem")
        }
        if kind == .delete { try await client.items.delete(id: "a") }
        try await client.context.push()
        #expect(try await client.queue().isEmpty)
        if kind == .delete { return #expect(try world.serverRow("a")?["deleted"] == true) }
        #expect(try client.row(id)?["due"] == world.serverRow(id)?["due"])
    }

    @Test(
        "P6 an unreadable answer makes the client read the row, and the next push completes the operation",
        arguments: StoreKind.perEngine, OperationKind.allCases)
    func unreadableAnswer(_ stores: StoreKind, _ kind: OperationKind) async throws {
        let (world, client) = try await World.withSyncedClient(stores)
        try await client.items.edit(kind)
        client.transport.inspect { _, _ in .change { $0.editing { _ in "no JSON" } } }
        // 204 has no body, so that any is ignored.
        let hasNoBody = kind == .delete && BothDialects.current == .datasync3
        #expect(await syncErrorCode { try await client.context.push() } == (hasNoBody ? nil : .network))
        client.transport.inspect(nil)
        try await client.context.push()
        #expect(try await client.queue().isEmpty)
        #expect(try client.texts() == world.serverTexts())
    }
}
