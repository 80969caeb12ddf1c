import Foundation
import HTTPTypes
import Synchronization
import Testing
import Tideline
import TidelineConformance
import TidelineStore
import TidelineTestStores

@testable import TidelineServerConformance

/// A transport with one response for everything.
private struct FixedServer: Transport {
    var status = 200
    var type = "application/json"
    var body = ""

    func send(_ request: HTTPRequest, body: [UInt8]?, timeout: Duration) async throws -> TransportResponse {
        TransportResponse(
            response: HTTPResponse(status: .init(code: status), headerFields: [.contentType: type]),
            body: Array(self.body.utf8))
    }
}

/// A transport without a server.
private struct NoServer: Transport {
    func send(_ request: HTTPRequest, body: [UInt8]?, timeout: Duration) async throws -> TransportResponse {
        throw TransportError(.connection, "server.test refused the connection")
    }
}

@Suite("A server that cannot be checked is reported before the first check, with the reason and what to do")
struct PreparationTests {
    private func reason(_ transport: any Transport) async throws -> String {
        let suite = try ServerConformance(url: "http://server.test", transport: transport)
        let error = await #expect(throws: ServerConformanceError.self) { try await suite.prepare() }
        let result = await suite.run(ServerCheck.all[0])
        #expect(result.status == .harnessError)
        #expect(result.failure?.message == error?.description)
        return error?.description ?? ""
    }

    /// Servers, and parts of the reason of each.
    private static let servers: [(name: String, server: any Transport, parts: [String])] = [
        ("unreachable", NoServer(), ["http://server.test cannot be checked", "refused the connection"]),
        (
            "a web page", FixedServer(type: "text/html", body: "<html><title>Hello</title></html>"),
            ["answers with a web page", "Hello", "root"]
        ),
        ("a missing web page", FixedServer(status: 404, type: "text/html", body: "<p>"), ["web page"]),
        ("JSON that is no table", FixedServer(body: #"{"status":"ok"}"#), ["protocol of a table service"]),
        ("requires a user", FixedServer(status: 401, body: #"{"error":"who?"}"#), ["who?", "Pass a token"]),
        ("refuses the dialect", FixedServer(status: 400, body: #"{"error":"no 2.0.0"}"#), ["no 2.0.0"]),
    ]

    @Test(arguments: servers)
    func `the reason is that of the server`(
        _ row: (name: String, server: any Transport, parts: [String])
    ) async throws {
        let reason = try await reason(row.server)
        for part in row.parts { #expect(reason.contains(part), "\(reason)") }
    }

    @Test func `a table that lacks columns`() async throws {
        let schema = TableSchema("ConformanceItem", columns: [.string("other"), .string("mark")])
        let reason = try await reason(
            ServiceTransport(service: ServerFixture(.simplest, .zumo2, schemas: [schema]).service))
        #expect(reason.contains("ConformanceItem") && reason.contains("needs the columns mark (string), text (string)"))
    }

    @Test func `a table with rows of others`() async throws {
        let fixture = try ServerFixture(.simplest, .zumo2)
        try await ServerCheckContext(fixture.suite().session).insert()
        #expect(try await reason(ServiceTransport(service: fixture.service)).contains("contains rows"))
    }

    @Test func `an address that is none, and a dialect that is not built in`() {
        #expect(throws: SyncError.self) { try ServerConformance(url: "server.test", transport: NoServer()) }
    }

    @Test func `the token is sent with each request, and is never in a report`() async throws {
        let tokens = Mutex<Set<String?>>([])
        let recorder = ServerFlaw(
            description: "", ids: [],
            request: { request, _ in
                let sent: [String?] = [
                    request.headerFields[.init("X-ZUMO-AUTH")!], request.headerFields[.authorization],
                ]
                tokens.withLock { $0.formUnion(sent) }
            }, response: { $1.body += Array(" for sesame-1".utf8) })
        let suite = try ServerFixture(.simplest, .zumo2).suite {
            BrokenServer(base: $0, flaw: recorder)
        } configure: {
            $0.token = "sesame-1"
        }
        let result = await suite.run(ServerCheck.all[1])
        #expect(tokens.withLock { $0 } == ["sesame-1", "Bearer sesame-1"])
        #expect(!"\(result)".contains("sesame-1"))
        #expect("\(result)".contains("for …"))
    }

    @Test func `a run sends no more requests than allowed`() async throws {
        let fixture = try ServerFixture(.simplest, .zumo2)
        let suite = try fixture.suite(configure: { $0.maximumRequests = 20 })
        var statuses: Set<CheckStatus> = []
        for check in ServerCheck.all.prefix(20) { statuses.insert(await suite.run(check).status) }
        #expect(statuses.contains(.harnessError))
        // Those that delete its rows are sent nevertheless.
        let left = try fixture.store.read { try $0.rows(matching: TableQuery("ConformanceItem")) }.rows
        #expect(!left.isEmpty && left.allSatisfy { $0["deleted"] == true }, "\(left)")
    }

    @Test func `a server that asks to wait is asked again`() async throws {
        let count = Atomic(0)
        let suite = try ServerFixture(.simplest, .zumo2).suite(answering: { _, answer in
            guard count.add(1, ordering: .relaxed).newValue == 1 else { return }
            answer.response = HTTPResponse(status: .tooManyRequests, headerFields: [.retryAfter: "0"])
        })
        try await suite.prepare()
        #expect(count.load(ordering: .relaxed) > 3)
    }

    @Test func `the page of checks has them all`() throws {
        let page = try packageText("Conformance/Server/TidelineServerConformance.docc/ServerChecks.md")
        let listed = page.split(separator: "\n").compactMap { line in
            line.hasPrefix("| `SRV") ? String(line.dropFirst(3).prefix { $0 != "`" }) : nil
        }
        #expect(listed == ServerCheck.all.map(\.id))
    }

    @Test func `identifiers are unique, in order, and the explanations are complete`() {
        let ids = ServerCheck.all.map(\.id)
        #expect(ids == ids.sorted() && Set(ids).count == ids.count)
        for check in ServerCheck.all {
            #expect(!check.promise.hasSuffix("."), "\(check)")
            #expect(check.explanation.hasSuffix("."), "\(check)")
            #expect(check.tolerance.map { !$0.hasSuffix(".") } ?? true, "\(check)")
        }
    }
}
