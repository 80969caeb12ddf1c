#if Tool
import Foundation
import Testing
import TidelineTestSupport

@testable import TidelineTool

/// A network whose sign-in page answers in place of the server, at its address.
@Suite("Behind a hotel portal", .timeLimit(.minutes(15)))
struct PortalTests {
    let tool: Tool

    init() throws { tool = try Tool() }

    private func texts(_ store: String = "client.db") throws -> [String] {
        try tool.items(store: store).compactMap(\.text).sorted()
    }

    private func sync(_ url: String, _ store: String = "client.db") throws {
        try tool.todo("sync", "--url", url, store: store).expect(0)
    }

    /// Syncs three items with a server, which then stops, and adds, edits, and removes one item each.
    ///
    /// - Returns: The address of the server.
    private func makeEdits() throws -> String {
        let (server, url) = try tool.startServer()
        defer { server.stop() }
        let ids = try ["Buy milk", "Buy jam", "Buy rice"].map { try tool.add($0) }
        try sync(url)
        _ = try tool.add("Buy tea")
        try tool.todo("edit", ids[0], "Buy oat milk").expect(0)
        try tool.todo("rm", ids[2]).expect(0)
        return url
    }

    /// Starts a portal at the address of a server.
    private func startPortal(at url: String, _ answers: [HotelPortal.Answer]) async throws -> HotelPortal {
        let number = Int(try port(of: url))
        return try await HotelPortal(port: try #require(number), answers: answers)
    }

    /// Starts the server again at its address.
    private func restartServer(_ url: String) throws {
        #expect(try tool.startServer("--port", port(of: url)).url == url)
    }

    private static let expected = ["Buy jam", "Buy oat milk", "Buy tea"]

    @Test(
        "sync names the page and keeps the queue, and everything arrives afterward",
        arguments: HotelPortal.Answer.allCases)
    func sync(_ answer: HotelPortal.Answer) async throws {
        let url = try makeEdits()
        let portal = try await startPortal(at: url, [answer])
        let refused = try tool.todo("sync", "--url", url)
        try await portal.end()
        #expect(refused.status == 1)
        #expect(
            refused.err.contains(answer == .redirect ? HotelPortal.address : HotelPortal.title)
                && refused.err.contains("the service at \(url)"), "\(refused.err)")
        #expect(try tool.report().pending.map(\.kind) == ["insert", "update", "delete"])
        #expect(try tool.report().errors.isEmpty)
        #expect(try texts() == Self.expected)
        try restartServer(url)
        try sync(url)
        try sync(url, "other.db")
        #expect(try tool.report().pending.isEmpty)
        #expect(try texts() == Self.expected && texts("other.db") == Self.expected)
    }

    @Test("sync --watch is offline and names the page, and continues by itself afterward")
    func watch() async throws {
        let url = try makeEdits()
        let answers = HotelPortal.Answer.allCases.filter { $0 != .redirect }
        let portal = try await startPortal(at: url, answers)
        let watcher = try tool.startTodo("sync", "--watch", "--url", url)
        // A command that is slow to begin skips the status before.
        var first = watcher.readLine()
        if first == "sending 3 changes" { first = watcher.readLine() }
        let line = try #require(first)
        #expect(line.hasPrefix("offline: ") && line.contains(HotelPortal.title), "\(line)")
        try await suspendUntil("a request for each kind of answer") { portal.requests >= answers.count }
        #expect(try tool.report().pending.map(\.kind) == ["insert", "update", "delete"])
        try await portal.end()
        try restartServer(url)
        while let line = watcher.readLine(), line != "in sync" {}
        #expect(try tool.report().pending.isEmpty)
        try sync(url, "other.db")
        #expect(try texts() == Self.expected && texts("other.db") == Self.expected)
        watcher.signal(SIGINT)
        #expect(watcher.wait() == 0)
    }

    @Test("The web page of a client shows the page that answers, and that it is in sync afterward")
    func webPage() async throws {
        let (first, url) = try tool.startServer()
        first.stop()
        let portal = try await startPortal(at: url, [.page])
        let program = tool.executable.deletingLastPathComponent().appendingPathComponent("TodoWeb")
        let client = try ToolProcess(
            ["--server", url, "--database", tool.path("web.db"), "--port", "0"], executable: program)
        defer { client.stop() }
        let address = try #require(client.readLine()?.split(separator: "/").last)
        let events = try RawConnection(
            String(address), sending: "GET /events HTTP/1.1\r\nHost: \(address)\r\n\r\n")
        let offline = try events.receive(until: #""text":"offline: "#, HotelPortal.title)
        #expect(offline.contains("the service at "))
        try await portal.end()
        try restartServer(url)
        _ = try events.receive(until: #""text":"in sync""#)
    }
}
#endif
