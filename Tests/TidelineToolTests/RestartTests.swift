#if Tool
import Foundation
import Synchronization
import Testing
import TidelineTestSupport

@testable import TidelineTool

/// Servers that start and end while clients connect.
@Suite("Restarts under clients", .timeLimit(.minutes(20)))
struct RestartTests {
    private let tool: Tool

    init() throws { tool = try Tool() }

    private static let rounds = setting("TIDELINE_KILL_ROUNDS") ?? 20

    /// The outcomes of requests.
    private struct Outcomes: Sendable {
        var answered = 0
        var refused = 0
        var forgotten = 0
    }

    @Test("A request is answered or its connection ends, and none is accepted and forgotten")
    func restarts() async throws {
        let (first, url) = try tool.startServer()
        let port = try port(of: url)
        first.stop()
        let outcomes = Mutex(Outcomes())
        let isOver = Mutex(false)
        let clients = DispatchGroup()
        for _ in 0..<16 {
            DispatchQueue(label: "client").async(group: clients) {
                while !isOver.withLock({ $0 }) { Self.ask(url, outcomes) }
            }
        }
        defer { isOver.withLock { $0 = true } }
        for round in 0..<Self.rounds {
            let answered = outcomes.withLock(\.answered)
            // A check examines the address, too.
            if round.isMultiple(of: 2) {
                let location = tool.location(.sqlite, "server")
                try tool.run("serve", "--check", "--port", port, "--store", location).expect(0)
            }
            let (server, _) = try tool.startServer("--port", port)
            try await suspendUntil("requests to be answered") { outcomes.withLock { $0.answered > answered + 16 } }
            _ = round.isMultiple(of: 2) ? server.stop() : { _ = server.killNow() }()
        }
        isOver.withLock { $0 = true }
        try clients.finish()
        let end = outcomes.withLock { $0 }
        #expect(end.forgotten == 0, "\(end)")
    }

    /// Sends one request on a new connection.
    private static func ask(_ authority: String, _ outcomes: borrowing Mutex<Outcomes>) {
        let request = "GET /.health HTTP/1.1\r\nHost: localhost\r\n\r\n"
        guard let connection = try? RawConnection(authority, sending: request) else {
            outcomes.withLock { $0.refused += 1 }
            usleep(1_000)
            return
        }
        let isOver = connection.waits(milliseconds: 240_000)
        outcomes.withLock { outcomes in
            if !isOver {
                outcomes.forgotten += 1
            } else if (try? connection.receiveAnswer())?.status == 200 {
                outcomes.answered += 1
            } else {
                outcomes.refused += 1
            }
        }
    }

    private static func status(_ path: String, _ url: String) throws -> Int {
        try RawConnection(url, sending: RawConnection.get(path)).receiveAnswer().status
    }

    @Test("After SIGTERM, a server is not ready, answers requests for some time, and then refuses connections")
    func drain() async throws {
        let (server, url) = try tool.startServer("--drain", "3600", "--shutdown-timeout", "3600")
        #expect(try Self.status("/.ready", url) == 200)
        // Without a certificate, there is nothing to read again.
        server.signal(SIGHUP)
        #expect(try Self.status("/.ready", url) == 200)
        server.signal(SIGTERM)
        try await suspendUntil("the server not to be ready") { try Self.status("/.ready", url) == 503 }
        #expect(try Self.status("/.health", url) == 200)
        #expect(try Self.status("/tables/TodoItem", url) == 200)
        let (short, shortURL) = try tool.startServer("--drain", "1", "--store", "memory")
        short.signal(SIGTERM)
        #expect(short.wait() == 0)
        #expect(throws: (any Error).self) { _ = try RawConnection(shortURL) }
    }

    @Test("SIGHUP does not end a server while it starts")
    func hangup() throws {
        let server = try tool.start(["serve", "--port", "0", "--store", "memory"])
        let line = server.readLine()
        for _ in 0..<20 { server.signal(SIGHUP) }
        #expect(line?.hasPrefix("listening on ") == true)
        let url = try #require(line?.split(separator: " ").last)
        #expect(try Self.status("/.ready", String(url)) == 200)
    }
}
#endif
