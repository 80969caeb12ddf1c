import HTTPTypes
import Testing
import TidelineStore
import TidelineTestStores

@testable import Tideline

/// Pages, parameters and selections of direct reads, and tables without a definition.
@Suite("Remote table: pages and dynamic rows", .releasesClients, .bothDialects)
struct RemotePagingTests {
    /// Makes a table of nine rows, on a server with pages of four rows.
    private func remote(_ stores: StoreKind, pageBytes: Int = 16 << 20) async throws -> RemoteTable {
        let world = try World(stores) {
            $0.defaultPageSize = 4
            $0.maximumPageSize = 1000
            $0.maximumPageBytes = pageBytes
        }
        try world.plant((0..<9).map { World.row("id\($0)", at: 0, text: "\($0)") })
        return try await world.makeClient().client.remoteTable("TodoItem")
    }

    /// Makes a table without a definition, on a server with the given transport.
    private func remote(_ transport: ScriptedTransport) async throws -> RemoteTable {
        try await transport.makeClient().remoteTable("Old")
    }

    private func texts(_ rows: RemoteTable.Rows) async throws -> [String] {
        var texts: [String] = []
        for try await row in rows { texts.append(row["text"]?.string ?? "?") }
        return texts
    }

    @Test("readAll reads all pages, up to the query's limit", arguments: StoreKind.perEngine, [16 << 20, 500])
    func allPages(_ stores: StoreKind, pageBytes: Int) async throws {
        let remote = try await remote(stores, pageBytes: pageBytes)
        let sorted = TableQuery("TodoItem").order(by: "text")
        #expect(try await texts(remote.readAll(sorted)) == (0..<9).map(String.init))
        #expect(try await texts(remote.readAll(sorted.skip(2))) == (2..<9).map(String.init))
        for limit in [0, 1, 4, 5, 8, 9, 100] {
            #expect(try await texts(remote.readAll(sorted.limit(limit))) == (0..<min(limit, 9)).map(String.init))
        }
        let odd = sorted.filter(.column("text") == "nothing")
        #expect(try await texts(remote.readAll(odd)).isEmpty)
    }

    @Test("read returns one page, and read(after:) the next until the last", .zumoOnly, arguments: StoreKind.perEngine)
    func pageByPage(_ stores: StoreKind) async throws {
        let remote = try await remote(stores)
        var page: RemoteTable.Page? = try await remote.read(
            TableQuery("TodoItem").order(by: "text").includingTotalCount())
        var counts: [Int] = []
        while let current = page {
            counts.append(current.rows.count)
            #expect(current.totalCount == 9)
            page = try await remote.read(after: current)
        }
        #expect(counts == [4, 4, 1])
    }

    @Test("a limit of 0 returns no rows, and the total count if it is requested", arguments: StoreKind.perEngine)
    func limitZero(_ stores: StoreKind) async throws {
        let remote = try await remote(stores)
        let none = try await remote.read(TableQuery("TodoItem").limit(0))
        #expect(none.rows.isEmpty && none.totalCount == nil && !none.hasNext)
        let counted = try await remote.read(TableQuery("TodoItem").limit(0).includingTotalCount())
        #expect(counted.rows.isEmpty && counted.totalCount == 9 && !counted.hasNext)
    }

    @Test("a selection without id returns rows without IDs", arguments: StoreKind.perEngine)
    func selection(_ stores: StoreKind) async throws {
        let transport = ScriptedTransport { _ in .answer(200, #"[{"text":"a"},{"text":"a","due":null}]"#) }
        let client = try await transport.makeClient(stores)
        for _ in 1...2 {
            let remote = client.remoteTable("TodoItem")
            let rows = try await remote.read(TableQuery("TodoItem").select("text", "due")).rows
            #expect(rows.map(\.id) == [nil, nil] && rows.map { $0["text"] } == ["a", "a"])
            #expect(rows.map { $0["due"] } == [nil, .null])
            #expect(await syncErrorCode { _ = try await remote.read() } == .invalidAnswer)
            #expect(
                await syncErrorCode { _ = try await remote.read(TableQuery("TodoItem").select("id")) } == .invalidAnswer
            )
            // The second iteration reads the same rows with a definition.
            try await client.define([World.schema])
        }
    }

    @Test("every request contains the parameters", arguments: StoreKind.perEngine)
    func parameters(_ stores: StoreKind) async throws {
        let transport = ScriptedTransport { exchange in
            .answer(200, exchange.target.contains("/a") || exchange.method == .post ? #"{"id":"a"}"# : "[]")
        }
        let client = try await transport.makeClient(stores, tables: [World.schema])
        let remote = client.remoteTable("TodoItem")
        let parameters = [(name: "p", value: "1 2"), (name: "q", value: "&")]
        _ = try await remote.read(parameters: parameters)
        _ = try await remote.lookup(id: "a", parameters: parameters)
        _ = try await remote.insert(["id": "a", "text": "x"], parameters: parameters)
        _ = try await remote.update(["id": "a", "text": "x"], parameters: parameters)
        try await remote.delete(id: "a", parameters: parameters)
        _ = try await remote.undelete(id: "a", parameters: parameters)
        #expect(transport.requests.count == 6)
        for request in transport.requests {
            #expect(request.url.contains("p=1%202&q=%26"), "\(request.url)")
            #expect(request.headers[.zumoFeatures] == "QS")
        }
    }

    // MARK: Without a definition

    @Test("a table without a definition has rows as in the JSON, with integer IDs and all columns")
    func dynamic() async throws {
        let transport = ScriptedTransport { exchange in
            let row =
                #"{"id":7,"name":"x","n":1,"f":1.5,"b":true,"none":null,"list":[1],"date":"2026-01-02T03:04:05Z"}"#
            return .answer(200, exchange.target.contains("/7") ? row : #"{"count":3,"results":["# + row + "]}")
        }
        let remote = try await remote(transport)
        let expected: Row = [
            "id": 7, "name": "x", "n": 1, "f": 1.5, "b": true, "none": .null, "list": .json("[1]"),
            "date": "2026-01-02T03:04:05Z",
        ]
        let page = try await remote.read(TableQuery("Old").filter(.column("name") == "x"))
        #expect(page.rows == [expected] && page.totalCount == 3)
        #expect(try await remote.lookup(id: "7") == expected)
        #expect(try await remote.update(["id": 7, "n": 2]) == expected)
        try await remote.delete(id: "7")
        #expect(
            transport.requests.map { "\($0.method) \($0.target.prefix(13))" } == [
                "GET /tables/Old?$", "GET /tables/Old/7", "PATCH /tables/Old/7", "DELETE /tables/Old/7",
            ])
        #expect(transport.requests[2].body == #"{"n":2}"#)
    }

    @Test("an insert without an ID into a table without a definition is sent once, and the server makes the ID")
    func serverMadeID() async throws {
        let transport = ScriptedTransport { .answer($0.number == 1 ? 201 : 503, #"{"id":12,"name":"x"}"#) }
        let remote = try await remote(transport)
        #expect(try await remote.insert(["name": "x"]).id == .int(12))
        #expect(await syncErrorCode { _ = try await remote.insert(["name": "x"]) } == .network)
        #expect(transport.requests.map(\.body) == [#"{"name":"x"}"#, #"{"name":"x"}"#])
    }

    @Test(
        "an answer with another row than the requested one is an error that names both",
        arguments: [#"{"id":"b","name":"x"}"#, #"{"id":5,"name":"x"}"#])
    func otherRow(body: String) async throws {
        let remote = try await remote(ScriptedTransport { _ in .answer(200, body) })
        for call in [
            { _ = try await remote.lookup(id: "a") }, { _ = try await remote.insert(["id": "a", "name": "x"]) },
            { _ = try await remote.update(["id": "a", "name": "x"]) }, { _ = try await remote.undelete(id: "a") },
        ] as [@Sendable () async throws -> Void] {
            await expectSyncError(.invalidAnswer, id: "a", status: 200) { try await call() }
        }
        #expect(try await self.remote(ScriptedTransport { _ in .answer(200, #"{"id":"A"}"#) }).lookup(id: "a") != nil)
    }

    @Test(
        "answers that are not a page of rows are errors with the position",
        arguments: [
            "", "7", "[1]", "{}", #"{"results":{}}"#, #"[{"id":"a"}"#, #"[{"id":"a"},{}]"#, #"[{"id":true}]"#,
            #"{"results":[],"count":-1}"#, #"{"results":[],"count":1.5}"#, #"{"results":[],"results":[]}"#, "[]x",
        ])
    func badPages(body: String) async throws {
        let remote = try await remote(ScriptedTransport { _ in .answer(200, body) })
        await expectSyncError(.invalidAnswer, table: "Old", status: 200, says: "byte ") { _ = try await remote.read() }
    }

    // MARK: Links

    @Test("circular links are an error, whatever the length of the circle", arguments: [1, 2, 3, 7])
    func circle(length: Int) async throws {
        let transport = ScriptedTransport { exchange in
            guard exchange.number < 1000 else { throw TransportError(.connection, "asked too often") }
            let next = "<http://server.test/tables/Old?$skip=\(exchange.number % length)>; rel=next"
            return .answer(200, #"[{"id":"a"}]"#, headers: [.link: next])
        }
        let remote = try await remote(transport)
        await expectSyncError(.noProgress, table: "Old") { for try await _ in remote.readAll() {} }
        #expect(transport.requests.count < 40)
    }

    @Test("empty pages with next links end with an error after ten; fewer are followed")
    func emptyPages() async throws {
        let transport = ScriptedTransport { exchange in
            guard exchange.number < 1_000_000 else { throw TransportError(.connection, "asked too often") }
            let next = "<http://server.test/tables/Old?$skip=\(exchange.number)>; rel=next"
            return .answer(200, exchange.number == 9 ? #"[{"id":"a"}]"# : "[]", headers: [.link: next])
        }
        let remote = try await remote(transport)
        var rows = remote.readAll().makeAsyncIterator()
        #expect(try await rows.next()?.id == "a")
        await expectSyncError(.noProgress) { _ = try await rows.next() }
        #expect(transport.requests.count == 19)
    }
}
