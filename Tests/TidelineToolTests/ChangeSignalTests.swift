#if Tool
import Foundation
import HTTPTypes
import Testing
import Tideline
import TidelineStore
import TidelineTestSupport

@testable import TidelineTool

/// The change signal of `tideline serve`, over sockets.
@Suite("Change signal on a socket", .timeLimit(.minutes(15)))
struct ChangeSignalTests {
    private let tool: Tool

    init() throws { tool = try Tool() }

    private struct Answer: Decodable {
        struct Change: Decodable {
            var table: String
            var updatedAt: String
        }
        var cursor: String
        var changes: [Change]
    }

    /// The request of a stream of events as a browser sends it, without the version of the protocol.
    private static let stream =
        "GET /.changes?tables=TodoItem HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n\r\n"

    private static func poll(_ query: String, _ authority: String) async throws -> Answer {
        let answer = try await send(.get, "/.changes?\(query)", to: authority)
        try #require(answer.response.status == .ok, "\(String(decoding: answer.body, as: UTF8.self))")
        return try JSONDecoder().decode(Answer.self, from: Data(answer.body))
    }

    private static func insert(_ authority: String) async throws {
        let answer = try await send(.post, "/tables/TodoItem", to: authority, body: #"{"text":"a"}"#)
        try #require(answer.response.status == .created)
    }

    @Test("A request waits for a change, and many do at the same time")
    func longPoll() async throws {
        try await serving { authority in
            try await Self.insert(authority)
            var cursor = try await Self.poll("tables=TodoItem", authority).cursor
            for _ in 0..<3 {
                let first = cursor
                let waiting = (0..<6).map { _ in
                    Task { try await Self.poll("tables=TodoItem&since=\(first)", authority) }
                }
                try await Self.insert(authority)
                for task in waiting {
                    let answer = try await task.value
                    #expect(answer.changes.map(\.table) == ["TodoItem"])
                    cursor = answer.cursor
                }
            }
            let idle = try await Self.poll("tables=TodoItem&since=\(cursor)&wait=1", authority)
            #expect(idle.cursor == cursor && idle.changes.isEmpty)
        }
    }

    @Test("Invalid requests are answered with the reason, and HEAD and POST with 405")
    func invalid() async throws {
        try await serving { authority in
            try await Self.insert(authority)
            for (path, status) in [("", 400), ("?tables=No", 404), ("?tables=TodoItem&since=x", 400)] {
                let answer = try await send(.get, "/.changes\(path)", to: authority)
                #expect(answer.response.status.code == status)
                #expect(String(decoding: answer.body, as: UTF8.self).contains(#"{"error":"#))
            }
            for method in [HTTPRequest.Method.post, .head] {
                #expect(try await send(method, "/.changes?tables=TodoItem", to: authority).response.status.code == 405)
            }
        }
    }

    @Test("More clients than allowed are answered with 503, and the others continue")
    func limit() async throws {
        try await serving(limits: ServerLimits(maximumWaitingClients: 1)) { authority in
            try await Self.insert(authority)
            let cursor = try await Self.poll("tables=TodoItem", authority).cursor
            let connection = try RawConnection(authority, sending: Self.stream)
            _ = try await RawConnection.blocking { try connection.receive(until: "data: ") }
            let refused = try await send(.get, "/.changes?tables=TodoItem&since=\(cursor)", to: authority)
            #expect(refused.response.status == .serviceUnavailable)
            #expect(refused.response.headerFields[.retryAfter] != nil)
            try await Self.insert(authority)
        }
    }

    @Test("A client that goes away frees its place at once", arguments: ["*/*", "text/event-stream"])
    func leaving(accept: String) async throws {
        try await serving(servesMetrics: true) { authority in
            try await Self.insert(authority)
            let cursor = try await Self.poll("tables=TodoItem", authority).cursor
            func wait(accept: String, for seconds: Int) throws -> RawConnection {
                let path = "/.changes?tables=TodoItem&since=\(cursor)&wait=\(seconds)"
                return try RawConnection(
                    authority, sending: RawConnection.get(path, headers: "Accept: \(accept)\r\n"))
            }
            func untilClients(_ count: Int) async throws {
                while true {
                    let page = try await send(.get, "/metrics", to: authority).body
                    if String(decoding: page, as: UTF8.self).contains("tideline_waiting_clients \(count)\n") { return }
                }
            }
            // The wait of the client that leaves would outlast that of the other.
            var leaving: RawConnection? = try wait(accept: accept, for: 50)
            let staying = try wait(accept: "*/*", for: 40)
            try await untilClients(2)
            withExtendedLifetime(leaving) {}
            leaving = nil
            try await untilClients(1)
            #expect(!staying.waits(milliseconds: 0), "the place became free only after 40 seconds")
            try await Self.insert(authority)
            #expect(try await RawConnection.blocking { try staying.receiveAnswer() }.status == 200)
        }
    }

    @Test("A stream sends events with the cursor, which a client that reads late receives merged")
    func events() async throws {
        try await serving { authority in
            try await Self.insert(authority)
            let connection = try RawConnection(authority, sending: Self.stream)
            let head = try await RawConnection.blocking { try connection.receive(until: "data: ", "\n\n") }
            #expect(head.hasPrefix("HTTP/1.1 200 OK") && head.contains("text/event-stream"))
            // At the same time, so that not each of them has an event of its own on a busy machine.
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<50 { group.addTask { try await Self.insert(authority) } }
                try await group.waitForAll()
            }
            let last = try #require(try await Self.poll("tables=TodoItem", authority).changes.first?.updatedAt)
            let events = try await RawConnection.blocking { try connection.receive(until: last) }
            #expect((1..<50).contains(events.components(separatedBy: "data: ").count - 1), "\(events)")
            // The connection is cut; the next one continues.
            try await Self.insert(authority)
            let cursor = try #require(events.components(separatedBy: "id: ").last?.prefix { $0 != "\n" })
            let headers = "Accept: text/event-stream\r\nLast-Event-ID: \(cursor)\r\n"
            let again = try RawConnection(
                authority, sending: RawConnection.get("/.changes?tables=TodoItem", headers: headers))
            let next = try await RawConnection.blocking { try again.receive(until: "data: ", "\n\n") }
            #expect(!next.contains(last) && next.contains("TodoItem"))
        }
    }

    @Test("SIGTERM ends waiting requests and streams at once, and the server with status 0")
    func shutdown() async throws {
        let (server, url) = try tool.startServer("--metrics")
        let cursor = try await Self.poll("tables=TodoItem", url).cursor
        let request = RawConnection.get("/.changes?tables=TodoItem&since=\(cursor)")
        let connections = try (0..<10).map { _ in try RawConnection(url, sending: request) }
        let stream = try RawConnection(url, sending: Self.stream)
        _ = try await RawConnection.blocking { try stream.receive(until: "data: ") }
        try await suspendUntil("the server to receive all requests") {
            let page = try await send(.get, "/metrics", to: url).body
            return String(decoding: page, as: UTF8.self).contains("\ntideline_waiting_clients 11\n")
        }
        for connection in connections { #expect(!connection.waits(milliseconds: 0)) }
        server.signal(SIGTERM)
        #expect(server.wait() == 0)
        for connection in connections { #expect(try connection.receiveAnswer().status == 503) }
        _ = try stream.receiveToEnd()
    }

    @Test("A change through another server over the store ends a wait", arguments: [StoreEngine.sqlite, .lmdb])
    func shared(engine: StoreEngine) async throws {
        let urls = try (0..<2).map { _ in try tool.startServer(engine: engine).url }
        var cursor = try await Self.poll("tables=TodoItem", urls[0]).cursor
        for number in 0..<4 {
            let (reader, writer) = (urls[number % 2], urls[(number + 1) % 2])
            let since = cursor
            async let answer = Self.poll("tables=TodoItem&since=\(since)", reader)
            try await Self.insert(writer)
            let news = try await answer
            #expect(news.changes.map(\.table) == ["TodoItem"])
            cursor = news.cursor
        }
    }

    @Test("Two lists that are watched see each other's changes without an interval, also after a restart of the server")
    func watch() throws {
        var (server, url) = try tool.startServer()
        let watchers = try ["client.db", "other.db"].map { store in
            try tool.startTodo("sync", "--watch", "--interval", "86400", "--url", url, store: store)
        }
        for watcher in watchers { #expect(watcher.readLine() == "in sync") }
        #expect(try tool.todo("add", "first", store: "other.db").status == 0)
        watchers[1].signal(SIGINT)
        #expect(watchers[1].wait() == 0)
        #expect(try tool.todo("sync", "--url", url, store: "other.db").status == 0)
        try waitUntil("the first item in the first list") { try tool.todo("list").out.contains("first") }
        // The server is restarted while the first list waits.
        server.signal(SIGTERM)
        #expect(server.wait() == 0)
        (server, _) = try tool.startServer("--port", port(of: url))
        #expect(try tool.todo("add", "second", store: "other.db").status == 0)
        #expect(try tool.todo("sync", "--url", url, store: "other.db").status == 0)
        try waitUntil("the second item in the first list") { try tool.todo("list").out.contains("second") }
        watchers[0].signal(SIGINT)
        #expect(watchers[0].wait() == 0)
    }
}
#endif
