import HTTPTypes
import Testing
import TidelineStore
import TidelineTestStores

@testable import Tideline

/// The dialect Datasync 3: updates of whole rows send back columns that the local table does not define.
@Suite("Datasync 3", .timeLimit(.minutes(15)), .releasesClients, .onlyDatasync)
struct DatasyncTests {
    /// The server's columns that ``World/schema`` does not have.
    private static let others: Row = ["owner": "ann", "rate": 1.5, "meta": .json(#"{"a":[1,null]}"#)]

    /// Makes a server whose table has further columns, with the row `a`, and a client that has pulled it.
    private func makeWorld(_ stores: StoreKind, dialect: ServerDialect? = nil) async throws -> (World, Client) {
        let world = try World(stores) {
            $0.schemas = [TableSchema("TodoItem", columns: World.schema.columns + Self.columns)]
        }
        try world.plant([World.row("a", at: 0, text: "one").merging(["priority": 1]).merging(Self.others)])
        let client = try await world.makeClient { if let dialect { $0.dialect = dialect } }
        try await client.items.pull(queryID: "all")
        client.transport.clear()
        return (world, client)
    }

    private func methods(_ client: Client) -> [String] {
        client.transport.requests.map { "\($0.prefix { $0 != " " })" }
    }

    private func expectOthers(
        _ world: World, _ id: String = "a", sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let row = try #require(try world.serverRow(id), sourceLocation: sourceLocation)
        #expect(row["owner"] == "ann" && row["rate"] == 1.5, sourceLocation: sourceLocation)
        #expect(row["meta"] == Self.others["meta"], sourceLocation: sourceLocation)
    }

    @Test("A pull compares columns with literals of the types that they have on the server")
    func columnTypes() async throws {
        let dialect = ServerDialect.datasync3(columnTypes: ["TodoItem": ["text": .date]])
        let (world, client) = try await makeWorld(.simplest, dialect: dialect)
        try world.plant([World.row("b", at: 1, text: "1994-10-14"), World.row("c", at: 2, text: "1994-10-15")])
        let query = TableQuery("TodoItem").filter(.column("text") == "1994-10-14")
        #expect(try await client.client.pull(query, queryID: "day").rowsPulled == 1)
        #expect(client.transport.requests.first?.contains("cast(1994-10-14,Edm.Date)") == true)
        await expectSyncError(.invalidArgument, table: "TodoItem", column: "text") {
            try await client.client.pull(TableQuery("TodoItem").filter(.column("text") == "today"), queryID: "other")
        }
    }

    private static let columns: [ColumnSchema] = [.string("owner"), .double("rate"), .json("meta")]
    private static let pulled =
        #"empty; plant a@0 text=one priority=1 owner=ann rate=1.5 meta={"a":[1,null]}; pull all; clear"#

    /// The row of the server as another client has changed it that knows all columns.
    private static func changed(_ columns: String) -> String { "plant a@100000000 \(columns)" }

    /// Expects the server's columns that ``World/schema`` does not have.
    private static func stillOthers(_ owner: String = "ann") -> String {
        #"remote a owner=\#(owner) rate=1.5 meta={"a":[1,null]}"#
    }

    static let updates: [Script] =
        ["", "restart; "].map { restart in
            // The row that was pulled suffices, and so does the row in the answer.
            Script(
                "P1 an update sends back columns that the table does not define\(restart.isEmpty ? "" : ", restarted")",
                pulled, restart + "update a=two priority=null; push; remote a text=two priority=null", stillOthers(),
                "methods [PUT]; update a complete=true; push", stillOthers(), "methods [PUT, PUT]")
        } + [
            Script(
                "P1 columns that others change later are sent back in their newest state", pulled,
                changed("text=one owner=bob"), "pull all; clear; update a=two; push", stillOthers("bob"),
                "methods [PUT]"),
            Script(
                "F7 a column that the server leaves out becomes null", pulled, changed("text=one priority=null"),
                "pull all; row a priority=null"),
            Script(
                "P2 an update of any version is repeated if the row changes", pulled,
                "delegate unset version & execute; update a=two; \(changed("text=one owner=bob"))",
                "on update meanwhile plant a@200000000 text=one owner=cid; push; methods [GET, PUT, GET, PUT]",
                "remote a text=two", stillOthers("cid")),
        ]

    private static let conflict = "update a=mine; \(changed("text=other owner=bob"))"

    static let conflicts: [Script] =
        [
            Script(
                "C1 a conflict that is kept overwrites no other column", pulled, conflict,
                "push errors conflict; keep a=mine; push; remote a text=mine", stillOthers("bob")),
            Script(
                "C1 a conflict that is discarded shows the server's row, and later updates keep its columns", pulled,
                conflict, "push errors conflict; discard; clear; update a priority=9; push; remote a text=other",
                stillOthers("bob"), "methods [PUT]"),
            Script(
                "C1 an item of a delegate wipes no column", pulled, conflict,
                "delegate conflict other & rebase & execute; push; remote a text=mine; no delegate",
                "update a complete=true; push", stillOthers("bob")),
            Script(
                "C1 an item of the app wipes no column", pulled, conflict,
                "push errors conflict; settle a=given version=a@100000000; update a complete=true; push",
                stillOthers("bob")),
        ]
        + [("", "null"), ("update a complete=true; ", "true")].map { edit, complete in
            Script(
                "P6 an update whose answer was lost overwrites no other column, complete: \(complete)", pulled,
                "update a=two; on put lose answer; push fails network", changed("text=two owner=bob priority=5"),
                "\(edit)push; queue []; remote a text=two priority=5 complete=\(complete); row a priority=5",
                stillOthers("bob"))
        }

    @Test(
        "P1, P2, C1, P6 columns that the local table does not define are sent back", arguments: StoreKind.perEngine,
        (updates + conflicts).map {
            $0.served { $0.schemas = [TableSchema("TodoItem", columns: World.schema.columns + columns)] }
        })
    func plays(_ stores: StoreKind, _ script: Script) async throws { try await script.play(stores) }

    @Test("P1 a row of an earlier dialect is read before its first update", arguments: StoreKind.perEngine)
    func earlierDialect(_ stores: StoreKind) async throws {
        let (world, older) = try await makeWorld(stores, dialect: .zumo2)
        try await older.items.update(["id": "a", "priority": 2])
        let client = try await world.makeClient(store: older.store)
        try await client.pushUpdate(["id": "a", "text": "two"])
        #expect(methods(client) == ["GET", "PUT"])
        let row = try #require(try world.serverRow("a"))
        #expect(row["text"] == "two" && row["priority"] == 2)
        try expectOthers(world)
        // The definition grew, so the next pull reads all rows, and later updates need no other request.
        try world.plant([World.row("b", at: -10).merging(Self.others)])
        try await client.items.pull(queryID: "all")
        client.transport.clear()
        try await client.pushUpdate(["id": "b", "text": "two"])
        #expect(methods(client) == ["PUT"])
        try expectOthers(world, "b")
    }

    @Test("P1 a row that changed before it is read is a conflict, and nothing is sent", arguments: StoreKind.perEngine)
    func changedBeforeRead(_ stores: StoreKind) async throws {
        let (world, older) = try await makeWorld(stores, dialect: .zumo2)
        let client = try await world.makeClient(store: older.store)
        try await client.items.update(["id": "a", "text": "two"])
        try world.plant([World.row("a", at: 100_000_000, text: "other")])
        let errors = try await pushErrors(client)
        #expect(errors.map(\.code) == [.conflict] && errors.first?.serverItem?["text"] == "other")
        #expect(methods(client) == ["GET"])
    }

    @Test("L11 a column defined later keeps the server's value until it is pulled", arguments: StoreKind.perEngine)
    func definedLater(_ stores: StoreKind) async throws {
        let (world, client) = try await makeWorld(stores)
        try await client.client.define([TableSchema("TodoItem", columns: [.string("owner"), .double("rate")])])
        try await client.pushUpdate(["id": "a", "text": "two"])
        try expectOthers(world)
        #expect(try client.row("a")?["owner"] == "ann")
    }

    @Test("L11 a dropped column stays on the server", arguments: StoreKind.perEngine, [false, true])
    func dropped(_ stores: StoreKind, isPending: Bool) async throws {
        let (world, client) = try await makeWorld(stores)
        if isPending { try await client.items.update(["id": "a", "text": "two"]) }
        try await client.client.drop(columns: ["priority"], from: "TodoItem")
        if !isPending { try await client.items.update(["id": "a", "text": "two"]) }
        try await client.context.push()
        let row = try #require(try world.serverRow("a"))
        #expect(row["text"] == "two" && row["priority"] == 1)
        try expectOthers(world)
    }

    @Test("P6 a row that is restored keeps its other columns", arguments: StoreKind.perEngine, [false, true])
    func restored(_ stores: StoreKind, isDeleted: Bool) async throws {
        let (world, client) = try await makeWorld(stores)
        try await client.items.delete(id: "a")
        try await client.items.insert(["id": "a", "text": "again"])
        if isDeleted { try await world.makeOther().pushDelete("a") }
        try await client.context.push()
        let row = try #require(try world.serverRow("a"))
        #expect(row["deleted"] == false && row["text"] == "again" && row["priority"] == .null)
        try expectOthers(world)
        #expect(client.transport.requests.contains("PUT /tables/TodoItem/a?__includedeleted=true") == isDeleted)
    }

    @Test("L3 an identifier that the server refuses is refused before a write", arguments: ["ü", "a b", "-a", "a~"])
    func identifiers(_ id: String) async throws {
        let (world, client) = try await World.withClient(.simplest)
        for isTransaction in [false, true] {
            await expectSyncError(.invalidArgument, table: "TodoItem", id: id) {
                if isTransaction {
                    try await client.client.transaction { _ = try $0.insert(["id": .string(id)], into: "TodoItem") }
                } else {
                    try await client.items.insert(["id": .string(id)])
                }
            }
        }
        #expect(try await client.queue().isEmpty)
        try await world.makeClient { $0.dialect = .zumo2 }.items.insert(["id": .string(id)])
    }

    @Test("A direct update changes only the columns that it names", arguments: [false, true])
    func remoteTable(isDefined: Bool) async throws {
        let (world, _) = try await makeWorld(.simplest)
        let client = try await world.makeClient()
        let name = isDefined ? "TodoItem" : "Other"
        if !isDefined {
            var request = HTTPRequest(method: .post, scheme: "http", authority: "server.test", path: "/tables/Other")
            request.headerFields[.init("ZUMO-API-VERSION")!] = "3.0.0"
            let row = #"{"id":"a","text":"one","priority":1,"owner":"ann","big":1.25}"#
            #expect(world.service.handle(request, body: Array(row.utf8)).response.status == .created)
        }
        let table = client.client.remoteTable(name)
        let updated = try await table.update(["id": "a", "text": "two"])
        #expect(updated["text"] == "two" && updated["priority"] == 1)
        let row = try #require(try world.serverStore.read { try $0.row(in: name, id: "a") })
        #expect(row["owner"] == "ann" && row["text"] == "two")
        let error = await #expect(throws: SyncError.self) {
            try await table.update(["id": "a", "text": "three", "version": "old"])
        }
        #expect(error?.code == .conflict && error?.serverItem?["text"] == "two")
        try await table.delete(id: "a")
        #expect(try await table.lookup(id: "a") == nil)
        #expect(await syncErrorCode { _ = try await table.update(["id": "a", "text": "x"]) } == .rejected)
        let restored = try await table.undelete(id: "a")
        #expect(restored["text"] == "two")
        #expect(try world.serverStore.read { try $0.row(in: name, id: "a") }?["owner"] == "ann")
    }
}

/// Responses as the server of the Datasync Community Toolkit sends them.
@Suite("Datasync 3: a real server", .onlyDatasync)
struct DatasyncServerTests {
    private static let json: HTTPFields = [.contentType: "application/json; charset=utf-8"]

    private static func row(_ id: String, _ text: String, version: String, at time: String = "09:12:49.403") -> String {
        #"{"text":"\#(text)","userId":"sid:1","rank":0.1,"id":"\#(id)","deleted":false,"#
            + #""updatedAt":"2026-11-21T\#(time)+00:00","version":"\#(version)"}"#
    }

    private func makeClient(
        _ respond: @escaping ScriptedTransport.Responder
    ) async throws -> (SyncClient<TestStore>, ScriptedTransport) {
        let transport = ScriptedTransport(respond)
        var options = SyncOptions()
        options.dialect = .datasync3
        options.environment.sleep = { _ in }
        let client = try SyncClient(
            url: "http://server.test", store: StoreKind.simplest.makeStore(), transport: transport, options: options)
        try await client.define([TableSchema("TodoItem", columns: [.string("text"), .int("count")])])
        return (client, transport)
    }

    @Test("F5 a pull reads all pages, however small the server cuts them")
    func pages() async throws {
        let (client, transport) = try await makeClient { exchange in
            let page: (String, String) =
                switch exchange.number {
                case 1: (Self.row("a", "1", version: "AAE=") + "," + Self.row("b", "2", version: "AAI="), "$skip=2")
                case 2:
                    (
                        Self.row("b", "2", version: "AAI=") + "," + Self.row("c", "3", version: "AAM=", at: "10:00:00"),
                        ""
                    )
                default: (Self.row("c", "3", version: "AAM=", at: "10:00:00"), "")
                }
            let count = exchange.target.contains("$count=true") ? #","count":1"# : ""
            let link = page.1.isEmpty ? "" : #","nextLink":"\#(page.1)""#
            return .answer(200, #"{"items":[\#(page.0)]\#(count)\#(link)}"#, headers: Self.json)
        }
        #expect(try await client.table("TodoItem").pull(queryID: "all").rowsStored == 3)
        #expect(transport.requests[0].headers[.init("ZUMO-API-VERSION")!] == "3.0.0")
        // Rule F14: the first pull into an empty table asks for no deleted rows.
        #expect(!transport.requests[0].target.contains("__includedeleted"))
        #expect(transport.requests[1].target.contains("updatedAt ge cast(2026-11-21T09:12:49.403Z,Edm.DateTimeOffset)"))
        let row = try #require(try client.store.read { try $0.row(in: "TodoItem", id: "a") })
        #expect(row["__extra"] == .json(#"{"userId":"sid:1","rank":0.1}"#) && row["count"] == .null)
    }

    @Test("P1 a PUT has the row as it was received")
    func put() async throws {
        let (client, transport) = try await makeClient { exchange in
            switch exchange.method {
            case .get:
                .answer(200, #"{"items":[\#(Self.row("a", "1", version: "AAE="))],"count":1}"#, headers: Self.json)
            default:
                .answer(200, Self.row("a", "2", version: "AAI=", at: "10:00:00"), headers: [.eTag: "\"AAI=\""])
            }
        }
        try await client.table("TodoItem").pull(queryID: "all")
        try await client.table("TodoItem").update(["id": "a", "text": "2"])
        try await client.push()
        let put = try #require(transport.requests.last)
        #expect(put.method == .put && put.headers[.ifMatch] == "\"AAE=\"")
        #expect(put.body == #"{"id":"a","userId":"sid:1","rank":0.1,"text":"2"}"#)
        #expect(try client.store.read { try $0.row(in: "TodoItem", id: "a") }?["version"] == "AAI=")
    }

    @Test("P3 an insert of an existing id is a conflict with the row in the answer, without another request")
    func existingID() async throws {
        let (client, transport) = try await makeClient { _ in
            let row = Self.row("a", "other", version: "AAE=").replacing(#""rank""#, with: #""count":null,"rank""#)
            return .answer(409, row, headers: Self.json)
        }
        try await client.table("TodoItem").insert(["id": "a", "text": "mine"])
        let error = await #expect(throws: SyncError.self) { try await client.push() }
        #expect(error?.operationErrors.first?.serverItem?["text"] == "other")
        #expect(transport.requests.map(\.method) == [.post])
    }

    @Test("P3 an update of a gone row conflicts without a server row, its delete is done", arguments: [false, true])
    func gone(deletes: Bool) async throws {
        let (client, _) = try await makeClient { exchange in
            guard exchange.method == .get else { return .answer(410) }
            let rows = exchange.number == 1 ? Self.row("a", "1", version: "AAE=") : ""
            return .answer(200, #"{"items":[\#(rows)]}"#, headers: Self.json)
        }
        let table = client.table("TodoItem")
        try await table.pull()
        if deletes { try await table.delete(id: "a") } else { try await table.update(["id": "a", "text": "2"]) }
        #expect(await syncErrorCode { try await client.push() } == (deletes ? nil : .completedWithErrors))
        #expect(try await client.operationErrors().map(\.isRowGone) == (deletes ? [] : [true]))
    }

    @Test("F11 a page size that the server refuses is followed by a smaller one, with its message")
    func refusedSize() async throws {
        let (client, transport) = try await makeClient { exchange in
            exchange.target.contains("$top=1000")
                ? .answer(400, #"{"title":"One or more validation errors occurred.","status":400}"#, headers: Self.json)
                : .answer(200, #"{"items":[]}"#, headers: Self.json)
        }
        try await client.table("TodoItem").pull()
        #expect(transport.requests.count == 2)
    }

    @Test("F5 a pull whose filter the server ignores ends with an error", arguments: [0, 1])
    func hostilePage(_ kind: Int) async throws {
        let (client, _) = try await makeClient { exchange in
            let rows = kind == 0 ? Self.row("a", "1", version: "AAE=") : ""
            return .answer(200, #"{"items":[\#(rows)],"nextLink":"$skip=\#(exchange.number)"}"#, headers: Self.json)
        }
        #expect(await syncErrorCode { try await client.table("TodoItem").pull() } == (kind == 0 ? .noProgress : nil))
    }
}
