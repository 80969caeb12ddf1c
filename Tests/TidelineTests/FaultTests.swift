import HTTPTypes
import Testing
import TidelineStore
import TidelineTestStores
import TidelineWire

@testable import Tideline

/// Failures between client and server, and how they are reported.
@Suite("Faults", .releasesClients, .bothDialects)
struct FaultTests {
    struct Fault: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var code: SyncError.Code
        var status: Int?
        var answer: @Sendable () throws -> TransportResponse
        /// A text that the message must contain.
        var says: String?

        var injected: FaultyTransport<TestStore>.Fault {
            do { return .answer(try answer()) } catch { return .fail(error) }
        }
    }

    static func status(_ status: Int, _ code: SyncError.Code, _ body: String = #"{"error":"so it is"}"#) -> Fault {
        Fault(
            testDescription: "HTTP \(status)", code: code, status: status, answer: { .answer(status, body) },
            says: body.isEmpty ? nil : "so it is")
    }

    static func body(_ name: String, _ body: String, says: String? = nil) -> Fault {
        Fault(testDescription: name, code: .invalidAnswer, status: 200, answer: { .answer(200, body) }, says: says)
    }

    /// A body that is not a list of rows, and thus not from the service.
    static func noList(_ name: String, _ body: String) -> Fault {
        Fault(testDescription: name, code: .network, status: 200, answer: { .answer(200, body) })
    }

    static let faults: [Fault] = [
        Fault(
            testDescription: "unreachable host", code: .network,
            answer: { throw TransportError(.connection, "server.test:80 refused") }, says: "server.test:80 refused"),
        Fault(
            testDescription: "timeout", code: .network, answer: { throw TransportError(.timeout, "60 s passed") },
            says: "60 s passed"),
        Fault(testDescription: "TLS", code: .network, answer: { throw TransportError(.tls, "bad certificate") }),
        Fault(testDescription: "too large", code: .invalidAnswer, answer: { throw TransportError(.tooLarge, "1 GB") }),
        Fault(testDescription: "cut off", code: .network, answer: { throw TransportError(.invalidResponse, "cut") }),
        Fault(testDescription: "cancelled", code: .cancelled, answer: { throw TransportError(.cancelled, "bye") }),
        Fault(
            testDescription: "a transport's other error", code: .network,
            answer: { throw StoreError(.io, "no transport's error") }),
        Fault(testDescription: "a transport's cancellation", code: .cancelled, answer: { throw CancellationError() }),
        status(400, .rejected), status(401, .authentication), status(403, .rejected), status(404, .rejected),
        status(405, .rejected), status(410, .rejected), status(413, .rejected), status(302, .rejected),
        status(501, .rejected), status(403, .rejected, ""), status(403, .rejected, "so it is"),
        status(408, .network), status(429, .network), status(500, .serverFailed), status(502, .network),
        status(503, .network), status(504, .network),
        noList("empty body", ""),
        noList("truncated in a row", #"[{"id":"a","text":"on"#), noList("truncated after a row", #"[{"id":"a"}"#),
        noList("truncated after a comma", #"[{"id":"a"},"#), noList("two bodies", "[][]"),
        noList("no JSON", "<html>Sign in to the hotel's network</html>"),
        noList("an unescaped control character", "[{\"id\":\"\u{0}\"}]"),
        noList("an object", "{}"), noList("a number", "7"), noList("null", "null"), body("rows of numbers", "[1]"),
        body("rows of null", "[null]"), noList("results is an object", #"{"results":{}}"#),
        body("id missing", #"[{"id":"a","text":"x"},{"text":"x"}]"#), body("id null", #"[{"id":null}]"#),
        body("id empty", #"[{"id":""}]"#), body("id a number", #"[{"id":7}]"#),
        body("a value of the wrong type", #"[{"id":"a"},{"id":"b","priority":"high"}]"#, says: "priority"),
        body("a whole number too large", #"[{"id":"b","priority":9223372036854775808}]"#, says: "priority"),
        body("an invalid date", #"[{"id":"b","due":"2026-02-30T00:00:00Z"}]"#, says: "due"),
        body("a version of the wrong type", #"[{"id":"b","version":7}]"#, says: "version"),
        body("an updatedAt of the wrong type", #"[{"id":"b","updatedAt":7}]"#, says: "updatedAt"),
        body("a deleted of the wrong type", #"[{"id":"b","deleted":"yes"}]"#, says: "deleted"),
        body("an id twice", #"[{"id":"b"},{"id":"c"},{"id":"b"}]"#),
        body("ids that differ only in case", #"[{"id":"B"},{"id":"c"},{"id":"b"}]"#),
    ]

    @Test("a pull reports a fault and changes nothing; the next pull continues", arguments: StoreKind.perEngine, faults)
    func pull(_ stores: StoreKind, _ fault: Fault) async throws {
        for queryID in ["q", nil] {
            let (world, client) = try await World.withClient(stores)
            try world.plant([World.row("a", at: 0)])
            try await client.items.pull(queryID: "q")
            let before = (try client.store.versions(), try client.store.tokens())
            try world.plant([World.row("b", at: 10_000)])
            client.transport.inspect { _, _ in fault.injected }
            let error = await #expect(throws: SyncError.self) { try await client.items.pull(queryID: queryID) }
            #expect(error?.code == fault.code && error?.status == fault.status)
            if let says = fault.says { #expect("\(String(describing: error))".contains(says)) }
            if fault.code == .invalidAnswer || fault.status != nil { #expect(error?.table == "TodoItem") }
            #expect(try client.store.versions() == before.0 && client.store.tokens() == before.1)
            client.transport.inspect(nil)
            try await client.items.pull(queryID: queryID)
            #expect(try client.store.versions() == world.serverVersions())
        }
    }

    @Test("a fault on the second page keeps the first; the next pull continues", arguments: StoreKind.perEngine, faults)
    func secondPage(_ stores: StoreKind, _ fault: Fault) async throws {
        let (world, client) = try await World.withClient(stores)
        try world.plant(World.rows(at: (0..<6).map { $0 * 10_000 }))
        client.transport.inspect { _, _ in client.transport.requests.count > 1 ? fault.injected : nil }
        let settings = PullSettings(pageSize: 3)
        #expect(await syncErrorCode { try await client.items.pull(queryID: "q", settings: settings) } == fault.code)
        #expect(try client.store.versions().count == 3 && client.store.tokens().count == 1)
        client.transport.inspect(nil)
        try await client.items.pull(queryID: "q", settings: settings)
        #expect(try client.store.versions() == world.serverVersions())
    }

    @Test("an invalid row is reported with table, column, ID and offset in the answer", arguments: StoreKind.perEngine)
    func named(_ stores: StoreKind) async throws {
        let client = try await World(stores).makeClient()
        client.transport.inspect { _, _ in
            .answer(.answer(200, #"[{"id":"a","text":"x"},{"id":"b","complete":"yes"}]"#))
        }
        let error = await #expect(throws: SyncError.self) { try await client.items.pull() }
        #expect(error?.table == "TodoItem" && error?.column == "complete" && error?.id == "b")
        #expect(error?.message.contains("byte 44") == true, "\(String(describing: error))")
        #expect((error?.cause as? WireError)?.code == .invalidValue)
    }

    @Test("rows whose IDs differ only in case are two rows in a table with exact IDs", arguments: StoreKind.perEngine)
    func exactIDs(_ stores: StoreKind) async throws {
        let client = try await World(stores).makeClient()
        try await client.client.define([TableSchema("Exact", columns: [], idMatching: .exact)])
        client.transport.inspect { request, _ in
            .answer(.answer(200, request.target.contains("$filter") ? "[]" : #"[{"id":"B"},{"id":"b"}]"#))
        }
        try await client.client.table("Exact").pull()
        #expect(try await client.client.table("Exact").rows().rows.map(\.id) == ["B", "b"])
    }

    @Test("F8 a pulled row whose ID differs in case is the same row with its first ID", arguments: StoreKind.perEngine)
    func spelling(_ stores: StoreKind) async throws {
        let (world, client) = try await World.withClient(stores)
        try world.plant([World.row("Key", at: 0)])
        try await client.items.pull(queryID: "q")
        client.transport.inspect { _, _ in
            .change { $0.replacing("Key@0", with: "2").replacing("Key", with: "kEY") }
        }
        // The row is written again because the pull restarts to check that these are not two rows.
        #expect(try await client.items.pull(queryID: "q").rowsStored > 0)
        #expect(try client.store.versions() == ["Key": "2"])
        client.transport.inspect { _, _ in
            .change { $0.replacing("Key", with: "KEY").replacing(#""deleted":false"#, with: #""deleted":true"#) }
        }
        #expect(try await client.items.pull(queryID: "q").rowsRemoved == 1)
    }

    @Test("500 then success is a success", arguments: StoreKind.perEngine, [408, 429, 500, 502, 503, 504])
    func transient(_ stores: StoreKind, status: Int) async throws {
        let (world, client) = try await World.withClient(stores)
        try world.plant([World.row("a", at: 0)])
        client.transport.inspect { _, _ in client.transport.requests.count < 4 ? .answer(.answer(status)) : nil }
        let result = try await client.items.pull(queryID: "q")
        #expect(try client.texts() == ["a"])
        #expect(client.transport.requests.count == result.requests + 3)
        #expect(Set(client.transport.requests.prefix(4)).count == 1)
    }

    @Test("an unknown local table is an error that names it, and nothing is sent", arguments: StoreKind.perEngine)
    func unknownTable(_ stores: StoreKind) async throws {
        let client = try await World(stores).makeClient()
        let table = client.client.table("Nowhere")
        for body in [
            { _ = try await table.pull() }, { _ = try await table.pull(queryID: "q") },
            { _ = try await table.insert(["text": "x"]) }, { try await table.delete(id: "a") },
            { _ = try await table.rows() }, { _ = try await table.row(id: "a") },
        ] as [@Sendable () async throws -> Void] {
            let error = await expectSyncError(.store, table: "Nowhere") { try await body() }
            #expect((error?.cause as? StoreError)?.code == .noSuchTable)
        }
        #expect(client.transport.requests.isEmpty)
    }

    @Test("a table missing on the server only is 404, with the server's message", arguments: StoreKind.perEngine)
    func unknownRemoteTable(_ stores: StoreKind) async throws {
        let client = try await World(stores) { $0.createsTablesOnFirstInsert = false }.makeClient()
        try await client.client.define([TableSchema("Local", columns: [])])
        let error = await #expect(throws: SyncError.self) { try await client.client.table("Local").pull() }
        #expect(error?.code == .rejected && error?.status == 404 && error?.table == "Local")
        #expect(error?.message.contains("no table") == true)
    }

    @Test("a filter column missing on the server is refused by the server", arguments: StoreKind.perEngine)
    func unknownColumn(_ stores: StoreKind) async throws {
        let client = try await World(stores).makeClient()
        try await client.client.define([TableSchema("TodoItem", columns: World.schema.columns + [.int("nothing")])])
        let query = TableQuery("TodoItem").filter(.column("nothing") == 1)
        await expectSyncError(.rejected, status: 400) { try await client.items.pull(query) }
    }

    @Test("server columns that the table does not define are ignored", arguments: StoreKind.perEngine)
    func furtherColumns(_ stores: StoreKind) async throws {
        try await Script(
            "more", #"empty; plant a@0 text=t; replace "text": "more":{"x":[1]},"__y":2,"text":; pull"#,
            "row a text=t more=null"
        ).play(stores)
    }

    @Test(
        "a link to another server is not followed, and the pull misses nothing",
        arguments: StoreKind.perEngine,
        [
            "http://evil.test/tables/TodoItem?$skip=1; rel=next", "<https://server.test/tables/TodoItem>; rel=next",
            "<http://server.test:81/tables/TodoItem>; rel=\"next\"", "<//evil.test/x>; rel=next",
            "<http://server.test@evil.test/tables/TodoItem>; rel=next",
            "<http://server.test/tables/../admin>; rel=next",
        ])
    func foreignLinks(_ stores: StoreKind, link: String) async throws {
        let (world, client) = try await World.withClient(stores) {
            $0.authorization = { _ in HTTPField(name: .init("X-ZUMO-AUTH") ?? .authorization, value: "secret") }
        }
        try world.plant(World.rows(at: [0, 10_000, 20_000]))
        client.transport.inspect { _, _ in .change { $0.with(.link, link) } }
        for queryID in ["q", nil] {
            try await client.items.purge()
            try await client.items.pull(queryID: queryID, settings: PullSettings(pageSize: 2))
            #expect(try client.store.versions().count == 3)
        }
        #expect(client.transport.sent.allSatisfy { $0.request.authority == "server.test" })
    }
}
