#if Tool
import Foundation
import HTTPTypes
import NIOCore
import NIOSSL
import Testing
import Tideline
import TidelineAsyncHTTPClient
import TidelineSQLite
import TidelineTestSupport

@testable import TidelineTool

@Suite("HTTP/2", .timeLimit(.minutes(15)))
struct HTTP2Tests {
    private let tool: Tool

    init() throws { tool = try Tool() }

    /// Serves in-memory tables over TLS while `body` runs, with a client and the address.
    private func servingSecurely(
        _ limits: ServerLimits = ServerLimits(), servesMetrics: Bool = false,
        _ body: @escaping @Sendable (HTTP2Client, String) async throws -> Void
    ) async throws {
        try await serving(limits: limits, servesMetrics: servesMetrics, identity: tool.makeIdentity()) { authority in
            try await body(HTTP2Client(authority), authority)
        }
    }

    private static func insert(_ id: String, _ client: HTTP2Client) async throws -> HTTP2Client.Answer {
        try await client.send(.post, "/tables/T", body: #"{"id":"\#(id)","text":"a"}"#)
    }

    /// Inserts rows whose page has 400 kB.
    private static func insertPage(_ client: HTTP2Client) async throws {
        for number in 0..<20 {
            let row = #"{"id":"\#(number)","text":"\#(String(repeating: "x", count: 20_000))"}"#
            #expect(try await client.send(.post, "/tables/T", body: row).status == 201)
        }
    }

    /// Returns whether the server has written a number of pages.
    private static func hasWritten(_ count: Int, _ client: HTTP2Client) async throws -> Bool {
        try await client.send(.get, "/metrics").body
            .contains("tideline_requests_total{method=\"GET\",status=\"200\",table=\"T\"} \(count)\n")
    }

    /// Returns the cursor of the change signal.
    private static func cursor(_ client: HTTP2Client) async throws -> String {
        let answer = try await client.send(.get, "/.changes?tables=T").body
        let object = try JSONSerialization.jsonObject(with: Data(answer.utf8)) as? [String: Any]
        return try #require(object?["cursor"] as? String)
    }

    // MARK: Protocols

    @Test("A client selects the protocol, unless HTTP/2 is disabled", arguments: [true, false])
    func selection(isEnabled: Bool) async throws {
        try tool.makeCertificate(named: "server")
        let (_, url) = try tool.startServer(tool.certificateOptions + [isEnabled ? "--http2" : "--no-http2"])
        func versions(_ option: String) throws -> String {
            let row = #"{"id":"\#(option)"}"#
            let answer = try ToolProcess.run(
                [
                    "-s", option, "--cacert", tool.path("cert.pem"), "-w", " %{http_version} %{http_code}", "-H",
                    "ZUMO-API-VERSION: 2.0.0", "-H", "Content-Type: application/json", "-d", row, url + "/tables/T",
                ], executable: URL(fileURLWithPath: "/usr/bin/curl"))
            #expect(answer.status == 0 && answer.out.contains(option), "\(answer)")
            return answer.out.split(separator: " ").suffix(2).joined(separator: " ")
        }
        #expect(try versions("--http2") == (isEnabled ? "2 201" : "1.1 201"))
        #expect(try versions("--http1.1") == "1.1 201")
        #expect(try versions("--no-alpn") == "1.1 201")
    }

    @Test("Requests at the same time on one connection each have their own response, and large ones arrive in full")
    func concurrent() async throws {
        try await servingSecurely(servesMetrics: true) { client, authority in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<90 {
                    group.addTask {
                        let answer = try await Self.insert("\(number)", client)
                        #expect(answer.status == 201 && answer.body.contains(#""id":"\#(number)""#), "\(answer)")
                        #expect(answer.head.headerFields[.connection] == nil)
                    }
                }
                try await group.waitForAll()
            }
            #expect(try await Self.insert("0", client).status == 409)
            let text = String(repeating: "long ", count: 200_000)
            let long = #"{"id":"long","text":"\#(text)"}"#
            #expect(try await client.send(.post, "/tables/T", body: long).status == 201)
            let row = try await client.send(.get, "/tables/T/long")
            #expect(row.status == 200 && row.body.contains(text))
            let page = try await client.send(.get, "/tables/T?$top=50")
            #expect(page.head.headerFields[.link]?.hasPrefix("https://\(authority)/") == true, "\(page.head)")
            let metrics = try await client.send(.get, "/metrics").body
            #expect(metrics.contains("\ntideline_connections_total 1\n"), "\(metrics)")
        }
    }

    @Test("A client syncs over one connection, and a server that is killed and started again loses nothing")
    func sync() async throws {
        try tool.makeCertificate(named: "server")
        let arguments = tool.certificateOptions + ["--metrics"]
        var (server, url) = try tool.startServer(arguments)
        let trust = NIOSSLTrustRoots.file(tool.path("cert.pem"))
        let transport = AsyncHTTPClientTransport {
            $0.tlsConfiguration = .makeClientConfiguration()
            $0.tlsConfiguration?.trustRoots = trust
        }
        var options = SyncOptions()
        options.retry = RetryPolicy(maximumAttempts: 1)
        let client = try SyncClient(url: url, store: try SQLiteStore.inMemory(), transport: transport, options: options)
        try await client.define([TableSchema("T", columns: [.string("text")])])
        let table = client.table("T")
        for number in 0..<20 { try await table.insert(["id": .string("\(number)"), "text": "a"]) }
        try await client.push()
        _ = server.killNow()
        try await table.update(id: "0") { $0["text"] = "b" }
        let error = await #expect(throws: SyncError.self) { try await client.push() }
        #expect(error?.code == .network, "\(String(describing: error))")
        (server, _) = try tool.startServer(arguments + ["--port", port(of: url)])
        try await client.push()
        try await client.pull(TableQuery("T"), queryID: "all")
        #expect(try await table.rows().rows.count == 20)
        #expect(try await table.row(id: "0")?["text"] == "b")
        var request = HTTPRequest(
            method: .get, scheme: "https", authority: String(url.dropFirst("https://".count)), path: "/metrics")
        request.headerFields[.accept] = "*/*"
        let page = try await transport.send(request, body: nil, timeout: .seconds(300))
        #expect(String(decoding: page.body, as: UTF8.self).contains("\ntideline_connections_total 1\n"))
    }

    // MARK: Streams

    @Test("A request that is cancelled while it waits frees its place, and its connection remains")
    func cancelled() async throws {
        try await servingSecurely(servesMetrics: true) { client, _ in
            #expect(try await Self.insert("1", client).status == 201)
            func untilClients(_ count: Int) async throws {
                try await suspendUntil("\(count) waiting clients") {
                    try await client.send(.get, "/metrics").body.contains("\ntideline_waiting_clients \(count)\n")
                }
            }
            for (id, accept) in [("2", "*/*"), ("3", "text/event-stream")] {
                let cursor = try await Self.cursor(client)
                let path = "/.changes?tables=T&since=\(cursor)&wait=50"
                let leaving = try await client.get(path, [.accept: accept])
                let staying = try await client.get(path)
                try await untilClients(2)
                await leaving.reset()
                try await untilClients(1)
                #expect(try await Self.insert(id, client).status == 201)
                #expect(try await staying.answer.get().body.contains(#""table":"T""#))
            }
        }
    }

    @Test("An incomplete body is answered with 408, nothing is executed, and other requests go on")
    func slowBody() async throws {
        try await servingSecurely(ServerLimits(bodyTimeout: .seconds(2))) { client, _ in
            let slow = try await client.begin(.post, "/tables/T")
            slow.send(.body(ByteBuffer(string: #"{"id":"slow"}"#)))
            let answer = try await slow.answer.get()
            #expect(answer.status == 408 && answer.body.contains("body"))
            #expect(try await Self.insert("1", client).status == 201)
            #expect(try await client.send(.get, "/tables/T/slow").status == 404)
            try await slow.channel.closeFuture.get()
            #expect(try await Self.insert("2", client).status == 201)
        }
    }

    @Test("A body that is too large is answered with 413, and other requests go on")
    func largeBody() async throws {
        try await servingSecurely(ServerLimits(maximumBodySize: 1_000)) { client, _ in
            let large = try await client.begin(.post, "/tables/T")
            large.send(.body(ByteBuffer(repeating: UInt8(ascii: " "), count: 30_000)))
            #expect(try await large.answer.get().status == 413)
            #expect(try await Self.insert("1", client).status == 201)
            await large.reset()
            #expect(try await Self.insert("2", client).status == 201)
        }
    }

    @Test("A client that does not receive its response is refused it, and receives others")
    func unread() async throws {
        try await servingSecurely(ServerLimits(bodyTimeout: .seconds(2))) { client, _ in
            // More than the window of a stream.
            try await Self.insertPage(client)
            let unread = try await client.get("/tables/T", receives: false)
            #expect(try await client.send(.get, "/.health").status == 200)
            await #expect(throws: (any Error).self) { try await unread.answer.get() }
            #expect(try await client.send(.get, "/.health").status == 200)
        }
    }

    @Test("Responses that nobody receives take a bounded amount of memory; a page beyond it is answered with 503")
    func unreadResponses() async throws {
        let limits = ServerLimits(
            maximumResponsesSize: 500_000, stallTimeout: .seconds(3_600), idleTimeout: .seconds(3_600),
            bodyTimeout: .seconds(3_600))
        try await servingSecurely(limits, servesMetrics: true) { client, _ in
            try await Self.insertPage(client)
            let unread = try await client.get("/tables/T", receives: false)
            try await suspendUntil("the server to write the page") { try await Self.hasWritten(1, client) }
            let refused = try await client.send(.get, "/tables/T")
            #expect(refused.status == 503 && refused.head.headerFields[.retryAfter] == "1")
            #expect(try await client.send(.get, "/tables/T?$select=id").status == 200)
            await unread.reset()
            try await suspendUntil("the memory of the page to be released") {
                try await client.send(.get, "/tables/T").status == 200
            }
        }
    }

    @Test("A small response waits for the window that a large one has used up, and takes a bounded amount of memory")
    func smallResponses() async throws {
        let limits = ServerLimits(
            maximumResponsesSize: 500_000, stallTimeout: .seconds(3_600), idleTimeout: .seconds(3_600),
            bodyTimeout: .seconds(3_600))
        try await servingSecurely(limits, servesMetrics: true) { client, authority in
            let other = try await HTTP2Client(authority)
            try await Self.insertPage(other)
            #expect(try await client.send(.get, "/.health").status == 200)
            // The client does not update the window until it reads. The memory is sufficient for one small response.
            try await client.channel.setOption(.autoRead, value: false).get()
            var streams: [HTTP2Client.Stream] = []
            for query in [""] + Array(repeating: "?$select=id", count: 3) {
                streams.append(try await client.get("/tables/T" + query, receives: false))
                try await suspendUntil("\(streams.count) responses") { [count = streams.count] in
                    try await Self.hasWritten(count, other)
                }
            }
            for channel in streams.dropFirst().map(\.channel) + [client.channel] {
                try await channel.setOption(.autoRead, value: true).get()
                channel.read()
            }
            #expect(try await streams[1].answer.get().status == 200)
            await #expect(throws: (any Error).self) { try await streams[2].answer.get() }
        }
    }

    @Test("Headers of 90 kB end the connection, a long path is answered with 414, and the server goes on")
    func largeHeaders() async throws {
        try await servingSecurely(ServerLimits(maximumQuerySize: 40_000)) { client, authority in
            let name = try #require(HTTPField.Name("x-large"))
            await #expect(throws: (any Error).self) {
                try await client.send(.get, "/.health", [name: String(repeating: "a", count: 90_000)])
            }
            // The size of the headers counts when the client has confirmed it, before its second request.
            let urls = ["/.health", "/tables/T?$filter=" + String(repeating: "a", count: 50_000)]
            let answer = try await RawConnection.blocking {
                try ToolProcess.run(
                    ["-sk", "--http2", "-w", " %{http_version} %{http_code}"]
                        + urls.map { "https://\(authority)\($0)" },
                    executable: URL(fileURLWithPath: "/usr/bin/curl"))
            }
            #expect(answer.out.hasSuffix(" 2 414"), "\(answer)")
            #expect(try await HTTP2Client(authority).send(.get, "/.health").status == 200)
        }
    }

    @Test("A client that cancels its requests without end is disconnected")
    func rapidResets() async throws {
        try await servingSecurely { client, authority in
            // The client does not wait for the server, and can cancel all of them before it is disconnected.
            for _ in 0..<300 { await (try? client.begin(.get, "/.health"))?.reset() }
            try await suspendUntil("the connection to close") { !client.channel.isActive }
            #expect(try await HTTP2Client(authority).send(.get, "/.health").status == 200)
        }
    }

    // MARK: Connections

    @Test("A connection without requests is closed, and one that never negotiates")
    func idle() async throws {
        let limits = ServerLimits(idleTimeout: .milliseconds(100), headerTimeout: .milliseconds(100))
        try await servingSecurely(limits) { client, authority in
            try await client.channel.closeFuture.get()
            // On a busy machine, a connection can be idle for too long before its request.
            var used = try await HTTP2Client(authority)
            while (try? await used.send(.get, "/.health"))?.status != 200 { used = try await HTTP2Client(authority) }
            try await used.channel.closeFuture.get()
            let silent = try RawConnection(authority)
            #expect(try await RawConnection.blocking { try silent.receiveToEnd() } == "")
        }
    }

    @Test("A connection whose request waits for longer than the idle time remains open")
    func waiting() async throws {
        try await servingSecurely(ServerLimits(idleTimeout: .seconds(4))) { first, authority in
            var client = first
            // On a busy machine, the connection can also be idle for too long between two requests.
            for attempt in 1...10 {
                do {
                    let inserted = try await Self.insert("\(attempt)", client).status
                    let cursor = try await Self.cursor(client)
                    let waited = try await client.send(.get, "/.changes?tables=T&since=\(cursor)&wait=9").status
                    let next = try await client.send(.get, "/.health").status
                    #expect(inserted == 201 && waited == 200 && next == 200)
                    return
                } catch  where attempt < 10 {
                    client = try await HTTP2Client(authority)
                }
            }
        }
    }

    @Test("A stopped server answers what it has received, refuses what is incomplete, and ends")
    func stop() async throws {
        try tool.makeCertificate(named: "server")
        let (server, url) = try tool.startServer(tool.certificateOptions + ["--shutdown-timeout", "3600"])
        let authority = String(url.dropFirst("https://".count))
        let (client, unused) = (try await HTTP2Client(authority), try await HTTP2Client(authority))
        #expect(try await unused.send(.get, "/.health").status == 200)
        #expect(try await Self.insert("1", client).status == 201)
        let waiting = try await client.get("/.changes?tables=T&wait=50", [.accept: "text/event-stream"])
        let incomplete = try await client.begin(.post, "/tables/T")
        incomplete.send(.body(ByteBuffer(string: #"{"id":"#)))
        // The server has received both once it has answered a later request.
        #expect(try await client.send(.get, "/.health").status == 200)
        server.signal(SIGTERM)
        let refused = try await incomplete.answer.get()
        #expect(refused.status == 503 && refused.body.contains("stopped"), "\(refused)")
        #expect(try await waiting.answer.get().status == 200)
        try await unused.channel.closeFuture.get()
        #expect(server.wait() == 0)
    }
}
#endif
