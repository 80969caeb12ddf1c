import Testing
import TidelineSimulation
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

    private static let lost = "lose answer; push fails network"
    private static let restoring = "delete a; \(lost); insert a=back"

    /// Expects one conflict with the server's row, which stays unchanged.
    private static func conflict(_ id: String) -> String {
        "remember \(id); push errors conflict; error server.version=?; remote \(id) version=?"
    }

    static let scripts: [Script] = [
        Script(
            "P6 an edit of a column that another client changed after a lost update",
            "update a=two", lost, "other update a priority=9; update a priority=5", conflict("a")),
        Script(
            "P6 the same value written by another client is not recognized as this client's update",
            "update a complete=true; lose request; push fails network", "other update a=theirs complete=true",
            "update a=mine", conflict("a")),
        Script(
            "P6 a row whose insert answer was lost, edited by another client, and deleted locally",
            "insert b=new", lost, "other update b priority=9; delete b", conflict("b")),
        Script(
            "P6 a row whose insert answer was lost, edited by another client, deleted and inserted again locally",
            "insert b=new", lost, "other update b priority=9; delete b; insert b=again", conflict("b")),
        Script(
            "P6 a delete of an insert that conflicted with another client's row",
            "other insert b=theirs; insert b=mine; push errors conflict; clear",
            "delete b; push; requests 0; remote b text=theirs"),
        Script(
            "P6 an insert that was lost, deleted, inserted, and deleted again removes no row of others",
            "empty; insert n=mine; lose request; push fails network; other insert n=theirs; delete n", conflict("n"),
            "insert n='mine again'", conflict("n"), "delete n; other update n=newer", conflict("n")),
        Script(
            "P6 an insert without columns whose answer was lost",
            "insert b", lost, "update b=late; push; local [a=one, b=late] queue [] server [a=one, b=late]"),
        // The second body does not contain the priority written by the first.
        Script(
            "P6 of several lost bodies, the body that matches the row is used",
            "insert b=b priority=7", lost, "update b priority=null; lose request; push fails network",
            "other update b effort=2.5; push; remote b priority=null effort=2.5; queue []"),
        Script(
            "P6 a restore after a delete whose answer was lost clears the columns missing in the new row",
            restoring, "push; queue []; remote a text=back priority=null"),
        Script(
            "P6 a restore during a delete clears the columns missing in the new row",
            "delete a; on delete afterwards insert a=back; push; queue [update a]; push; queue []",
            "remote a text=back priority=null"),
    ]

    static let edits: [Script] = [
        ("update a priority=5", "row a priority=5"), ("delete a", "row a id=null"),
    ].flatMap { edit, end in
        let conflicts = "push errors conflict; push errors conflict; remote a priority=9; \(end)"
        return [
            Script(
                "P6 an edit while the second attempt is in flight: \(edit)", "update a=two", lost,
                "other update a priority=9; on update afterwards \(edit)", conflicts),
            // Another client changes the row before the lookup.
            Script(
                "P6 an edit while a request is in flight whose answer is unreadable: \(edit)", "update a=two",
                "on update meanwhile \(edit); on update once carry out 200 'no JSON'",
                "on get meanwhile other update a priority=9", conflicts),
        ]
    }

    static let rounded = Script(
        "P6 an integer rounded by the server is recognized as this client's",
        "update a priority=9007199254740993", lost, "push; pushed 1; queue []; row a priority=9007199254740992")

    // The insert during the delete waits for the next push.
    private static let deleting =
        "delete a; on delete afterwards insert a=again; push; delete a; queue [delete a]"

    static let hardDelete = Script(
        "P6 a delete, an insert, and another delete remove no row that others inserted, of a server without tombstones",
        deleting, "other insert a=theirs", conflict("a"))

    static let restores: [Script] = [
        Script(
            "P6 a row that another client restored with other content before the restore",
            restoring, "other undelete a; other update a=theirs; push errors conflict; remote a text=theirs"),
        Script(
            "P6 a row that another client restored with other content during the restore", restoring,
            "on create meanwhile other undelete a; on create meanwhile other update a=theirs; push errors conflict",
            "remote a text=theirs"),
        Script(
            "P6 a row that another client deleted after a restore whose answer was lost stays deleted", restoring,
            "on create lose answer; push errors serverFailed; other delete a", conflict("a"), "remote a deleted=true"),
        Script(
            "P6 a restore that something else has answered is no conflict, and is sent again", restoring,
            "on create impose 200; push errors serverFailed; local [a=back]",
            "push; local [a=back] queue [] server [a=back]"),
        Script(
            "P6 a restored row has no column that another client set in the deleted row", restoring,
            "other undelete a; other update a effort=2.5; other delete a", conflict("a")),
        Script(
            "P6 a delete, an insert, and another delete remove no row that others restored", deleting,
            "other undelete a; other update a=theirs", conflict("a")),
    ]

    static let carriedOut: [Script] = [2, 3].map { number in
        Script(
            "P6 a restore whose request \(number), an undelete or update, was executed but answered 502 is no conflict",
            restoring, "on #\(number) carry out 502; push; local [a=back] queue [] server [a=back]",
            "remote a priority=null")
    }

    static let special: [(ServerQuirks, Script)] = [(.original, rounded), ([.original, .hardDelete], hardDelete)]
    static let ways: [(ServerQuirks, Script)] =
        allPairs(servers, scripts + edits) + allPairs(softServers, restores + carriedOut) + special

    @Test(
        "P6 a change that this client has not seen is never overwritten or deleted, and an own one is no conflict",
        arguments: StoreKind.perEngine, ways)
    func plays(_ stores: StoreKind, _ way: (quirks: ServerQuirks, script: Script)) async throws {
        try await way.script.served { $0.reproduce(way.quirks) }.play(stores)
    }

    @Test(
        "P6 a delete after a lost insert deletes the row by its version, or nothing if the insert did not arrive",
        arguments: StoreKind.perEngine, allPairs(servers, [true, false]))
    func deleteOfLostInsert(_ stores: StoreKind, _ way: (quirks: ServerQuirks, arrived: Bool)) async throws {
        let world = try World(stores) { $0.reproduce(way.quirks) }
        let client = try await world.makeSyncedClient()
        try await client.items.insert(["id": "b", "text": "new"])
        await client.pushLosing(way.arrived ? .loseAnswer : .loseRequest)
        try await client.items.delete(id: "b")
        client.transport.clear()
        try await client.context.push()
        #expect(try await client.queue().isEmpty)
        #expect(try world.serverRow("b")?["deleted"]?.bool ?? true)
        let deletes = client.transport.sent.map(\.request).filter { $0.method == .delete }
        #expect(deletes.count == (way.arrived ? 1 : 0) && deletes.allSatisfy { $0.headerFields[.ifMatch] != nil })
    }
}
