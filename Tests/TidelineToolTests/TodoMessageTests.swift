#if Tool
import Foundation
import Testing
import TidelineSQLite
import TidelineStore
import TidelineTestSupport

@testable import TidelineTool

/// The to-do list commands: errors, warnings and hints.
@Suite("tideline todo, messages")
struct TodoMessageTests {
    let tool: Tool

    init() throws { tool = try Tool() }

    @Test(
        "A command that only reads is refused by a server's store and leaves it unchanged",
        arguments: ["list", "status"])
    func serversStore(command: String) throws {
        let (_, url) = try tool.startServer()
        #expect(try tool.todo("add", "one").status == 0)
        #expect(try tool.todo("sync", "--url", url).status == 0)
        try tool.run("todo", command, "--store", tool.location(.sqlite, "server")).expect(1, "belongs to a server")
        #expect(try tool.todo("sync", "--url", url, store: "other.db").status == 0)
        #expect(try tool.todo("list", store: "other.db").out.contains("one"))
        try tool.run("serve", "--port", "0", "--store", "sqlite:\(tool.path("client.db"))")
            .expect(1, "belongs to a client")
    }

    @Test("A command that only reads creates no store and no table")
    func makesNothing() throws {
        for command in ["list", "status"] { try tool.todo(command).expect(1, "client.db; add an item, or name") }
        #expect(!FileManager.default.fileExists(atPath: tool.path("client.db")))
        #expect(try tool.todo("list", store: "folder/client.db").status == 1)
        let location = try StoreLocation(parsing: "sqlite:\(tool.path("client.db"))")
        let store = try location.open()
        try store.define([TableSchema("Other", columns: [.string("text")])])
        try store.close()
        #expect(try tool.todo("list").out == "nothing to do\n")
        #expect(try tool.todo("status").out.contains("0 items"))
        let again = try location.open()
        #expect(try again.tables().map(\.name) == ["Other"])
        try again.close()
    }

    @Test(
        "An in-memory store warns that nothing is kept, and needs no colon",
        arguments: ["memory", "memory:", "sqlite::memory:"])
    func memory(store: String) throws {
        let output = try tool.run("todo", "add", "one", "--store", store).expect(0)
        #expect(output.err.contains("keeps nothing"), "\(output.err)")
        #expect(try tool.todo("add", "one").err.isEmpty)
    }

    @Test(
        "An unknown command is named, with a suggestion",
        arguments: [(["serv"], "serve"), (["todo", "lst"], "list"), (["todo", "snyc", "--json"], "sync")])
    func suggestions(words: [String], meant: String) throws {
        try tool.run(words).expect(64, "Did you mean \"\(meant)\"?")
    }

    @Test("A failed sync also prints JSON, with what was sent and what is pending")
    func failingJSON() throws {
        #expect(try tool.todo("add", "one").status == 0)
        let output = try tool.todo("sync", "--json", "--url", "http://127.0.0.1:1").expect(1)
        let report = try output.json(SyncCommand.Report.self)
        #expect(report.pushed == 0 && report.pending == 1 && report.error?.code == "network")
    }

    @Test("A sync that cannot be recorded, as while another program locks the store, prints JSON and a warning")
    func unrecorded() throws {
        let (_, url) = try tool.startServer()
        #expect(try tool.todo("add", "one").status == 0)
        let store = try SQLiteStore(path: tool.path("client.db"))
        defer { try? store.close() }
        let location = "sqlite:\(tool.path("client.db")),busy-timeout=0.1"
        let output = try store.write { _ in
            try tool.run("todo", "sync", "--json", "--url", url, "--store", location)
        }
        let report = try output.json(SyncCommand.Report.self)
        #expect(output.status == 1 && report.pending == 1 && report.error != nil, "\(output)")
        #expect(output.err.contains("the sync could not be recorded"), "\(output)")
    }

    @Test("After a failure, the status shows the next sync that succeeds, also without changes")
    func recovery() throws {
        let (server, url) = try tool.startServer()
        #expect(try tool.todo("sync", "--url", url).status == 0)
        server.stop()
        #expect(try tool.todo("sync", "--url", url).status == 1)
        #expect(try tool.todo("status").out.contains("failed: cannot reach"))
        _ = try tool.startServer("--port", port(of: url))
        #expect(try tool.todo("sync", "--url", url).status == 0)
        #expect(try tool.todo("status").out.contains(": pushed 0, stored 0"))
    }

    @Test(
        "An insert that the server refuses: sync says how to resolve it, and resolve reports that the item is removed")
    func refusedInsert() throws {
        let schema = try tool.write("tables: { TodoItem: { columns: { other: string } } }", to: "schema.yaml")
        let (_, url) = try tool.startServer("--schema", schema, "--no-create-tables")
        #expect(try tool.todo("add", "one").status == 0)
        let failed = try tool.todo("sync", "--url", url, "--json").expect(1, "removes the item")
        let report = try failed.json(SyncCommand.Report.self)
        #expect(report.error?.code == "completedWithErrors" && report.errors.map(\.kind) == ["insert"])
        try tool.todo("resolve", "--server").expect(0, "removed")
        #expect(try tool.todo("list").out == "nothing to do\n")
    }

    @Test("Another server is refused until the list is switched to it")
    func otherServer() throws {
        let (first, firstURL) = try tool.startServer()
        #expect(try tool.todo("add", "one").status == 0)
        #expect(try tool.todo("sync", "--url", firstURL).status == 0)
        first.stop()
        let (_, url) = try tool.startServer("--store", "sqlite:\(tool.path("second.db"))")
        #expect(try tool.todo("add", "two").status == 0)
        try tool.todo("sync", "--url", url).expect(1, "--switch-server")
        #expect(try tool.todo("sync", "--url", url, "--switch-server").status == 0)
        let list = try tool.todo("list").out
        #expect(list.contains("two") && !list.contains("one"))
    }

    @Test("Ctrl-C ends a sync with status 130, and reports what was sent and what is pending")
    func interrupted() throws {
        let (server, url) = try tool.startServer()
        defer {
            server.signal(SIGCONT)
            server.stop()
        }
        #expect(try tool.todo("add", "one").status == 0)
        // The server accepts the connection but does not answer.
        server.signal(SIGSTOP)
        let sync = try tool.startTodo("sync", "--url", url)
        try waitUntil("the request of the sync") { try tool.report().pending[0].attempts == 1 }
        #expect(try tool.todo("status").out.contains("insert, tried 1 time"))
        sync.signal(SIGINT)
        #expect(sync.wait() == 130)
        #expect(sync.errors().contains("0 changes sent, 1 in the queue"))
    }

    @Test("status counts everything and lists the first ten")
    func longQueue() throws {
        let adder = try tool.startTodo("add", "--stdin")
        for number in 1...12 {
            try adder.write(line: "item \(number)")
            #expect(adder.readLine() != nil)
        }
        #expect(adder.killNow() == 128 + SIGKILL)
        let status = try tool.todo("status").out
        #expect(status.contains("12 items, 12 changes to push") && status.contains("and 2 more"))
        #expect(status.split(separator: "\n").filter { $0.contains(" insert") }.count == 10)
    }

    @Test("A long text is truncated on the terminal, and times are local, to the second")
    func texts() throws {
        #expect(shortened("short") == "short")
        let long = String(repeating: "é", count: 201)
        #expect(shortened(long) == String(repeating: "é", count: 200) + "… (201 characters)")
        let time = try #require(Timestamp("2026-11-22T10:14:27.123Z"))
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.dateFormat = "yyyy-MM-dd HH:mm:ss"
        #expect(formatter.date(from: localTime(time)).map { Timestamp($0) } == Timestamp("2026-11-22T10:14:27Z"))
    }
}
#endif
