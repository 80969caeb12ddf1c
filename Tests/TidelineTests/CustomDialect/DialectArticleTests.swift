import Foundation
import Testing
import TidelineTestStores
import TidelineWire

@testable import Tideline

@Suite("The article on custom dialects")
struct DialectArticleTests {
    @Test("The article contains the code of the example, all of it")
    func isShown() throws {
        let kinto = "Examples/KintoDialect"
        try expectArticle(
            "SpeakingToAnotherServer", contains: 9,
            of: [
                "\(kinto)/Sources/KintoSync/KintoDialect.swift", "\(kinto)/Tests/KintoSyncTests/Scene.swift",
                "Tests/TidelineTests/CustomDialect/NotesDialect.swift",
            ])
    }

    @Test("The article's advice on tests works: requests and meanings are values")
    func values() throws {
        let dialect = NotesDialect()
        let schema = NotesWorld.schema
        let delete = try dialect.request(for: RowRequest(.delete, of: "a b", in: schema, version: "7"))
        #expect(delete == (try ServerRequest(.delete, path: ["Note", "rows", "a b"], headers: [.ifMatch: "\"7\""])))
        #expect(delete.target == "Note/rows/a%20b")
        let page = PageRequest(of: schema, pageSize: 10)
        #expect(try dialect.request(for: page, after: nil).target == "Note/changes?after=0&limit=10")
        #expect(try dialect.meaning(of: .problem(403, "sessionEnded"), to: page, after: nil).kind == .signInNeeded)
        let lookUp = RowRequest(.lookUp, of: "a", in: schema)
        #expect(try dialect.meaning(of: .problem(404, "noRow"), to: lookUp).kind == .gone)
        #expect(try dialect.meaning(of: .problem(404, "noTable"), to: lookUp).message == "noTable")
        #expect(try dialect.meaning(of: .problem(410, "unknownNumber"), to: page, after: 1).kind == .gone)
        for (status, kind) in [(404, AnswerMeaning.Kind.refused), (410, .gone)] {
            #expect(try dialect.meaning(of: .answer(status), to: page, after: 1).kind == .refused)
            #expect(try ScriptedDialect(pages: []).meaning(of: .answer(status), to: page, after: 1).kind == kind)
        }
    }
}

@Suite("Parts of dialects")
struct DialectPartTests {
    @Test("The meanings of HTTP")
    func statuses() {
        let expected: [Int: AnswerMeaning.Kind] = [
            200: .done, 204: .done, 299: .done, 301: .refused, 304: .refused, 400: .refused, 401: .signInNeeded,
            403: .refused, 404: .gone, 408: .unavailable, 409: .conflict, 410: .gone, 412: .conflict, 422: .refused,
            429: .unavailable, 500: .serverFailed, 501: .refused, 502: .unavailable, 503: .unavailable,
            504: .unavailable, 505: .refused,
        ]
        for (status, kind) in expected {
            #expect(AnswerMeaning(byStatusOf: .answer(status)).kind == kind, "\(status)")
            let meaning = AnswerMeaning(byStatusOf: .answer(status, "why", headers: [.retryAfter: "7"]))
            #expect(meaning.kind == (status == 409 ? .serverFailed : kind), "\(status)")
            #expect(meaning.message == (kind == .done ? "" : "why") || status == 301, "\(status)")
            #expect(meaning.retryAfter == .seconds(7))
            #expect(meaning.mayHaveBeenApplied == !(400..<500).contains(status), "\(status)")
        }
    }

    @Test(
        "P3 the meaning of each status in the dialects of table services",
        arguments: [
            (200, true, .done), (201, true, .done), (204, false, .done), (401, false, .signInNeeded),
            (403, false, .refused), (400, true, .refused), (404, true, .refused), (410, true, .refused),
            (404, false, .gone), (410, false, .gone), (409, true, .conflict), (412, false, .conflict),
            (408, false, .unavailable), (429, false, .unavailable), (503, false, .unavailable),
            (500, false, .serverFailed), (502, false, .unavailable), (504, false, .unavailable),
            (302, false, .refused), (501, false, .refused),
        ] as [(Int, Bool, AnswerMeaning.Kind)])
    func tableServiceStatuses(_ status: Int, _ isInsert: Bool, _ expected: AnswerMeaning.Kind) {
        let response = TransportResponse.answer(status, "why", headers: [.retryAfter: "7"])
        for name in DialectName.allCases {
            let meaning = TableServiceDialect(name: name).meaning(of: response, isInsert: isInsert)
            #expect(meaning.kind == expected)
            #expect(meaning.message == (expected == .done ? "" : "why"))
            #expect(meaning.retryAfter == (expected == .done ? nil : .seconds(7)))
            #expect(meaning.mayHaveBeenApplied == (expected != .done && !(400..<500).contains(status)))
        }
    }

    @Test("A request escapes its path and query, and refuses paths that lead elsewhere")
    func requests() throws {
        let request = try ServerRequest(
            .put, path: ["a/b", "ü?#"], query: [("k&", "v =+")], headers: [.accept: "text/plain"], body: [1])
        #expect(request.target == "a%2Fb/%C3%BC%3F%23?k%26=v%20%3D%2B")
        #expect(request.headers == [.accept: "text/plain", .contentType: "application/json"])
        for path in [[""], ["a", ".."], ["."]] {
            #expect(throws: SyncError.self) { try ServerRequest(.get, path: path) }
        }
        #expect(try ServerRequest(following: "Note?page=2&x=%2F..").target == "Note?page=2&x=%2F..")
        for link in [
            "ftp://server.test/", "//server.test/", "http://a@server.test/", "/db/../x", "https:////server.test",
            "../x", "a/%2e%2E/x", "a b", "a\u{0}", "x:y", "a#b", "é",
        ] {
            #expect(throws: SyncError.self, "\(link)") { try ServerRequest(following: link) }
        }
    }

    @Test("A link leads to the server's own address, or nowhere")
    func links() throws {
        let base = try ServerAddress("https://notes.test/db?key=1")
        for link in [
            "Note?a=/b:c", "/db/Note?a=/b:c", "https://notes.test/db/Note?a=/b:c",
            "HTTPS://Notes.test:443/db/Note?a=/b:c",
        ] {
            #expect(try ServerRequest(following: link).isLink)
            #expect(try base.target(following: link) == "Note?a=/b:c")
        }
        for link in [
            "/Note", "/dbx/Note", "/db", "https://notes.test", "http://notes.test/db/Note",
            "https://notes.test:444/db/Note",
            "https://notes.test.evil/db/Note", "https://evil?/notes.test/db/",
        ] {
            let error = #expect(throws: SyncError.self, "\(link)") { try base.target(following: link) }
            #expect(error?.code == .invalidAnswer && error?.message.contains("?") == false)
        }
    }

    @Test("Columns have other names on the server, and only those of the table are read")
    func renamedFields() throws {
        let schema = TableSchema("Note", columns: [.string("text"), .int("edition")])
        let names = ["edition": "version"]
        let fields = JSONFields(["id": "a", "text": "x", "edition": 3], renaming: names)
        #expect(fields.row == ["id": "a", "text": "x", "version": 3])
        let read = JSONFields(["id": "a", "text": "x", "version": 3, "deleted": true, "updatedAt": "y", "other": 1])
        #expect(read.row(in: schema, renaming: names) == ["text": "x", "edition": 3])
        let misspelled = JSONFields(["id": "a", "Text": "x", "Edition": 3, "Deleted": true])
        #expect(misspelled.row(in: schema, renaming: names) == ["Text": "x"])
        #expect(Timestamp(milliseconds: 1_795_799_290_922)?.ticks == 17_957_992_909_220_000)
        #expect(Timestamp(milliseconds: .max) == nil && Timestamp(milliseconds: 253_402_300_800_000) == nil)
    }

    @Test("A list in JSON becomes rows under the server's names, and anything else is refused")
    func lists() throws {
        let request = PageRequest(of: TableSchema("Note", columns: [.string("text"), .int("edition")]))
        let names = ["id": "key", "deleted": "gone", "version": "etag", "edition": "version"]
        func read(_ json: String, _ list: String? = "data", renaming names: [String: String]) throws -> ServerPage<Int>
        {
            try ServerPage(json: Array(json.utf8), list: list, of: request, renaming: names) { rest, last in
                (cursor: Int(rest["next"]?.int ?? 0), isLast: last == nil, remaining: rest.columnNames.count)
            }
        }
        let rows = #"[{"key":"a","text":"x","version":3,"etag":5,"id":1,"z":{}},{"gone":true,"etag":"6","key":"b"}]"#
        var page = try read(#"{"next":7,"data":\#(rows),"more":[1]}"#, renaming: names)
        #expect(page.cursor == 7 && page.remaining == 2 && !page.isLast)
        #expect(page.rows.map(\.idText) == ["a", "b"] && page.rows[1]["deleted"] == true)
        #expect(page.rows.map { $0["version"] } == ["5", "6"] && page.rows.map { $0["edition"] } == [3, .null])
        page.rows.removeLast()
        #expect(page.rows.count == 1)
        #expect(try read("[]", nil, renaming: names).isLast && read(rows, nil, renaming: names).rows.count == 2)
        for (json, list) in [
            (rows, "data"), ("{}", "data"), (#"{"rows":[]}"#, "data"), (#"{"data":[]}"#, nil), ("", nil),
            (#"[{"key":"."}]"#, nil), (#"[{"key":"a"},{"key":"A"}]"#, nil), (#"[{"id":"a"}]"#, nil),
        ] {
            let error = #expect(throws: SyncError.self, "\(json)") { try read(json, list, renaming: names) }
            #expect(error?.code == .invalidAnswer)
        }
        let error = #expect(throws: SyncError.self) { try read("[]", nil, renaming: ["edition": "version"]) }
        #expect(error?.code == .invalidArgument)
        let otherCase = #expect(throws: SyncError.self) {
            try read(#"[{"key":"a","Version":1}]"#, nil, renaming: names)
        }
        #expect(otherCase?.column == "edition" && otherCase?.message.contains(#""version" only in case"#) == true)
        let unfit = #expect(throws: SyncError.self) { try read(#"[{"text":1,"key":"a"}]"#, nil, renaming: names) }
        #expect(unfit?.id == "a" && unfit?.column == "text")
    }

    @Test("Fields of a row survive JSON, and null is written")
    func fields() throws {
        let instant = try #require(Timestamp("2026-11-23T10:00:00.1234567Z"))
        let row: Row = [
            "text": "é", "none": Value.null, "yes": true, "count": Int64.max, "half": 0.5, "due": instant,
            "photo": Value.bytes([0, 255]), "tags": Value.json(#"{"b":[1,2.5,null],"a":"x"}"#),
        ]
        let json = String(decoding: try JSONEncoder().encode(JSONFields(row)), as: UTF8.self)
        #expect(json.contains(#""none":null"#) && json.contains("9223372036854775807"))
        let read = try JSONDecoder().decode(JSONFields.self, from: Data(json.utf8)).row
        #expect(read["text"] == "é" && read["none"] == .null && read["yes"] == true && read["half"] == 0.5)
        #expect(read["count"] == .int(.max))
        #expect(read["tags"] == .json(#"{"a":"x","b":[1,2.5,null]}"#))
        #expect(read["due"]?.converted(to: .timestamp) == .timestamp(instant))
        #expect(read["photo"]?.converted(to: .bytes) == .bytes([0, 255]))
        #expect(read["count"]?.converted(to: .double) == .double(Double(Int64.max)))
        #expect(read["text"]?.converted(to: .timestamp) == nil && read["half"]?.converted(to: .int) == nil)
    }

    @Test("A record of an earlier version, which has the status only, still says that its row is gone")
    func olderRecord() async throws {
        let (world, client) = try await NotesWorld.withRow(.simplest)
        world.server.write("a", nil)
        try await client.notes.update(["id": "a", "text": "mine"])
        #expect(try await client.pushErrors().map(\.isRowGone) == [true])
        let table = SystemTables().errors
        func rewrite(_ status: Int) throws {
            try client.store.write { writer in
                var row = try #require(try writer.rows(matching: TableQuery(table)).rows.first)
                let properties = try #require(row["properties"]?.json)
                var members = try #require(
                    try JSONSerialization.jsonObject(with: Data(properties.utf8)) as? [String: Any])
                members["isRowGone"] = nil
                members["status"] = status
                let data = try JSONSerialization.data(withJSONObject: members)
                row["properties"] = .json(String(decoding: data, as: UTF8.self))
                try writer.upsert(row, into: table)
            }
        }
        for (status, isGone) in [(404, true), (410, true), (412, false)] {
            try rewrite(status)
            #expect(try await client.client.operationErrors().map(\.isRowGone) == [isGone])
        }
    }

    @Test("Dialects are equal by their names, and built-in ones differ from others")
    func equality() {
        #expect(ServerDialect.all == [.zumo2, .datasync3] && ServerDialect.zumo2 != .datasync3)
        let notes = ServerDialect(NotesDialect())
        #expect(notes == ServerDialect(NotesDialect()) && notes != .zumo2 && notes.description == "notes")
        #expect(Set([notes, .zumo2, ServerDialect(NotesDialect())]).count == 2)
    }
}
