import HTTPTypes
import Testing
import TidelineStore
import TidelineTestStores
import TidelineTestSupport
import TidelineWire

@testable import Tideline

/// Direct requests and the responses of original servers.
@Suite("Remote table: original servers", .releasesClients)
struct RemoteTruthTests {
    private static let url = "http://server.test:8080/app"

    @Test(
        "a link without port, or with another path, is followed by its $skip and $top on the own URL",
        arguments: [
            "http://server.test/app/tables/Old?$skip=2&$top=2; rel=next",
            "<http://server.test/app/tables/Old?$skip=2&$top=2>; rel=next",
            "http://server.test/tables/Old?%24skip=2&%24top=2; rel=next",
            "http://server.test:8080/other/controllers/old?$top=2&$skip=2; rel=next",
            "http://server.test:5000/?$skip=2&$top=2&$filter=; rel=next",
            "http://server.test/app/tables?$skip=2&$top=2; rel=next",
            "/?$skip=2&$top=2; rel=next",
        ])
    func links(_ link: String) async throws {
        let transport = ScriptedTransport { exchange in
            exchange.number == 1
                ? .answer(200, #"[{"id":"a"},{"id":"b"}]"#, headers: [HTTPField.Name("Link") ?? .accept: link])
                : .answer(200, #"[{"id":"c"}]"#)
        }
        let remote = try await transport.makeClient(url: Self.url).remoteTable("Old")
        var ids: [String] = []
        for try await row in remote.readAll(TableQuery("Old").filter(.column("n") == 1), parameters: [("p", "1")]) {
            ids.append(row.idText)
        }
        #expect(ids == ["a", "b", "c"])
        let second = try #require(transport.requests.last)
        #expect(second.url.hasPrefix("http://server.test:8080/app/tables/Old?"), "\(second.url)")
        #expect(second.target.contains("$skip=2") && second.target.contains("$top=2"))
        let isOwn = link.contains("app/tables/Old?")
        #expect(isOwn || second.target.contains("$filter=") && second.target.contains("p=1"), "\(second.target)")
    }

    @Test("an absolute link of Datasync to another path is followed on the own URL")
    func datasyncLinks() async throws {
        let transport = ScriptedTransport { exchange in
            .answer(
                200,
                exchange.number == 1
                    ? #"{"items":[{"id":"a"}],"nextLink":"http://server.test/api/old?$skip=1&$top=5"}"#
                    : #"{"items":[{"id":"b"}]}"#)
        }
        let remote = try await transport.makeClient(url: Self.url) { $0.dialect = .datasync3 }.remoteTable("Old")
        var count = 0
        for try await _ in remote.readAll() { count += 1 }
        #expect(count == 2 && transport.requests.last?.url.contains(":8080/app/tables/Old?$skip=1&$top=5") == true)
    }

    static let foreign: [(String, String)] =
        ["http://server.test/other?page=2", "http://server.test/x?$skip=-2"].map { ($0, url) }
        + allPairs(
            [
                "http://other.test/app/tables/Old?$skip=2", "//other.test/tables/Old?$skip=2",
                "http://server.test@other.test/?$skip=2", "https://server.test/app/tables/Old?$skip=2",
                "https://server.test/tables/Old?$skip=1", "http://server.test:81/tables/Old", "file:///etc/passwd",
            ], ["http://server.test", url])

    @Test("a link to another host, or elsewhere without $skip, is an error, whatever reads pages", arguments: foreign)
    func foreignLinks(_ test: (link: String, url: String)) async throws {
        let transport = ScriptedTransport { _ in
            .answer(200, #"[{"id":"a"}]"#, headers: [HTTPField.Name("Link") ?? .accept: "<\(test.link)>; rel=next"])
        }
        let remote = try await transport.makeClient(url: test.url).remoteTable("Old")
        let page = try await remote.read()
        #expect(await syncErrorCode { _ = try await remote.read(after: page) } == .invalidAnswer)
        #expect(transport.requests.count == 1)
        var rows = remote.readAll().makeAsyncIterator()
        #expect(try await rows.next()?.id == "a")
        await expectSyncError(.invalidAnswer) { _ = try await rows.next() }
        #expect(try await rows.next() == nil)
        #expect(transport.requests.count == 2)
    }

    @Test("an insert without an id returns the row with the id that the server made", arguments: [false, true])
    func serverMadeID(isDefined: Bool) async throws {
        let transport = ScriptedTransport { _ in .answer(201, #"{"id":"SRV-1","text":"x","version":"1"}"#) }
        let client = try await transport.makeClient(tables: isDefined ? [World.schema] : [])
        let row = try await client.remoteTable("TodoItem").insert(["text": "x"])
        #expect(row.id == "SRV-1" && row["text"] == "x")
        // The response must have the requested row.
        let code = await syncErrorCode {
            _ = try await client.remoteTable("TodoItem").insert(["id": "a", "text": "x"])
        }
        #expect(code == .invalidAnswer)
    }

    @Test("a lookup with deleted rows uses the list, because the lookup of one row hides tombstones")
    func lookup() async throws {
        let transport = ScriptedTransport { exchange in
            exchange.target.contains("$filter=")
                ? .answer(200, exchange.target.contains("'a'") ? #"[{"id":"A","deleted":true}]"# : "[]")
                : .answer(404)
        }
        let client = try await transport.makeClient()
        let remote = client.remoteTable("Old")
        #expect(try await remote.lookup(id: "a", includeDeleted: true, parameters: [("p", "1")])?["deleted"] == true)
        #expect(transport.requests.count == 1 && transport.requests[0].target.contains("__includeDeleted=true"))
        #expect(transport.requests[0].target.contains("p=1"))
        #expect(try await remote.lookup(id: "b", includeDeleted: true) == nil)
        #expect(await syncErrorCode { _ = try await remote.lookup(id: "..", includeDeleted: true) } == .invalidArgument)
        #expect(await syncErrorCode { _ = try await remote.lookup(id: "", includeDeleted: true) } == .invalidArgument)
        try await client.define([TableSchema("Old", columns: [])])
        let before = transport.requests.count
        #expect(try await remote.lookup(id: "b", includeDeleted: true) == nil)
        #expect(transport.requests.count == before + 1)
    }

    @Test("a list that the server does not have is an error of the table, not a missing row")
    func lookupWithoutTable() async throws {
        let remote = try await ScriptedTransport { _ in .answer(404) }.makeClient().remoteTable("Old")
        #expect(await syncErrorCode { _ = try await remote.lookup(id: "a", includeDeleted: true) } == .rejected)
    }

    @Test(
        "a refused insert in ZUMO 2 never shows the client's own body as the server's row", arguments: [false, true],
        [#","version":"0""#, ""])
    func ownBody(isDefined: Bool, version: String) async throws {
        let transport = ScriptedTransport { exchange in
            exchange.method == .post
                ? .answer(409, #"{"id":"a","text":"my own words"\#(version)}"#)
                : .answer(200, #"[{"id":"a","text":"theirs","version":"7"}]"#)
        }
        let client = try await transport.makeClient(tables: isDefined ? [World.schema] : [])
        let error = await expectSyncError(.conflict, status: 409, says: "HTTP 409 Conflict") {
            _ = try await client.remoteTable("TodoItem").insert(["id": "a", "text": "my own words"])
        }
        #expect(error?.serverItem?["text"] == "theirs")
        #expect(error?.message.contains("own words") == false, "\(error?.message ?? "")")
    }

    @Test("the options' Accept replaces that of the protocol, and a call's own that of the options")
    func accept() async throws {
        let transport = ScriptedTransport { _ in .answer(200, "[]") }
        let client = try await transport.makeClient(tables: [World.schema]) {
            $0.headers[.accept] = "application/json;odata=none"
        }
        _ = try await client.remoteTable("TodoItem").read()
        try await client.table("TodoItem").pull()
        _ = try await client.invokeAPI("x")
        _ = try await client.invokeAPI("x", headers: [.accept: "text/plain"])
        let given = "application/json;odata=none"
        #expect(transport.requests.map { $0.headers[.accept] } == [given, given, given, "text/plain"])
    }

    @Test("a limit of 0 is sent as $top=0", arguments: ServerDialect.all)
    func limitZero(_ dialect: ServerDialect) async throws {
        let rows = dialect == .zumo2 ? "results" : "items"
        let transport = ScriptedTransport { _ in .answer(200, #"{"\#(rows)":[{"id":"a"}],"count":3}"#) }
        let remote = try await transport.makeClient { $0.dialect = dialect }.remoteTable("Old")
        for query in [TableQuery("Old").limit(0), TableQuery("Old").limit(0).includingTotalCount()] {
            let page = try await remote.read(query)
            #expect(page.rows.isEmpty && !page.hasNext)
        }
        #expect(transport.requests.count == 2)
        for request in transport.requests { #expect(request.target.contains("$top=0")) }
    }

    // MARK: Settings of a push

    @Test(
        "invalid settings of a push are errors of the argument that name the setting, and nothing is sent",
        arguments: [
            (PushSettings(maxInFlight: 0), "maxInFlight"), (PushSettings(maxInFlight: -1), "maxInFlight"),
            (PushSettings(parameters: [("__x", "1")]), "parameters"),
            (PushSettings(parameters: [("a", "1"), ("$top", "1")]), "parameters"),
            (PushSettings(parameters: [("", "1")]), "parameters"),
        ] as [(PushSettings, String)])
    func pushSettings(_ settings: PushSettings, names: String) async throws {
        let transport = ScriptedTransport { _ in .answer(200, "[]") }
        let client = try await transport.makeClient(tables: [World.schema])
        try await client.table("TodoItem").insert(["id": "a", "text": "x"])
        for call in [
            { try await client.push(settings: settings) },
            { try await client.table("TodoItem").pull(settings: PullSettings(push: settings)) },
            { try await client.start([], settings: SyncSettings(pull: PullSettings(push: settings))) },
        ] as [@Sendable () async throws -> Void] {
            await expectSyncError(.invalidArgument, says: names) { try await call() }
        }
        let pull = PullSettings(maxInFlight: 0)
        #expect(await syncErrorCode { try await client.table("TodoItem").pull(settings: pull) } == .invalidArgument)
        #expect(transport.requests.isEmpty)
        #expect(try await client.context.operationErrors().isEmpty)
    }
}
