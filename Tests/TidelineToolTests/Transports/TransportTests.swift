#if AsyncHTTPClient
import Foundation
import HTTPTypes
import Testing
import Tideline
import TidelineTestSupport

private func request(
    _ method: HTTPRequest.Method = .get, port: Int, scheme: String = "http", path: String = "/tables/TodoItem"
) -> HTTPRequest {
    HTTPRequest(method: method, scheme: scheme, authority: "127.0.0.1:\(port)", path: path)
}

extension TransportKind {
    /// Returns each transport with each beginning of a response after which it survives the end of the connection.
    fileprivate static func surviving(_ starts: [String]) -> [(TransportKind, String)] {
        allPairs(allCases, starts).filter { $0.0.survives($0.1) }
    }

    /// Sends a request with the shared transport of this kind.
    fileprivate func send(
        _ request: HTTPRequest, body: [UInt8]? = nil, timeout: Duration = .seconds(300)
    ) async throws -> TransportResponse {
        try await shared.send(request, body: body, timeout: timeout)
    }

    /// Sends a request that must fail, and returns the error.
    fileprivate func failure(_ request: HTTPRequest) async throws -> TransportError {
        try await #require(#expect(throws: TransportError.self) { try await send(request) })
    }
}

private func bytes(base64: String) throws -> [UInt8] { Array(try #require(Data(base64Encoded: base64))) }

/// Sends one request to a server that sends the given answer, and returns the error.
private func failure(
    of answer: SocketServer.Answer, over kind: TransportKind, scheme: String = "http",
    maximumBodySize: Int = 256 << 20, timeout: Duration = .seconds(300)
) async throws -> TransportError {
    let transport = kind.makeTransport(maximumBodySize: maximumBodySize)
    let server = SocketServer { _ in answer }
    return try await server.serve { port in
        try #require(
            await #expect(throws: TransportError.self) {
                try await transport.send(request(port: port, scheme: scheme), body: nil, timeout: timeout)
            })
    }
}

/// Sends one request to a server that sends the given answer, and returns the response.
private func response(
    _ answer: SocketServer.Answer, to method: HTTPRequest.Method = .get, over kind: TransportKind
) async throws -> TransportResponse {
    try await SocketServer { _ in answer }.serve { port in try await kind.send(request(method, port: port)) }
}

private let page = Array(#"[{"id":"1","text":"Buy milk"}]"#.utf8)
private let gzippedPage = "H4sIAAAAAAAC/4uuVspMUbJSMlTSUSpJrSgBMp1KKxVyM3OylWpjARdkiT4eAAAA"
private let deflatedPage = "eJyLrlbKTFGyUjJU0lEqSa0oATKdSisVcjNzspVqYwGFngkh"
/// 200,000 zero bytes, compressed to 230 bytes.
let bomb = """
    H4sIAAAAAAAC/+3BMQEAAADCoErrn84M/kABAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\
    AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\
    AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAK8BlH0jNkANAwA=
    """

@Suite("Transports: exchanges")
struct TransportExchangeTests {
    @Test("Requests that wait for changes take no connection from others", arguments: TransportKind.allCases)
    func waitingRequests(kind: TransportKind) async throws {
        let server = SocketServer { $0.target.hasSuffix("wait") ? .raw([]) : .whole(body: Array("done".utf8)) }
        try await server.serve { port in
            let transport = kind.makeTransport(maximumConnections: 1)
            var waiting = request(port: port, path: "/wait")
            waiting.headerFields[try #require(HTTPField.Name("Prefer"))] = "wait=50"
            let sent = waiting
            let tasks = (0..<3).map { _ in
                Task { try await transport.send(sent, body: nil, timeout: .seconds(600)) }
            }
            try await suspendUntil("the waiting requests") { server.requests == 3 }
            let answer = try await transport.send(request(port: port), body: nil, timeout: .seconds(300))
            #expect(answer.body == Array("done".utf8))
            for task in tasks {
                task.cancel()
                await #expect(throws: TransportError.self) { try await task.value }
            }
        }
    }

    @Test(
        "Method, target, headers and body arrive unchanged",
        arguments: TransportKind.allCases,
        [
            "/tables/TodoItem?$filter=text%20eq%20%27it%27%27s%27&$top=50",
            "/tables/TodoItem/a%25b%20%C3%BC%7E",
            "/tables/T?$filter=(a%20eq%201)&$orderby=updatedAt&__includeDeleted=true",
        ])
    func sendsWhatItIsGiven(kind: TransportKind, path: String) async throws {
        let server = SocketServer { received in
            let line = received.head[0] + "|" + (received.header("if-match") ?? "") + "|"
            return .whole(body: Array(line.utf8) + received.body)
        }
        try await server.serve { port in
            var sent = request(.patch, port: port, path: path)
            sent.headerFields[.ifMatch] = "\"AAE=\""
            let answer = try await kind.send(sent, body: Array("{\"text\":\"ä\"}".utf8))
            let echo = String(decoding: answer.body, as: UTF8.self)
            #expect(echo == "PATCH \(path) HTTP/1.1|\"AAE=\"|{\"text\":\"ä\"}")
        }
    }

    @Test(
        "Every status is returned as a response with headers and body",
        arguments: TransportKind.allCases, [200, 201, 400, 401, 404, 412, 429, 500, 503])
    func statusIsAnAnswer(kind: TransportKind, status: Int) async throws {
        let headers = ["ETag: \"v1\"", "WWW-Authenticate: Basic realm=\"a\""]
        let answer = try await response(.whole("\(status) Whatever", headers: headers, body: page), over: kind)
        #expect(answer.response.status.code == status && answer.response.headerFields[.eTag] == "\"v1\"")
        #expect(answer.body == page)
    }

    @Test("A redirect is returned to the caller, not followed", arguments: TransportKind.allCases)
    func redirectIsNotFollowed(kind: TransportKind) async throws {
        let server = SocketServer { received in
            received.target == "/moved" ? .whole(body: page) : .whole("302 Found", headers: ["Location: /moved"])
        }
        try await server.serve { port in
            let answer = try await kind.send(request(port: port))
            #expect(answer.response.status == .found && answer.response.headerFields[.location] == "/moved")
        }
    }

    @Test(
        "A response without a body has an empty body, and may name any encoding", arguments: TransportKind.allCases,
        [nil, "gzip", "deflate", "br", "gzip, br"])
    func encodedNothing(kind: TransportKind, encoding: String?) async throws {
        let answers: [(method: HTTPRequest.Method, head: String)] = [
            (.delete, "204 No Content"), (.get, "304 Not Modified"), (.post, "201 Created\r\nContent-Length: 0"),
            (.head, "200 OK\r\nContent-Length: 20"),
        ]
        for (method, head) in answers {
            let header = encoding.map { "Content-Encoding: \($0)\r\n" } ?? ""
            let sent = "HTTP/1.1 \(head)\r\n\(header)\r\n"
            let answer = try await response(.raw(sent.utf8), to: method, over: kind)
            #expect(answer.response.status.code == Int(head.prefix(3)) && answer.body.isEmpty)
            #expect(answer.response.headerFields[.contentEncoding] == nil)
        }
    }

    @Test(
        "Informational responses, whatever their headers, are skipped",
        arguments: TransportKind.facingHostileServers, ["100 Continue", "102 Processing", "103 Early Hints"])
    func informational(kind: TransportKind, status: String) async throws {
        let information = Array("HTTP/1.1 \(status)\r\nContent-Encoding: gzip\r\n\r\n".utf8)
        let answer = try await response(.raw(information + SocketServer.Answer.whole(body: page).bytes), over: kind)
        #expect(answer.response.status == .ok && answer.body == page)
    }

    @Test(
        "A compressed response is decompressed, and its headers match",
        arguments: TransportKind.allCases,
        [("gzip", gzippedPage), ("deflate", deflatedPage)])
    func decompresses(kind: TransportKind, response: (encoding: String, body: String)) async throws {
        let (encoding, body) = response
        let compressed = try bytes(base64: body)
        let server = SocketServer { received in
            guard received.header("accept-encoding") == "gzip, deflate" else { return .whole(body: page) }
            return .whole(headers: ["Content-Encoding: \(encoding)"], body: compressed)
        }
        try await server.serve { port in
            let answer = try await kind.send(request(port: port))
            #expect(answer.body == page)
            #expect(answer.response.headerFields[.contentEncoding] == nil)
            #expect(kind.isLimited || answer.response.headerFields[.contentLength] == nil)
        }
    }

    @Test("A body of 8 MiB is sent and received completely", arguments: TransportKind.allCases)
    func bigBody(kind: TransportKind) async throws {
        let big = (0..<(8 << 20)).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        try await SocketServer { received in .whole(body: received.body) }.serve { port in
            let answer = try await kind.send(request(.post, port: port), body: big, timeout: .seconds(600))
            #expect(answer.body == big)
        }
    }
}

@Suite("Transports: failures")
struct TransportFailureTests {
    @Test(
        "A refused connection fails immediately, with host and port in the message", arguments: TransportKind.allCases)
    func refused(kind: TransportKind) async throws {
        // No server listens on this port, and the system gives it to no other test.
        let port = 1
        let error = try await kind.failure(request(port: port))
        #expect(error.code == .connection && error.message.contains("127.0.0.1:\(port)"), "\(error)")
        #expect(kind.isLimited || error.message.lowercased().contains("refused"))
    }

    @Test("An unknown host is an error that names the host", arguments: TransportKind.allCases)
    func unknownHost(kind: TransportKind) async throws {
        // The name is too long for DNS, so that no lookup is made, whose answer can take too long.
        let host = String(repeating: "a", count: 64) + ".invalid"
        let sent = HTTPRequest(method: .get, scheme: "http", authority: host, path: "/")
        let error = try await kind.failure(sent)
        #expect(error.code == .connection && error.message.contains(host), "\(error)")
    }

    @Test(
        "A request without a host, or to a server that does not speak HTTP, is refused",
        arguments: TransportKind.allCases,
        [
            ("http", nil), (nil, "127.0.0.1"), ("ftp", "127.0.0.1"), ("http", ""), ("http", "127.0.0.1:port"),
        ] as [(String?, String?)])
    func invalidRequest(kind: TransportKind, origin: (scheme: String?, authority: String?)) async throws {
        let sent = HTTPRequest(method: .get, scheme: origin.scheme, authority: origin.authority, path: "/")
        #expect(try await kind.failure(sent).code == .invalidRequest)
    }

    @Test(
        "A response that does not arrive, or is incomplete, times out",
        arguments: TransportKind.surviving([
            "", "HTTP/1.1 200 OK\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n[{",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n[{\r\n",
        ]))
    func timesOut(kind: TransportKind, start: String) async throws {
        let error = try await failure(of: .raw(start.utf8), over: kind, timeout: .milliseconds(200))
        #expect(error.code == .timeout && error.message.contains("127.0.0.1:"), "\(error)")
    }

    @Test(
        "A connection that closes before the end of the response is an error, never a short body",
        arguments: TransportKind.surviving([
            "", "HTTP/1.1 200", "HTTP/1.1 200 OK\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n[]",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n[]\r\n",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n40\r\n[]",
        ]))
    func truncated(kind: TransportKind, start: String) async throws {
        let error = try await failure(of: .raw(start.utf8, closes: true), over: kind)
        #expect(kind.reports(.connection, as: error.code), "\(error)")
    }

    @Test(
        "A response that is not HTTP is an invalid response",
        arguments: TransportKind.facingHostileServers,
        [
            "SSH-2.0-OpenSSH_9.2\r\n", "\0\u{1}\u{2}\u{3}\r\n\r\n", "HTTP/1.1 abc OK\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: many\r\n\r\n[]",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n[]\r\n0\r\n\r\n",
        ])
    func garbage(kind: TransportKind, start: String) async throws {
        let error = try await failure(of: .raw(start.utf8, closes: true), over: kind)
        #expect(error.code == .invalidResponse, "\(error)")
    }

    @Test("A damaged, truncated or unknown compression is an invalid response", arguments: TransportKind.allCases)
    func damagedCompression(kind: TransportKind) async throws {
        let whole = try bytes(base64: gzippedPage)
        var damaged = whole
        damaged[14] ^= 0xFF
        for (encoding, body) in [
            ("gzip", damaged), ("gzip", Array(whole.prefix(25))), ("gzip", page), ("br", page),
        ] {
            let answer = SocketServer.Answer.whole(headers: ["Content-Encoding: \(encoding)"], body: body)
            let error = try await failure(of: answer, over: kind)
            #expect(kind.reports(.invalidResponse, as: error.code), "\(error)")
        }
    }

    @Test(
        "A body over the limit is refused, whether its length is announced, not announced, or hidden by compression",
        arguments: TransportKind.allCases)
    func tooLarge(kind: TransportKind) async throws {
        let body = [UInt8](repeating: 0x30, count: 65_537)
        let chunked = Array("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n10001\r\n".utf8) + body
        let answers: [SocketServer.Answer] = [
            .whole(body: body), .raw(chunked + Array("\r\n0\r\n\r\n".utf8)),
            .whole(headers: ["Content-Encoding: gzip"], body: try bytes(base64: bomb)),
        ]
        for answer in answers {
            let error = try await failure(of: answer, over: kind, maximumBodySize: 65_536)
            #expect(error.code == .tooLarge || kind.isLimited && error.code == .invalidResponse, "\(error)")
        }
    }

    @Test("A body exactly at the limit is accepted", arguments: TransportKind.allCases)
    func justSmallEnough(kind: TransportKind) async throws {
        let transport = kind.makeTransport(maximumBodySize: 65_536)
        let body = [UInt8](repeating: 0x30, count: 65_536)
        try await SocketServer { _ in .whole(body: body) }.serve { port in
            let answer = try await transport.send(request(port: port), body: nil, timeout: .seconds(300))
            #expect(answer.body == body)
        }
    }

    @Test("F15 the time limit restarts with each 64 KiB of a body that arrives", arguments: TransportKind.allCases)
    func arrivingBody(kind: TransportKind) async throws {
        // It takes 26 s to arrive.
        let part = [UInt8](repeating: 0x20, count: 32_768)
        let length = 52 * part.count
        let server = SocketServer { _ in
            .raw("HTTP/1.1 200 OK\r\nContent-Length: \(length)\r\n\r\n".utf8)
                .followed(by: part, every: .milliseconds(500))
        }
        try await server.serve { port in
            // On a busy machine, nothing may be read for the time limit.
            for attempt in 1...5 {
                do {
                    let answer = try await kind.makeTransport().send(
                        request(port: port), body: nil, timeout: .seconds(20))
                    return #expect(answer.body.count == length)
                } catch let error as TransportError where attempt < 5 {
                    try #require(error.code == .timeout, "\(error)")
                }
            }
        }
    }

    @Test("A server that does not speak TLS is a secure-connection error", arguments: TransportKind.allCases)
    func noTLS(kind: TransportKind) async throws {
        let error = try await failure(of: .whole("400 Bad Request", body: page), over: kind, scheme: "https")
        #expect(kind.reports(.tls, as: error.code), "\(error)")
        #expect(error.message.contains("127.0.0.1:"))
        #expect(kind == .urlSession || error.message.hasSuffix("the server does not use TLS"), "\(error)")
    }

    @Test(
        "Canceling the task cancels the request", arguments: TransportKind.allCases,
        ["", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n[{"])
    func cancelled(kind: TransportKind, start: String) async throws {
        let (requests, arrived) = AsyncStream<Void>.makeStream()
        let server = SocketServer { _ in
            arrived.yield()
            return .raw(start.utf8)
        }
        try await server.serve { port in
            let task = Task {
                try await kind.shared.send(request(port: port), body: nil, timeout: .seconds(300))
            }
            for await _ in requests { break }
            task.cancel()
            let error = try await #require(#expect(throws: TransportError.self) { try await task.value })
            #expect(error.code == .cancelled, "\(error)")
        }
    }

    @Test("After a failure the transport still works", arguments: TransportKind.facingHostileServers)
    func worksOn(kind: TransportKind) async throws {
        let transport = kind.makeTransport()
        let server = SocketServer { received in
            received.target == "/bad" ? .raw("nonsense\r\n\r\n".utf8, closes: true) : .whole(body: page)
        }
        try await server.serve { port in
            await #expect(throws: TransportError.self) {
                try await transport.send(request(port: port, path: "/bad"), body: nil, timeout: .seconds(300))
            }
            let answer = try await transport.send(request(port: port), body: nil, timeout: .seconds(300))
            #expect(answer.body == page)
        }
    }
}
#endif
