import Testing
import TidelineStore
import TidelineTestStores
import TidelineTestSupport

@testable import Tideline

/// Rules F1, F2, F3, F7 and F11: the behavior common to all pulls.
@Suite("Pull", .timeLimit(.minutes(15)), .releasesClients, .bothDialects)
struct PullTests {
    // MARK: F1

    @Test("F1 pending operations of another table are not pushed", arguments: StoreKind.perEngine)
    func otherTable(_ stores: StoreKind) async throws {
        let client = try await World(stores).makeClient()
        try await client.client.define([TableSchema("Note", columns: [.string("text")])])
        try await client.client.table("Note").insert(["id": "n", "text": "later"])
        try await client.items.pull()
        #expect(try await client.queue() == ["insert n"])
    }

    private static let edited = "empty; plant a@0; pull all; update a=edited; plant b@20000; clear"

    static let pushes: [Script] =
        [
            Script(
                "F1 a pull pushes first if its table has pending operations, and only then",
                "empty; plant a@0; insert b=mine; on get meanwhile queue []; pull; texts [a, mine]; same b",
                "on change lose request; pull"),
            Script(
                "F1 if the push fails, the pull fails with its error and operation errors, and pulls nothing", edited,
                #"on update answer 403 {"error":"read-only"}; pull all errors rejected; failed [a]; requests 1"#,
                "texts [edited]"),
            Script(
                "F1 with pullOthers, errors of single operations do not block the pull and are reported after it",
                edited, #"on update answer 403 {"error":"read-only"}; pull all others errors rejected"#,
                "texts [b, edited]; queue [update a]"),
            Script(
                "F1 with pullOthers a pull that fails reports the errors of its push, too",
                "update a=two; on update answer 403; on get answer 503; pull q others fails network; failed [a]"),
        ]
        + [(401, "authentication"), (503, "network")].map { status, code in
            Script(
                "F1 with pullOthers, a push aborted by \(status) still fails the pull", edited,
                "on update answer \(status); pull all others fails \(code); texts [edited]")
        }

    static let writes: [Script] =
        [
            Script(
                "F3 pages in order of ID need no updatedAt",
                "empty; plant a@0 b@0 c@0 text=x updatedAt=null version=null; pull page=1; texts [x, x, x]"),
            Script(
                "F3 rows equal in the caller's order keep their places between pages",
                "empty; plant 9@0+0; pull order=complete page=2; whole; asks complete; asks id"),
        ]
        + [1, 2, 1000].map { page in
            Script(
                "F7 rows whose version is stored are not written, page size \(page)",
                "empty; plant 5@0+0; pull all page=\(page); result stored=5; pull page=\(page)",
                "result pulled=5 stored=0 writes=0; plant r002@0 text=new version=other; pull page=\(page)",
                "result stored=1 writes=1; row r002 text=new")
        }
        + allPairs(["pull q", "pull"], ["true", "false"]).map { pull, isDeleted in
            Script(
                "C4 F7 a row edited locally while its page is in flight keeps the edit; \(pull), deleted: \(isDeleted)",
                "empty; plant 3@0+10000; plant r001@10000 deleted=\(isDeleted); meanwhile insert R001=mine; \(pull)",
                "row r001 text=mine; texts [mine, r000, r002]; queue [insert R001]")
        }

    static let orders: [Script] = [1, 2, 3, 7, 1000].map { page in
        Script(
            "F3 without a query ID, rows are pulled in order of ID, page size \(page)",
            "empty; plant 7@0+0; pull id!=r003 page=\(page); result pulled=6 stored=6; tokens []; erase r003; whole")
    }

    static let limits: [Script] = [
        ("skip=0 top=5 page=2", "0, 1, 2, 3, 4"), ("skip=3 top=4 page=3", "3, 4, 5, 6"), ("skip=0 top=0 page=3", ""),
        ("skip=8 top=5 page=1", "8, 9"), ("skip=100 top=5 page=2", ""), ("skip=2 page=3", "2, 3, 4, 5, 6, 7, 8, 9"),
    ].map { part, texts in
        Script(
            "F3 top limits the rows of all pages and skip is the start, in the caller's order: \(part)", "empty",
            (0..<10).map { "plant id\($0)@0 text=\(9 - $0)" }.joined(separator: "; "),
            "pull order=text \(part); texts [\(texts)]")
    }

    static let repetitions: [Script] = allPairs([1, 2, 3, 100], ["", "each insert; "]).map { page, edit in
        Script(
            "F7 rows that appear again within a pull are stored once: \(edit)page size \(page)",
            "empty; plant 7@0+1 a@10000 b@10000 c@10000 d@10000 e@50000; \(edit)pull q page=\(page); result stored=12")
    }

    @Test(
        "F1, F3, F7 a pull pushes first, reads each row of its query once, and writes what is new and not edited",
        arguments: StoreKind.perEngine, pushes + writes + orders + limits + repetitions)
    func plays(_ stores: StoreKind, _ script: Script) async throws { try await script.play(stores) }

    @Test("F1 with pullOthers, a push aborted by server failures blocks no pull", arguments: StoreKind.perEngine)
    func failingServer(_ stores: StoreKind) async throws {
        let (world, client) = try await World.withClient(stores) { $0.retry.maximumAttempts = 1 }
        for id in ["a", "b", "c", "d"] { try await client.items.insert(["id": .string(id), "text": .string(id)]) }
        try world.plant([World.row("e", at: 0)])
        client.transport.inspect { request, _ in request.method == .post ? .answer(.answer(500)) : nil }
        let error = await #expect(throws: SyncError.self) {
            try await client.items.pull(queryID: "all", settings: PullSettings(whenPushFails: .pullOthers))
        }
        #expect(error?.code == .serverFailing && error?.operationErrors.isEmpty == false)
        #expect(try client.row("e") != nil)
        await #expect(throws: SyncError.self) { try await client.items.pull(queryID: "all") }
    }

    @Test("F1 canceling a pull cancels its push; the next push completes", arguments: StoreKind.perEngine)
    func cancelsPush(_ stores: StoreKind) async throws {
        let client = try await World(stores).makeClient()
        try await client.items.insert(["id": "a", "text": "one"])
        let (arrived, arrival) = AsyncStream.makeStream(of: Void.self)
        client.transport.inspect { _, _ in
            arrival.yield()
            // Ends immediately when the task is canceled.
            try? await Task.sleep(for: .seconds(3600))
            return .loseRequest
        }
        let pull = Task { try await client.items.pull() }
        for await _ in arrived { break }
        pull.cancel()
        #expect(await syncErrorCode { _ = try await pull.value } == .cancelled)
        #expect(client.transport.requests == ["POST /tables/TodoItem"])
        #expect(try await client.queue() == ["insert a"])
        client.transport.inspect(nil)
        try await client.context.push()
        #expect(try await client.queue().isEmpty)
    }

    @Test("F1 a canceled pull stops at the current page; the next one pulls the rest", arguments: StoreKind.perEngine)
    func cancelsPull(_ stores: StoreKind) async throws {
        let (world, client) = try await World.withClient(stores)
        try world.plant(World.rows(at: (0..<10).map { $0 * 10_000 }))
        let code = await client.codeOfTask(canceledAt: 1) {
            try await client.items.pull(queryID: "all", settings: PullSettings(pageSize: 2))
        }
        #expect(code == .cancelled)
        #expect(client.transport.requests.count == 1)
        try await client.items.pull(queryID: "all", settings: PullSettings(pageSize: 2))
        #expect(try client.store.versions() == world.serverVersions())
    }

    // MARK: F2

    struct Refusal: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let query: TableQuery
        let queryID: String?
        let settings: PullSettings

        init(
            _ name: String, _ query: TableQuery = TableQuery("TodoItem"), queryID: String? = nil,
            settings: PullSettings = PullSettings()
        ) {
            (testDescription, self.query, self.queryID, self.settings) = (name, query, queryID, settings)
        }
    }

    private static let items = TableQuery("TodoItem")

    static let refusals: [Refusal] = [
        Refusal("select", items.select("text")),
        Refusal("total count", items.includingTotalCount()),
        Refusal("own __includeDeleted", settings: PullSettings(parameters: [("__includeDeleted", "false")])),
        Refusal("own __includedeleted", settings: PullSettings(parameters: [("__INCLUDEDELETED", "true")])),
        Refusal("own $top", settings: PullSettings(parameters: [("$top", "1")])),
        Refusal("own __x", settings: PullSettings(parameters: [("__x", "1")])),
        Refusal("NaN", items.filter(.column("effort") < .literal(.double(.nan)))),
        Refusal("an invalid date", items.filter(.column("due") == "soon"), queryID: "q"),
        Refusal("nameless parameter", settings: PullSettings(parameters: [("", "1")])),
        Refusal("order", items.order(by: "text"), queryID: "q"),
        Refusal("skip", items.skip(1), queryID: "q"),
        Refusal("top", items.limit(1), queryID: "q"),
        Refusal("top of 0", items.limit(0), queryID: "q"),
        Refusal("negative skip", items.skip(-1)),
        Refusal("negative top", items.limit(-1)),
        Refusal("page size 0", settings: PullSettings(pageSize: 0)),
        Refusal("page size -1", settings: PullSettings(pageSize: -1)),
        Refusal("no pages in a transaction", settings: PullSettings(pagesPerTransaction: 0)),
        Refusal("-1 pages in a transaction", settings: PullSettings(pagesPerTransaction: -1)),
        Refusal("least pages in a transaction", settings: PullSettings(pagesPerTransaction: .min)),
        Refusal("negative lookback", settings: PullSettings(lookback: .seconds(-1))),
        Refusal("empty query id", queryID: ""),
        Refusal("blank query id", queryID: " \t\u{3000}"),
        Refusal("query id of 256", queryID: String(repeating: "q", count: 256)),
        Refusal("another table", TableQuery("Other")),
        Refusal("impossible column", items.filter(.column("a b") == 1)),
        Refusal("impossible order", items.order(by: "a b")),
    ]

    @Test("F2 F11 an unsupported pull is refused before anything is sent", arguments: StoreKind.perEngine, refusals)
    func refuses(_ stores: StoreKind, _ refusal: Refusal) async throws {
        let client = try await World(stores).makeClient()
        // The pull is refused before its push too.
        try await client.items.insert(["id": "a", "text": "mine"])
        let error = await expectSyncError(.invalidArgument) {
            try await client.items.pull(refusal.query, queryID: refusal.queryID, settings: refusal.settings)
        }
        #expect(error?.message.isEmpty == false)
        #expect(client.transport.requests.isEmpty)
    }

    @Test(
        "F2 a column missing in the table is refused before anything is sent",
        arguments: StoreKind.perEngine, allPairs(["nope", "__version", "TEXT", ""], [nil, "q"]))
    func unknownColumn(_ stores: StoreKind, _ pull: (String, String?)) async throws {
        let (column, queryID) = pull
        let client = try await World(stores).makeClient()
        try await client.items.insert(["id": "a", "text": "one"])
        let text = RowPredicate.column("text")
        let query = TableQuery("TodoItem").filter(text == "one" && !(text == "two" || .column(column) == .value(1)))
        await expectSyncError(.invalidArgument, table: "TodoItem", column: column) {
            try await client.items.pull(query, queryID: queryID)
        }
        #expect(client.transport.requests.isEmpty)
        if queryID == nil {
            await expectSyncError(.invalidArgument, column: column) {
                try await client.items.pull(TableQuery("TodoItem").order(by: column))
            }
        }
    }

    @Test("F2 a pull can use the server's system columns", arguments: StoreKind.perEngine, ["createdAt", "updatedAt"])
    func systemColumn(_ stores: StoreKind, column: String) async throws {
        let client = try await World(stores).makeSyncedClient()
        try await client.items.pull(TableQuery("TodoItem").filter(.column(column) > .value(Timestamp.min)))
        #expect(try client.texts() == ["one"])
    }

    @Test(
        "F11 a query ID is any nonblank text of up to 255 characters",
        arguments: StoreKind.perEngine,
        ["x", String(repeating: "é", count: 255), "it's \"q\"\u{0}\u{1F30A}'; DROP TABLE MS_TableConfig;--"])
    func queryIDs(_ stores: StoreKind, _ id: String) async throws {
        let (world, client) = try await World.withClient(stores)
        try world.plant([World.row("a", at: 0)])
        try await client.items.pull(queryID: id)
        #expect(try Array(client.store.tokens().keys) == [id])
        #expect(try await client.items.pull(queryID: id).rowsStored == 0)
    }

    // MARK: F3

    @Test("F3 inserts and deletes between pages in order of ID hide no earlier row", arguments: StoreKind.perEngine)
    func changesByID(_ stores: StoreKind) async throws {
        let (world, client) = try await World.withClient(stores)
        let rows = World.rows(at: (0..<20).map { _ in 0 })
        try world.plant(rows)
        client.transport.inspect { _, _ in
            let step = client.transport.requests.count
            // Insert a row before all others, and delete one that was already read.
            try? world.plant([World.row("a\(step)", at: 1)])
            _ = try? world.serverStore.write { try $0.delete(id: rows[step / 2].idText, from: "TodoItem") }
            return nil
        }
        try await client.items.pull(settings: PullSettings(pageSize: 3))
        let local = try client.store.versions()
        #expect(try world.serverVersions().keys.filter { $0.hasPrefix("r") }.allSatisfy { local[$0] != nil })
        #expect(local.count >= 20)
    }

    @Test("F3 a page that repeats is an error, no endless loop", arguments: StoreKind.perEngine, ["$filter", "$skip"])
    func endless(_ stores: StoreKind, option: String) async throws {
        let (world, client) = try await World.withClient(stores)
        try world.plant(World.rows(at: (0..<9).map { _ in 0 }))
        client.transport.inspect { request, _ in
            client.transport.requests.count > 50 ? .loseRequest : .instead(request.without(option)) { $0 }
        }
        let query = option == "$skip" ? TableQuery("TodoItem").order(by: "text") : TableQuery("TodoItem")
        await expectSyncError(.noProgress, table: "TodoItem") {
            try await client.items.pull(query, settings: PullSettings(pageSize: 2))
        }
        #expect(client.transport.requests.count < 6)
    }

    // MARK: F7

    @Test(
        "F7 deleted rows are requested and removed, including rows the client never had", .zumoOnly,
        arguments: StoreKind.perEngine,
        ["all", nil])
    func deletedRows(_ stores: StoreKind, queryID: String?) async throws {
        let (world, client) = try await World.withClient(stores)
        try world.plant([World.row("a", at: 0), World.row("b", at: 10_000), World.row("c", at: 20_000, deleted: true)])
        #expect(try await client.items.pull(queryID: queryID).rowsRemoved == 0)
        #expect(try client.texts() == ["a", "b"])
        try world.plant([World.row("a", at: 30_000, deleted: true)])
        #expect(try await client.items.pull(queryID: queryID).rowsRemoved == 1)
        #expect(try client.texts() == ["b"])
        // Rule F14: the first pull into an empty table need not ask for them.
        let asks = client.transport.requests.map { $0.contains("__includeDeleted=true") }
        #expect(asks.contains(true) && asks[0] == (queryID == nil) && asks.last == true)
    }

    @Test("F11 deleted: null is not deleted, and timestamps are compared as instants", arguments: StoreKind.perEngine)
    func spellings(_ stores: StoreKind) async throws {
        let transport = ScriptedTransport { exchange in
            guard exchange.number == 1 else { return .answer(200, "[]") }
            return .answer(
                200,
                """
                [{"id":"a","text":"a","version":"1","deleted":null,"updatedAt":"2026-11-21T10:00:00+02:00"},
                 {"id":"b","text":"b","version":"1","updatedAt":"2026-11-21T08:00:00.0000001Z"}]
                """)
        }
        let client = try await transport.makeClient(stores, tables: [World.schema])
        try await client.table("TodoItem").pull(queryID: "all")
        #expect(try client.store.versions() == ["a": "1", "b": "1"])
        #expect(transport.requests[1].target.contains("updatedAt ge datetimeoffset'2026-11-21T08:00:00.0000001Z'"))
    }

    @Test("F11 no page is larger than the server allows, whatever is set", .zumoOnly, arguments: StoreKind.perEngine)
    func pageSizeLimit(_ stores: StoreKind) async throws {
        let client = try await World(stores).makeClient()
        try await client.items.pull(settings: PullSettings(pageSize: 50_000))
        try await client.items.pull(queryID: "all", settings: PullSettings(pageSize: Int.max))
        #expect(client.transport.requests.allSatisfy { $0.contains("$top=1000") })
    }
}
