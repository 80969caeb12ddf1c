import Testing
import TidelineStore
import TidelineTestStores
import TidelineTestSupport

@testable import Tideline

/// Rules P6 and P12: a client recognizes the rows that it wrote, also if a request arrived twice.
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

/// The stored bodies of requests: only those with an unknown outcome, and only as much as recognition needs.
@Suite("Sent bodies", .timeLimit(.minutes(15)), .releasesClients, .bothDialects)
struct SentBodiesTests {
    static let refusals: [Script] = [400, 403, 422].map {
        Script(
            "P1 a body refused with \($0) is removed: the next one names only the differences",
            "update a=bad; answer \($0); push errors rejected; error status=\($0); unsure 0",
            #"update a=one priority=2; clear; push; sent [PATCH a {"priority":2}]"#)
    }

    @Test("P1 a refused body is removed", .zumoOnly, arguments: StoreKind.perEngine, refusals)
    func refused(_ stores: StoreKind, _ script: Script) async throws { try await script.play(stores) }

    static let scripts: [Script] =
        [
            Script(
                "P6 the number of kept bodies is bounded, and the newest is still recognized",
                (1...20).map { "update a=edit\($0); lose \($0 < 20 ? "request" : "answer"); push fails network" }
                    .joined(separator: "; "),
                "unsure \(TableOperation.maximumSent); push; local [a=edit20] queue [] server [a=edit20]"),
            Script(
                "P6 a body is kept if it alone names a column, so that a value it may have written is cleared",
                "insert b=b priority=7; lose answer; push fails network; update b priority=null",
                (1...12).map { "update b effort=\($0).5; lose request; push fails network" }.joined(separator: "; "),
                "update b effort=null; push; remote b priority=null effort=null"),
            // The server executes the request and answers 503; the next attempt is refused.
            Script(
                "P6 a body that was refused after an attempt with an unknown outcome is kept, in one push",
                "update a=two; once carry out 503; answer 403; push errors rejected; error status=403; unsure 1",
                "push; local [a=two] queue [] server [a=two]"),
            Script(
                "P6 a body that was refused after an attempt with an unknown outcome is kept, in two pushes",
                "update a=two; lose answer; push fails network",
                "answer 403; push errors rejected; error status=403; unsure 1",
                "push; local [a=two] queue [] server [a=two]"),
            Script(
                "P6 an insert that met a row of others was not carried out, so that its delete leaves that row alone",
                "other insert b=theirs; insert b=mine; push errors conflict; unsure 0; delete b; queue []",
                "pull; local [a=one, b=theirs] queue [] server [a=one, b=theirs]"),
        ]
        + [400, 403, 422].map {
            Script(
                "P6 a lone refusal with \($0) tells that an insert was not carried out",
                "insert b=new; answer \($0); push errors rejected; unsure 0; delete b; queue []",
                "push; local [a=one] queue [] server [a=one]")
        }
        + [302, 501].map {
            Script(
                "P6 an answer \($0), which may be a proxy's, does not tell that an insert was not carried out",
                "insert b=new; carry out \($0); push errors rejected; unsure 1; delete b; queue [delete b]",
                "push; local [a=one] queue [] server [a=one, b deleted]")
        }

    @Test("P6 a body is kept while it may have been applied", arguments: StoreKind.perEngine, scripts)
    func kept(_ stores: StoreKind, _ script: Script) async throws { try await script.play(stores) }

    @Test(
        "P6 JSON is compared by content, and true is not 1",
        arguments: [
            ("[true]", "[1]", false), ("[false]", "[0]", false), (#"{"a":true}"#, #"{"a":1}"#, false),
            ("[1]", "[1.0]", true), ("[1]", "[\"1\"]", false), ("[null]", "[]", false), ("[null]", "[null ]", true),
            (#"{"a":1,"b":[2]}"#, #"{ "b":[2], "a":1 }"#, true), ("[1,2]", "[2,1]", false),
            ("[9007199254740993]", "[9007199254740992]", false), ("[true]", "[ true ]", true),
        ])
    func json(server: String, sent: String, isSame: Bool) {
        #expect(RowCodec(schema: World.schema).shows(["tags": .json(server)], ["tags": .json(sent)]) == isSame)
    }
}

/// Rules P12 and C3: two devices that wrote equal values have no conflict, and equal changes of counters add up.
@Suite("Equal values", .timeLimit(.minutes(15)), .releasesClients, .bothDialects)
struct EqualValueTests {
    private static let sum = ConflictPolicy.merge(["priority": .sum, "effort": .sum])

    static let sums: [Script] = [
        ("priority=2", "priority=2", 3), ("priority=-1", "priority=-1", -3),
        ("priority=2 text=same", "priority=2 text=same", 3), ("priority=2 text=mine", "priority=2 text=theirs", 3),
    ].map { mine, theirs, sum in
        Script(
            "C3 sum adds equal differences: \(mine), \(theirs)",
            "other update a \(theirs); update a \(mine); push; both a priority=\(sum); queue []",
            "decisions [merge (\(mine.contains("mine") ? "text: server, " : "")priority: sum)]")
    }

    static let counters: [Script] = [
        Script(
            "C3 sum adds equal differences to a null base, and those of doubles",
            "other update a effort=0.5; update a effort=0.5; push; remote a effort=1.0"),
        Script(
            "C3 sum takes an equal value for one change if the answer to an earlier request is lost",
            "update a priority=2; lose answer; push fails network; push; both a priority=2"),
        Script(
            "C3 sum takes an equal value for one change if an earlier request is lost",
            "update a priority=2; lose request; push fails network; other update a priority=2",
            "push; both a priority=2"),
        Script(
            "C3 an insert that is delivered twice is counted once",
            "insert b priority=1; on create twice; push; remote b priority=1"),
    ]

    static let scripts: [Script] = [
        Script(
            "P12 two devices that inserted equal values have no conflict",
            "insert b=same complete=true tags=[1]; other insert b=same complete=true tags=[1]",
            "push; queue []; same b; both b text=same priority=null"),
        // The client does not have the change of the priority.
        Script(
            "P12 two devices that wrote equal values have no conflict",
            "update a=same complete=true tags=[1]; other update a=same complete=true tags=[1] priority=9",
            "push; queue []; same a; both a text=same priority=9"),
        Script(
            "P12 two devices that restored a row with equal values have no conflict",
            "delete a; insert a=again; other delete a; other undelete a; other update a=again priority=null",
            "push; queue []; same a"),
        Script(
            "P12 two devices that deleted one row have no conflict",
            "delete a; other delete a; push; local [] queue [] server [a deleted]"),
        // In the end, the user takes the other value.
        Script(
            "P12 an edit that is equal only in part is a conflict",
            "other update a=same priority=3; update a=same priority=4; push errors conflict",
            "update a priority=3; push; queue []; same a"),
        Script(
            "P12 edits made during a request whose values are equal stay, and are sent",
            "other update a=same; update a=same; on update afterwards update a priority=7",
            "push; push; remote a priority=7 text=same; queue []"),
    ]

    @Test(
        "C3, P12 equal values are no conflict, and equal changes add up", arguments: StoreKind.perEngine,
        (sums + counters).map { $0.with { $0.conflictPolicy = sum } } + scripts)
    func plays(_ stores: StoreKind, _ script: Script) async throws { try await script.play(stores) }
}
