import Foundation
import Testing
import TidelineTestStores

@testable import Tideline

/// Pulls from a server with a list of changes by sequence number.
@Suite("Custom dialect: pull")
struct CustomDialectPullTests {
    @Test("F4 a pull continues from the cursor of the last one, per query id", arguments: StoreKind.perEngine)
    func incremental(_ stores: StoreKind) async throws {
        let (world, client) = try await NotesWorld.withClient(stores)
        for number in 0..<5 { world.server.write("\(number)", ["text": .string("n\(number)")]) }
        let steps = Recorder<PullProgress>()
        let result = try await client.pull(PullSettings(pageSize: 2, onProgress: { steps.add($0) }))
        #expect(result.rowsPulled == 5 && result.rowsStored == 5 && result.requests == 3 && result.writes == 3)
        #expect(steps.values.map(\.rowsPulled) == [2, 4, 5] && steps.values.map(\.total) == [5, 5, 5])
        #expect(try await client.cursor() == "5")
        world.server.write("1", ["text": "new"])
        world.server.write("2", nil)
        world.server.clear()
        let next = try await client.pull()
        #expect(world.server.requests == ["GET /db/Note/changes?after=5&limit=1000"])
        #expect(next.rowsStored == 1 && next.rowsRemoved == 1)
        #expect(try client.texts() == ["0": "n0", "1": "new", "3": "n3", "4": "n4"])
        try await client.client.pull(TableQuery("Note"), queryID: "other")
        #expect(world.server.requests.last == "GET /db/Note/changes?after=0&limit=1000")
    }

    @Test("F3 a pull without a query id begins with the first row", arguments: StoreKind.perEngine)
    func whole(_ stores: StoreKind) async throws {
        let (world, client) = try await NotesWorld.withClient(stores)
        world.server.write("a", ["text": "one"])
        try await client.notes.pull()
        try await client.notes.pull()
        #expect(world.server.requests == Array(repeating: "GET /db/Note/changes?after=0&limit=1000", count: 2))
        #expect(try client.texts() == ["a": "one"])
    }

    @Test("F6 a table at rest costs one request and no write", arguments: StoreKind.perEngine)
    func resting(_ stores: StoreKind) async throws {
        let (world, client) = try await NotesWorld.withRow(stores)
        world.server.clear()
        let result = try await client.pull()
        #expect(world.server.requests.count == 1 && result.writes == 0)
    }

    @Test("F8 a page and its cursor commit together, and an ended pull resumes there", arguments: StoreKind.perEngine)
    func resumes(_ stores: StoreKind) async throws {
        let (world, client) = try await NotesWorld.withClient(stores)
        for number in 0..<5 { world.server.write("\(number)", ["text": "x"]) }
        world.server.inspect { request, _ in request.contains("after=4") ? .answer(.answer(500)) : nil }
        await #expect(throws: SyncError.self) { try await client.pull(PullSettings(pageSize: 2)) }
        #expect(try client.texts().count == 4)
        #expect(try await client.cursor() == "4")
        world.server.inspect(nil)
        let again = try await world.makeClient(store: client.store)
        world.server.clear()
        try await again.pull(PullSettings(pageSize: 2))
        #expect(world.server.requests == ["GET /db/Note/changes?after=4&limit=2"])
        #expect(try client.texts().count == 5)
    }

    @Test("F8 a page that was requested before a push undoes and loses nothing", arguments: StoreKind.perEngine)
    func stalePage(_ stores: StoreKind) async throws {
        let (world, client) = try await NotesWorld.withRow(stores, ids: ["a", "b"])
        // The answer shows a state of each row that is neither the base nor the result of the push.
        world.server.write("a", ["text": "between"])
        world.server.onNextList { [client, server = world.server] in
            server.write("a", ["text": "later"])
            try await client.notes.update(["id": "a", "text": "mine"])
            let error = try #require(try await client.pushErrors().first)
            try await error.keepOperationAndUpdateItem(try #require(error.item))
            try await client.client.push()
            #expect(server.fields("a")?["text"] == "mine")
        }
        try await client.pull()
        world.server.inspect(nil)
        #expect(try client.row("a")?["text"] == "mine")
        // The cursor stays before the page, because its row may have been a newer one.
        #expect(try await client.cursor() == "2")
        try await client.pull()
        #expect(try client.texts() == ["a": "mine", "b": "one"])
        #expect(try await client.cursor() == "5")
    }

    @Test("F8 a delete by others at the end of a push is found by the next pull", arguments: StoreKind.perEngine)
    func staleDelete(_ stores: StoreKind) async throws {
        let (world, client) = try await NotesWorld.withRow(stores)
        try await client.notes.update(["id": "a", "text": "mine"])
        // The pull's own push is answered; then others delete the row, before the page is made.
        world.server.onNextList(isEarly: true) { [client, server = world.server] in
            try await client.notes.update(["id": "a", "text": "again"])
            try await client.client.push()
            server.write("a", nil)
        }
        try await client.pull()
        world.server.inspect(nil)
        try await client.pull()
        #expect(try client.texts().isEmpty)
    }

    @Test("C4 a row pulled while an operation waits changes neither it nor the row", arguments: StoreKind.perEngine)
    func pending(_ stores: StoreKind) async throws {
        let (world, client) = try await NotesWorld.withClient(stores)
        world.server.write("a", ["text": "one", "likes": 1])
        world.server.write("b", ["text": "two"])
        try await client.pull()
        try await client.notes.update(["id": "a", "text": "mine"])
        try await client.notes.update(["id": "b", "text": "mine"])
        world.server.write("a", ["text": "theirs", "likes": 1])
        world.server.write("b", nil)
        await #expect(throws: SyncError.self) { try await client.pull(PullSettings(whenPushFails: .pullOthers)) }
        #expect(try client.texts() == ["a": "mine", "b": "mine"])
        for error in try await client.client.operationErrors() { try await error.cancelOperationAndDiscardItem() }
        #expect(try client.texts() == ["a": "theirs"])
    }

    @Test("F5 a cursor unknown to the server lets the pull begin with the first row", arguments: StoreKind.perEngine)
    func expired(_ stores: StoreKind) async throws {
        let (world, client) = try await NotesWorld.withRow(stores)
        world.server.write("b", ["text": "two"])
        world.server.compact()
        world.server.clear()
        try await client.pull()
        #expect(world.server.requests == [1, 0].map { "GET /db/Note/changes?after=\($0)&limit=1000" })
        #expect(try client.texts() == ["a": "one", "b": "two"])
        #expect(try await client.cursor() == "2")
        // A server that knows no cursor is an error, not a loop.
        world.server.inspect { request, _ in request.contains("after=0") ? nil : .answer(.problem(410, "unknownNumber"))
        }
        let error = await #expect(throws: SyncError.self) { try await client.pull(PullSettings(pageSize: 1)) }
        #expect(error?.code == .rejected && error?.status == 410 && error?.table == "Note")
    }

    @Test("F5 a pull whose cursor has expired removes leavers", arguments: StoreKind.perEngine)
    func leaversOfExpired(_ stores: StoreKind) async throws {
        let (world, client) = try await NotesWorld.withRow(stores, ids: ["a", "b"])
        world.server.write("c", ["text": "new"])
        world.server.forget("a")
        world.server.compact()
        try await client.pull(PullSettings(removesLeavers: .zero))
        #expect(try client.texts() == ["b": "one", "c": "new"])
    }

    @Test(
        "T4 a row that the server did not show is looked up, and the others are pulled again only if it is back",
        arguments: StoreKind.perEngine, [true, false])
    func hiddenRow(_ stores: StoreKind, isBack: Bool) async throws {
        let (world, client) = try await NotesWorld.withRow(stores)
        world.server.write("b", ["text": "two"])
        try await client.pull()
        try await client.notes.update(["id": "a", "text": "mine"])
        world.server.inspect { request, _ in request.hasSuffix("/rows/a") ? .answer(.problem(404, "noRow")) : nil }
        let error = try #require(try await client.pushErrors().first)
        try await error.cancelOperationAndDiscardItem()
        world.server.inspect(nil)
        if !isBack { world.server.forget("a") }
        world.server.clear()
        try await client.pull()
        let all = isBack ? ["GET /db/Note/changes?after=0&limit=1000"] : []
        #expect(world.server.requests == ["GET /db/Note/changes?after=2&limit=1000", "GET /db/Note/rows/a"] + all)
        #expect(try client.texts() == (isBack ? ["a": "one", "b": "two"] : ["b": "two"]))
        world.server.clear()
        try await client.pull()
        #expect(world.server.requests.count == 1)
    }

    @Test("F4 the token of another dialect is not used, and nothing is lost", arguments: StoreKind.perEngine)
    func otherDialect(_ stores: StoreKind) async throws {
        let (world, client) = try await NotesWorld.withRow(stores)
        let other = try await world.makeClient(store: client.store, dialect: NotesVariant.replacing)
        world.server.clear()
        try await other.pull()
        #expect(world.server.requests == ["GET /db/Note/changes?after=0&limit=1000"])
        let transport = ScriptedTransport { _ in .answer(200, "[]") }
        var options = SyncOptions()
        options.logger.logLevel = .critical
        let tables = try SyncClient(
            url: "http://notes.test/db", store: client.store, transport: transport, options: options)
        try await tables.pull(TableQuery("Note"), queryID: "all")
        #expect(transport.requests.count == 1 && transport.requests[0].target.contains("updatedAt ge") == false)
        world.server.clear()
        try await client.pull()
        #expect(world.server.requests == ["GET /db/Note/changes?after=0&limit=1000"])
    }

    @Test("F2 a query that the dialect cannot pull is refused", arguments: StoreKind.perEngine)
    func refused(_ stores: StoreKind) async throws {
        let (world, client) = try await NotesWorld.withClient(stores)
        let filtered = TableQuery("Note").filter(.column("likes") > 1)
        let error = await #expect(throws: SyncError.self) { try await client.client.pull(filtered, queryID: "some") }
        #expect(error?.code == .invalidArgument && error?.table == "Note")
        #expect(error?.message.contains("the server cannot filter its changes") == true)
        for query in [TableQuery("Note").order(by: "text"), TableQuery("Note").limit(5)] {
            await expectSyncError(.invalidArgument, says: "dialect notes") { try await client.client.pull(query) }
        }
        #expect(world.server.requests.isEmpty)
    }

    @Test("F8 a row that does not fit stops the pull with its name, or is skipped", arguments: StoreKind.perEngine)
    func mismatch(_ stores: StoreKind) async throws {
        let (world, client) = try await NotesWorld.withClient(stores)
        world.server.write("a", ["text": "one"])
        world.server.write("b", ["text": 5])
        world.server.write("c", ["text": "three", "due": "2026-11-23T10:00:00+02:00"])
        let error = await #expect(throws: SyncError.self) { try await client.pull(PullSettings(pageSize: 1)) }
        #expect(error?.code == .invalidAnswer && error?.id == "b" && error?.column == "text" && error?.status == 200)
        #expect(try client.texts() == ["a": "one"])
        #expect(try await client.cursor() == "1")
        let result = try await client.pull(PullSettings(whenRowDoesNotFit: .skipAndReport))
        #expect(result.skippedRows.map(\.id) == ["b"] && result.rowsSkipped == 1)
        #expect(try client.texts() == ["a": "one", "c": "three"])
        #expect(try client.row("c")?["due"] == .timestamp(try #require(Timestamp("2026-11-23T08:00:00Z"))))
    }

    @Test("F8 a row of JSON that does not fit is reported, unless the dialect gives the row itself")
    func mismatchInChangedPage() async throws {
        typealias Change = @Sendable (inout ServerPage<Int>) -> Void
        let changes: [(skipped: [String], texts: [String: String], change: Change)] = [
            (["b"], ["a": "one"], { $0.deletedIDs = ["z"] }),
            (["b"], ["a": "changed"], { $0.rows = $0.rows.map { $0.merging(["text": "changed"]) } }),
            ([], ["a": "one", "b": "5"], { $0.rows.append(["id": "b", "text": "5", "version": "2"]) }),
            ([], ["a": "one"], { $0.deletedIDs = ["b"] }),
        ]
        for (number, (skipped, texts, change)) in changes.enumerated() {
            let world = NotesWorld(.simplest)
            var variant = NotesVariant(name: "changing")
            variant.page = { response, page, cursor in
                var result = try NotesDialect().page(in: response, to: page, after: cursor)
                change(&result)
                return result
            }
            let client = try await world.makeClient(dialect: variant)
            world.server.write("a", ["text": "one"])
            world.server.write("b", ["text": 5])
            let result = try await client.pull(PullSettings(whenRowDoesNotFit: .skipAndReport))
            #expect(result.skippedRows.map(\.id) == skipped && result.rowsSkipped == skipped.count, "change \(number)")
            #expect(try client.texts() == texts, "change \(number)")
        }
    }

    @Test("F5 pages that contradict themselves or make no progress are errors, not losses or loops")
    func hostilePages() async throws {
        func check(_ pages: [ServerPage<Int>], _ code: SyncError.Code, _ text: String) async throws {
            let (_, client) = try await NotesWorld.withClient(.simplest, ScriptedDialect(pages: pages))
            try await client.client.define([TableSchema("Note", columns: [.json("tags")])])
            await expectSyncError(code, table: "Note", says: text) { try await client.pull() }
        }
        func last(_ row: Row, deletedIDs: [String] = []) -> [ServerPage<Int>] {
            [ServerPage(rows: [row], deletedIDs: deletedIDs, cursor: 1, isLast: true)]
        }
        let row: Row = ["id": "a", "text": "one", "version": "1"]
        try await check([ServerPage(rows: [row], cursor: 0, isLast: false)], .noProgress, "the same cursor")
        try await check(
            [1, 2, 1, 2].map { ServerPage(rows: [], cursor: $0, isLast: false) }, .noProgress, "the same cursor")
        try await check(last(row, deletedIDs: ["a"]), .invalidAnswer, "present and deleted")
        try await check(last(row, deletedIDs: ["A"]), .invalidAnswer, "only in case")
        let (deleted, present): (Row, Row) = (["id": "N", "deleted": true], ["id": "n", "text": "one"])
        for rows in [[deleted, present], [present, deleted]] {
            try await check([ServerPage(rows: rows, cursor: 1, isLast: true)], .invalidAnswer, "only in case")
        }
        try await check(last(["text": "one"]), .invalidAnswer, "has no id")
        try await check(last(["id": 1]), .invalidAnswer, "must be text")
        try await check(last(["id": "a", "version": 1]), .invalidAnswer, "is not of type")
        for text in ["5", "[", ""] {
            try await check(last(["id": "a", "tags": .json(text)]), .invalidAnswer, "not a JSON array or object")
        }
    }

    @Test("F7 deleted rows of one page whose ids differ only in case are deleted", arguments: StoreKind.perEngine)
    func deletedInBothCases(_ stores: StoreKind) async throws {
        let pages = [
            ServerPage(
                rows: [["id": "n1", "text": "one"], ["id": "M", "text": "two"], ["id": "z", "text": "three"]],
                cursor: 1, isLast: true),
            ServerPage(
                rows: [["id": "N1", "deleted": true], ["id": "m", "deleted": true], ["id": "M", "deleted": true]],
                deletedIDs: ["n1"], cursor: 2, isLast: true),
        ]
        let client = try await NotesWorld(stores).makeClient(dialect: ScriptedDialect(pages: pages))
        try await client.pull()
        try await client.pull()
        #expect(try client.texts() == ["z": "three"])
        #expect(try await client.cursor() == "2")
    }

    @Test(
        "P10 names that differ from those of the table only in case are an error with both",
        arguments: ["straight from JSON", "columns of the table", "all members"])
    func misspelled(_ way: String) async throws {
        struct List: Decodable { var rows: [JSONFields], last: Int }
        var variant = NotesVariant(name: "other case")
        if way != "straight from JSON" {
            variant.page = { response, page, _ in
                let list = try JSONDecoder().decode(List.self, from: Data(response.body))
                let rows = list.rows.map { fields in
                    var row = way == "all members" ? fields.row : fields.row(in: page.schema)
                    row.id = fields.row.id
                    row["deleted"] = fields.row["deleted"]
                    return row
                }
                return ServerPage(rows: rows, cursor: list.last, isLast: true)
            }
        }
        let (world, client) = try await NotesWorld.withRow(.simplest, ["text": "one"], variant)
        // A deleted row has no columns.
        let rows = #"[{"id":"b","change":2,"deleted":true},{"id":"a","change":3,"Text":"two"}]"#
        world.server.inspect { _, _ in .answer(.answer(200, #"{"rows":\#(rows),"last":3,"total":2,"more":false}"#)) }
        await expectSyncError(.invalidAnswer, table: "Note", says: #""Text""#, #""text""#) { try await client.pull() }
        #expect(try client.texts() == ["a": "one"])
    }

    @Test("F5 a cursor to itself is an error at once, also one of an earlier pull", arguments: StoreKind.perEngine)
    func ownCursor(_ stores: StoreKind) async throws {
        let world = NotesWorld(stores)
        let pages = [
            ServerPage(rows: [["id": "a", "text": "one", "version": "1"]], cursor: 1, isLast: true),
            ServerPage(rows: [["id": "b", "text": "two", "version": "1"]], cursor: 1, isLast: false),
        ]
        let client = try await world.makeClient(dialect: ScriptedDialect(pages: pages))
        try await client.pull()
        world.server.clear()
        let error = await #expect(throws: SyncError.self) { try await client.pull() }
        #expect(error?.code == .noProgress && world.server.requests.count == 1)
        // Nothing of the page is stored, and the next pull asks again.
        #expect(try client.texts() == ["a": "one"])
        #expect(try await client.cursor() == "1")
    }

    @Test("F4 the next pull begins where this one's first page says, also if cut", arguments: StoreKind.perEngine)
    func stepsBack(_ stores: StoreKind) async throws {
        let (world, client) = try await NotesWorld.withClient(stores, NotesVariant.stepping())
        for id in ["a", "b", "c", "d", "e"] { world.server.write(id, ["text": "one"]) }
        world.server.inspect { request, _ in request.contains("after=2") ? .loseAnswer : nil }
        await #expect(throws: SyncError.self) {
            try await client.pull(PullSettings(lookback: .seconds(1)))
        }
        world.server.inspect(nil)
        world.server.clear()
        try await client.pull(PullSettings(lookback: .seconds(3)))
        // The cut pull had stepped back to 1; this one continued it at 2, and its own pages do not count.
        #expect(try await client.cursor() == "1")
        try await client.pull(PullSettings(lookback: .seconds(3)))
        #expect(try await client.cursor() == "3")
        #expect(
            world.server.requests.map { $0.split(separator: "=")[1] } == ["2&limit", "4&limit", "1&limit", "3&limit"])
    }

    @Test("F5 a server that was restored says so by the cursor, and its links are followed to itself only")
    func restoredServer() async throws {
        let (world, client) = try await NotesWorld.withRow(.simplest, ["text": "one"], NotesVariant.stepping())
        world.server.inspect { request, _ in request.contains("after=5") ? .answer(.answer(200, "restored")) : nil }
        world.server.clear()
        try await client.pull()
        #expect(world.server.requests.map { $0.split(separator: "=")[1] } == ["5&limit", "0&limit"])
        for (link, isFollowed) in [
            ("http://notes.test/db/Note/changes?after=0&limit=9", true), ("http://evil.test/db/x", false),
        ] {
            world.server.clear()
            let linked = try await world.makeClient(dialect: NotesVariant.stepping(link))
            linked.client.currentUser = SignedInUser(userID: "u", authenticationToken: "secret")
            do { try await linked.pull() } catch let error as SyncError {
                #expect(error.code == .invalidAnswer && !isFollowed)
            }
            #expect(world.server.requests == (isFollowed ? ["GET /db/Note/changes?after=0&limit=9"] : []))
        }
    }

    @Test("F7 rows are deleted by their identifiers beside a list", arguments: StoreKind.perEngine)
    func deletedBesideList(_ stores: StoreKind) async throws {
        var variant = NotesVariant(name: "deleting")
        variant.page = { response, page, cursor in
            var result = try NotesDialect().page(in: response, to: page, after: cursor)
            if cursor != nil { result.deletedIDs = ["a"] }
            return result
        }
        let (world, client) = try await NotesWorld.withRow(stores, ids: ["a", "b"], ["text": "one"], variant)
        world.server.write("b", nil)
        world.server.write("c", ["text": "two"])
        #expect(try await client.pull().rowsRemoved == 2)
        #expect(try client.texts() == ["c": "two"])
    }

    @Test("F7 of several states of a row in one page, the last counts", arguments: StoreKind.perEngine)
    func lastState(_ stores: StoreKind) async throws {
        let pages = [
            ServerPage(
                rows: [
                    ["id": "a", "text": "one", "version": "1"], ["id": "b", "text": "x", "version": "1"],
                    ["id": "b", "deleted": true, "version": "2"], ["id": "a", "text": "two", "version": "2"],
                    ["id": "c", "deleted": true], ["id": "c", "text": "back", "version": "3"],
                ], deletedIDs: ["d"], cursor: 1, isLast: false),
            ServerPage(
                rows: [["id": "a", "text": "three", "version": "3"]], deletedIDs: ["c"], cursor: 2, isLast: true),
        ]
        let client = try await NotesWorld(stores).makeClient(dialect: ScriptedDialect(pages: pages))
        try await client.pull(PullSettings(pagesPerTransaction: 2))
        #expect(try client.texts() == ["a": "three"])
    }
}

/// A dialect whose pages are those of the test, whatever the server answers.
struct ScriptedDialect: CustomDialect {
    let pages: [ServerPage<Int>]
    let name = "scripted"

    func request(for page: PageRequest, after cursor: Int?) throws -> ServerRequest {
        try ServerRequest(.get, path: [page.table, "changes"], query: [("after", "0"), ("limit", "9")])
    }

    func page(in response: TransportResponse, to page: PageRequest, after cursor: Int?) throws -> ServerPage<Int> {
        pages[(cursor ?? 0) % pages.count]
    }

    func request(for row: RowRequest) throws -> ServerRequest { try ServerRequest(.get, path: [row.table, row.id]) }
    func meaning(of response: TransportResponse, to row: RowRequest) throws -> AnswerMeaning { .done }
}

extension NotesVariant {
    /// The dialect with pages of two rows, pulls that begin at the seconds of the look-back, and a lost cursor.
    fileprivate static func stepping(_ link: String? = nil) -> NotesVariant {
        var variant = NotesVariant(name: "stepping")
        variant.pageRequest = { page, cursor in
            if let link { return try ServerRequest(following: link) }
            return try NotesDialect().request(for: PageRequest(of: page.schema, pageSize: 2), after: cursor)
        }
        variant.page = { response, page, cursor in
            var result = try NotesDialect().page(in: response, to: page, after: cursor)
            result.nextPull = Int(page.lookback.components.seconds)
            return result
        }
        variant.pageMeaning = { response, _, cursor in
            response.body == Array("restored".utf8) && cursor != nil ? .gone : .done
        }
        return variant
    }
}
