#if Tool
import Foundation
import Testing
import Tideline
import TidelineStore
import TidelineSupport
import TidelineTestSupport

@testable import TidelineTool

/// `tideline todo sync --watch`: a sync that runs itself, and its status line.
@Suite("tideline todo sync --watch")
struct WatchTests {
    private let tool: Tool

    init() throws { tool = try Tool() }

    private static let time = Timestamp(clampingTicks: 17_900_000_000_000_000)
    private static let page = "a page\u{1B}[2J\nanswered"

    private static let statuses: [SyncStatus] = [
        .pushing(done: 0, total: 0), .pulling(table: "TodoItem", rows: 0, total: nil),
        .pulling(table: "TodoItem", rows: 500, total: 1_200), .idle(since: time),
        .pulling(table: "TodoItem", rows: 1, total: nil), .idle(since: time.advanced(byTicks: 50_000_000)),
        .pushing(done: 1, total: 3), .pushing(done: 2, total: 3), .idle(since: time),
        .offline(message: page, nextTry: time),
        .offline(message: page, nextTry: time.advanced(byTicks: 50_000_000)), .needsSignIn,
        .needsAttention(operationErrors: 2),
        .failing(code: .rejected, message: "the server rejected \u{1B}[2J\nthe request", nextTry: time),
    ]

    private func output(
        isInteractive: Bool, isColored: Bool, columns: Int = 200, store: StoreLocation? = nil
    ) -> String {
        final class Output {
            var text = ""
        }
        let output = Output()
        var line = StatusLine(
            style: TerminalStyle(isColored: isColored), isInteractive: isInteractive, columns: columns, store: store,
            write: { output.text += $0 })
        for status in Self.statuses { line.show(status) }
        line.end()
        return output.text
    }

    @Test("A pipe receives one plain line for each change of the status")
    func pipe() throws {
        let store = try StoreLocation(parsing: "lmdb:my list")
        let lines = output(isInteractive: false, isColored: false, store: store).split(separator: "\n").map(String.init)
        #expect(
            lines == [
                "in sync", "sending 3 changes", "in sync", #"offline: a page\u{1B}[2J"#,
                "the server requires a sign-in",
                "2 changes not synced; see tideline todo status --store 'lmdb:my list'",
                #"failing: the server rejected \u{1B}[2J"#,
            ])
    }

    @Test(
        "A terminal overwrites one line, which fits its width, in color unless NO_COLOR is set",
        arguments: [false, true])
    func terminal(isColored: Bool) {
        let text = output(isInteractive: true, isColored: isColored)
        #expect(text.filter { $0 == "\n" }.count == 1 && text.hasSuffix("\n"))
        let shown = text.split(separator: "\r").map { String($0) }
        #expect(shown.count == 11 && shown.allSatisfy { $0.hasPrefix("\u{1B}[K") })
        #expect(text.contains("fetched 500 of about 1200 items") && text.contains("sent 2 of 3 changes"))
        #expect(text.contains("\u{1B}[32m") == isColored)
        #expect(text.contains("\u{1B}[0m") == isColored)
        let narrow = output(isInteractive: true, isColored: false, columns: 12).split(separator: "\r")
        #expect(narrow.allSatisfy { $0.filter { $0 != "\n" }.count <= 3 + 11 })
    }

    @Test("Two lists that are watched see each other's changes, and Ctrl-C ends the watch")
    func watch() throws {
        let (_, url) = try tool.startServer()
        #expect(try tool.todo("add", "first").status == 0)
        let stores = ["client.db", "other.db"]
        let watchers = try stores.map { store in
            try tool.startTodo("sync", "--watch", "--interval", "0.1", "--url", url, store: store)
        }
        try waitUntil("the first item in the other list") {
            try tool.todo("list", store: "other.db").out.contains("first")
        }
        // Another command's change is sent by the watcher of its store.
        #expect(try tool.todo("add", "second", store: "other.db").status == 0)
        try waitUntil("the second item in the first list") { try tool.todo("list").out.contains("second") }
        for watcher in watchers {
            watcher.signal(SIGINT)
            #expect(watcher.wait() == 0, "\(watcher.errors())")
            var lines: [String] = []
            while let line = watcher.readLine() { lines.append(line) }
            #expect(lines.contains("in sync") && !lines.contains { $0.contains("\u{1B}") }, "\(lines)")
        }
        #expect(try tool.todo("status").out.contains("watched: in sync"))
    }

    @Test("The status that is kept is the one before the pull or push that the end interrupted")
    func interrupted() async {
        let (updates, continuation) = AsyncStream.makeStream(of: SyncStatus.self)
        for status in [.idle(since: Self.time), .pulling(table: "TodoItem", rows: 1, total: nil), SyncStatus.stopped] {
            continuation.yield(status)
        }
        #expect(
            await SyncWatch(interval: .seconds(1), pageSize: 50, store: nil).show(updates) == .idle(since: Self.time))
    }

    @Test("A watch without a server is offline and keeps the changes")
    func offline() throws {
        #expect(try tool.todo("add", "one").status == 0)
        let watcher = try tool.startTodo("sync", "--watch", "--url", "http://127.0.0.1:1")
        // A command that is slow to begin skips the status before.
        var line = watcher.readLine()
        if line == "sending 1 change" { line = watcher.readLine() }
        #expect(line?.hasPrefix("offline: cannot reach http://127.0.0.1:1: ") == true)
        watcher.signal(SIGTERM)
        #expect(watcher.wait() == 0)
        #expect(watcher.errors().contains("1 change in the queue for the next sync"))
        #expect(try tool.todo("status").out.contains("1 change to push"))
    }
}
#endif
