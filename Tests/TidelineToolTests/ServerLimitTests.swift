#if Tool
import Foundation
import HTTPTypes
import Testing

@testable import TidelineTool

/// Clients that send too little, too much, or invalid requests.
@Suite("Server limits", .timeLimit(.minutes(15)))
struct ServerLimitTests {
    private static let head = "Host: localhost\r\nZUMO-API-VERSION: 2.0.0\r\n"
    private static let closing = "Connection: close\r\n"

    private static func short(_ change: (inout ServerLimits) -> Void) -> ServerLimits {
        // Limits that are not under test must not end it.
        var limits = ServerLimits(
            idleTimeout: .seconds(60), headerTimeout: .seconds(60), bodyTimeout: .seconds(60))
        change(&limits)
        return limits
    }

    /// Sends a text on one connection and returns the received text when the server closes it.
    private func exchange(_ authority: String, _ text: String) async throws -> String {
        try await RawConnection.blocking { try RawConnection(authority, sending: text).receiveToEnd() }
    }

    /// Sends a text on one connection and returns the response when the server closes it.
    private func answer(_ authority: String, _ text: String) async throws -> RawAnswer {
        try #require(RawAnswer(try await exchange(authority, text)))
    }

    // MARK: Time

    @Test("Connections without a request are closed without a response")
    func idleConnections() async throws {
        try await serving(limits: Self.short { $0.idleTimeout = .milliseconds(50) }) { authority in
            try await RawConnection.blocking {
                let connections = try (0..<100).map { _ in try RawConnection(authority) }
                for connection in connections { #expect(try connection.receiveToEnd() == "") }
            }
        }
    }

    @Test("A connection that is idle after a response is closed")
    func idleAfterAnswer() async throws {
        try await serving(limits: Self.short { $0.idleTimeout = .milliseconds(50) }) { authority in
            // On a busy machine, a connection can be idle for too long before its request.
            for _ in 1...100 {
                do {
                    let text = try await exchange(authority, RawConnection.get("/tables/T/1"))
                    guard let answer = RawAnswer(text) else { continue }
                    #expect(answer.status == 404)
                    return
                } catch let failure as RawConnection.Failure where failure.number == ECONNRESET {}
            }
            Issue.record("no request was answered")
        }
    }

    @Test(
        "Incomplete headers are answered with 408",
        arguments: ["G", "GET /tables/T HTTP/1.1\r\nHost: localhost\r\n"])
    func slowHeaders(text: String) async throws {
        try await serving(limits: Self.short { $0.headerTimeout = .milliseconds(50) }) { authority in
            let answer = try await answer(authority, text)
            #expect(answer.status == 408 && answer.error?.contains("headers") == true, "\(answer)")
            #expect(answer.headers["connection"] == "close")
        }
    }

    @Test("A header sent byte by byte does not extend the deadline")
    func drippingHeaders() async throws {
        try await serving(limits: Self.short { $0.headerTimeout = .milliseconds(100) }) { authority in
            let answer = try await RawConnection.blocking {
                let connection = try RawConnection(authority, sending: "GET /tables/T HTTP/1.1\r\n")
                for _ in 0..<10_000 where !connection.waits(milliseconds: 5) { connection.send("a") }
                // The connection is reset if a byte arrives after the server has closed it.
                return try connection.receiveAnswer()
            }
            #expect(answer.status == 408)
        }
    }

    @Test(
        "An incomplete body is answered with 408, and nothing is executed",
        arguments: [
            "Content-Length: 1000\r\n\r\n{\"id\":\"a\"}", "Transfer-Encoding: chunked\r\n\r\na\r\n{\"id\":\"a\"}\r\n",
        ])
    func slowBodies(rest: String) async throws {
        try await serving(limits: Self.short { $0.bodyTimeout = .milliseconds(50) }) { authority in
            let answer = try await answer(authority, "POST /tables/T HTTP/1.1\r\n\(Self.head)\(rest)")
            #expect(answer.status == 408 && answer.error?.contains("body") == true, "\(answer)")
            let read = try await send(.get, "/tables/T/a", to: authority)
            #expect(read.response.status == .notFound, "a request that was cut short was carried out")
        }
    }

    // MARK: Size

    @Test("Headers of 90 kB are answered with 431", arguments: [1, 500])
    func largeHeaders(count: Int) async throws {
        try await serving { authority in
            let field = "x: " + String(repeating: "a", count: 90_000 / count) + "\r\n"
            let text = "GET /tables/T HTTP/1.1\r\n\(Self.head)\(String(repeating: field, count: count))\r\n"
            let answer = try await answer(authority, text)
            #expect(answer.status == 431 && answer.error?.contains("headers") == true, "\(answer)")
        }
    }

    @Test(
        "A body that is too large is answered with 413 before all of it arrives, and the next request is served",
        arguments: [
            "Content-Length: 1001\r\n\r\n",
            "Transfer-Encoding: chunked\r\n\r\n3e9\r\n\(String(repeating: "a", count: 1_001))\r\n",
        ])
    func largeBodies(rest: String) async throws {
        try await serving(limits: Self.short { $0.maximumBodySize = 1_000 }) { authority in
            let answer = try await answer(authority, "POST /tables/T HTTP/1.1\r\n\(Self.head)\(rest)")
            #expect(answer.status == 413 && answer.error?.contains("1000") == true, "\(answer)")
            // A client that sends all of it receives the response, too.
            let large = #"{"text":"\#(String(repeating: "a", count: 1_000))"}"#
            for (body, status) in [(large, 413), (#"{"text":"a"}"#, 201)] {
                let response = try await send(.post, "/tables/T", to: authority, body: body).response
                #expect(response.status.code == status)
            }
        }
    }

    @Test("Bodies in flight use a bounded amount of memory; a body that exceeds it is answered with 503")
    func allBodies() async throws {
        let limits = Self.short { ($0.maximumBodySize, $0.maximumBodiesSize) = (1_000, 1_000) }
        try await serving(limits: limits) { authority in
            try await RawConnection.blocking {
                let (first, refusal) = try Self.fillBodies(authority)
                #expect(refusal.error?.contains("memory") == true)
                #expect(refusal.headers["retry-after"] == "1")
                first.send("}")
                #expect(try first.receiveAnswer().status == 201)
                // The reserved memory is available again.
                let last = try RawConnection(authority, sending: Self.post(12) + #"{"id":"last"}"#.prefix(12))
                #expect(try last.receiveAnswer().status == 400)
                last.send(Self.post(13) + #"{"id":"last"}"#)
                #expect(try last.receiveAnswer().status == 201)
            }
        }
    }

    /// Returns the head of a request with a body of the given length.
    private static func post(_ length: Int) -> String {
        "POST /tables/T HTTP/1.1\r\n\(head)Content-Length: \(length)\r\n\r\n"
    }

    /// Sends a body without its last byte, and others until one is refused. Returns the connection of the first, and
    /// the response to the refused one.
    private static func fillBodies(_ authority: String) throws -> (first: RawConnection, refusal: RawAnswer) {
        let body = #"{"id":"a","text":""# + String(repeating: "x", count: 600) + #""}"#
        func begin() throws -> RawConnection {
            try RawConnection(authority, sending: post(body.utf8.count) + body.dropLast())
        }
        var first = try begin()
        // Until the first body arrives, there is room for another.
        for number in 0..<10_000 {
            // The first body arrived after another and was refused itself.
            if first.waits(milliseconds: 0) {
                #expect(try first.receiveAnswer().status == 503)
                first = try begin()
            }
            let row = body.replacingOccurrences(of: #""a""#, with: "\"b\(number)\"")
            let answer = try RawConnection(authority, sending: post(row.utf8.count) + row).receiveAnswer()
            if answer.status == 503 { return (first, answer) }
            #expect(answer.status == 201)
        }
        throw RawConnection.Failure(call: "a body that is refused", number: 0)
    }

    // MARK: Invalid requests

    @Test(
        "A malformed request is answered with 400 and the reason",
        arguments: [
            "FOO /tables/T HTTP/1.1\r\n", "get /tables/T HTTP/1.1\r\n", "PRI * HTTP/2.0\r\n",
            "GET /tables/T HTTP/2.0\r\n", "GET tables/T HTTP/1.1\r\n", "GET  HTTP/1.1\r\n",
            "GET /tables/T HTTP/1.1\r\nContent-Length: x\r\n",
            "GET /tables/T HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n", "\u{0}\u{1}\u{2}\u{3}",
            "GET /tables/T HTTP/1.1\r\n: a\r\n", "{\"id\":\"a\"}",
        ])
    func unreadable(start: String) async throws {
        try await serving { authority in
            let answer = try await answer(authority, "\(start)\(Self.head)\r\n")
            #expect(answer.status == 400 && answer.error?.isEmpty == false, "\(answer)")
            #expect(answer.headers["content-type"] == "application/json")
        }
    }

    @Test(
        "A method that the path does not support is answered immediately, with the reason",
        arguments: ["PUT", "HEAD", "OPTIONS", "TRACE", "M-SEARCH", "PROPFIND", "SOURCE", "PURGE", "CONNECT"])
    func otherMethods(method: String) async throws {
        try await serving { authority in
            let target = method == "CONNECT" ? "example.org:443" : "/tables/T"
            let text = "\(method) \(target) HTTP/1.1\r\n\(Self.head)\(Self.closing)\r\n"
            let answer = try await answer(authority, text)
            #expect((400..<500).contains(answer.status))
            #expect(method == "HEAD" ? answer.body == "" : answer.error?.isEmpty == false, "\(answer.body)")
        }
    }

    @Test("A request to switch protocols is answered as a normal request and ends the connection")
    func upgrade() async throws {
        try await serving { authority in
            let upgrade = "Connection: Upgrade\r\nUpgrade: websocket\r\n"
            let answer = try await answer(authority, RawConnection.get("/tables/T/1", headers: upgrade))
            #expect(answer.status == 404 && answer.headers["connection"] == "close", "\(answer)")
        }
    }

    @Test("Pipelined requests are answered in order")
    func pipelining() async throws {
        try await serving { authority in
            let requests = (0..<20).map { RawConnection.get("/tables/T\($0)/1") }
            let last = RawConnection.get("/tables/Last/1", headers: Self.closing)
            let text = try await exchange(authority, requests.joined() + last)
            #expect(Self.missingTables(text) == (0..<20).map { "T\($0)" } + ["Last"])
        }
    }

    /// Returns the tables in the errors of responses.
    private static func missingTables(_ text: String) -> [String] {
        text.matches(of: #/there is no table \\"(\w+)\\"/#).map { String($0.output.1) }
    }

    @Test("A request of HTTP/1.0 ends the connection")
    func oldVersion() async throws {
        try await serving { authority in
            let text = "GET /tables/T/1 HTTP/1.0\r\n\(Self.head)\r\n"
            let answer = try await answer(authority, text)
            #expect(answer.status == 404)
        }
    }

    @Test("A client that asks whether to continue is told so before its body, unless the request is refused")
    func continues() async throws {
        try await serving(limits: Self.short { $0.maximumBodySize = 100 }) { authority in
            try await RawConnection.blocking {
                func ask(_ size: Int) throws -> RawConnection {
                    let fields = "\(Self.head)Expect: 100-continue\r\nContent-Length: \(size)\r\n"
                    return try RawConnection(authority, sending: "POST /tables/T HTTP/1.1\r\n\(fields)\r\n")
                }
                let connection = try ask(10)
                #expect(try connection.receive(until: "\r\n\r\n") == "HTTP/1.1 100 Continue\r\n\r\n")
                connection.send(#"{"id":"a"}"#)
                #expect(try connection.receiveAnswer().status == 201)
                #expect(try ask(101).receiveAnswer().status == 413)
            }
        }
    }

    @Test("A client that sends requests without receiving is not read further")
    func doesNotReceive() async throws {
        try await serving { authority in
            let row = #"{"id":"a","text":"\#(String(repeating: "a", count: 200_000))"}"#
            #expect(try await send(.post, "/tables/T", to: authority, body: row).response.status == .created)
            try await RawConnection.blocking {
                let connection = try RawConnection(authority, sendLimit: 1)
                // More than the buffers of the sockets hold.
                let long = "A: \(String(repeating: "a", count: 60_000))\r\n"
                let request = RawConnection.get("/tables/T/a", headers: long)
                var sent = 0
                while sent < 1_000, connection.send(request) { sent += 1 }
                #expect(sent < 1_000)
                _ = try connection.receive(until: "HTTP/1.1 200")
            }
        }
    }

    @Test(
        "Nothing after the last request of a connection is executed",
        arguments: ["Connection: close", "Connection: TE, close", "Upgrade: x"])
    func afterTheLast(field: String) async throws {
        try await serving { authority in
            func insert(_ id: String, _ fields: String) -> String {
                let body = #"{"id":"\#(id)"}"#
                return
                    "POST /tables/T HTTP/1.1\r\n\(Self.head)\(fields)Content-Length: \(body.utf8.count)\r\n\r\n\(body)"
            }
            let text = try await exchange(authority, insert("a", "\(field)\r\n") + insert("b", ""))
            #expect(text.components(separatedBy: "HTTP/1.1 ").count == 2, "\(text)")
            #expect(RawAnswer(text)?.status == 201)
            let row = try await send(.get, "/tables/T/b", to: authority)
            #expect(row.response.status == .notFound)
        }
    }

    @Test("A client that closes its output receives the responses to what it has sent")
    func halfClosed() async throws {
        try await serving { authority in
            try await RawConnection.blocking {
                let requests = ["A", "B"].map { RawConnection.get("/tables/\($0)/1") }
                let connection = try RawConnection(authority, sending: requests.joined())
                connection.closeOutput()
                #expect(try Self.missingTables(connection.receiveToEnd()) == ["A", "B"])
            }
        }
    }

    @Test("Concurrent requests are all answered")
    func concurrentRequests() async throws {
        try await serving { authority in
            try await withThrowingTaskGroup(of: HTTPResponse.Status.self) { group in
                for number in 0..<50 {
                    let row = #"{"id":"\#(number)","number":\#(number)}"#
                    group.addTask { try await send(.post, "/tables/T", to: authority, body: row).response.status }
                }
                for try await status in group { #expect(status == .created) }
            }
            let page = try await send(.get, "/tables/T?$top=1&$inlinecount=allpages", to: authority)
            #expect(String(decoding: page.body, as: UTF8.self).contains(#""count":50"#))
        }
    }
}
#endif
