import Testing
import TidelineStore
import TidelineTestStores

@testable import Tideline

/// Rules L1 to L8: the app's changes before a push.
@Suite("Local operations", .timeLimit(.minutes(15)), .releasesClients, .bothDialects)
struct LocalOperationTests {
    static let scripts: [Script] =
        [
            Script(
                "L1 local changes send nothing",
                "empty; insert a=one; local [a=one] queue [insert a] server []",
                "update a=two; local [a=two] queue [insert a] server []",
                "delete a; local [] queue [] server []; requests 0"),
            Script(
                "L4 an update merges: columns that are not named keep their value, null clears",
                "update a complete=true; row a text=one priority=1 complete=true",
                "update a priority=null; row a priority=null text=one"),
            Script(
                "L6 server columns that the table does not define are ignored",
                #"update a=two; replace "text": "colour":"red","text":; push; row a text=two colour=null; queue []"#),
            Script(
                "L7 without handlesSyncTableOperations the queue is kept, and the app writes the rows",
                "empty; insert a=one; local [] queue [insert a] server []",
                "write a=one; push; local [a=one] queue [] server [a=one]",
                "update a=two; local [a=one] queue [update a] server [a=one]",
                "write a=two; local [a=two] queue [update a] server [a=one]",
                "push; local [a=two] queue [] server [a=two]",
                "delete a; local [a=two] queue [delete a] server [a=two]",
                "forget a; push; local [] queue [] server [a deleted]"
            ).with { $0.handlesSyncTableOperations = false },
            Script(
                "L3 IDs ignore ASCII case; the first form stays in store and queue",
                "empty; insert abc=one; update ABC=two; local [abc=two] queue [insert abc] server []",
                "push; update Abc=three; local [abc=three] queue [update abc] server [abc=two]",
                "delete aBC; local [] queue [delete abc] server [abc=two]",
                "delete ABC; local [] queue [delete abc] server [abc=two]",
                "insert ABC=back; local [abc=back] queue [update abc] server [abc=two]",
                "push; local [abc=back] queue [] server [abc=back]"),
            // The request waits until the changes have returned.
            Script(
                "L8 local changes return while a push request hangs, and none is lost",
                "insert b=two; meanwhile insert c=three; meanwhile update b=edited; meanwhile delete a; push",
                "local [b=edited, c=three] queue [insert c, update b, delete a] server [a=one, b=two]",
                "push; local [b=edited, c=three] queue [] server [a deleted, b=edited, c=three]"),
            Script(
                "L8 local changes return while a pull request hangs",
                "meanwhile insert c=three; meanwhile update a=edited; pull",
                "local [a=edited, c=three] queue [insert c, update a] server [a=one]"),
        ]
        + ["abc", "ABC", "aBc"].map {
            Script(
                "L3 an insert of an existing ID is an error and changes nothing: \($0)",
                "empty; insert abc=one; insert \($0)=two fails rowExists",
                "local [abc=one] queue [insert abc] server []",
                "push; insert \($0)=two fails rowExists; local [abc=one] queue [] server [abc=one]")
        }

    @Test("L1 to L8 the app's changes are local until a push", arguments: StoreKind.perEngine, scripts)
    func plays(_ stores: StoreKind, _ script: Script) async throws { try await script.play(stores) }

    /// Changes of the synced row `a`, and of the row `b`. The last one of each list is tested, after the others.
    static let changes = [
        ["insert b"], ["update a"], ["insert b", "update b"], ["delete a"], ["insert b", "delete b"],
        ["update a", "delete a"], ["delete a", "insert a"],
    ]

    private func make(_ change: String, _ items: SyncTable) async throws {
        let id = String(change.suffix(1))
        let row: Row = ["id": .string(id), "text": .string(change)]
        switch change.prefix(6) {
        case "insert": try await items.insert(row)
        case "update": try await items.update(row)
        default: try await items.delete(id: id)
        }
    }

    @Test(
        "L2 row and operation are written together or not at all, whichever store call fails",
        arguments: StoreKind.perEngine, changes)
    func together(_ stores: StoreKind, _ changes: [String]) async throws {
        let (world, client) = try await World.withFailingClient(stores)
        for change in changes.dropLast() { try await make(change, client.items) }
        let before = try world.state(client.store.base)
        // At least two writes and the commit.
        try await client.expectWholeChange(failures: 3) { try await make(changes[changes.count - 1], client.items) }
        #expect(try world.state(client.store.base) != before)
    }

    @Test(
        "L3 an insert without an ID makes a lowercase UUID and returns the stored row", arguments: StoreKind.perEngine,
        [nil, "", "null"])
    func makesID(_ stores: StoreKind, given: String?) async throws {
        let client = try await World(stores).makeClient()
        var row: Row = ["text": "one"]
        if given == "" { row["id"] = "" }
        if given == "null" { row["id"] = .null }
        let stored = try await client.items.insert(row)
        #expect(stored.idText.count == 36 && stored.idText == stored.idText.lowercased())
        #expect(stored["text"] == "one")
        #expect(try client.row(stored.idText)?["text"] == "one")
        #expect(try await client.queue() == ["insert \(stored.idText)"])
    }

    @Test("L3 exact IDs that differ in case are separate rows, in store and queue", arguments: StoreKind.perEngine)
    func exactIDs(_ stores: StoreKind) async throws {
        let client = try await World(stores).makeClient()
        try await client.client.define([TableSchema("Exact", columns: [.string("text")], idMatching: .exact)])
        let exact = client.client.table("Exact")
        try await exact.insert(["id": "abc", "text": "one"])
        try await exact.insert(["id": "ABC", "text": "two"])
        #expect(await syncErrorCode { try await exact.update(["id": "Abc", "text": "three"]) } == .noSuchRow)
        try await exact.delete(id: "abc")
        #expect(try await client.queue() == ["insert ABC"])
        #expect(try await exact.row(id: "ABC")?["text"] == "two")
        #expect(try await exact.row(id: "abc") == nil)
    }

    @Test(
        "L3 every change refuses an ID that the protocol does not allow, naming the column, and nothing is written",
        arguments: StoreKind.perEngine,
        [
            ".", "..", " ", "\u{3000}", "a/b", "a\\b", "a?b", "a+b", "a\"b", "a`b", "\u{0}", "a\u{0}b", "a\nb",
            "a\u{1f}b", "a\u{7f}b", "a\u{9f}b", String(repeating: "x", count: 256),
        ])
    func refusesIDs(_ stores: StoreKind, id: String) async throws {
        let (world, client) = try await World.withClient(stores)
        let row: Row = ["id": .string(id), "text": "one"]
        await expectSyncError(.invalidArgument, column: "id", id: id) { try await client.items.insert(row) }
        await expectSyncError(.invalidArgument, column: "id", id: id) { try await client.items.update(row) }
        await expectSyncError(.invalidArgument, column: "id", id: id) { try await client.items.delete(id: id) }
        #expect(try world.state(client) == "local [] queue [] server []")
    }

    @Test(
        "L3 a row whose ID the app could not insert can be changed and deleted", arguments: StoreKind.perEngine,
        ["a/b", "../x", "a?b#c", "a+b", "a\\b", "a\nb", " "])
    func idsOfOthers(_ stores: StoreKind, id: String) async throws {
        let (world, client) = try await World.withClient(stores)
        try world.plant([
            [
                "id": .string(id), "text": "one", "version": "v1", "deleted": false,
                "updatedAt": .timestamp(world.clock.now),
            ]
        ])
        try await client.items.pull()
        try await client.pushUpdate(["id": .string(id), "text": "two"])
        #expect(try world.state(client) == "local [\(id)=two] queue [] server [\(id)=two]")
        try await client.pushDelete(id)
        #expect(try world.state(client) == "local [] queue [] server [\(id) deleted]")
        #expect(await syncErrorCode { try await client.items.insert(["id": .string(id)]) } == .invalidArgument)
    }

    @Test(
        "L3 text that is not a JSON array or object is refused in a JSON column, which the error names",
        arguments: StoreKind.perEngine,
        [
            "{bad", "", " ", "1", "\"a\"", "null", "true", "[1,]", "{} {}", "[1]x", "{a:1}", "['a']", "[\u{7}]",
            "\u{FEFF}[]",
        ])
    func refusesJSON(_ stores: StoreKind, text: String) async throws {
        let (world, client) = try await World.withSyncedClient(stores)
        try await expectRefusal(of: ["tags": .json(text)], column: "tags", client, world)
        try await client.items.update(["id": "a", "tags": .json(" { \"a\": [1, \"\\u00e9\"] }\n")])
        try await client.context.push()
        #expect(try world.state(client) == "local [a=one] queue [] server [a=one]")
    }

    /// Expects that an insert and an update with the given columns are refused because of one of them.
    private func expectRefusal(of columns: Row, column: String, _ client: Client, _ world: World) async throws {
        for kind in [OperationKind.insert, .update] {
            let id = kind == .insert ? "b" : "a"
            await expectSyncError(.invalidArgument, table: "TodoItem", column: column, id: id) {
                try await client.items.edit(kind, columns)
            }
        }
        #expect(try world.state(client) == "local [a=one] queue [] server [a=one]")
    }

    @Test("L3 the row that an insert returns equals the stored row in every column", arguments: StoreKind.perEngine)
    func returnsStored(_ stores: StoreKind) async throws {
        let client = try await World(stores).makeSyncedClient()
        let rows: [Row] = [
            ["id": "Ab"], ["text": "no id"],
            [
                "id": "all", "tags": .json("[ 1 ]"), "effort": 3, "text": "é\u{0}", "complete": true, "version": "mine",
                "priority": .null, "photo": .bytes([0, 255]), "due": .timestamp(Timestamp(clampingTicks: 12_345)),
            ],
            ["id": "A", "text": "back"],
        ]
        // The last of these rows is restored, with its first identifier.
        try await client.items.delete(id: "a")
        for row in rows {
            let returned = try await client.items.insert(row)
            let stored = try client.row(returned.idText)
            #expect(returned == stored)
            #expect(returned.columnNames == stored?.columnNames)
        }
    }

    @Test("L4 an update of an unknown or deleted ID is an error and queues nothing", arguments: StoreKind.perEngine)
    func updateOfUnknown(_ stores: StoreKind) async throws {
        let (world, client) = try await World.withSyncedClient(stores)
        #expect(await syncErrorCode { try await client.items.update(["id": "z", "text": "two"]) } == .noSuchRow)
        #expect(await syncErrorCode { try await client.items.update(["text": "two"]) } == .invalidArgument)
        #expect(try world.state(client) == "local [a=one] queue [] server [a=one]")
        try await client.items.delete(id: "a")
        #expect(await syncErrorCode { try await client.items.update(["id": "a", "text": "two"]) } == .noSuchRow)
        #expect(try world.state(client) == "local [] queue [delete a] server [a=one]")
    }

    @Test("L5 a delete keeps the stored content and version, not those of the caller", arguments: StoreKind.perEngine)
    func deleteKeepsContent(_ stores: StoreKind) async throws {
        let (world, client) = try await World.withSyncedClient(stores)
        let version = try client.row("a")?.version
        try await client.items.delete(["id": "A", "text": "stale"])
        let operation = try #require(try await client.context.pendingOperations().first)
        #expect(operation.kind == .delete && operation.itemID == "a")
        #expect(version != nil && operation.baseVersion == version)
        let kept = try client.store.read { try $0.row(in: "MS_TableOperations", id: .int(operation.id)) }
        #expect(kept?["properties"]?.json?.contains(#""text":"one""#) == true)
        try await world.updateElsewhere()
        let error = try #require(try await pushErrors(client).first)
        #expect(error.item?["text"] == "one" && error.item?.version == version)
        #expect(error.serverItem?["text"] == "theirs")
        #expect(try world.state(client) == "local [] queue [delete a] server [a=theirs]")
    }

    @Test("L5 an update takes its base version from the store, not from the caller", arguments: StoreKind.perEngine)
    func baseVersionOfUpdate(_ stores: StoreKind) async throws {
        let client = try await World(stores).makeSyncedClient()
        try await client.items.update(["id": "a", "text": "two", "version": "other"], overwriting: true)
        let version = try client.row("a")?.version
        #expect(version != "other")
        #expect(try await client.context.pendingOperations().first?.baseVersion == version)
    }

    @Test("L5 a delete of a missing ID is queued, without or with the given version", arguments: StoreKind.perEngine)
    func deleteOfUnknown(_ stores: StoreKind) async throws {
        let (world, _) = try await World.withSyncedClient(stores)
        let (stranger, unknown) = (try await world.makeClient(), try await world.makeClient())
        func conditions(_ client: Client) -> [String?] {
            client.transport.sent.filter { $0.request.method == .delete }.map { $0.request.headerFields[.ifMatch] }
        }
        try await stranger.items.delete(id: "a", version: "wrong")
        #expect(try world.state(stranger) == "local [] queue [delete a] server [a=one]")
        #expect(try await pushErrors(stranger).first?.code == .conflict)
        #expect(try world.state(stranger) == "local [] queue [delete a] server [a=one]")
        try await unknown.items.delete(id: "a")
        try await unknown.pushDelete("nowhere")
        #expect(conditions(stranger) == ["\"wrong\""] && conditions(unknown) == [nil, nil])
        #expect(try world.state(unknown) == "local [] queue [] server [a deleted]")
    }

    static let badRows: [(Row, String)] = [
        (["colour": "red"], "colour"), (["Text": "wrong case"], "Text"), (["__meta": "x"], "__meta"),
        (["text": 1], "text"), (["priority": "1"], "priority"), (["priority": .double(1)], "priority"),
        (["complete": 1], "complete"), (["effort": .double(.nan)], "effort"),
        (["effort": .double(.infinity)], "effort"), (["effort": .int(9_007_199_254_740_993)], "effort"),
        (["due": "2026-11-21T00:00:00Z"], "due"), (["photo": "AAAA"], "photo"), (["tags": "[]"], "tags"),
    ]

    @Test("L6 an app's row with a wrong column is refused, naming the column", arguments: StoreKind.perEngine, badRows)
    func refusesColumns(_ stores: StoreKind, _ bad: (Row, String)) async throws {
        let (world, client) = try await World.withSyncedClient(stores)
        try await expectRefusal(of: bad.0, column: bad.1, client, world)
    }

    @Test("L6 system columns in an app's row are ignored; whole numbers fit doubles", arguments: StoreKind.perEngine)
    func ignoresSystemColumns(_ stores: StoreKind) async throws {
        let client = try await World(stores).makeSyncedClient()
        let version = try client.row("a")?.version
        try await client.items.update([
            "id": "a", "effort": 3, "version": version.map { .string($0) } ?? .null, "updatedAt": 5, "createdAt": "x",
            "deleted": true,
        ])
        #expect(try client.row("a")?.version == version)
        #expect(try client.row("a")?["effort"] == .double(3))
        let stored = try await client.items.insert(["id": "b", "text": "two", "version": "mine", "deleted": true])
        #expect(stored.version == nil)
    }
}
