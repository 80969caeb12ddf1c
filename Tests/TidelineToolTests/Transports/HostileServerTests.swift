#if AsyncHTTPClient
import Foundation
import HTTPTypes
import Synchronization
import Testing
import Tideline
import TidelineMemory
import TidelineStore

/// Attacks by a server on a client. Each uses bounded time and memory, ends with a clear error, and leaves the local
/// changes unchanged.
@Suite("A hostile server", .serialized, .timeLimit(.minutes(10)))
struct HostileServerTests {
    /// The response to every request, and the expected error.
    struct Attack: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let answer: SocketServer.Answer
        /// The error of a pull, and a text in its message.
        let outcome: (code: SyncError.Code, message: String)

        init(_ name: String, _ answer: SocketServer.Answer, _ outcome: (SyncError.Code, String)) {
            testDescription = name
            self.answer = answer
            self.outcome = outcome
        }
    }

    private static let table = TableSchema("TodoItem", columns: [.string("text")])
    private static let maximumBodySize = 1 << 20

    /// Makes a client of the server at the given port, with a row that is pending.
    private func makeClient(
        _ kind: TransportKind, port: Int, timeout: Duration = .seconds(600),
        sleep: @escaping @Sendable (Duration) async throws -> Void = { _ in }
    ) async throws -> SyncClient<MemoryStore> {
        var options = SyncOptions()
        options.timeout = timeout
        options.environment.sleep = sleep
        let client = try SyncClient(
            url: "http://127.0.0.1:\(port)", store: MemoryStore(),
            transport: kind.makeTransport(maximumBodySize: Self.maximumBodySize), options: options)
        try await client.define([Self.table, TableSchema("Other", columns: [])])
        try await client.table("TodoItem").insert(["id": "a", "text": "mine"])
        return client
    }

    /// Pushes, which must fail and leave the local row and its operation unchanged; then pulls an empty table and
    /// returns the error of the pull.
    private func outcome(_ client: SyncClient<MemoryStore>) async throws -> SyncError {
        await #expect(throws: SyncError.self) { try await client.context.push() }
        let error = try await #require(
            #expect(throws: SyncError.self) { try await client.table("Other").pull(queryID: "q") })
        #expect(try await client.table("TodoItem").row(id: "a")?["text"] == "mine")
        #expect(try await client.context.pendingOperations().map(\.itemID) == ["a"])
        #expect(try await client.table("Other").rows().rows.isEmpty)
        return error
    }

    /// Returns the outcome of a client of the server.
    private func outcome(
        of server: SocketServer, over kind: TransportKind, timeout: Duration = .seconds(600)
    ) async throws -> SyncError {
        try await server.serve { try await outcome(makeClient(kind, port: $0, timeout: timeout)) }
    }

    // MARK: Endless, slow and malformed responses

    private static func head(_ lines: String...) -> SocketServer.Answer {
        .raw(lines.joined(separator: "\r\n").utf8)
    }

    private static func chunked(_ lines: String...) -> SocketServer.Answer {
        .raw((["HTTP/1.1 200 OK", "Transfer-Encoding: chunked"] + lines).joined(separator: "\r\n").utf8)
    }

    private static let chunk = "10000\r\n" + String(repeating: "[", count: 65_536) + "\r\n"
    private static let zeros = [UInt8](repeating: 0x30, count: 65_536)
    private static let line = "X-A: 0123456789\r\n"
    private static let gzipHeader =
        Array("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n".utf8) + [0x1F, 0x8B, 8, 8, 0, 0, 0, 0, 0, 3]
    private static let informational = String(repeating: "HTTP/1.1 100 Continue\r\n\r\n", count: 2000)

    private static let tooLarge = (SyncError.Code.invalidAnswer, "larger than the 1048576 bytes allowed")
    private static let malformed = (SyncError.Code.network, "127.0.0.1")

    static let endless: [Attack] = [
        Attack("chunks", chunked("", "").followed(by: chunk.utf8), tooLarge),
        Attack("a body without a length", head("HTTP/1.1 200 OK", "", "").followed(by: zeros), tooLarge),
        Attack("a body of a failure", head("HTTP/1.1 400 Bad Request", "", "").followed(by: zeros), tooLarge),
        Attack("one header line", head("HTTP/1.1 200 OK", "X-A: ").followed(by: zeros), malformed),
        Attack("header lines", head("HTTP/1.1 200 OK", "").followed(by: line.utf8), malformed),
        Attack("a reason phrase", head("HTTP/1.1 200 ").followed(by: zeros), tooLarge),
        Attack("trailers", chunked("", "0", "").followed(by: line.utf8), malformed),
        Attack("a chunk's extension", chunked("", "2;x=").followed(by: zeros), tooLarge),
        Attack("the name in a gzip header", .raw(gzipHeader).followed(by: zeros), tooLarge),
        Attack("informational answers", .raw([]).followed(by: informational.utf8), tooLarge),
    ]

    @Test("endless responses use bounded memory and time", arguments: TransportKind.facingHostileServers, endless)
    func endlessAnswers(kind: TransportKind, attack: Attack) async throws {
        let server = SocketServer { _ in attack.answer }
        let error = try await outcome(of: server, over: kind)
        #expect(error.code == attack.outcome.code && error.message.contains(attack.outcome.message), "\(error)")
        // A pull asks for smaller and smaller pages, down to one row. For each request, the server sends the bytes that
        // the sockets buffer; the client did not read the rest.
        #expect(server.requests < 30, "\(server.requests)")
        #expect(server.bytesSent / server.requests < SocketServer.limit / 4, "\(server.bytesSent)")
    }

    static let slow: [(name: String, answer: SocketServer.Answer)] = [
        ("no answer", .raw([])), ("half a head", head("HTTP/1.1 200 OK", "X")),
        ("a body that stops", head("HTTP/1.1 200 OK", "Content-Length: 10", "", "[")),
        ("a head in single bytes", head("HTTP/1.1 200 OK", "X: ").followed(by: [0x41], every: .milliseconds(5))),
        (
            "a body in single bytes",
            head("HTTP/1.1 200 OK", "Content-Length: 1000000", "", "[").followed(by: [0x20], every: .milliseconds(5))
        ),
        ("chunks of one byte", chunked("", "1", "[", "").followed(by: "1\r\n \r\n".utf8, every: .milliseconds(5))),
    ]

    @Test("slow responses end with the timeout of the request", arguments: TransportKind.facingHostileServers, slow)
    func slowAnswers(kind: TransportKind, attack: (name: String, answer: SocketServer.Answer)) async throws {
        let server = SocketServer { _ in attack.answer }
        let error = try await outcome(of: server, over: kind, timeout: .milliseconds(300))
        #expect(error.code == .network && (error.cause as? TransportError)?.code == .timeout, "\(error)")
    }

    static let lengths: [(name: String, text: String)] = [
        ("longer than the body", "Content-Length: 100\r\n\r\n[]"), ("negative", "Content-Length: -2\r\n\r\n[]"),
        ("beyond 64 bits", "Content-Length: 99999999999999999999\r\n\r\n[]"),
        ("of 2^63-1", "Content-Length: 9223372036854775807\r\n\r\n[]"),
        ("two", "Content-Length: 2\r\nContent-Length: 3\r\n\r\n[] "),
        ("of a chunked body", "Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n[]"),
        ("of a chunk beyond 64 bits", "Transfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\n[]"),
    ]

    @Test("wrong lengths are errors, never a short response", arguments: TransportKind.facingHostileServers, lengths)
    func wrongLengths(kind: TransportKind, response: (name: String, text: String)) async throws {
        let server = SocketServer { _ in .raw("HTTP/1.1 200 OK\r\n\(response.text)".utf8, closes: true) }
        let error = try await outcome(of: server, over: kind)
        #expect([.network, .invalidAnswer].contains(error.code), "\(error)")
        #expect(error.message.contains("127.0.0.1"), "\(error)")
    }

    @Test(
        "bytes after the announced length are never read as the response to the next request",
        arguments: TransportKind.facingHostileServers)
    func smuggledAnswer(kind: TransportKind) async throws {
        let smuggled = "HTTP/1.1 200 OK\r\nContent-Length: 41\r\n\r\n" + #"[{"id":"x","updatedAt":"2026-01-01","text"#
        let server = SocketServer { received in
            received.target.contains("Other")
                ? .raw("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n[]\(smuggled)".utf8)
                : .whole("201 Created", body: Array(#"{"id":"a","text":"mine","version":"1"}"#.utf8))
        }
        try await server.serve { port in
            let client = try await makeClient(kind, port: port)
            // The connection can close before its response is read; only a wrong response is a failure.
            func attempt(_ body: () async throws -> Void) async throws {
                do { try await body() } catch let error as SyncError { #expect(error.code == .network) }
            }
            for _ in 1...3 {
                try await attempt { try await client.table("Other").pull() }
                #expect(try await client.table("Other").rows().rows.isEmpty)
            }
            for _ in 1...10 where try await client.context.pendingOperationsCount > 0 {
                try await attempt { try await client.context.push() }
            }
            #expect(try await client.context.pendingOperationsCount == 0)
        }
    }

    @Test(
        "a server that never answers the TLS hello ends with a timeout", arguments: TransportKind.facingHostileServers)
    func silentTLS(kind: TransportKind) async throws {
        let transport = kind.makeTransport(connectTimeout: .milliseconds(200))
        // The other transport has no time limit for connections.
        let timeout: Duration = kind == .asyncHTTPClient ? .seconds(600) : .milliseconds(200)
        let server = SocketServer { _ in .raw([]) }
        let error = try await server.serve { port in
            let request = HTTPRequest(method: .get, scheme: "https", authority: "127.0.0.1:\(port)", path: "/")
            return try await #require(
                #expect(throws: TransportError.self) {
                    try await transport.send(request, body: nil, timeout: timeout)
                })
        }
        #expect([.timeout, .tls].contains(error.code), "\(error)")
    }

    @Test("a response that switches protocols is an error", arguments: TransportKind.facingHostileServers)
    func switchesProtocols(kind: TransportKind) async throws {
        let server = SocketServer { _ in
            .raw("HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\nxyz".utf8, closes: true)
        }
        let error = try await outcome(of: server, over: kind, timeout: .seconds(1))
        #expect([.network, .rejected].contains(error.code), "\(error)")
    }

    @Test(
        "a status that no response has is an error", arguments: TransportKind.facingHostileServers,
        ["000 X", "001 X", "099 X", "99 X", "1000 X", "-99 X"])
    func impossibleStatus(kind: TransportKind, status: String) async throws {
        let server = SocketServer { _ in .whole(status, body: Array("[]".utf8)) }
        let error = try await outcome(of: server, over: kind)
        #expect((error.cause as? TransportError)?.code == .invalidResponse, "\(error)")
        #expect(error.message.contains("127.0.0.1"), "\(error)")
    }

    // MARK: Compression

    /// A body of 200,000 zero bytes compressed to 230 bytes, repeated without end: gzip allows several members in one
    /// body.
    @Test("an endless compressed body is an error", arguments: TransportKind.facingHostileServers)
    func compressionBomb(kind: TransportKind) async throws {
        let bomb = try #require(Data(base64Encoded: bomb))
        for repetitions in [6, 60_000] {
            let body = Array((0..<repetitions).map { _ in bomb }.joined())
            let server = SocketServer { _ in .whole(headers: ["Content-Encoding: gzip"], body: body) }
            let error = try await outcome(of: server, over: kind)
            #expect([.invalidAnswer, .network].contains(error.code), "\(error)")
        }
        let twice = SocketServer { _ in .whole(headers: ["Content-Encoding: gzip, gzip"], body: Array(bomb)) }
        let error = try await outcome(of: twice, over: kind)
        #expect(error.message.contains("cannot be decompressed"), "\(error)")
    }

    // MARK: Redirects and retries

    @Test(
        "a redirect, to the same or another server, is an error that names the server and is not followed",
        arguments: TransportKind.facingHostileServers, [301, 302, 303, 307, 308])
    func redirects(kind: TransportKind, status: Int) async throws {
        let other = SocketServer { _ in .whole(body: Array("[]".utf8)) }
        try await other.serve { otherPort in
            let server = SocketServer { received in
                let target =
                    received.target.contains("Other") ? "http://127.0.0.1:\(otherPort)/x?token=secret" : received.target
                return .whole("\(status) Moved", headers: ["Location: \(target)"])
            }
            try await server.serve { port in
                let client = try await makeClient(kind, port: port)
                client.currentUser = SignedInUser(userID: "a", authenticationToken: "token")
                let error = try await outcome(client)
                #expect(error.code == .network && error.status == status, "\(error)")
                #expect(error.message.contains("redirect to \"http://127.0.0.1:\(otherPort)/x\""), "\(error)")
                #expect(!"\(error)".contains("secret"))
            }
            #expect(server.requests == 2)
        }
        #expect(other.requests == 0)
    }

    @Test(
        "a Retry-After of years is limited to the policy's longest pause",
        arguments: TransportKind.facingHostileServers,
        [
            "3153600000", "99999999999999999999", "Fri, 31 Dec 9999 23:59:59 GMT", "Fri, 31 Dec 999999999 23:59:59 GMT",
            "-1", "1e9",
        ])
    func retryAfter(kind: TransportKind, value: String) async throws {
        let server = SocketServer { _ in
            .whole(
                "503 Service Unavailable",
                headers: ["Retry-After: \(value)", "Date: Sat, 21 Nov 2026 09:12:49 GMT", "Retry-After: \(value)"])
        }
        let pauses = Mutex<[Duration]>([])
        let error = try await server.serve { port in
            try await outcome(makeClient(kind, port: port) { pause in pauses.withLock { $0.append(pause) } })
        }
        #expect(error.code == .network && error.status == 503)
        let all = pauses.withLock { $0 }
        #expect(all.count == 6 && all.allSatisfy { $0 >= .zero && $0 <= .seconds(30) }, "\(all)")
    }

    // MARK: Bodies with false counts or pages

    @Test(
        "false counts and pages end the pull or are an error; the number of requests is bounded",
        arguments: TransportKind.facingHostileServers,
        [
            #"{"results":[],"count":9223372036854775807}"#, #"{"results":[],"count":18446744073709551616}"#,
            #"{"results":[],"count":-1}"#, #"{"results":[],"count":1e400}"#, #"{"count":5}"#,
            #"{"results":[],"count":0}"#,
            #"{"results":[{"id":"x","version":"1","updatedAt":"2026-01-01T00:00:00Z"}],"count":9223372036854775807}"#,
            #"{"results":[{"id":"x","version":"1","updatedAt":"2026-01-01T00:00:00Z"}],"count":0}"#,
            #"[{"id":"x","version":"1","updatedAt":"9999-12-31T23:59:59.9999999Z"}]"#,
            #"[{"id":"x","version":"1","updatedAt":"0001-01-01T00:00:00Z"}]"#,
        ])
    func lyingCounts(kind: TransportKind, body: String) async throws {
        let server = SocketServer { received in
            let next = "Link: <http://127.0.0.1\(received.target)&x=\(received.head.count)>; rel=next"
            return received.head[0].hasPrefix("POST")
                ? .whole("400 Bad Request") : .whole(headers: [next], body: Array(body.utf8))
        }
        try await server.serve { port in
            let client = try await makeClient(kind, port: port)
            for queryID in ["q", nil] {
                do {
                    try await client.table("Other").pull(queryID: queryID)
                } catch let error as SyncError {
                    // A body that is no list of rows is not taken as the service's.
                    #expect([.invalidAnswer, .noProgress, .network].contains(error.code), "\(error)")
                }
            }
            await #expect(throws: SyncError.self) { try await client.context.push() }
            #expect(try await client.table("TodoItem").row(id: "a")?["text"] == "mine")
            #expect(try await client.context.pendingOperationsCount == 1)
        }
        #expect(server.requests < 30, "\(server.requests)")
    }

    @Test(
        "a direct read of a page with more rows than any server sends is an error",
        arguments: TransportKind.facingHostileServers)
    func endlessRows(kind: TransportKind) async throws {
        let rows = "[" + String(repeating: #"{"id":"a"},"#, count: 131_072) + #"{"id":"a"}]"#
        let server = SocketServer { _ in .whole(body: Array(rows.utf8)) }
        let error = try await server.serve { port in
            let client = try SyncClient(
                url: "http://127.0.0.1:\(port)", store: MemoryStore(), transport: kind.makeTransport())
            return try await #require(
                #expect(throws: SyncError.self) { _ = try await client.remoteTable("Other").read() })
        }
        #expect(
            error.code == .invalidAnswer && error.message.contains("must not have more than 131072 rows"), "\(error)")
    }

    @Test("a million empty pages with next links are not read", arguments: TransportKind.facingHostileServers)
    func emptyPages(kind: TransportKind) async throws {
        let server = SocketServer { received in
            guard received.number < 1_000_000 else { return .whole("400 Bad Request") }
            let link = "Link: http://127.0.0.1/tables/Other?$skip=\(received.number); rel=next"
            return .whole(headers: [link], body: Array("[]".utf8))
        }
        try await server.serve { port in
            let client = try await makeClient(kind, port: port)
            #expect(try await client.table("Other").pull(queryID: "q").requests == 1)
            #expect(try await client.table("Other").pull().requests == 1)
            let error = await #expect(throws: SyncError.self) {
                for try await _ in client.remoteTable("Other").readAll() {}
            }
            #expect(error?.code == .noProgress, "\(String(describing: error))")
        }
        #expect(server.requests == 12)
    }
}
#endif
